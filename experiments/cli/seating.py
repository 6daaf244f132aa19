"""Who plays for a command, in which folder, and where a language model sits whose calls need a folder apart."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from experiments.cli.show import note
from experiments.llm.settings import Prices
from experiments.players.player import Player
from experiments.players.registry import ModelOptions, Need, build_agent, needs_of
from experiments.players.seat import ModelSeat
from experiments.storage.files import exclusive_lock, folder_name
from terms import GameConfig
from terms.episode import AgentLike, agent_name
from terms.strict_json import strict_dumps

UNPRICED = "note: no price of {} is known; what its server does not state stays unknown, also to a budget"
LOCAL_PRICES = Prices(prompt=0, completion=0)
"""The local model is free."""


def build_player(agent: str, asked: ModelOptions, game: GameConfig, *, elsewhere: bool) -> Player:
    """Return the agent that plays; ``elsewhere`` says that other processes would play.

    Raises
    ------
    ValueError
        If a language model would play elsewhere: its calls are counted in this process.
    """
    player = build_agent(agent, asked, game)
    if elsewhere and Need.MODEL in needs_of(agent):
        raise ValueError(
            f"agent={agent!r} plays in one process, where its calls are counted; use --concurrency instead"
        )
    return player


def tell_plan(player: Player, num: int, what: str = "negotiations") -> None:
    """Say what a language model is about to be asked, and aloud if nobody will know what it costs."""
    if not isinstance(player, ModelSeat):
        return
    from experiments.players.forecast import forecast_talks, is_price_known

    prices = None if player.model is None else player.model.prices
    plan = forecast_talks(num, player.config, player.negotiator).priced(
        LOCAL_PRICES if player.model is None else prices
    )
    note(f"plan: {num:,} {what} at most, {plan.in_words()}")
    unknown = [each for each in (player.model, player.voice) if each is not None and not is_price_known(each)]
    for one in unknown:
        note(UNPRICED.format(one.model))


def named_folder(agent: AgentLike, label: str, facts: Sequence[Any], *, prefix: str = "") -> Path:
    """Return ``runs/PREFIX-AGENT-LABEL-HASH``; the hash of ``facts`` keeps runs of different settings apart."""
    digest = hashlib.sha256(strict_dumps([agent_name(agent), *facts]).encode()).hexdigest()[:8]
    return Path("runs") / f"{prefix}{folder_name(agent_name(agent), '.=_-')}-{folder_name(label, '.=_-')}-{digest}"


@contextmanager
def seated_apart(player: Player, folder: Path, what: str) -> Iterator[Player]:
    """Seat a language model in ``folder``, where the calls of ``what`` are logged; any other agent plays as it is."""
    if not isinstance(player, ModelSeat):
        yield player
        return
    folder.mkdir(parents=True, exist_ok=True)
    note(f"calls are logged in {folder}; with --cache a stopped {what} goes on for free")
    with exclusive_lock(folder), player.sit(folder) as seated:
        yield seated
