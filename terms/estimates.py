r"""Point estimates with 95 % intervals that respect repeats of a scenario.

A metric is a linear combination of ratios, ``sum_j c_j (sum_i num_ij / sum_i den_ij)``. Its interval linearises each
ratio, ``e_i = sum_j c_j (num_ij - ratio_j den_ij) / sum_i den_ij``, adds ``e_i`` up within a scenario, and is that of a
mean over the scenarios (Cochran, Sampling Techniques, 1977, section 6.10; :mod:`terms.intervals`). A share of yes-or-no
outcomes gets an exact interval instead, with the number of episodes divided by the design effect when scenarios repeat.
An empty denominator is undefined, never 0; where the scenarios say too little there is a value and no interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from terms.aliases import Floats
from terms.intervals import FEW, mean_bounds, share_bounds, spread_of


class Estimate(NamedTuple):
    """A number with its interval; ``None`` is undefined. ``n`` counts the episodes in the denominator."""

    estimate: float | None
    low: float | None
    high: float | None
    n: int


class Ratio(NamedTuple):
    """``coefficient * sum(numerator) / sum(denominator)`` over episodes; arrays of shape (episodes,)."""

    numerator: Floats
    denominator: Floats
    coefficient: float = 1.0


UNDEFINED = Estimate(None, None, None, 0)


def estimate_ratios(ratios: Sequence[Ratio], clusters: NDArray[np.intp], *, few: int = FEW) -> Estimate:
    """Estimate a linear combination of ratios; ``clusters`` numbers the scenario of each episode.

    ``few`` is the least number of scenarios that each ratio needs for an interval.
    """
    counts = [int(np.count_nonzero(ratio.denominator)) for ratio in ratios]
    totals = [float(ratio.denominator.sum()) for ratio in ratios]
    if not ratios or min(counts) == 0 or any(total == 0 for total in totals):
        return UNDEFINED._replace(n=sum(counts))
    value, influence = 0.0, np.zeros(len(clusters))
    for ratio, total in zip(ratios, totals, strict=True):
        point = float(ratio.numerator.sum()) / total
        value += ratio.coefficient * point
        influence += ratio.coefficient * (ratio.numerator - point * ratio.denominator) / total
    # A numerator may be positive over a denominator of 0 (a reference that earned nothing): that episode counts too.
    parts = [(ratio.denominator != 0) | (ratio.numerator != 0) for ratio in ratios]
    used = np.any(parts, axis=0)
    # A side of a contrast with few scenarios shows little of its spread, however many the other side has.
    is_spread_known = all(len(np.unique(clusters[part])) >= few for part in parts)
    bounds = influence_bounds(value, influence[used], clusters[used], few=few) if is_spread_known else (None, None)
    return Estimate(value, *bounds, sum(counts))


def estimate_mean(values: Sequence[float] | Floats, *, few: int = FEW) -> Estimate:
    """Estimate the mean of independent ``values``; undefined where there are none."""
    column = np.asarray(values, dtype=np.float64)
    if not len(column):
        return UNDEFINED
    return estimate_ratios([Ratio(column, np.ones(len(column)))], np.arange(len(column)), few=few)


def estimate_means(values: Floats, clusters: NDArray[np.intp]) -> list[Estimate]:
    """Estimate the mean of each column of ``values``, shape (episodes, columns)."""
    ones = np.ones(len(values))
    return [estimate_ratios([Ratio(column, ones)], clusters) for column in values.T]


def estimate_quotient(own: Ratio, other: Ratio, clusters: NDArray[np.intp]) -> Estimate:
    """Estimate ``own / other``, a ratio of two ratios; ``n`` counts the denominator of ``own``."""
    n = int(np.count_nonzero(own.denominator))
    totals = [float(part.sum()) for part in (own.denominator, other.denominator, other.numerator)]
    if 0 in totals:
        return UNDEFINED._replace(n=n)
    top, bottom = float(own.numerator.sum()) / totals[0], totals[2] / totals[1]
    value = top / bottom
    spread_own = (own.numerator - top * own.denominator) / totals[0]
    spread_other = (other.numerator - bottom * other.denominator) / totals[1]
    return Estimate(value, *influence_bounds(value, (spread_own - value * spread_other) / bottom, clusters), n)


def estimate_share(successes: Floats, denominator: Floats, clusters: NDArray[np.intp]) -> Estimate:
    """Estimate a share of 0/1 outcomes among the episodes with ``denominator`` 1."""
    used = denominator != 0
    n = int(np.count_nonzero(used))
    if n == 0:
        return UNDEFINED
    hits, groups = successes[used], clusters[used]
    share = float(hits.sum()) / n
    low, high = share_bounds(share, n / _design_effect(hits, share, groups))
    return Estimate(share, low, high, n)


def influence_bounds(
    value: float, influence: Floats, clusters: NDArray[np.intp], *, few: int = FEW
) -> tuple[float | None, float | None]:
    """Return the interval of ``value``, a sum of the episodes' ``influence`` on it; ``None`` where it is unknown."""
    sums = cluster_sums(influence, clusters)
    # Around the value, not around 0: there, what rounding leaves of equal outcomes would look like a spread.
    low, high = mean_bounds(value, spread_of(value + sums * len(sums), few=few))
    return (float(low), float(high)) if np.isfinite(low) else (None, None)


def cluster_sums(values: Floats, clusters: NDArray[np.intp]) -> Floats:
    """Return the sum of ``values`` in each cluster, shape (clusters,)."""
    _, index = np.unique(clusters, return_inverse=True)
    sums: Floats = np.bincount(index, weights=values).astype(np.float64)
    return sums


def _design_effect(hits: Floats, share: float, clusters: NDArray[np.intp]) -> float:
    n, groups = len(hits), len(np.unique(clusters))
    if groups == n:
        return 1.0
    if share in (0.0, 1.0) or groups < FEW:
        return n / groups  # too little to estimate it from: count each scenario once
    variance = groups / (groups - 1) * float(np.square(cluster_sums(hits - share, clusters)).sum()) / n**2
    return max(1.0, variance / (share * (1 - share) / n))
