r"""What a plan will ask of a model, and what a run's calls did cost, each number with n and an interval.

Before: a negotiation of :math:`T` rounds is taken to last :math:`0.6 T`. Call :math:`k` sends the rules, :math:`k`
observations and :math:`k - 1` answers, so its prompt has :math:`r + k o + (k - 1) a` tokens; texts are counted at 3.5
characters a token. A year is taken at its worst: every turn of its limit, with a context that is on average between
what is left after turns are removed and what removes them. Reasoning beyond :math:`a` is not foreseen.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from experiments.llm.calls import CallRow, Ended, Recalled, Reserved, episode_key, episode_of_call, spending_of
from experiments.llm.settings import ModelSettings, Prices
from experiments.llm.spending import Spending
from experiments.players.model_options import NegotiatorSettings
from experiments.players.model_voice import NARRATOR
from experiments.players.prompts import system_prompt, turn_prompt
from experiments.players.receipts import Verdict
from terms import Game, GameConfig, fresh_suite
from terms.estimates import Estimate, estimate_mean, estimate_share


class CallFacts(NamedTuple):
    """Facts about the calls of one run.

    Money and tokens include the counterpart's voice, whose part is ``voice``. ``latency_s``, the mean of an answered
    call, ``served_by``, ``refused``, the parts of requests a server refused, and ``efforts``, those it says it applied,
    are about the agent's own model.
    """

    spending: Spending
    num_attempts: int
    num_failed: int
    num_recalled: int
    latency_s: Estimate
    served_by: tuple[str, ...]
    refused: tuple[str, ...]
    efforts: tuple[str, ...] = ()
    voice: Spending = Spending()


def call_facts(rows: Sequence[CallRow]) -> CallFacts:
    """Sum up the rows of a call log; a run without models has none."""
    ended = [row for row in rows if isinstance(row, Ended)]
    applied = [row for row in ended if row.completion is not None and not _is_voice(row)]
    latencies = np.array([row.latency_s for row in applied], dtype=float)
    return CallFacts(
        spending=spending_of(rows),
        num_attempts=sum(isinstance(row, Reserved) for row in rows),
        num_failed=sum(row.error is not None for row in ended),
        num_recalled=sum(isinstance(row, Recalled) for row in rows),
        latency_s=estimate_mean(latencies),
        served_by=_served_by(applied),
        refused=tuple(sorted({name for row in applied for name in _applied(row).get("refused") or ()})),
        efforts=tuple(sorted({effort for row in applied if (effort := _applied(row).get("effort"))})),
        voice=spending_of(row for row in rows if not isinstance(row, Recalled) and _is_voice(row)),
    )


def _is_voice(row: Reserved | Ended) -> bool:
    return row.call_id.startswith(f"{NARRATOR}/")


def _served_by(answered: Iterable[Ended]) -> tuple[str, ...]:
    """Return every (model, provider, fingerprint) that answered: a silent change of back-end must be seen."""
    seen = set()
    for row in answered:
        facts = [_applied(row).get(key) for key in ("model", "provider", "fingerprint")]
        seen.add(" / ".join(str(fact) for fact in facts if fact))
    return tuple(sorted(seen))


def _applied(row: Ended) -> Mapping[str, Any]:
    return (row.completion or {}).get("applied") or {}


class EpisodeBill(NamedTuple):
    """What the calls of an episode cost, ``None`` if that is not all known or none was made, and how long they took."""

    usd: float | None
    seconds: float


def episode_bills(rows: Sequence[CallRow], seeds: Iterable[int]) -> list[EpisodeBill]:
    """Return the bill of each episode with these agent seeds, in their order."""
    keys = list(map(episode_key, seeds))
    held: dict[str, dict[str, int | None]] = {key: {} for key in keys}
    seconds = dict.fromkeys(keys, 0.0)
    for row in rows:
        key = episode_of_call(row.call_id)
        if key not in held:
            continue
        if isinstance(row, Recalled):
            held[key][row.call_id] = 0
            continue
        held[key][row.attempt_id] = _known(row)
        seconds[key] += row.latency_s if isinstance(row, Ended) else 0.0
    return [EpisodeBill(_dollars(held[key].values()), seconds[key]) for key in keys]


def _dollars(amounts: Collection[int | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) / 1e6 if amounts and len(known) == len(amounts) else None


def cost_per_episode(rows: Sequence[CallRow], seeds: Iterable[int]) -> Estimate:
    """Return the dollars an episode cost, over the episodes with these agent seeds all of whose money is known.

    One with an attempt of unknown cost is left out, and so is one without any call: unknown is not free.
    """
    known = [bill.usd for bill in episode_bills(rows, seeds) if bill.usd is not None]
    return estimate_mean(np.array(known, dtype=float))


def _known(row: Reserved | Ended) -> int | None:
    """Return the micro-dollars of an attempt, ``None`` while it is on its way or where nobody told."""
    if isinstance(row, Reserved):
        return None
    return 0 if row.state == "free" else row.microusd


def reply_rates(receipts: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, Estimate]:
    """Return the share of replies with each verdict, first asked and corrected ones alike, clustered by episode.

    ``corrected`` is the share of rounds in which the model needed its second chance.
    """
    verdicts: list[str] = []
    episodes: list[int] = []
    corrected: list[float] = []
    rounds: list[int] = []
    for number, turns in enumerate(receipts.values()):
        for turn in turns:
            corrected.append(float(len(turn["attempts"]) > 1))
            rounds.append(number)
            for attempt in turn["attempts"]:
                verdicts.append(attempt["verdict"])
                episodes.append(number)
    rates = {verdict.value: _share([float(found == verdict) for found in verdicts], episodes) for verdict in Verdict}
    return {**rates, "corrected": _share(corrected, rounds)}


def _share(hits: Sequence[float], clusters: Sequence[int]) -> Estimate:
    return estimate_share(np.array(hits, dtype=float), np.ones(len(hits)), np.array(clusters, dtype=np.intp))


SHARE_OF_ROUNDS = 0.6
CHARACTERS_PER_TOKEN = 3.5
ANSWER_TOKENS = 150
TURN_TOKENS = 120


class Forecast(NamedTuple):
    """What is expected; ``usd`` and ``minutes`` are ``None`` where price or speed are unknown."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    usd: float | None = None
    minutes: float | None = None

    def priced(self, prices: Prices | None) -> Forecast:
        """Return the forecast with dollars by a price list."""
        if prices is None:
            return self
        micro = self.prompt_tokens * prices.prompt + self.completion_tokens * prices.completion
        return self._replace(usd=micro / 1e12)

    def timed(self, seconds_per_call: float | None, at_once: int) -> Forecast:
        """Return the forecast with minutes, for calls of that length, ``at_once`` in flight."""
        if seconds_per_call is None:
            return self
        return self._replace(minutes=self.calls * seconds_per_call / max(1, min(at_once, self.calls)) / 60)

    def in_words(self) -> str:
        """Return the forecast as a line."""
        dollars = "price unknown" if self.usd is None else f"about ${self.usd:,.2f}" if self.usd else "free"
        minutes = "" if self.minutes is None else f", about {max(1, round(self.minutes)):,} min"
        tokens = f"{self.prompt_tokens / 1e6:,.2f} M tokens in, {self.completion_tokens / 1e6:,.2f} M out"
        return f"about {self.calls:,} calls, {tokens}, {dollars}{minutes}"


