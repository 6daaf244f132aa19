"""Who plays for a command, in which folder, with which fitted values, and what its agent can do to the output."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import typer

from experiments.cli.options import Where
from experiments.cli.show import count_bar, note
from experiments.players.model_options import NEGOTIATOR_KEYS, ModelOptions
from experiments.players.player import Player, as_player
from experiments.players.seat import LOCAL
from experiments.players.served import with_served_name
from experiments.storage.files import exclusive_lock, folder_name
from terms import GameConfig, Scenario
from terms.episode import AgentExitError
from terms.strict_json import strict_dumps

if TYPE_CHECKING:
    from experiments.engine.header import Header
    from experiments.episodes.config import SuiteSpec
    from oracle.interventions import BayesOptimal
    from oracle.prior import Knowledge


class Seating(NamedTuple):
    """The player of a command, and how many processes play."""

    player: Player
    processes: int


def negotiator_options(words: Sequence[str] | None) -> ModelOptions:
    """Return what was said about a model that negotiates."""
    return ModelOptions.read(words or (), NEGOTIATOR_KEYS)


def seat_player(agent: str, asked: ModelOptions, game: GameConfig, where: Where) -> Seating:
    """Return who plays: a model with so many requests in flight, anybody else in as many processes.

    Raises
    ------
    ValueError
        If a language model would play on other machines: its calls are counted in this process.
    """
    from experiments.players.registry import Need, build_agent, needs_of

    if Need.MODEL not in needs_of(agent):
        return Seating(build_agent(agent, asked, game), where.workers or 1)
    agent = with_served_name(agent, asked)
    if where.scheduler is not None:
        raise ValueError(f"agent={agent!r} plays in one process, where its calls are counted; leave out --scheduler")
    if where.workers is not None and (agent != LOCAL or where.workers > 1):
        asked = asked.changed(concurrency=where.workers)
    return Seating(build_agent(agent, asked, game), 1)


def seat_again(header: Header[SuiteSpec], asked: ModelOptions, where: Where) -> Seating:
    """Return who played a run, to play as it did there; see :func:`experiments.players.registry.agent_of_run`."""
    from experiments.players.registry import Need, agent_of_run, needs_of

    is_model = Need.MODEL in needs_of(header.agent.partition("+")[0])
    if is_model and where.scheduler is not None:
        raise ValueError(f"agent={header.agent!r} plays in one process, where its calls are counted")
    if is_model and where.workers is not None:
        asked = asked.changed(concurrency=where.workers)
    player = agent_of_run(header.agent, header.settings, asked, header.spec.game)
    return Seating(player, 1 if is_model else where.workers or 1)


def named_folder(name: str, label: str, facts: Sequence[Any], *, prefix: str = "") -> Path:
    """Return ``runs/PREFIX-AGENT-LABEL-HASH``; the hash of ``facts`` keeps runs of different settings apart."""
    digest = hashlib.sha256(strict_dumps([name, *facts]).encode()).hexdigest()[:8]
    return Path("runs") / f"{prefix}{folder_name(name, '.=_-')}-{folder_name(label, '.=_-')}-{digest}"


def run_folder(folder: Path) -> Path:
    """Return ``folder`` if it can be played into.

    Raises
    ------
    ValueError
        If it is a file or below one.
    """
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise ValueError(f"--out={str(folder)!r}: {there} is a file, needed is a folder")
    return folder


def default_folder(player: Player, spec: SuiteSpec) -> Path:
    """Return ``runs/AGENT-SUITE-HASH``; the hash keeps runs of different settings apart."""
    plain = {"economics"} if spec.economics is None else None  # runs without money keep the folders they had
    return named_folder(player.name, spec.label, [player.settings, spec.model_dump(mode="json", exclude=plain)])


@contextmanager
def seated_apart(player: Player, folder: Path, what: str) -> Iterator[Player]:
    """Seat a language model in ``folder``, where the calls of ``what`` are logged; any other agent plays as it is."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(agent_apart())
        if player.keeps_files:
            stack.enter_context(kept_if_played(folder))
            folder.mkdir(parents=True, exist_ok=True)
            note(f"calls are logged in {folder}; with --model cache=FOLDER a stopped {what} goes on for free")
            stack.enter_context(exclusive_lock(folder))
        yield stack.enter_context(player.sit(folder))


@contextmanager
def kept_if_played(folder: Path) -> Iterator[None]:
    """Take a folder that was not there away again where a command fails before anything was played into it."""
    new = next((path for path in reversed([folder, *folder.parents]) if not path.exists()), None)
    try:
        yield
    except BaseException:
        if new is not None and not any(path.stat().st_size for path in new.rglob("*.jsonl")):
            shutil.rmtree(new, ignore_errors=True)
        raise


@contextmanager
def agent_apart() -> Iterator[None]:
    """Keep what an agent does to this program from its result.

    What it prints goes to standard error, of its processes and libraries too; the current directory is restored; and
    an exception that would end a command line without a word is named.
    """
    here = os.getcwd()
    try:
        with contextlib.redirect_stdout(sys.stderr), _stdout_as_stderr():
            yield
    except (EOFError, typer.Abort, typer.Exit) as error:
        raise AgentExitError(f"the agent raised {type(error).__name__}, which would end the command") from error
    finally:
        os.chdir(here)


@contextmanager
def _stdout_as_stderr() -> Iterator[None]:
    """Point the file of standard output at that of standard error; nothing where one of them is no file."""
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    try:
        kept = os.dup(1)
    except OSError:
        yield
        return
    try:
        with contextlib.suppress(OSError):
            os.dup2(2, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def prepared_bayes_optimal(
    scenarios: Sequence[Scenario], objective: Literal["utility", "se"] = "utility"
) -> BayesOptimal:
    """Return the Bayes-optimal player with the values it needs at hand; with ``se`` it maximises SE+ instead."""
    from oracle.bayes_optimal import fitted_bayes_optimal
    from oracle.interventions import told_for_efficiency, told_regime_and_family
    from oracle.preparation import needed_knowledge

    told = told_for_efficiency if objective == "se" else told_regime_and_family
    _prepare(needed_knowledge(scenarios, told))
    return fitted_bayes_optimal(knowledge=told)


def prepare_player(name: str, player: Player, scenarios: Sequence[Scenario]) -> Player:
    """Have the values at hand that the player called ``name`` needs; else each worker would fit its own.

    Returns
    -------
    Player
        The player, pinned to those values: their digests under ``fitted_values``, by family and regimes. Itself, if it
        uses none.
    """
    from experiments.players.registry import Need, needs_of

    if Need.VALUES not in needs_of(name):
        return player
    from oracle.player_registry import PLAYERS
    from oracle.preparation import needed_knowledge
    from oracle.prior import is_framed
    from oracle.shipped import CATALOGUE, values_digest, values_for

    needed = needed_knowledge(scenarios, PLAYERS[name].values_for)
    _prepare(needed)
    digests = {}
    for told in needed:
        prior = [CATALOGUE] if is_framed(told) else told.regimes
        digests[" ".join([*told.families, *prior])] = values_digest(values_for(told))
    return as_player(player, {"fitted_values": digests})


def _prepare(needed: Sequence[Knowledge]) -> None:
    from oracle.preparation import fit_missing, is_at_hand

    missing = sum(not is_at_hand(knowledge) for knowledge in needed)
    if not missing:
        return
    note(f"note: {missing} fitted values are not at hand; fitting them once takes a minute or two each")
    with count_bar(missing, "fitting") as progress:
        fit_missing(needed, progress)
