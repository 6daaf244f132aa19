"""Bargaining fingerprints: how an agent moves, apart from what it earns, and which of five styles that is.

Concession dynamics come from the feasible episodes (I+), self-constraint from the infeasible ones (I-), as in the
paper's finding 5. With ``g_k = s (r_A - p_k)`` the distance of the own offer in round k from the own reservation, first
offer in round f and last in round l of an episode of K rounds:

* opening demand: ``sum g_f / sum zopa`` (both as shares of R); 1 asks for the whole surplus, 2 for twice what there is;
* concession pace: mean over episodes with two offers and ``g_f > 0`` of ``(K - 1) (g_f - g_l) / (g_f (l - f))``. 1 is
  on course to give up the opening distance evenly by the last round, as a linear time-dependent agent does exactly.

The paper names the styles and what separates them but prints no thresholds. Those below are this project's choice, each
at a point with a meaning; :func:`classify_style` states the order in which they are asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from terms.aliases import Floats
from terms.columns import Columns
from terms.estimates import UNDEFINED, Estimate, Ratio, estimate_ratios, estimate_share
from terms.metrics import METRIC_BY_NAME, concession_curve
from terms.records import EpisodeRecord
from terms.types import Termination

REFUSAL_SHARE = 1 / 3
"""A refuser leaves at least this share of the feasible episodes by its own Reject ..."""
REFUSER_CLOSER_RATE = 0.10
"""... or closes less than this share of its deals itself."""
ACCEPTER_CLOSER_RATE = 2 / 3
"""An accepter closes at least this share of its deals itself ..."""
ACCEPTER_SURPLUS = 0.5
"""... while taking less than this share of the surplus: it sells out rather than waits."""
ANCHOR_DEMAND = 0.9
"""An anchor asks for nine tenths of the whole surplus or more with the first offer."""
HOLD_PACE = 2 / 3
"""Below this pace an anchor holds ..."""
CONCEDE_PACE = 4 / 3
"""... and above this one it concedes; between the two it is balanced."""


class Style(StrEnum):
    """The five styles of the paper's figure 5."""

    ANCHOR_AND_HOLD = "anchor-and-hold"
    BALANCED = "mid/balanced"
    ANCHOR_AND_CONCEDE = "anchor-and-concede"
    ACCEPTER = "accepter"
    REFUSER = "refuser"


@dataclass(frozen=True)
class Fingerprint:
    """How an agent moves. ``style`` is ``None`` where a quantity it rests on is undefined."""

    opening_anchor: Estimate
    opening_demand: Estimate
    concession_pace: Estimate
    concession_curve: tuple[Estimate, ...]
    agent_closer_rate: Estimate
    zopa_share_at_closing: Estimate
    conditional_utility: Estimate
    feasible_exit_rate: Estimate
    ir_violation_rate: Estimate
    agent_exit_minus: Estimate
    style: Style | None


def fingerprint(episodes: Sequence[EpisodeRecord]) -> Fingerprint:
    """Return the fingerprint of one agent.

    Parameters
    ----------
    episodes
        Records of one agent; trials lost to the provider are left out. The last two rates use the infeasible episodes,
        everything else the feasible ones.
    """
    feasible = Columns.of([episode for episode in episodes if episode.is_feasible])
    infeasible = Columns.of([episode for episode in episodes if not episode.is_feasible])
    demand, pace = _opening_demand(feasible), _concession_pace(feasible)
    closer, share = _metric("agent_closer_rate", feasible), _metric("cse_plus", feasible)
    exits = estimate_share(feasible.terminated(Termination.AGENT_REJECT), feasible.ones, feasible.clusters)
    return Fingerprint(
        opening_anchor=_metric("opening_anchor", feasible),
        opening_demand=demand,
        concession_pace=pace,
        concession_curve=tuple(concession_curve(feasible.episodes)),
        agent_closer_rate=closer,
        zopa_share_at_closing=share,
        conditional_utility=_metric("conditional_utility", feasible),
        feasible_exit_rate=exits,
        ir_violation_rate=_metric("ir_violation_rate", infeasible),
        agent_exit_minus=_metric("agent_exit_minus", infeasible),
        style=classify_style(
            exit_rate=exits.estimate,
            closer_rate=closer.estimate,
            surplus=share.estimate,
            demand=demand.estimate,
            pace=pace.estimate,
        ),
    )


def classify_style(
    *,
    exit_rate: float | None,
    closer_rate: float | None,
    surplus: float | None,
    demand: float | None,
    pace: float | None,
) -> Style | None:
    """Classify by who ends the talk first, then by the shape of the trajectory; ``None`` where the answer is undefined.

    1. refuser: ``exit_rate >= 1/3`` or ``closer_rate < 0.10``;
    2. accepter: ``closer_rate >= 2/3`` and ``surplus < 0.5``;
    3. mid/balanced: ``demand < 0.9``, the opening leaves the counterpart something;
    4. anchor-and-hold: ``pace < 2/3``; anchor-and-concede: ``pace > 4/3``; mid/balanced between.
    """
    if exit_rate is None:
        return None
    if exit_rate >= REFUSAL_SHARE or (closer_rate is not None and closer_rate < REFUSER_CLOSER_RATE):
        return Style.REFUSER
    is_closer = closer_rate is not None and closer_rate >= ACCEPTER_CLOSER_RATE
    if is_closer and surplus is not None and surplus < ACCEPTER_SURPLUS:
        return Style.ACCEPTER
    if demand is not None and demand < ANCHOR_DEMAND:
        return Style.BALANCED
    if demand is None or pace is None:
        return None
    if pace < HOLD_PACE:
        return Style.ANCHOR_AND_HOLD
    return Style.ANCHOR_AND_CONCEDE if pace > CONCEDE_PACE else Style.BALANCED


def _metric(name: str, columns: Columns) -> Estimate:
    return METRIC_BY_NAME[name].compute(columns)


def _opening_demand(columns: Columns) -> Estimate:
    if not columns.episodes:
        return UNDEFINED
    anchor = columns.opening_anchor
    offered = ~np.isnan(anchor)
    widths = np.array([e.zopa / e.price_range for e in columns.episodes])
    return estimate_ratios([Ratio(np.where(offered, anchor, 0.0), widths * offered)], columns.clusters)


def _concession_pace(columns: Columns) -> Estimate:
    paces: Floats = np.array([_pace(episode) for episode in columns.episodes], dtype=float)
    known = ~np.isnan(paces)
    return estimate_ratios([Ratio(np.where(known, paces, 0.0), known.astype(float))], columns.clusters)


def _pace(episode: EpisodeRecord) -> float:
    offers = [(turn.round, turn.price) for turn in episode.turns if turn.price is not None]
    if len(offers) < 2:
        return float("nan")
    (first_round, first), (last_round, last) = offers[0], offers[-1]
    opening_gap = episode.sign * (episode.agent_type.reservation_price - first)
    if opening_gap <= 0:  # nothing to give up: an opening at or past the reservation is no concession
        return float("nan")
    given_up = episode.sign * (last - first) / opening_gap
    return (episode.horizon - 1) * given_up / (last_round - first_round)
