r"""Point estimates with 95 % intervals that respect repeats of a scenario.

A metric is a linear combination of ratios, ``sum_j c_j (sum_i num_ij / sum_i den_ij)``. Its interval linearises each
ratio, ``e_i = sum_j c_j (num_ij - ratio_j den_ij) / sum_i den_ij``, adds ``e_i`` up within a scenario, and uses
Student's t with one degree of freedom less than there are scenarios (Cochran, Sampling Techniques, 1977, section 6.10).
A share of yes-or-no outcomes gets Wilson's interval instead (Wilson 1927), which stays honest at 0 and 1, with the
number of episodes divided by the design effect when scenarios repeat. An empty denominator is undefined, never 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from terms.aliases import Floats

LEVEL = 0.95


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


@cache
def normal_quantile(p: float) -> float:
    """Return the point below which a standard normal lies with probability ``p``."""
    from scipy.special import ndtri  # half the time of `import terms`, and many commands estimate nothing

    return float(ndtri(p))


def estimate_ratios(ratios: Sequence[Ratio], clusters: NDArray[np.intp]) -> Estimate:
    """Estimate a linear combination of ratios; ``clusters`` numbers the scenario of each episode."""
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
    # A side of a contrast with one scenario shows no spread: that is unknown, not zero.
    is_spread_known = all(len(np.unique(clusters[part])) > 1 for part in parts)
    half = _half_width(influence[used], clusters[used]) if is_spread_known else None
    if half is None:
        return Estimate(value, None, None, sum(counts))
    return Estimate(value, value - half, value + half, sum(counts))


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
    half = _half_width((spread_own - value * spread_other) / bottom, clusters)
    return Estimate(value, None, None, n) if half is None else Estimate(value, value - half, value + half, n)


def estimate_share(successes: Floats, denominator: Floats, clusters: NDArray[np.intp]) -> Estimate:
    """Estimate a share of 0/1 outcomes among the episodes with ``denominator`` 1."""
    used = denominator != 0
    n = int(np.count_nonzero(used))
    if n == 0:
        return UNDEFINED
    hits, groups = successes[used], clusters[used]
    share = float(hits.sum()) / n
    low, high = wilson(share, n / _design_effect(hits, share, groups))
    return Estimate(share, low, high, n)


def _cluster_sums(values: Floats, clusters: NDArray[np.intp]) -> Floats:
    _, index = np.unique(clusters, return_inverse=True)
    sums: Floats = np.bincount(index, weights=values).astype(np.float64)
    return sums


def _half_width(influence: Floats, clusters: NDArray[np.intp]) -> float | None:
    from scipy.special import stdtrit

    sums = _cluster_sums(influence, clusters)
    groups = len(sums)
    if groups < 2:
        return None
    variance = groups / (groups - 1) * float(np.square(sums).sum())
    return float(stdtrit(groups - 1, 0.5 + LEVEL / 2)) * math.sqrt(variance)


def _design_effect(hits: Floats, share: float, clusters: NDArray[np.intp]) -> float:
    n, groups = len(hits), len(np.unique(clusters))
    if groups == n:
        return 1.0
    if share in (0.0, 1.0) or groups < 2:
        return n / groups  # nothing to estimate it from: count each scenario once
    variance = groups / (groups - 1) * float(np.square(_cluster_sums(hits - share, clusters)).sum()) / n**2
    return max(1.0, variance / (share * (1 - share) / n))


def wilson(share: float, n: float) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share seen in ``n`` (perhaps effective) independent trials."""
    z = normal_quantile(0.5 + LEVEL / 2)
    scale = 1 + z**2 / n
    middle = (share + z**2 / (2 * n)) / scale
    half = z * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / scale
    # At 0 and 1 the bound equals the share exactly; rounding must not push it past.
    return (0.0 if share == 0 else max(0.0, middle - half), 1.0 if share == 1 else min(1.0, middle + half))
