r"""Comparing agents on the same scenarios and the same draws.

For scenario ``i`` let ``d_i`` be the difference of two agents' mean outcomes. The reported difference is the mean of
``d_i``; its 95 % interval is a percentile bootstrap that resamples whole scenarios, or with fewer than 50 of them,
where that is too narrow, Student's t; its p-value is that of the paired t-test, Holm-corrected over all pairs compared.
The number of scenarios needed to see a true difference ``delta`` with 80 % power at the 5 % level is
``((1.960 + 0.842) sd(d) / delta)^2 + 1.960^2 / 2``; the last term is what the t-test costs over a normal test (Guenther
1981, The American Statistician 35, 243-244).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from terms import EpisodeRecord
from terms.aliases import Floats
from terms.columns import Columns
from terms.estimates import Ratio, estimate_ratios, normal_quantile
from terms.metric_table import METRIC_BY_NAME, PARTS_BY_NAME

#: Metrics that agents can be paired on: the denominator is fixed by the scenario, or both stated beliefs in it.
PAIRED = (
    "se_plus", "mean_utility", "agr_plus", "fagr_minus", "agent_exit_minus", "crit_viol_pct", "be_type", "stance_acc",
)  # fmt: skip
NUM_RESAMPLES = 2_000
SIGNIFICANCE, POWER = 0.05, 0.80
MIN_BOOTSTRAP = 50
"""Fewer blocks than this get Student's interval: of 4 blocks a percentile interval holds the mean 80 % of the time."""


class Difference(NamedTuple):
    """``first`` minus ``second`` on their shared scenarios; ``needed`` scenarios would show ``estimate`` again."""

    metric: str
    first: str
    second: str
    estimate: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    n: int
    needed: int | None

    @property
    def is_significant(self) -> bool:
        """Whether the corrected p-value is below 5 %."""
        return self.p_holm is not None and self.p_holm < SIGNIFICANCE


class Comparison(NamedTuple):
    """All pairs of agents on one metric, and groups of agents that cannot be told apart, best group first."""

    metric: str
    differences: tuple[Difference, ...]
    groups: tuple[tuple[str, ...], ...]


def compare(
    runs: Mapping[str, Sequence[EpisodeRecord]],
    metric: str = "se_plus",
    *,
    rng: np.random.Generator,
    delta: float | None = None,
) -> Comparison:
    """Compare every pair of agents in ``runs`` on ``metric``.

    ``needed`` is stated for a true difference of ``delta``, by default for the difference found.

    Raises
    ------
    ValueError
        If the metric cannot be paired, or fewer than two agents are given.
    """
    if metric not in PAIRED:
        raise ValueError(f"metric={metric!r}, allowed are {', '.join(PAIRED)}")
    if len(runs) < 2:
        raise ValueError(f"runs has {len(runs)} agent; a comparison needs at least 2")
    values = {name: scenario_means(episodes, metric) for name, episodes in runs.items()}
    return compare_values(values, metric, METRIC_BY_NAME[metric].better, rng=rng, delta=delta)


def compare_values(
    values: Mapping[str, Mapping[str, float]],
    metric: str,
    better: str,
    *,
    rng: np.random.Generator,
    delta: float | None = None,
) -> Comparison:
    """Compare every pair of agents by their value in each block they share: a scenario, a session or a year.

    Parameters
    ----------
    values
        By agent, its value of ``metric`` in each block.
    better
        ``higher`` or ``lower``: which end of the ranking is the best.
    """
    if len(values) < 2:
        raise ValueError(f"runs has {len(values)} agent; a comparison needs at least 2")
    raw = [_difference((metric, a, b), values[a], values[b], rng=rng, delta=delta) for a, b in combinations(values, 2)]
    corrected = holm([difference.p for difference in raw])
    differences = tuple(d._replace(p_holm=p) for d, p in zip(raw, corrected, strict=True))
    return Comparison(metric, differences, _groups(values, differences, better))


def scenario_means(episodes: Sequence[EpisodeRecord], metric: str) -> dict[str, float]:
    """Return the mean outcome of each scenario in the metric's denominator, repeats averaged."""
    columns = Columns.of(episodes)
    sums, weights = PARTS_BY_NAME[metric](columns)
    totals: dict[str, list[tuple[float, float]]] = {}
    for episode, value, weight in zip(columns.episodes, sums, weights, strict=True):
        if weight:
            totals.setdefault(episode.scenario_id, []).append((float(value), float(weight)))
    return {
        scenario: math.fsum(value for value, _ in rows) / math.fsum(weight for _, weight in rows)
        for scenario, rows in totals.items()
    }


def _difference(
    names: tuple[str, str, str],
    a: Mapping[str, float],
    b: Mapping[str, float],
    *,
    rng: np.random.Generator,
    delta: float | None,
) -> Difference:
    shared = sorted(set(a) & set(b))
    d = np.array([a[scenario] - b[scenario] for scenario in shared])
    if len(d) == 0:
        return Difference(*names, None, None, None, None, None, 0, None)
    low, high = paired_interval(d, rng=rng)
    p = paired_p(d) if len(d) > 1 else None
    mean = float(d.mean())
    return Difference(*names, mean, low, high, p, None, len(d), needed_n(d, mean if delta is None else delta))


