r"""How many blocks (scenarios, sessions, worlds) a result would take, with a 95 % interval of that number.

A paired test at the 5 % level sees a true difference ``delta`` with 80 % power from ``((1.960 + 0.842) s / delta)^2 +
1.960^2 / 2 + 1`` blocks on (Guenther 1981, The American Statistician 35, 243-244; the one more is what allowing for
skewness costs, measured). For a ``delta`` that the user names,
what is uncertain is the standard deviation ``s``; its interval is that of Bonett (2006, Computational Statistics and
Data Analysis 50, 775-782), which allows for heavy tails. For the difference found both are uncertain: the interval of
the effect ``delta / s`` inverts the noncentral t of the blocks, and where it holds 0 no number is surely enough.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from terms.aliases import Floats
from terms.estimates import cluster_sums
from terms.intervals import FEW, LEVEL, normal_quantile, spread_of, student_quantile

SIGNIFICANCE, POWER = 0.05, 0.80


class Needed(NamedTuple):
    """Blocks needed, with the interval of that number; ``high`` is ``None`` where no number is surely enough."""

    estimate: int | None
    low: int | None
    high: int | None


NO_NUMBER = Needed(None, None, None)


def needed_for_width(blocks: Floats, half_width: float) -> Needed:
    r"""Return the least number ``m`` with :math:`t_{m-1} s / \sqrt m \le` ``half_width``; ``blocks`` shape (blocks,).

    Unknown from blocks that say too little: no spread seen says nothing about how much there is.
    """
    if not half_width > 0:
        raise ValueError(f"half_width={half_width}; it must be positive")
    if not np.isfinite(spread_of(blocks).error):
        return NO_NUMBER
    low, high = deviation_bounds(blocks)
    return Needed(*(_for_width(spread / half_width) for spread in (float(blocks.std(ddof=1)), low, high)))


def needed_episodes(values: Floats, clusters: NDArray[np.intp], half_width: float) -> Needed:
    """Return how many episodes give their mean an interval of ``half_width`` either side.

    They are the scenarios it takes, which ``clusters`` numbers, times the episodes a scenario seen here.
    """
    if not len(values):
        return NO_NUMBER
    sums, counts = cluster_sums(values, clusters), cluster_sums(np.ones(len(values)), clusters)
    mean = float(values.mean())
    found = needed_for_width(mean + (sums - counts * mean) / counts.mean(), half_width)
    return Needed(*(None if each is None else math.ceil(each * float(counts.mean())) for each in found))


def needed_for_difference(blocks: Floats, delta: float | None = None, power: float = POWER) -> Needed:
    """Return how many blocks would show a difference of ``delta``, by default the mean of ``blocks`` itself.

    ``power`` is how surely; it must lie between 0.5 and 1.
    """
    if not 0.5 <= power < 1:
        raise ValueError(f"power={power}; it must be at least 0.5 and below 1")
    if delta is not None and not (math.isfinite(delta) and delta != 0):
        raise ValueError(f"difference={delta}; it must be a number other than 0")
    if not np.isfinite(spread_of(blocks).error):
        return NO_NUMBER
    spread, mean = float(blocks.std(ddof=1)), float(blocks.mean())
    if delta is not None:
        return Needed(*(_for_effect(abs(delta) / each, power) for each in (spread, *deviation_bounds(blocks))))
    near, far = _effect_bounds(mean / spread, len(blocks))
    return Needed(*(_for_effect(effect, power) for effect in (abs(mean) / spread, far, near)))


def deviation_bounds(blocks: Floats) -> tuple[float, float]:
    """Return Bonett's interval of the standard deviation of ``blocks``, shape (blocks,) with more than four."""
    n, z = len(blocks), normal_quantile(0.5 + LEVEL / 2)
    cut = int(n / (2 * math.sqrt(n - 4)))
    trimmed = np.sort(blocks)[cut : n - cut].mean()
    squares = float(np.square(blocks - blocks.mean()).sum())
    kurtosis = n * float(((blocks - trimmed) ** 4).sum()) / squares**2
    error = math.sqrt(max(0.0, kurtosis - (n - 3) / n) / (n - 1))
    middle = n / (n - z) * squares / (n - 1)
    low, high = (math.sqrt(middle * math.exp(side * n / (n - z) * z * error)) for side in (-1, 1))
    return low, high


def _for_effect(effect: float, power: float) -> int | None:
    if effect == 0:
        return None
    z = normal_quantile(1 - SIGNIFICANCE / 2)
    return max(FEW, math.ceil(((z + normal_quantile(power)) / effect) ** 2 + z**2 / 2 + 1))


def _for_width(ratio: float) -> int:
    """Return the least ``m`` with ``t_{m-1} * ratio <= sqrt(m)``; the left side falls as ``m`` grows."""
    number = max(FEW, math.ceil((normal_quantile(0.5 + LEVEL / 2) * ratio) ** 2))
    while student_quantile(0.5 + LEVEL / 2, number - 1) * ratio > math.sqrt(number):
        number += 1
    return number


def _effect_bounds(effect: float, n: int) -> tuple[float, float]:
    """Return the least and the largest size of an effect ``mean / s`` that ``n`` blocks leave possible."""
    from scipy.special import nctdtrinc

    t, tail = abs(effect) * math.sqrt(n), (1 - LEVEL) / 2
    low, high = (float(nctdtrinc(n - 1, p, t)) / math.sqrt(n) for p in (1 - tail, tail))
    return max(0.0, low), high
