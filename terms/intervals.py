r"""Intervals of a mean over independent blocks that hold when the blocks are few, skewed or mostly alike.

Of ``n`` blocks with mean ``m``, deviations ``d_i`` and skewness ``g``, the interval is the union of two: Student's, and
Hall's (1992, Journal of the Royal Statistical Society B 54, 221-228), which turns Student's ``t`` into

.. math::
    h(t) = t + a t^2 / 3 + a^2 t^3 / 27 + a / 6, \qquad a = g / \sqrt n,

so that its law is Student's again up to terms in ``1 / n`` when the blocks are skewed. By what factor this widens the
95 % interval below and above the mean, by that it widens it at every level, and the p-value goes with it: it is below
5 % exactly where the 95 % interval leaves the null value out. The variance is that of the blocks and of a part of one
more block as far out as the furthest, the part being the share of blocks that repeat the most common value: blocks that
are mostly alike have hidden what the rare ones do.

Fewer than :data:`FEW` blocks, or fewer than :data:`FEW_APART` that differ from the most common value, say too little:
no interval and no p-value. ``python -m tests.bench.coverage`` shows what this covers, of every kind of number and n.

A share is a mean of zeros and ones, bounded, and gets the exact interval of Clopper and Pearson (1934) at any number.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from terms.aliases import Floats

LEVEL = 0.95
FEW = 8
"""Fewer blocks than this say too little: of 4 skewed ones the interval holds the mean in 85 to 92 % of cases."""
FEW_APART = 3
"""So many blocks must differ from the most common value."""
_ALIKE = 1e-12
"""Values closer than this part of the largest one are equal but for rounding."""


class Spread(NamedTuple):
    """How uncertain the mean of some blocks is; arrays of one shape, or numbers.

    ``error`` is its standard error and ``skew`` the ``a`` of the module; both are nan where the blocks say too little.
    """

    error: Floats
    skew: Floats
    blocks: int


def spread_of(values: Floats, *, few: int = FEW) -> Spread:
    """Return how uncertain the mean of ``values`` is, shape (..., blocks); ``few`` is the least number of blocks."""
    n = values.shape[-1]
    if n < max(few, 2):
        nothing = np.full(values.shape[:-1], np.nan)
        return Spread(nothing, nothing, n)
    deviations = values - values.mean(axis=-1, keepdims=True)
    squares = np.square(deviations).sum(axis=-1)
    longest = _longest_run(values)
    furthest = np.square(deviations).max(axis=-1)
    scale = np.abs(values).max(axis=-1)
    is_enough = (n - longest >= min(FEW_APART, n - 1)) & (squares > n * np.square(_ALIKE * scale))
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt((squares + (longest - 1) / (n - 1) * furthest) / (n - 1) / n)
        skew = (deviations**3).mean(axis=-1) / (squares / n) ** 1.5 / math.sqrt(n)
    return Spread(np.where(is_enough, error, np.nan), np.where(is_enough, skew, np.nan), n)


def _longest_run(values: Floats) -> NDArray[np.intp]:
    """Return how often the most common value comes, along the last axis."""
    ordered = np.sort(values, axis=-1)
    tolerance = _ALIKE * np.abs(ordered).max(axis=-1, keepdims=True)
    places = np.broadcast_to(np.arange(values.shape[-1]), values.shape)
    starts = np.zeros(values.shape, dtype=np.intp)
    starts[..., 1:] = np.where(np.diff(ordered, axis=-1) > tolerance, places[..., 1:], 0)
    found: NDArray[np.intp] = (places - np.maximum.accumulate(starts, axis=-1)).max(axis=-1) + 1
    return found


def mean_bounds(mean: Floats | float, spread: Spread, level: float = LEVEL) -> tuple[Floats, Floats]:
    """Return the interval of ``mean`` at confidence ``level``; nan where the blocks say too little."""
    quantile = student_quantile(0.5 + level / 2, spread.blocks - 1) if spread.blocks > 1 else math.nan
    below, above = _widenings(spread)
    return mean - quantile * below * spread.error, mean + quantile * above * spread.error


def mean_p(mean: Floats | float, spread: Spread) -> Floats:
    """Return the two-sided p-value of a true mean of 0; nan where the blocks say too little."""
    from scipy.special import stdtr

    t = mean / spread.error
    below, above = _widenings(spread)
    found: Floats = 2 * stdtr(spread.blocks - 1, -np.abs(t) / np.where(t > 0, below, above))
    return found


def _widenings(spread: Spread) -> tuple[Floats, Floats]:
    """Return by how much Hall's 95 % interval is wider than Student's below and above the mean, at least 1.

    The same factors serve every level: far out in the tails his expansion says nothing any more.
    """
    quantile = student_quantile(0.5 + LEVEL / 2, spread.blocks - 1) if spread.blocks > 1 else math.nan
    below, above = _untwisted(quantile, spread.skew) / quantile, _untwisted(-quantile, spread.skew) / -quantile
    return np.maximum(1.0, below), np.maximum(1.0, above)


def _untwisted(h: float, a: Floats) -> Floats:
    """Return the ``t`` whose transform is ``h``."""
    small = np.abs(a) < 1e-9
    safe = np.where(small, 1.0, a)
    return np.where(small, h - a / 6, 3 / safe * (np.cbrt(1 + safe * (h - safe / 6)) - 1))


def share_bounds(share: float, n: float, level: float = LEVEL) -> tuple[float, float]:
    """Return the exact interval of a share seen in ``n`` independent trials; ``n`` need not be whole.

    Korn and Graubard (1998, Survey Methodology 24, 193-201) use it with an effective ``n``.
    """
    tail, hits = (1 - level) / 2, share * n
    if n <= 0:
        return 0.0, 1.0
    if hits <= 0:  # closed: (1 - high)^n = tail
        return 0.0, 1 - tail ** (1 / n)
    if hits >= n:
        return tail ** (1 / n), 1.0
    from scipy.special import betaincinv  # half a second to load

    low = float(betaincinv(hits, n - hits + 1, tail))
    return low, float(betaincinv(hits + 1, n - hits, 1 - tail))


@cache
def normal_quantile(p: float) -> float:
    """Return the point below which a standard normal lies with probability ``p``."""
    from scipy.special import ndtri  # half the time of `import terms`, and many commands estimate nothing

    return float(ndtri(p))


@cache
def student_quantile(p: float, degrees: int) -> float:
    """Return the point below which Student's t lies with probability ``p``."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, p))
