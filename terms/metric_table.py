"""The table of metrics (paper's Appendix F): definition, direction, unit and denominator of every reported number.

``u`` is the agent's utility (0 without a deal), I+ the feasible and I- the infeasible episodes. ``SE+`` is the mean
over I+ of ``u / zopa``, ``AGR+`` the share of I+ agreed, ``CSE+`` the mean of ``u / zopa`` over agreed I+, so ``SE+ =
AGR+ x CSE+``. Names follow the published result file, where ``crit_viol_pct`` is a share of episodes, not a percentage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from terms.aliases import Floats
from terms.columns import Columns
from terms.estimates import Estimate, Ratio, estimate_ratios, estimate_share
from terms.metric import Better, Metric
from terms.types import Family, ReplyFault, Termination, ViolationKind

Values = Callable[[Columns], Floats]

CUE_REVEALING = (Family.CANDID, Family.EXPRESSIVE)
CUE_MUTED = (Family.TACITURN, Family.STRATEGIC)
TYPE_INSTRUMENTAL = (Family.CANDID, Family.TACITURN)
HIGH_REACTIVITY = (Family.EXPRESSIVE, Family.STRATEGIC)
CRITICAL = tuple(kind for kind in ViolationKind if kind.is_critical)
IRRATIONAL = (ViolationKind.IRRATIONAL_OFFER, ViolationKind.IRRATIONAL_ACCEPT)

DENOMINATORS: dict[str, Values] = {
    "all": lambda c: c.ones,
    "feasible": lambda c: c.feasible,
    "infeasible": lambda c: c.infeasible,
    "deals": lambda c: c.agreed,
    "feasible deals": lambda c: c.agreed * c.feasible,
    "offer made": lambda c: c.ones,  # without an offer the value is nan and does not count
}


def _over(  # noqa: PLR0913 - one argument a column of the table
    name: str,
    label: str,
    definition: str,
    better: Better,
    unit: str,
    denominator: str,
    kind: Literal["mean", "share"],
    values: Values,
) -> Metric[Columns]:
    """Return a mean, or a share of yes-or-no outcomes, over the episodes of its denominator."""

    def parts(columns: Columns) -> tuple[Floats, Floats]:
        found, weights = values(columns), DENOMINATORS[denominator](columns)
        stated = ~np.isnan(found)
        return np.where(stated, found, 0.0) * weights, weights * stated

    def compute(columns: Columns) -> Estimate:
        found, weights = parts(columns)
        if kind == "share":
            return estimate_share(found, weights, columns.clusters)
        return estimate_ratios([Ratio(found, weights)], columns.clusters)

    return Metric(name, definition, better, unit, denominator, compute, parts, label)


def _belief(name: str, label: str, definition: str, better: Better, unit: str) -> Metric[Columns]:
    """Return a mean over the rounds in which a belief was stated, all episodes pooled; ``n`` counts rounds."""

    def parts(columns: Columns) -> tuple[Floats, Floats]:
        return columns.belief_sums(name)

    def compute(columns: Columns) -> Estimate:
        sums, rounds = parts(columns)
        return estimate_ratios([Ratio(sums, rounds)], columns.clusters)._replace(n=int(rounds.sum()))

    return Metric(name, definition, better, unit, "rounds with a belief", compute, parts, label)


def _contrast(
    name: str, label: str, definition: str, plus: Sequence[Family], minus: Sequence[Family]
) -> Metric[Columns]:
    """Return SE+ over some families minus SE+ over others; undefined when either side is empty."""

    def compute(columns: Columns) -> Estimate:
        ratios = []
        for coefficient, families in ((1.0, plus), (-1.0, minus)):
            weights = columns.feasible * columns.in_families(*families)
            ratios.append(Ratio(columns.surplus_share * weights, weights, coefficient))
        return estimate_ratios(ratios, columns.clusters)

    return Metric(name, definition, "neither", "share of zopa", "feasible", compute, label=label)


def _breach(*kinds: ViolationKind) -> Values:
    return lambda c: c.violated(*kinds)


def _ended(kind: Termination) -> Values:
    return lambda c: c.terminated(kind)


def _reply(fault: ReplyFault) -> Metric[Columns]:
    name = f"{fault.value}_rate"
    definition = f"episode ended by a reply that was {fault.value}"
    return _over(
        name, f"{fault.value.capitalize()}", definition, "lower", "share", "all", "share", lambda c: c.faulted(fault)
    )


# fmt: off
METRICS: tuple[Metric[Columns], ...] = (
    _over("mean_utility", "Utility", "utility, 0 without a deal", "higher", "price", "all", "mean",
           lambda c: c.utility),
    _over("conditional_utility", "Utility of a deal", "utility of a deal", "higher", "price", "deals", "mean",
           lambda c: c.utility),
    _over("se_plus", "SE+", "u / zopa, 0 without a deal", "higher", "share of zopa", "feasible", "mean",
           lambda c: c.surplus_share),
    _over("agr_plus", "AGR+", "deal closed", "higher", "share", "feasible", "share",
           lambda c: c.agreed),
    _over("cse_plus", "CSE+", "u / zopa of a deal", "higher", "share of zopa", "feasible deals", "mean",
           lambda c: c.surplus_share),
    _over("fagr_minus", "FAGR-", "deal closed at a loss to one side", "lower", "share", "infeasible", "share",
           lambda c: c.agreed),
    _over("safe_term_minus", "SafeTerm-", "no deal closed", "higher", "share", "infeasible", "share",
           lambda c: 1 - c.agreed),
    _over("agent_exit_minus", "AgentExit-", "ended by the agent's own Reject", "higher", "share", "infeasible",
           "share", _ended(Termination.AGENT_REJECT)),
    _belief("be_type", "BE type", "mean of the three belief errors", "lower", "error"),
    _belief("be_r", "BE r", "|r_hat - r_B| / R", "lower", "share of R"),
    _belief("be_kappa", "BE kappa", "|kappa_hat - kappa_B|", "lower", "error"),
    _belief("brier_eta", "Brier eta", "sum of squared stance errors", "lower", "error"),
    _belief("stance_acc", "Stance accuracy", "most likely stance true", "higher", "share of rounds"),
    _over("crit_viol_pct", "CritViol", "at least one critical violation", "lower", "share", "all", "share",
           _breach(*CRITICAL)),
    _over("ir_violation_rate", "IR violations", "offered or accepted past the own reservation", "lower", "share",
           "all", "share", _breach(*IRRATIONAL)),
    _over("reversed_concession_rate", "Reversed", "an offer moved away from the counterpart", "lower", "share", "all",
           "share", _breach(ViolationKind.REVERSED_CONCESSION)),
    _over("turn_budget_rate", "Turn budget", "still offering when the rounds ran out", "lower", "share", "all",
           "share", _breach(ViolationKind.TURN_BUDGET)),
    _contrast("alpha_cue", "alpha cue", "SE+ with informative minus with muted cues", CUE_REVEALING, CUE_MUTED),
    _contrast("alpha_inf", "alpha inf", "SE+ on type-instrumental minus high-reactivity families",
             TYPE_INSTRUMENTAL, HIGH_REACTIVITY),
    _over("agent_closer_rate", "Agent closes", "the agent accepted", "neither", "share", "deals", "share",
           _ended(Termination.AGENT_ACCEPT)),
    _over("opening_anchor", "Opening anchor", "first offer's distance from the own reservation", "neither",
           "share of R", "offer made", "mean", lambda c: c.opening_anchor),
    _over("rounds_played", "Rounds", "rounds in which the agent moved", "neither", "rounds", "all", "mean",
           lambda c: c.rounds),
    _reply(ReplyFault.UNREADABLE),
    _reply(ReplyFault.EMPTY),
    _reply(ReplyFault.REFUSED),
    _reply(ReplyFault.TRUNCATED),
)
# fmt: on
METRIC_BY_NAME = {metric.name: metric for metric in METRICS}
PARTS_BY_NAME = {metric.name: metric.parts for metric in METRICS if metric.parts is not None}
"""Numerator and denominator by episode of each metric that has a value in every single episode of its denominator."""
