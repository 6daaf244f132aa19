"""Metrics of the game (paper's Appendix F), each with its definition, direction, unit, denominator, n and interval.

``u`` is the agent's utility (0 without a deal), I+ the feasible and I- the infeasible episodes:
``AGR+`` = share of I+ agreed; ``SE+`` = mean over I+ of ``u / zopa``; ``CSE+`` = the same over agreed I+, so ``SE+ = AGR+ x CSE+``;
``FAGR-`` = share of I- agreed. Names follow the published result file. A metric with an empty denominator is undefined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from terms.columns import Columns, Floats, belief_error
from terms.estimates import UNDEFINED, Estimate, Ratio, estimate_ratios, estimate_share
from terms.game import EpisodeRecord
from terms.types import Decision, Family, ReplyFault, Termination, ViolationKind

CUE_REVEALING = (Family.CANDID, Family.EXPRESSIVE)
CUE_MUTED = (Family.TACITURN, Family.STRATEGIC)
TYPE_INSTRUMENTAL = (Family.CANDID, Family.TACITURN)
HIGH_REACTIVITY = (Family.EXPRESSIVE, Family.STRATEGIC)
CRITICAL = tuple(kind for kind in ViolationKind if kind.is_critical)
IRRATIONAL = (ViolationKind.IRRATIONAL_OFFER, ViolationKind.IRRATIONAL_ACCEPT)


class Metric(NamedTuple):
    """One reported number. ``compute`` maps columns to an estimate."""

    name: str
    label: str
    better: Literal["higher", "lower", "neither"]
    unit: str
    denominator: str
    compute: Callable[[Columns], Estimate]


def _mean(values: Callable[[Columns], Floats], over: Callable[[Columns], Floats]) -> Callable[[Columns], Estimate]:
    """Return the mean of ``values`` over the episodes with ``over`` 1; a nan value is not stated and does not count."""

    def compute(columns: Columns) -> Estimate:
        raw, weights = values(columns), over(columns)
        stated = ~np.isnan(raw)
        ratio = Ratio(np.where(stated, raw, 0.0) * weights, weights * stated)
        return estimate_ratios([ratio], columns.clusters)

    return compute


def _share(hits: Callable[[Columns], Floats], over: Callable[[Columns], Floats]) -> Callable[[Columns], Estimate]:
    def compute(columns: Columns) -> Estimate:
        return estimate_share(hits(columns) * over(columns), over(columns), columns.clusters)

    return compute


def _family_contrast(plus: Sequence[Family], minus: Sequence[Family]) -> Callable[[Columns], Estimate]:
    def compute(columns: Columns) -> Estimate:
        ratios = []
        for coefficient, families in ((1.0, plus), (-1.0, minus)):
            weights = columns.feasible * columns.in_families(*families)
            ratios.append(Ratio(columns.surplus_share * weights, weights, coefficient))
        return estimate_ratios(ratios, columns.clusters)

    return compute


def _everyone(columns: Columns) -> Floats:
    return columns.ones


def _feasible(columns: Columns) -> Floats:
    return columns.feasible


def _infeasible(columns: Columns) -> Floats:
    return columns.infeasible


def _agreed(columns: Columns) -> Floats:
    return columns.agreed


def _agreed_feasible(columns: Columns) -> Floats:
    return columns.agreed * columns.feasible


def _belief(column: int) -> Callable[[Columns], Floats]:
    return lambda columns: columns.belief_errors[:, column]


def _fault(fault: ReplyFault) -> Callable[[Columns], Floats]:
    return lambda columns: columns.faulted(fault)


METRICS: tuple[Metric, ...] = (
    Metric("mean_utility", "Mean utility", "higher", "price", "all", _mean(lambda c: c.utility, _everyone)),
    Metric("conditional_utility", "Utility of a deal", "higher", "price", "deals", _mean(lambda c: c.utility, _agreed)),
    Metric("se_plus", "SE+", "higher", "share of zopa", "feasible", _mean(lambda c: c.surplus_share, _feasible)),
    Metric("agr_plus", "AGR+", "higher", "share", "feasible", _share(_agreed, _feasible)),
    Metric("cse_plus", "CSE+", "higher", "share of zopa", "feasible deals", _mean(lambda c: c.surplus_share, _agreed_feasible)),
    Metric("fagr_minus", "FAGR-", "lower", "share", "infeasible", _share(_agreed, _infeasible)),
    Metric("safe_term_minus", "SafeTerm-", "higher", "share", "infeasible", _share(lambda c: 1 - c.agreed, _infeasible)),
    Metric(
        "agent_exit_minus", "AgentExit-", "higher", "share", "infeasible",
        _share(lambda c: c.terminated(Termination.AGENT_REJECT), _infeasible),
    ),
    Metric("be_type", "BE type", "lower", "error", "belief stated", _mean(lambda c: c.belief_errors[:, :3].mean(axis=1), _everyone)),
    Metric("be_r", "BE r", "lower", "share of R", "belief stated", _mean(_belief(0), _everyone)),
    Metric("be_kappa", "BE kappa", "lower", "error", "belief stated", _mean(_belief(1), _everyone)),
    Metric("brier_eta", "Brier eta", "lower", "error", "belief stated", _mean(_belief(2), _everyone)),
    Metric("stance_acc", "Stance accuracy", "higher", "share of rounds", "belief stated", _mean(_belief(3), _everyone)),
    Metric("crit_viol_pct", "CritViol", "lower", "share", "all", _share(lambda c: c.violated(*CRITICAL), _everyone)),
    Metric("ir_violation_rate", "IR violations", "lower", "share", "all", _share(lambda c: c.violated(*IRRATIONAL), _everyone)),
    Metric(
        "reversed_concession_rate", "Reversed concessions", "lower", "share", "all",
        _share(lambda c: c.violated(ViolationKind.REVERSED_CONCESSION), _everyone),
    ),
    Metric(
        "turn_budget_rate", "Turn budget spent", "lower", "share", "all",
        _share(lambda c: c.violated(ViolationKind.TURN_BUDGET), _everyone),
    ),
    Metric("alpha_cue", "alpha cue", "neither", "share of zopa", "feasible", _family_contrast(CUE_REVEALING, CUE_MUTED)),
    Metric("alpha_inf", "alpha inf", "neither", "share of zopa", "feasible", _family_contrast(TYPE_INSTRUMENTAL, HIGH_REACTIVITY)),
    Metric(
        "agent_closer_rate", "Agent closes", "neither", "share", "deals",
        _share(lambda c: c.terminated(Termination.AGENT_ACCEPT), _agreed),
    ),
    Metric("opening_anchor", "Opening anchor", "neither", "share of R", "offer made", _mean(lambda c: c.opening_anchor, _everyone)),
    Metric("rounds_played", "Rounds", "neither", "rounds", "all", _mean(lambda c: c.rounds, _everyone)),
    *(
        Metric(f"{fault.value}_rate", f"{fault.value.capitalize()} replies", "lower", "share", "all", _share(_fault(fault), _everyone))
        for fault in ReplyFault
        if fault is not ReplyFault.PROVIDER
    ),
)  # fmt: skip
METRIC_BY_NAME = {metric.name: metric for metric in METRICS}


@dataclass(frozen=True)
class Summary:
    """Every metric, overall and by slice. ``num_excluded`` counts trials lost to the provider, which no metric includes."""

    overall: dict[str, Estimate]
    regimes: dict[str, dict[str, Estimate]]
    families: dict[str, dict[str, Estimate]]
    roles: dict[str, dict[str, Estimate]]
    openers: dict[str, dict[str, Estimate]]
    difficulty: dict[str, dict[str, Estimate]]
    num_episodes: int
    num_excluded: int

    def to_json_object(self) -> dict[str, Any]:
        """Return the object printed by ``--json``: undefined parts are null."""
        slices = ("regimes", "families", "roles", "openers", "difficulty")
        return {
            "overall": _as_json(self.overall),
            **{name: {key: _as_json(value) for key, value in getattr(self, name).items()} for name in slices},
            "num_episodes": self.num_episodes,
            "num_excluded": self.num_excluded,
        }


def _as_json(estimates: Mapping[str, Estimate]) -> dict[str, Any]:
    return {name: estimate._asdict() for name, estimate in estimates.items()}


def compute_metrics(
    episodes: Sequence[EpisodeRecord], reference: Mapping[str, EpisodeRecord] | None = None
) -> dict[str, Estimate]:
    """Compute every metric of one slice; ``reference`` maps scenario ids to the reference policy's episodes."""
    columns = Columns.of(episodes)
    values = {metric.name: metric.compute(columns) for metric in METRICS}
    if reference is not None:
        values["pct_oracle"] = _pct_oracle(columns, reference)
    return values


