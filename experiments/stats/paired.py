"""Comparing agents on the same scenarios, sessions or worlds (the blocks).

For block ``i`` let ``d_i`` be the difference of two agents' mean outcomes over their repeats. The reported difference
is the mean of ``d_i``, with the interval and the p-value of :mod:`terms.intervals`; all pairs compared are one family
of tests (:mod:`experiments.stats.families`), which gives the verdicts and the interval each was decided on. Beside it
stand the spread of ``d_i`` and what it would be for two agents on different blocks, ``sqrt(var a + var b)``, with the
correlation that makes the two differ: where it is not above 0, meeting the same draws brings nothing.

How often one agent does better than another is ``P(X > Y)`` with ties counted half (Agarwal et al. 2021, Deep
Reinforcement Learning at the Edge of the Statistical Precipice), over all pairs of repeats. Paired, the two meet the
same scenario, and the interval is the exact one of a share of scenarios, which is wide enough for ties and repeats.
Unpaired, every scenario of one meets every scenario of the other: Mann and Whitney's statistic, whose interval adds up
what each scenario contributes to either side, because both agents play the same ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from commerce.row_tables import data_frame, table_html
from experiments.stats.families import AlikeBlocks, Measured, PairVerdict, Ruling, letter_groups, letters_of, rule_on
from terms import EpisodeRecord
from terms.aliases import Floats
from terms.columns import Columns
from terms.estimates import UNDEFINED, Estimate
from terms.intervals import FEW, LEVEL, mean_bounds, share_bounds, spread_of
from terms.metric_table import METRIC_BY_NAME, PARTS_BY_NAME
from terms.sample_sizes import Needed, needed_for_difference

#: Metrics that agents can be paired on: the denominator is fixed by the scenario, or both stated beliefs in it.
PAIRED = (
    "se_plus", "mean_utility", "agr_plus", "fagr_minus", "agent_exit_minus", "crit_viol_pct", "be_type", "stance_acc",
)  # fmt: skip
#: Those whose outcomes are shares, between 0 and 1, also of years: few that differ still bound the difference.
BLOCK_SHARES = ("agr_plus", "fagr_minus", "agent_exit_minus", "crit_viol_pct", "stance_acc", "is_bankrupt")

Outcomes = Mapping[str, Sequence[float]]
"""By block, an agent's outcome in each repeat."""


class Pairing(NamedTuple):
    """Deviation of the difference of a block, paired and as if unpaired, and the correlation of the two agents."""

    deviation: float | None
    unpaired_deviation: float | None
    correlation: float | None


class Pair(NamedTuple):
    """``first`` minus ``second`` on the blocks both have, before the family of tests is known."""

    metric: str
    first: str
    second: str
    measured: Measured
    needed: Needed
    pairing: Pairing
    improvement: Estimate
    improvement_unpaired: Estimate


class Difference(NamedTuple):
    """``first`` minus ``second`` over ``n`` shared blocks.

    ``low`` and ``high`` are the 95 % interval of this difference alone, ``low_joint`` and ``high_joint`` the one its
    verdict was decided on, at confidence ``level``. ``improvement`` is how likely ``first`` does better in a block.
    """

    metric: str
    first: str
    second: str
    estimate: float
    low: float | None
    high: float | None
    p: float | None
    n: int
    p_holm: float | None
    level: float
    low_joint: float | None
    high_joint: float | None
    p_equivalent: float | None
    verdict: PairVerdict
    needed: Needed
    pairing: Pairing
    improvement: Estimate
    improvement_unpaired: Estimate

    @property
    def is_significant(self) -> bool:
        """Whether the two are told apart."""
        return self.verdict is PairVerdict.DIFFERENT

    def to_json_object(self) -> dict[str, Any]:
        """Return the difference as JSON types."""
        nested = ("needed", "pairing", "improvement", "improvement_unpaired")
        return {**self._asdict(), **{name: getattr(self, name)._asdict() for name in nested}}


_SHOWN = ("first", "second", "estimate", "low", "high", "p_holm", "verdict", "n")
"""What a table of differences shows of each."""


