"""What each section of the report shows, as plain records the template lays out. No HTML here, no colours."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from experiments.episodes.records import invalidity, share_of_trials, unusable_share
from experiments.report.losing import loss_parts
from experiments.report.page_facts import ReportRun, SuiteComparison
from terms.estimates import UNDEFINED, Estimate
from terms.fingerprints import Fingerprint, fingerprint
from terms.metrics import Summary, belief_error_by_round, summarize
from terms.suites import NUM_BINS
from terms.types import Family, ReplyFault, Termination

LEADERBOARD = ("se_plus", "agr_plus", "cse_plus", "mean_utility", "fagr_minus", "crit_viol_pct")
FAMILIES = tuple(family.value for family in Family)
BINS = tuple(f"bin_{index}" for index in range(NUM_BINS))
TERMINATIONS = tuple(Termination)
PENALTIES = ("alpha_cue", "alpha_inf")
PROFITS = (
    "total_profit", "mean_profit", "total_money_left", "regret_rate", "gross_margin", "negative_profit_rate",
    "walkaway_correctness",
)  # fmt: skip
"""Columns of the profit leaderboard."""
REPLY_FAULTS = {
    "ok": "As asked",
    "repaired": "Repaired",
    "corrected": "Corrected",
    "illegal": "Illegal",
    "empty": "Blank",
    "unreadable": "Unreadable",
    "refused": "Refused",
    "filtered": "Prompt filtered",
    "truncated": "Truncated",
    "provider_fault": "Provider failed",
}
"""How the verdict on a reply is named to a reader; ``corrected`` counts rounds."""
BLANK = ("empty", "truncated")


class Gate(NamedTuple):
    """Whether a run's scores may be read: shares of all its trials, and the verdict in words."""

    rates: dict[str, Estimate]
    unusable: Estimate
    problem: str

    @property
    def is_valid(self) -> bool:
        """Whether nothing stands against reading the scores."""
        return not self.problem


@dataclass(frozen=True)
class RunView:
    """One run with everything computed from it, each once."""

    run: ReportRun
    key: str
    max_unusable_share: float

    @cached_property
    def summary(self) -> Summary:
        """Every metric, overall and by slice."""
        return summarize(self.run.episodes)

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """How the agent moves."""
        return fingerprint(self.run.episodes)

    @cached_property
    def belief_curve(self) -> list[Estimate]:
        """Belief error by round."""
        return belief_error_by_round(self.run.episodes)

    @property
    def has_beliefs(self) -> bool:
        """Whether a full belief was stated in any round."""
        return any(value.estimate is not None for value in self.belief_curve)

    @property
    def num_scored(self) -> int:
        """Trials that count, so without those the provider lost."""
        return self.summary.num_episodes - self.summary.num_excluded

    @property
    def has_bins(self) -> bool:
        """Whether the suite grades its episodes."""
        return bool(self.summary.difficulty)

    @property
    def is_clean(self) -> bool:
        """Whether there is nothing to be said of the replies: all usable, none lost."""
        spoilt = [self.gate.unusable, *self.gate.rates.values()]
        return self.gate.is_valid and not any(share.estimate for share in spoilt)

    def regret_by_lot(self) -> dict[str, Estimate]:
        """Regret rate by lot size, smallest lots first; empty if the run was not played for money."""
        slices = self.run.money or {}
        return {label: part["regret_rate"] for label, part in slices.items() if label != "overall"}

    @property
    def trouble(self) -> list[tuple[str, Estimate]]:
        """What was wrong with replies of a model, by name, where anything was."""
        if self.run.model is None:
            return []
        replies = self.run.model.replies
        return [
            (label, replies[name]) for name, label in REPLY_FAULTS.items() if name != "ok" and replies[name].estimate
        ]

    @cached_property
    def gate(self) -> Gate:
        """The validity gate of this run."""
        return _gate(self.run, self.max_unusable_share)

    @cached_property
    def loss(self) -> dict[str, Estimate]:
        """What was taken of the surplus, and how the rest was lost."""
        return loss_parts(self.run.episodes)

    def family_surplus(self) -> list[Estimate]:
        """SE+ against every family, undefined where none was met."""
        return [_slice(self.summary.families, family, "se_plus") for family in FAMILIES]

    def difficulty_surplus(self) -> list[Estimate]:
        """SE+ in every difficulty bin."""
        return [_slice(self.summary.difficulty, name, "se_plus") for name in BINS]

    def terminations(self, *, feasible: bool) -> list[tuple[Termination, Estimate]]:
        """Share of each ending among the feasible or infeasible trials, excluded ones shown as their own part."""
        chosen = [episode for episode in self.run.episodes if episode.is_feasible is feasible]
        return [(kind, share_of_trials(chosen, [e.termination is kind for e in chosen])) for kind in TERMINATIONS]