def forecast_talks(
    num: int, game: GameConfig | None = None, shown: NegotiatorSettings | None = None, answer: int = ANSWER_TOKENS
) -> Forecast:
    """Return what ``num`` negotiations ask of a model whose answers have ``answer`` tokens."""
    config, settings = game or GameConfig(), shown or NegotiatorSettings()
    observation = Game(fresh_suite(seed=0, n_per_cell=1)[0]).observe()
    rules = _tokens(system_prompt(observation.role, config, settings, {}))
    turn = _tokens(turn_prompt(observation))
    rounds = max(1, math.ceil(SHARE_OF_ROUNDS * config.horizon))
    prompt = sum(rules + k * turn + (k - 1) * answer for k in range(1, rounds + 1))
    return Forecast(num * rounds, num * prompt, num * rounds * answer)


def forecast_years(num: int, max_turns: int, evict_at: int, evict_to: int) -> Forecast:
    """Return what ``num`` years ask of a model at most."""
    turns = num * max_turns
    return Forecast(turns, turns * (evict_at + evict_to) // 2, turns * TURN_TOKENS)


def is_price_known(model: ModelSettings | None) -> bool:
    """Whether the cost of calls will be known: the local model is free, OpenRouter says it, a list has it."""
    return model is None or model.prices is not None or model.wire_dialect == "openrouter"


def _tokens(text: str) -> int:
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)