class Comparison(NamedTuple):
    """All pairs of agents on one metric.

    ``ranking`` has the best agent first; ``groups`` has for each letter the agents that share it, and two agents share
    one exactly if their own test does not tell them apart. ``num_tests`` is the size of the family.
    """

    metric: str
    differences: tuple[Difference, ...]
    ranking: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    num_tests: int

    @property
    def letters(self) -> Mapping[str, str]:
        """The letters of each agent."""
        return letters_of(self.groups)

    @property
    def num_different(self) -> int:
        """How many pairs are told apart."""
        return sum(difference.is_significant for difference in self.differences)

    def _repr_html_(self) -> str:
        """Return the differences as a table, for notebooks."""
        caption = f"{self.metric}, best first: {', '.join(self.ranking)}"
        return table_html(caption, _SHOWN, [[getattr(each, name) for name in _SHOWN] for each in self.differences])

    def to_frame(self) -> Any:
        """Return the differences as a pandas data frame."""
        return data_frame([tuple(getattr(each, name) for name in _SHOWN) for each in self.differences], _SHOWN)

    def to_json_object(self) -> dict[str, Any]:
        """Return the comparison as JSON types."""
        return {
            "metric": self.metric,
            "ranking": list(self.ranking),
            "letters": dict(self.letters),
            "groups": [list(group) for group in self.groups],
            "num_tests": self.num_tests,
            "num_different": self.num_different,
            "differences": [difference.to_json_object() for difference in self.differences],
        }


def compare(
    runs: Mapping[str, Sequence[EpisodeRecord]],
    metric: str = "se_plus",
    *,
    delta: float | None = None,
    margin: float | None = None,
) -> Comparison:
    """Compare every pair of agents in ``runs`` on ``metric``: see :func:`compare_outcomes`.

    Raises
    ------
    ValueError
        If the metric cannot be paired, or agents cannot be compared.
    """
    if metric not in PAIRED:
        raise ValueError(f"metric={metric!r}, allowed are {', '.join(PAIRED)}")
    outcomes = {name: scenario_outcomes(episodes, metric) for name, episodes in runs.items()}
    return compare_outcomes(outcomes, metric, METRIC_BY_NAME[metric].better, delta=delta, margin=margin)


def compare_outcomes(
    outcomes: Mapping[str, Outcomes],
    metric: str,
    better: str,
    *,
    delta: float | None = None,
    margin: float | None = None,
    few: int = FEW,
) -> Comparison:
    """Compare every pair of agents by their outcomes in each block they share: a scenario, a session or a world.

    Parameters
    ----------
    outcomes
        By agent and block, the outcomes of ``metric`` in each repeat.
    better
        ``higher`` or ``lower``: which end of the ranking is the best.
    delta
        The difference that ``needed`` is stated for, by default the one found.
    margin
        Differences within it count as none: equivalence becomes a verdict.
    few
        The least number of shared blocks that say anything.

    Raises
    ------
    ValueError
        If fewer than two agents are given, or two share no block.
    """
    check_shared(outcomes, metric)
    pairs = measure_pairs(outcomes, metric, better, delta=delta, few=few)
    decisions = rule_on([pair.measured for pair in pairs], [margin] * len(pairs))
    return compared(outcomes, metric, better, join(pairs, decisions), len(pairs))


def check_shared(outcomes: Mapping[str, Outcomes], metric: str) -> None:
    """Raise where agents cannot be compared, saying why."""
    if len(outcomes) < 2:
        raise ValueError(f"runs has {len(outcomes)} agent; a comparison needs at least 2")
    for name, blocks in outcomes.items():
        if not blocks:
            raise ValueError(f"{metric} of {name} is undefined everywhere; it cannot be compared")
    for first, second in combinations(outcomes, 2):
        if not set(outcomes[first]) & set(outcomes[second]):
            raise ValueError(
                f"{first} and {second} have nothing in common to be compared on: {first} has {_some(outcomes[first])}, "
                f"{second} has {_some(outcomes[second])}"
            )


def _some(blocks: Outcomes) -> str:
    first = next(iter(blocks))
    return f"{first!r}" if len(blocks) == 1 else f"{first!r} and {len(blocks) - 1} more"


def measure_pairs(
    outcomes: Mapping[str, Outcomes], metric: str, better: str, *, delta: float | None = None, few: int = FEW
) -> list[Pair]:
    """Measure every two agents that share a block."""
    return [
        _measure((metric, a, b), outcomes[a], outcomes[b], better, (delta, few))
        for a, b in combinations(outcomes, 2)
        if set(outcomes[a]) & set(outcomes[b])
    ]


def _measure(
    names: tuple[str, str, str], a: Outcomes, b: Outcomes, better: str, asked: tuple[float | None, int]
) -> Pair:
    shared = sorted(set(a) & set(b))
    x, y = (np.array([math.fsum(side[block]) / len(side[block]) for block in shared]) for side in (a, b))
    d = x - y
    spread = spread_of(d, few=asked[1])
    is_alike = names[0] in BLOCK_SHARES and len(d) >= asked[1] and bool(np.isnan(spread.error))
    measured = Measured(float(d.mean()), spread, len(d), AlikeBlocks.of(d) if is_alike else None)
    return Pair(*names, measured, needed_for_difference(d, asked[0]), _pairing(x, y), *improvement(a, b, better))


