"""Intervals for means of per-episode quantities, paired on episodes and clustered by scenario."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from terms.estimates import LEVEL, UNDEFINED, Estimate

Floats = NDArray[np.float64]


def bootstrap_means(
    values: Floats, clusters: NDArray[np.intp], *, rng: np.random.Generator, num_resamples: int = 2_000
) -> list[Estimate]:
    """Return the mean of each column with a 95 % percentile interval.

    Scenarios are drawn with replacement, all episodes of one together, and all columns from the same draws: so parts
    that sum to a gap do so in every resample.

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
    draws = rng.multinomial(len(counts), np.full(len(counts), 1 / len(counts)), size=num_resamples)
    resampled = (draws @ sums) / (draws @ counts)[:, None]
    low, high = np.quantile(resampled, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return [
        Estimate(float(mean), float(below), float(above), n)
        for mean, below, above in zip(means, low, high, strict=True)
    ]


def required_episodes(values: Floats, clusters: NDArray[np.intp], half_width: float) -> int | None:
    """Return how many episodes give a 95 % interval of ``half_width`` either side.

    Assumes as many episodes a scenario as seen here, and their spread; ``None`` from fewer than two scenarios.
    """
    if not half_width > 0:
        raise ValueError(f"half_width={half_width}; it must be positive")
    sums, counts = _by_cluster(values[:, None], clusters)
    groups = len(counts)
    if groups < 2:
        return None
    size = float(counts.mean())
    influence = (sums[:, 0] - counts * values.mean()) / size
    spread = float(influence.std(ddof=1))
    scenarios = math.ceil((float(ndtri(0.5 + LEVEL / 2)) * spread / half_width) ** 2)
    return math.ceil(max(scenarios, 2) * size)


def _by_cluster(values: Floats, clusters: NDArray[np.intp]) -> tuple[Floats, Floats]:
    _, index = np.unique(clusters, return_inverse=True)
    sums: Floats = np.stack([np.bincount(index, weights=column) for column in values.T], axis=1)
    counts: Floats = np.bincount(index).astype(np.float64)
    return sums, counts
