"""Episodes for the negotiation viewer: which ones a page carries, and in what form.

A page with every episode of thirteen agents would be slow to open, so each run brings at most ``limit``: from every (regime,
family) cell the same number, half of them the worst by surplus lost and half spread evenly over the rest in the order
they were played. Rows are arrays whose field names are listed once, and texts are numbered, because a scripted
counterpart says the same few sentences thousands of times.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from experiments.report.model import ENDINGS, ReportRun
from terms.game import EpisodeRecord
from terms.types import Belief, Cue, Turn
from terms.voice import format_price

VIEWER_LIMIT = 360
EPISODE_FIELDS = (
    "id regime family role opener reservation counterpart_reservation counterpart_urgency counterpart_stance price_min "
    "price_max horizon zopa difficulty difficulty_bin product termination price utility lost lost_share fault fault_detail "
    "closing_cue closing_message turns violations"
).split()
TURN_FIELDS = "round standing cue counterpart_message decision price message belief".split()
PRICE_MARK = "\x00"
"""Stands for the standing price inside a counterpart message, so that one sentence at many prices is stored once."""


def surplus_lost(episode: EpisodeRecord) -> float | None:
    """Return what the agent left behind, in price units: ``zopa - u`` if feasible, else its loss; ``None`` if excluded."""
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
    return int(format(index, "b")[::-1], 2) / 2 ** index.bit_length()


def _badness(episode: EpisodeRecord) -> tuple[bool, float, str]:
    lost = surplus_lost(episode)
    if lost is None:
        return (True, 0.0, episode.scenario_id)
    return (False, -lost / (episode.price_max - episode.price_min), episode.scenario_id)


@dataclass
class Encoder:
    """Turns episodes into rows and numbers the texts on the way."""

    _numbers: dict[str, int] = field(default_factory=dict)

    def payload(self, runs: Sequence[ReportRun], limit: int) -> dict[str, Any]:
        """Return the viewer's data: plain JSON types, finite numbers only."""
        encoded = [
            {
                "agent": run.agent,
                "suite": run.suite,
                "total": len(run.episodes),
                "episodes": [self._episode(episode) for episode in select_episodes(run.episodes, limit)],
            }
            for run in runs
        ]
        return {
            "episode_fields": EPISODE_FIELDS,
            "turn_fields": TURN_FIELDS,
            "labels": ENDINGS,
            "strings": list(self._numbers),
            "runs": encoded,
        }

    def _text(self, text: str | None) -> int | None:
        return None if not text else self._numbers.setdefault(text, len(self._numbers))

    def _episode(self, episode: EpisodeRecord) -> list[Any]:
        hidden, lost = episode.counterpart_type, surplus_lost(episode)
        is_share_defined = lost is not None and episode.is_feasible
        return [
            *(self._text(text) for text in (episode.scenario_id, episode.regime, episode.family)),
            *(self._text(text) for text in (episode.agent_role, episode.opener)),
            _number(episode.agent_type.reservation_price),
            _number(hidden.reservation_price),
            _number(hidden.urgency),
            self._text(hidden.stance),
            *(_number(value) for value in (episode.price_min, episode.price_max)),
            episode.horizon,
            *(_number(value) for value in (episode.zopa, episode.difficulty)),
            episode.difficulty_bin,
            self._text(episode.product_name),
            self._text(episode.termination),
            *(_number(value) for value in (episode.price, episode.utility, lost)),
            _number(lost / episode.zopa) if lost is not None and is_share_defined else None,
            *(self._text(text) for text in (episode.fault, episode.fault_detail)),
            self._text(_cue(episode.closing_cue)),
            self._text(_template(episode.closing_message, episode.price)),
            [self._turn(turn) for turn in episode.turns],
            [[self._text(breach.kind), breach.round, _number(breach.value)] for breach in episode.violations],
        ]

    def _turn(self, turn: Turn) -> list[Any]:
        return [
            turn.round,
            _number(turn.counterpart_price),
            self._text(_cue(turn.cue)),
            self._text(_template(turn.counterpart_message, turn.counterpart_price)),
            self._text(turn.decision),
            _number(turn.price),
            self._text(turn.message),
            _belief(turn.belief),
        ]


def to_script_json(payload: dict[str, Any]) -> str:
    """Return strict JSON that is safe inside a ``script`` element, whatever the transcripts hold.

    ``<``, ``>`` and ``&`` are escaped, so no text can close the element or open a comment; nan and infinity raise.
    """
    text = json.dumps(payload, allow_nan=False, separators=(",", ":"))  # ASCII only: line separators are escaped as well
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