def _slice(groups: Mapping[str, Mapping[str, Estimate]], label: str, metric: str) -> Estimate:
    return groups[label][metric] if label in groups else UNDEFINED


def _gate(run: ReportRun, max_share: float) -> Gate:
    episodes = run.episodes
    rates = {fault.value: share_of_trials(episodes, [e.fault is fault for e in episodes]) for fault in ReplyFault}
    unusable = unusable_share(episodes)
    blank = sum(run.model.replies[name].estimate or 0.0 for name in BLANK) if run.model else 0.0
    problem = invalidity(episodes, max_share) or ""
    if not problem and blank > max_share:
        problem = f"{100 * blank:.1f} % of the replies were blank or cut off; {100 * max_share:g} % is allowed"
    return Gate(rates, unusable, problem)


class Placement(NamedTuple):
    """A row of the leaderboard; ``rank`` is ``None`` if it was not compared.

    Rows that share a letter are not told apart.
    """

    view: RunView
    rank: int | None
    letters: str


@dataclass(frozen=True)
class SuiteView:
    """All runs on one suite, in leaderboard order."""

    label: str
    key: str
    placements: tuple[Placement, ...]
    comparison: SuiteComparison | None
    notices: tuple[str, ...]

    @property
    def views(self) -> list[RunView]:
        """Runs in leaderboard order."""
        return [placement.view for placement in self.placements]

    @property
    def earners(self) -> list[RunView]:
        """Runs that were played for money, largest total profit first."""
        earning = [view for view in self.views if view.run.money is not None]
        return sorted(earning, key=_total_profit, reverse=True)

    @property
    def horizon(self) -> int:
        """Largest number of rounds of any episode."""
        return max((episode.horizon for view in self.views for episode in view.run.episodes), default=0)


def suite_views(views: Sequence[RunView], comparisons: Sequence[SuiteComparison]) -> list[SuiteView]:
    """Group runs by suite in the order given, and order each suite by its comparison, else by SE+."""
    by_label = {comparison.suite: comparison for comparison in comparisons}
    suites = []
    for index, label in enumerate(dict.fromkeys(view.run.suite for view in views)):
        members = [view for view in views if view.run.suite == label]
        notices = tuple(dict.fromkeys(notice for view in members for notice in view.run.notices))
        comparison = by_label.get(label)
        suites.append(SuiteView(label, f"suite-{index}", tuple(_place(members, comparison)), comparison, notices))
    return suites


def _place(views: Sequence[RunView], comparison: SuiteComparison | None) -> list[Placement]:
    by_agent = {view.run.agent: view for view in views}
    ranking = comparison.ranking if comparison else ()
    letters = comparison.letters if comparison else {}
    placements = [Placement(by_agent[agent], rank, letters[agent]) for rank, agent in enumerate(ranking, 1)]
    placed = {placement.view.key for placement in placements}
    rest = sorted((view for view in views if view.key not in placed), key=_validity_and_surplus)
    return [*placements, *(Placement(view, None, "") for view in rest)]


def _validity_and_surplus(view: RunView) -> tuple[bool, bool, float]:
    value = view.summary.overall["se_plus"].estimate
    return (not view.gate.is_valid, value is None, 0.0 if value is None else -value)


def _total_profit(view: RunView) -> float:
    total = view.run.money["overall"]["total_profit"].estimate if view.run.money else None
    return -math.inf if total is None else total


class SuitePair(NamedTuple):
    """SE+ of one agent on each suite, in all feasible episodes and in overlap; undefined where it did not play."""

    agent: str
    overall: list[Estimate]
    overlap: list[Estimate]


def suite_pairs(suites: Sequence[SuiteView]) -> list[SuitePair]:
    """Return the agents that played two or more suites, where one suite's regularities would show."""
    by_suite = [{view.run.agent: view.summary for view in suite.views} for suite in suites]
    agents = dict.fromkeys(agent for summaries in by_suite for agent in summaries)
    return [
        SuitePair(
            agent,
            [_surplus_of(summaries.get(agent), None) for summaries in by_suite],
            [_surplus_of(summaries.get(agent), "overlap") for summaries in by_suite],
        )
        for agent in agents
        if sum(agent in summaries for summaries in by_suite) > 1
    ]


def _surplus_of(summary: Summary | None, regime: str | None) -> Estimate:
    if summary is None:
        return UNDEFINED
    return summary.overall["se_plus"] if regime is None else _slice(summary.regimes, regime, "se_plus")