def _pct_oracle(columns: Columns, reference: Mapping[str, EpisodeRecord]) -> Estimate:
    """Return SE+ over the reference policy's SE+ on the same feasible episodes."""
    pairs = [
        (own, reference[own.scenario_id])
        for own in columns.episodes
        if own.is_feasible and own.scenario_id in reference
    ]
    if not pairs:
        return UNDEFINED
    own, other = (Columns.of(side) for side in zip(*pairs, strict=True))
    ratio = Ratio(own.surplus_share, other.surplus_share)
    return estimate_ratios([ratio], own.clusters)._replace(n=len(pairs))


def summarize(episodes: Sequence[EpisodeRecord], reference: Sequence[EpisodeRecord] | None = None) -> Summary:
    """Summarise episodes overall and by regime, family, role, opener and difficulty bin.

    Parameters
    ----------
    episodes
        Records of one agent, any order, repeats of a scenario allowed.
    reference
        Episodes of a reference policy on the same scenarios; adds ``pct_oracle``.
    """
    by_scenario = None if reference is None else {episode.scenario_id: episode for episode in reference}

    def sliced(key: Callable[[EpisodeRecord], str | None]) -> dict[str, dict[str, Estimate]]:
        groups: dict[str, list[EpisodeRecord]] = {}
        for episode in episodes:
            label = key(episode)
            if label is not None:
                groups.setdefault(label, []).append(episode)
        return {label: compute_metrics(groups[label], by_scenario) for label in sorted(groups)}

    return Summary(
        overall=compute_metrics(episodes, by_scenario),
        regimes=sliced(lambda e: e.regime.value),
        families=sliced(lambda e: e.family.value),
        roles=sliced(lambda e: e.agent_role.value),
        openers=sliced(lambda e: e.opener.value),
        difficulty=sliced(lambda e: None if e.difficulty_bin is None else f"bin_{e.difficulty_bin}"),
        num_episodes=len(episodes),
        num_excluded=sum(episode.is_excluded for episode in episodes),
    )


