"""What a report is made from. Nothing here is computed: runs and comparisons arrive finished and are checked once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from terms.estimates import Estimate
from terms.records import EpisodeRecord
from terms.types import Termination

ENDINGS = {
    Termination.AGENT_ACCEPT.value: "Agent accepted",
    Termination.COUNTERPART_ACCEPT.value: "Counterpart accepted",
    Termination.AGENT_REJECT.value: "Agent left",
    Termination.COUNTERPART_WALK.value: "Counterpart walked away",
    Termination.ROUND_LIMIT.value: "Rounds ran out",
    Termination.INVALID_ACTION.value: "Invalid action",
    Termination.NO_REPLY.value: "No reply",
    Termination.PROVIDER_FAILURE.value: "Lost to the provider",
    Termination.COUNTERPART_FAULT.value: "Invalid action of the other side",
}
"""How each termination is named to a reader."""


@dataclass(frozen=True)
class ModelFacts:
    """What the calls of a model run came to; every number arrives finished.

    Attributes
    ----------
    settings
        How the model was asked, shown as given; ``model`` and ``effort`` get columns of their own.
    replies
        Share of replies by verdict, and ``corrected``: the share of rounds that took a second chance.
    usd_per_episode
        Settled dollars.
    latency_s
        Seconds until an answer was whole.
    settled_microusd, num_settled, num_unknown, num_free, num_recalled
        Money in three states, and calls answered from a cache.
    tokens
        Totals by kind.
    served_by
        Every back-end that answered.
    refused
        Parts of requests that a server refused.
    efforts
        Those that the server says it applied.
    voice_microusd
        What of the settled money the counterpart's voice cost.
    num_without_tokens
        Attempts whose tokens nobody stated; they are in no total of ``tokens``.
    """

    settings: Mapping[str, str]
    replies: Mapping[str, Estimate]
    usd_per_episode: Estimate
    latency_s: Estimate
    settled_microusd: int
    num_settled: int
    num_unknown: int
    num_free: int
    num_recalled: int
    tokens: Mapping[str, int]
    served_by: tuple[str, ...]
    refused: tuple[str, ...] = ()
    efforts: tuple[str, ...] = ()
    voice_microusd: int = 0
    num_without_tokens: int = 0

    @property
    def is_money_known(self) -> bool:
        """Whether any money is known; a sum of nothing where some is unknown is no statement of zero."""
        return self.num_settled > 0 or self.num_unknown == 0

    @property
    def are_tokens_known(self) -> bool:
        """Whether any attempt stated its tokens, or none was owed a statement."""
        return self.num_without_tokens == 0 or self.num_without_tokens < self.num_settled + self.num_unknown


@dataclass(frozen=True)
class Waterfall:
    """Where one agent loses against a reference, by slice; every number arrives finished.

    Attributes
    ----------
    agent, suite, reference
        What was measured, on what, against whom.
    slices
        By label (``all`` first), estimates by part, ``played`` and ``reference`` included, in price units.
    verdict
        What to mend first, in words.
    """

    agent: str
    suite: str
    reference: str
    slices: Mapping[str, Mapping[str, Estimate]]
    verdict: str


@dataclass(frozen=True)
class BeliefFacts:
    """The stated beliefs of one run against the exact posterior at the same moments; every number arrives finished.

    Attributes
    ----------
    overall
        By part of the error (``be_type`` first) and name: ``stated``, ``exact``, ``excess``, ``distance``.
    curves
        The same by round, index 0 being round 1.
    """

    overall: Mapping[str, Mapping[str, Estimate]]
    curves: Mapping[str, Mapping[str, Sequence[Estimate]]]


@dataclass(frozen=True)
class PosteriorCheck:
    """Whether the exact posterior is calibrated on the moments of all runs on one suite.

    Attributes
    ----------
    suite
        Label of the runs.
    shares
        Share of moments at which the true reservation fell in each equal part of the posterior, lowest first.
    frequencies
        By bin of a stance's probability: its mean, and how often the stance was true.
    num_moments
        How many moments were seen.
    """

    suite: str
    shares: Sequence[Estimate]
    frequencies: Sequence[tuple[Estimate, Estimate]]
    num_moments: int


@dataclass(frozen=True)
class ReportRun:
    """One agent on one suite.

    Attributes
    ----------
    agent, suite
        Row labels; the pair must be unique in a report.
    episodes
        All records, also those the provider lost.
    notices
        What a reader must know about the suite, such as :data:`terms.PUBLISHED_FLAW`.
    config
        Facts for the appendix (seed, version, hashes), shown as given.
    model
        What the calls of a language model came to; ``None`` for any other agent.
    receipts
        By scenario, how a model's reply of each round was read: ``round`` and ``attempts``, each with ``kind``,
        ``verdict``, ``repairs``, ``problem`` and ``text``.
    money
        By slice (``overall``, then lot sizes such as ``01-10``), every metric in money by name; ``None`` if the run was
        not played for money.
    money_groups
        The same by kind of group (role, category, product) and group.
    dollars_lost
        By scenario, what was left on the table or lost, in dollars, of an episode played for money.
    reviews
        By scenario, the oracle's word on each move: ``round``, ``reference`` (its move in words), ``cost`` and
        ``hindsight_cost`` in price units, ``r_low``, ``r_mean``, ``r_high`` (what could be believed of the hidden
        reservation) and ``feasible_prob``. Only for the episodes that were reviewed.
    beliefs
        Its stated beliefs against the exact posterior; ``None`` if that was not followed, or no belief was stated.
    """

    agent: str
    suite: str
    episodes: tuple[EpisodeRecord, ...]
    notices: tuple[str, ...] = ()
    config: Mapping[str, str] = field(default_factory=dict)
    model: ModelFacts | None = None
    receipts: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    reviews: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    beliefs: BeliefFacts | None = None
    money: Mapping[str, Mapping[str, Estimate]] | None = None
    money_groups: Mapping[str, Mapping[str, Mapping[str, Estimate]]] = field(default_factory=dict)
    dollars_lost: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class SuiteComparison:
    """The verdict of a paired comparison on one suite, rendered as given.

    Attributes
    ----------
    suite
        Label of the runs compared.
    ranking
        Agents, best first.
    letters
        Letters of each; two agents share one exactly if they are not told apart.
    headings, differences
        A table of the pairs, finished text.
    matrix_headings, matrix
        A matrix of the pairs, finished text: verdicts above the diagonal, how many scenarios are needed below.
    note
        How the comparison was made: metric, pairing, correction.
    """

    suite: str
    ranking: tuple[str, ...]
    letters: Mapping[str, str]
    headings: tuple[str, ...] = ()
    differences: Sequence[tuple[str, ...]] = ()
    matrix_headings: tuple[str, ...] = ()
    matrix: Sequence[tuple[str, ...]] = ()
    legend: str = ""
    note: str = ""


def check_inputs(
    runs: Sequence[ReportRun], comparisons: Sequence[SuiteComparison], checks: Sequence[PosteriorCheck] = ()
) -> None:
    """Raise ``ValueError`` on an empty report, two runs under one label, or a verdict on what is not in it."""
    if not runs:
        raise ValueError("runs is empty; a report needs at least one run")
    labels = [(run.agent, run.suite) for run in runs]
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(
                f"runs has agent={label[0]!r} on suite={label[1]!r} twice; give each run its own suite label"
            )
    for comparison in comparisons:
        _check_comparison(comparison, [agent for agent, suite in labels if suite == comparison.suite])
    for name, suites in (("comparisons", [each.suite for each in comparisons]), ("checks", [c.suite for c in checks])):
        for suite in suites:
            if suites.count(suite) > 1:
                raise ValueError(f"{name} has suite={suite!r} twice; one verdict a suite")
    for check in checks:
        if check.suite not in [suite for _, suite in labels]:
            raise ValueError(f"check of suite={check.suite!r}, but no run is on that suite")


def _check_comparison(comparison: SuiteComparison, agents: Sequence[str]) -> None:
    if not agents:
        raise ValueError(f"comparison of suite={comparison.suite!r}, but no run is on that suite")
    named = list(comparison.ranking)
    for agent in named:
        if agent not in agents:
            raise ValueError(
                f"comparison of suite={comparison.suite!r} names agent={agent!r}, runs there are {', '.join(agents)}"
            )
        if named.count(agent) > 1:
            raise ValueError(f"comparison of suite={comparison.suite!r} ranks agent={agent!r} twice")
