"""Intervals for means of per-episode quantities, paired on episodes and clustered by scenario.

From :data:`FEW` scenarios on they are percentile intervals of a bootstrap, below it t intervals: of four normal
scenarios the bootstrap's nominal 95 % cover about 80 %.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from terms.aliases import Floats
from terms.estimates import LEVEL, UNDEFINED, Estimate

FEW = 30
UPPER = 0.5 + LEVEL / 2


def bootstrap_means(
    values: Floats, clusters: NDArray[np.intp], *, rng: np.random.Generator, num_resamples: int = 2_000
) -> list[Estimate]:
    """Return the mean of each column with a 95 % interval.

    Scenarios are drawn with replacement, all episodes of one together, and all columns from the same draws: so parts
    that sum to a gap do so in every resample. Fewer than :data:`FEW` scenarios are not resampled; their interval is
    Student's, with the linearised spread of a ratio of sums.

    Parameters
    ----------
    values
        Shape (episodes, columns).
    clusters
        The scenario of each episode, any integers.
    """
    n, columns = values.shape
    if n == 0:
        return [UNDEFINED] * columns
    means = values.mean(axis=0)
    sums, counts = _by_cluster(values, clusters)
    if len(counts) < 2:
        return [Estimate(float(mean), None, None, n) for mean in means]
    if len(counts) < FEW:
        half = float(stdtrit(len(counts) - 1, UPPER)) * _spread(sums, counts, means) / math.sqrt(len(counts))
        return [
            Estimate(float(mean), float(mean - width), float(mean + width), n)
            for mean, width in zip(means, half, strict=True)
        ]
    draws = rng.multinomial(len(counts), np.full(len(counts), 1 / len(counts)), size=num_resamples)
    resampled = (draws @ sums) / (draws @ counts)[:, None]
    low, high = np.quantile(resampled, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return [
        Estimate(float(mean), float(below), float(above), n)
        for mean, below, above in zip(means, low, high, strict=True)
    ]


def required_episodes(values: Floats, clusters: NDArray[np.intp], half_width: float) -> int | None:
    r"""Return how many episodes give a 95 % interval of ``half_width`` either side.

    The least number of scenarios ``m`` with :math:`t_{m-1} s / \sqrt m \le` ``half_width``, times the episodes a
    scenario seen here. ``None`` from fewer than two scenarios, and where all came out the same: no spread seen says
    nothing about how much there is.
    """
    if not half_width > 0:
        raise ValueError(f"half_width={half_width}; it must be positive")
    sums, counts = _by_cluster(values[:, None], clusters)
    if len(counts) < 2:
        return None
    mean = values.mean(keepdims=True)
    spread = float(_spread(sums, counts, mean)[0])
    if spread <= 1e-12 * max(1.0, abs(float(mean[0]))):
        return None
    return math.ceil(_needed(spread / half_width) * float(counts.mean()))


def _needed(ratio: float) -> int:
    """Return the least ``m`` of 2 or more with ``t_{m-1} * ratio <= sqrt(m)``; the left side falls as ``m`` grows."""
    number = max(2, math.ceil((float(ndtri(UPPER)) * ratio) ** 2))
    while float(stdtrit(number - 1, UPPER)) * ratio > math.sqrt(number):
        number += 1
    return number


def _spread(sums: Floats, counts: Floats, means: Floats) -> Floats:
    """Return the standard deviation over scenarios of their influence on each mean (columns,)."""
    influence = (sums - counts[:, None] * means) / counts.mean()
    return np.asarray(influence.std(axis=0, ddof=1))


def _by_cluster(values: Floats, clusters: NDArray[np.intp]) -> tuple[Floats, Floats]:
    _, index = np.unique(clusters, return_inverse=True)
    sums: Floats = np.stack([np.bincount(index, weights=column) for column in values.T], axis=1)
    counts: Floats = np.bincount(index).astype(np.float64)
    return sums, counts