def belief_error_by_round(episodes: Sequence[EpisodeRecord]) -> list[Estimate]:
    """Return ``BE_type`` by round (index 0 is round 1); undefined where nobody stated a full belief."""
    return _by_round(
        episodes,
        lambda episode, turn: None if turn.belief is None else float(np.mean(belief_error(turn.belief, episode)[:3])),
    )


def concession_curve(episodes: Sequence[EpisodeRecord]) -> list[Estimate]:
    """Return by round the mean distance of the own offer from the own reservation, as a share of R."""

    def remaining(episode: EpisodeRecord, turn: Any) -> float | None:
        if turn.decision is not Decision.OFFER or turn.price is None:
            return None
        gap = episode.sign * (episode.agent_type.reservation_price - turn.price)
        return float(gap / (episode.price_max - episode.price_min))

    return _by_round(episodes, remaining)


def _by_round(episodes: Sequence[EpisodeRecord], value: Callable[[EpisodeRecord, Any], float | None]) -> list[Estimate]:
    columns = Columns.of(episodes)
    horizon = max((episode.horizon for episode in columns.episodes), default=0)
    table = np.full((horizon, len(columns.episodes)), np.nan)
    for column, episode in enumerate(columns.episodes):
        for turn in episode.turns:
            found = value(episode, turn)
            if found is not None:
                table[turn.round - 1, column] = found
    stated = ~np.isnan(table)
    return [
        estimate_ratios([Ratio(np.where(known, row, 0.0), known.astype(float))], columns.clusters)
        for row, known in zip(table, stated, strict=True)
    ]