def _pairing(x: Floats, y: Floats) -> Pairing:
    if len(x) < 2:
        return Pairing(None, None, None)
    variances = float(x.var(ddof=1)), float(y.var(ddof=1))
    correlation = None
    if min(variances) > 0:
        correlation = float(np.clip(np.cov(x, y)[0, 1] / math.sqrt(variances[0] * variances[1]), -1, 1))
    return Pairing(float((x - y).std(ddof=1)), math.sqrt(sum(variances)), correlation)


def join(pairs: Sequence[Pair], decisions: Sequence[Ruling]) -> tuple[Difference, ...]:
    """Return each pair with what its family says of it."""
    return tuple(_joined(pair, decision) for pair, decision in zip(pairs, decisions, strict=True))


def _joined(pair: Pair, ruling: Ruling) -> Difference:
    found, said = pair._asdict(), ruling._asdict()
    measured: Measured = found.pop("measured")
    low, high = measured.bounds(LEVEL)
    joint = {"low_joint": said.pop("low"), "high_joint": said.pop("high")}
    return Difference(
        estimate=measured.estimate, low=low, high=high, p=measured.p, n=measured.n, **found, **said, **joint
    )


def compared(
    outcomes: Mapping[str, Outcomes], metric: str, better: str, differences: tuple[Difference, ...], num_tests: int
) -> Comparison:
    """Return the comparison with its ranking and letters."""
    ranking = _ranking(outcomes, better)
    told_apart = [(each.first, each.second) for each in differences if each.is_significant]
    return Comparison(metric, differences, ranking, letter_groups(ranking, told_apart), num_tests)


def _ranking(outcomes: Mapping[str, Outcomes], better: str) -> tuple[str, ...]:
    """Rank agents on the blocks that all of them have, or if there is none, each on its own."""
    common = set.intersection(*(set(blocks) for blocks in outcomes.values()))

    def score(name: str) -> float:
        chosen = sorted(common or outcomes[name])
        return math.fsum(math.fsum(outcomes[name][block]) / len(outcomes[name][block]) for block in chosen) / len(
            chosen
        )

    return tuple(sorted(outcomes, key=score, reverse=better == "higher"))


def scenario_outcomes(episodes: Sequence[EpisodeRecord], metric: str) -> dict[str, list[float]]:
    """Return by scenario the outcome of each episode in the metric's denominator."""
    columns = Columns.of(episodes)
    sums, weights = PARTS_BY_NAME[metric](columns)
    found: dict[str, list[float]] = {}
    for episode, value, weight in zip(columns.episodes, sums, weights, strict=True):
        if weight:
            found.setdefault(episode.scenario_id, []).append(float(value) / float(weight))
    return found


def improvement(
    first: Mapping[str, Sequence[float]], second: Mapping[str, Sequence[float]], better: str
) -> tuple[Estimate, Estimate]:
    """Return how likely ``first`` does better than ``second``, paired and unpaired, over the blocks both have.

    Parameters
    ----------
    first, second
        By scenario, session or world, the outcomes of each repeat.
    better
        ``higher`` or ``lower``: which outcome is the better one.
    """
    shared = sorted(set(first) & set(second))
    if not shared:
        return UNDEFINED, UNDEFINED
    sign = -1.0 if better == "lower" else 1.0
    x, y = ([sign * np.asarray(side[block], dtype=np.float64) for block in shared] for side in (first, second))
    wins = np.array([_wins(mine, theirs).mean() for mine, theirs in zip(x, y, strict=True)])
    paired = float(wins.mean())
    return Estimate(paired, *share_bounds(paired, len(wins)), len(wins)), _unpaired(x, y)


def _wins(x: Floats, y: Floats) -> Floats:
    """Return 1 where an entry of ``x`` is above one of ``y``, one half where they are equal, shape (x, y)."""
    found: Floats = (np.sign(x[:, None] - y[None, :]) + 1) / 2
    return found


def _unpaired(x: Sequence[Floats], y: Sequence[Floats]) -> Estimate:
    blocks = len(x)
    ours = np.repeat(np.arange(blocks), [len(each) for each in x])
    theirs = np.repeat(np.arange(blocks), [len(each) for each in y])
    wins = _wins(np.concatenate(x), np.concatenate(y))
    value = float(wins.mean())
    counts = [np.bincount(side, minlength=blocks) for side in (ours, theirs)]
    mine = np.bincount(ours, weights=wins.mean(axis=1) - value, minlength=blocks) / counts[0].mean()
    other = np.bincount(theirs, weights=wins.mean(axis=0) - value, minlength=blocks) / counts[1].mean()
    low, high = mean_bounds(value, spread_of(value + mine + other))
    if not np.isfinite(low):
        return Estimate(value, None, None, blocks)
    return Estimate(value, max(0.0, float(low)), min(1.0, float(high)), blocks)
