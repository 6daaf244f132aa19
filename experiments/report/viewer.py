"""Episodes for the negotiation viewer: which ones a page carries, and in what form.

A page with every episode of thirteen agents would be slow to open, so each run brings at most ``limit``: from every
(regime, family) cell the same number, half of them the worst by surplus lost and half spread evenly over the rest, in
the order played. A model's replies come with the verdict on each and, cut to :data:`REPLY_LIMIT` characters, as they
were. Rows are arrays whose field names are listed once, and texts are numbered, because a scripted
counterpart says the same few sentences thousands of times.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from experiments.report.page import cut
from experiments.report.page_facts import ENDINGS, ReportRun
from terms.records import EpisodeRecord
from terms.types import Belief, Cue, Turn
from terms.voice import format_price

VIEWER_LIMIT = 360
REPLY_LIMIT = 4000
"""Characters of a raw reply that a page carries."""
REVIEW_NUMBERS = ("cost", "hindsight_cost", "r_low", "r_mean", "r_high", "feasible_prob")
PRICE_MARK = "\x00"
"""Stands for the standing price inside a counterpart message, so that one sentence at many prices is stored once."""


def surplus_lost(episode: EpisodeRecord) -> float | None:
    """Return what was left behind in price units: ``zopa - u`` if feasible, else the loss; ``None`` if excluded."""
    if episode.is_excluded:
        return None
    if episode.is_feasible:
        return episode.zopa - episode.utility
    return max(0.0, -episode.utility)


def select_episodes(episodes: Sequence[EpisodeRecord], limit: int) -> list[EpisodeRecord]:
    """Return at most ``limit`` episodes as the module describes, worst first; excluded trials come last."""
    if len(episodes) <= limit:
        return sorted(episodes, key=_badness)
    cells: dict[tuple[str, str], list[int]] = {}
    for index, episode in enumerate(episodes):
        cells.setdefault((episode.regime, episode.family), []).append(index)
    chosen = [index for rank in _ranked(episodes, list(cells.values())) for index in rank][:limit]
    return sorted((episodes[index] for index in chosen), key=_badness)


def _ranked(episodes: Sequence[EpisodeRecord], cells: Sequence[list[int]]) -> list[list[int]]:
    """Return the first choice of every cell, then the second of every cell, and so on."""
    orders = [_preference(episodes, cell) for cell in cells]
    depth = max(len(order) for order in orders)
    return [[order[rank] for order in orders if rank < len(order)] for rank in range(depth)]


def _preference(episodes: Sequence[EpisodeRecord], cell: list[int]) -> list[int]:
    """Alternate the worst remaining with the next of an even spread over the cell."""
    worst = sorted(cell, key=lambda index: _badness(episodes[index]))
    spread = sorted(cell, key=lambda index: _van_der_corput(cell.index(index)))
    order: dict[int, None] = {}
    for first, second in zip(worst, spread, strict=True):
        order[first] = None
        order[second] = None
    return list(order)


def _van_der_corput(index: int) -> float:
    """Return the binary radical inverse: sorting by it visits a list coarsely first, then ever more finely."""
    return int(format(index, "b")[::-1], 2) / float(1 << index.bit_length())


def _badness(episode: EpisodeRecord) -> tuple[bool, float, str]:
    lost = surplus_lost(episode)
    if lost is None:
        return (True, 0.0, episode.scenario_id)
    return (False, -lost / episode.price_range, episode.scenario_id)


EPISODE_TEXTS: dict[str, Callable[[EpisodeRecord], str | None]] = {
    "id": lambda e: e.scenario_id,
    "regime": lambda e: e.regime,
    "family": lambda e: e.family,
    "role": lambda e: e.agent_role,
    "opener": lambda e: e.opener,
    "counterpart_stance": lambda e: e.counterpart_type.stance,
    "product": lambda e: e.product_name,
    "termination": lambda e: e.termination,
    "fault": lambda e: e.fault,
    "fault_detail": lambda e: e.fault_detail,
    "closing_cue": lambda e: _cue(e.closing_cue),
    "closing_message": lambda e: _template(e.closing_message, e.price),
}
EPISODE_NUMBERS: dict[str, Callable[[EpisodeRecord], float | None]] = {
    "reservation": lambda e: e.agent_type.reservation_price,
    "counterpart_reservation": lambda e: e.counterpart_type.reservation_price,
    "counterpart_urgency": lambda e: e.counterpart_type.urgency,
    "price_min": lambda e: e.price_min,
    "price_max": lambda e: e.price_max,
    "horizon": lambda e: e.horizon,
    "zopa": lambda e: e.zopa,
    "difficulty": lambda e: e.difficulty,
    "difficulty_bin": lambda e: e.difficulty_bin,
    "price": lambda e: e.price,
    "utility": lambda e: e.utility,
    "lost": surplus_lost,
}
TURN_TEXTS: dict[str, Callable[[Turn], str | None]] = {
    "cue": lambda turn: _cue(turn.cue),
    "counterpart_message": lambda turn: _template(turn.counterpart_message, turn.counterpart_price),
    "decision": lambda turn: turn.decision,
    "message": lambda turn: turn.message,
}
TURN_NUMBERS: dict[str, Callable[[Turn], float | None]] = {
    "round": lambda turn: turn.round,
    "standing": lambda turn: turn.counterpart_price,
    "price": lambda turn: turn.price,
}


@dataclass
class Encoder:
    """Turns episodes into rows (texts, then numbers, then nested rows) and numbers the texts on the way."""

    _numbers: dict[str, int] = field(default_factory=dict)

    def payload(self, runs: Sequence[ReportRun], limit: int) -> dict[str, Any]:
        """Return the viewer's data: plain JSON types, finite numbers only."""
        encoded = [
            {
                "agent": run.agent,
                "suite": run.suite,
                "total": len(run.episodes),
                "episodes": [
                    self._episode(
                        episode, run.receipts.get(episode.scenario_id, ()), run.reviews.get(episode.scenario_id, ())
                    )
                    for episode in select_episodes(run.episodes, limit)
                ],
            }
            for run in runs
        ]
        return {
            "episode_texts": list(EPISODE_TEXTS),
            "episode_numbers": list(EPISODE_NUMBERS),
            "turn_texts": list(TURN_TEXTS),
            "turn_numbers": list(TURN_NUMBERS),
            "review_numbers": list(REVIEW_NUMBERS),
            "labels": ENDINGS,
            "strings": list(self._numbers),
            "runs": encoded,
        }

    def _text(self, text: str | None) -> int:
        return self._numbers.setdefault(text or "", len(self._numbers))

    def _episode(
        self, episode: EpisodeRecord, receipts: Sequence[Mapping[str, Any]], reviews: Sequence[Mapping[str, Any]]
    ) -> list[Any]:
        return [
            *(self._text(read(episode)) for read in EPISODE_TEXTS.values()),
            *(_number(read(episode)) for read in EPISODE_NUMBERS.values()),
            [self._turn(turn) for turn in episode.turns],
            [[self._text(breach.kind), breach.round, _number(breach.value)] for breach in episode.violations],
            [[turn["round"], [self._attempt(attempt) for attempt in turn["attempts"]]] for turn in receipts],
            [
                [move["round"], self._text(move["reference"]), *(_number(move[name]) for name in REVIEW_NUMBERS)]
                for move in reviews
            ],
        ]

    def _attempt(self, attempt: Mapping[str, Any]) -> list[int]:
        texts = (attempt["kind"], attempt["verdict"], ", ".join(attempt["repairs"]), attempt["problem"])
        return [*map(self._text, texts), self._text(cut(attempt["text"], REPLY_LIMIT))]

    def _turn(self, turn: Turn) -> list[Any]:
        return [
            *(self._text(read(turn)) for read in TURN_TEXTS.values()),
            *(_number(read(turn)) for read in TURN_NUMBERS.values()),
            _belief(turn.belief),
        ]


def to_script_json(payload: dict[str, Any]) -> str:
    """Return strict JSON that is safe inside a ``script`` element, whatever the transcripts hold.

    ``<``, ``>`` and ``&`` are escaped, so no text can close the element or open a comment; nan and infinity raise.
    """
    text = json.dumps(payload, allow_nan=False, separators=(",", ":"))  # ASCII: line separators are escaped too
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _cue(cue: Cue | None) -> str | None:
    return None if cue is None else f"{cue.sentiment} · {cue.posture}"


def _template(message: str, price: float | None) -> str:
    clean = message.replace(PRICE_MARK, "\ufffd")
    return clean if price is None else clean.replace(format_price(price), PRICE_MARK)


def _belief(belief: Belief | None) -> list[float | None] | None:
    if belief is None:
        return None
    return [_number(value) for value in (belief.r_hat, belief.kappa_hat, *(belief.stance_probs or ()))]


def _number(value: float | None) -> float | None:
    """Round for display; what is not finite is not a number a page could draw."""
    return None if value is None or not math.isfinite(value) else round(float(value), 4)