def paired_interval(d: Floats, *, rng: np.random.Generator) -> tuple[float | None, float | None]:
    """Return the 95 % interval of the mean of ``d``, shape (blocks,); ``None`` of a single block.

    Of few blocks it is Student's, which excludes 0 exactly where :func:`paired_p` is below 5 %.
    """
    if len(d) >= MIN_BOOTSTRAP:
        return bootstrap_interval(d, rng=rng)
    found = estimate_ratios([Ratio(d, np.ones(len(d)))], np.arange(len(d)))
    return found.low, found.high


def bootstrap_interval(d: Floats, *, rng: np.random.Generator) -> tuple[float, float]:
    """Return the 95 % percentile interval of the mean of ``d``, shape (scenarios,), resampling its entries."""
    low, high = bootstrap_clusters(lambda values: values.mean(axis=-1), (d,), rng=rng)
    if low is None or high is None:
        raise ValueError(f"d={d} has entries that are not finite")
    return low, high


def bootstrap_clusters(
    statistic: Callable[..., Floats], columns: tuple[Floats, ...], *, rng: np.random.Generator
) -> tuple[float | None, float | None]:
    """Return the 95 % percentile interval of a statistic of whole clusters.

    Parameters
    ----------
    statistic
        Maps arrays of shape (..., clusters) to (...,).
    columns
        Its arguments, one entry a cluster, each of shape (clusters,).

    Notes
    -----
    A resample in which the statistic is undefined (a denominator of 0) is left out; if that is more than one in twenty,
    no interval is stated.
    """
    n = len(columns[0])
    block = max(1, 2_000_000 // n)  # bounds the memory of one block of resamples
    found = []
    with np.errstate(divide="ignore", invalid="ignore"):
        for start in range(0, NUM_RESAMPLES, block):
            picked = rng.integers(0, n, size=(min(block, NUM_RESAMPLES - start), n), dtype=np.int32)
            found.append(statistic(*(column[picked] for column in columns)))
    values = np.concatenate(found)
    defined = values[np.isfinite(values)]
    if len(defined) < 0.95 * NUM_RESAMPLES:
        return None, None
    low, high = np.quantile(defined, [0.025, 0.975])
    return float(low), float(high)


def paired_p(d: Floats) -> float:
    """Return the two-sided p-value of mean zero, Student's t on the scenario differences ``d``, shape (scenarios,)."""
    from scipy.special import stdtr

    if not np.any(d):
        return 1.0  # the two agents did the same everywhere
    spread = float(d.std(ddof=1))
    if spread == 0:
        return 0.0
    t = float(d.mean()) / (spread / math.sqrt(len(d)))
    return 2 * float(stdtr(len(d) - 1, -abs(t)))


def needed_n(d: Floats, delta: float) -> int | None:
    """Return the scenarios needed to see a difference of ``delta``; ``None`` if it is 0 or too few were played."""
    if len(d) < 2 or delta == 0:
        return None
    z = normal_quantile(1 - SIGNIFICANCE / 2)
    factor = z + normal_quantile(POWER)
    return max(2, math.ceil((factor * float(d.std(ddof=1)) / delta) ** 2 + z**2 / 2))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return Holm's step-down adjusted p-values (Holm 1979); an undefined one stays undefined and does not count."""
    order = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    running = 0.0
    for rank, (p, index) in enumerate(order):
        running = max(running, min(1.0, p * (len(order) - rank)))
        adjusted[index] = running
    return adjusted


def _groups(
    values: Mapping[str, Mapping[str, float]], differences: Sequence[Difference], better: str
) -> tuple[tuple[str, ...], ...]:
    """Rank agents and tie each to the leader of its group unless their difference is significant."""
    differ = {frozenset((d.first, d.second)) for d in differences if d.is_significant}
    direction = -1 if better == "higher" else 1
    scored = [name for name, outcomes in values.items() if outcomes]
    ranked = sorted(scored, key=lambda name: direction * math.fsum(values[name].values()) / len(values[name]))
    groups: list[list[str]] = []
    for name in ranked:
        if groups and frozenset((groups[-1][0], name)) not in differ:
            groups[-1].append(name)
        else:
            groups.append([name])
    return tuple(tuple(group) for group in groups)


class Separation(NamedTuple):
    """Whether one metric tells two agents apart in one regime, and at what n it would with 80 % power."""

    metric: str
    regime: str
    difference: Difference


def separation_table(runs: Mapping[str, Sequence[EpisodeRecord]], *, rng: np.random.Generator) -> list[Separation]:
    """Return for each paired metric and regime whether the agents are told apart (Holm within metric and regime)."""
    regimes = sorted({episode.regime.value for episodes in runs.values() for episode in episodes})
    rows = []
    for metric in PAIRED:
        for regime in regimes:
            sliced = {name: [e for e in episodes if e.regime == regime] for name, episodes in runs.items()}
            comparison = compare(sliced, metric, rng=rng)
            rows += [Separation(metric, regime, d) for d in comparison.differences if d.estimate is not None]
    return rows
