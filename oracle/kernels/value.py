r"""Fitted continuation values: what a belief is summarised by, and the small net that reads the summary.

The net of round k approximates ``C_k = max_p Q_k(I, p)``, the value of not accepting. The value itself keeps the kink
exactly and stays inside its proven interval,

.. math::
    V_k(I) = \max(r_A - b,\ 0,\ \min(C_k(I),\ E[(r_A - r)^+])).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oracle.kernels.belief import OfferFeatures
from oracle.kernels.compiling import inline
from terms.aliases import Floats

NUM_FEATURES = 26
_SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)


class Nets(NamedTuple):
    """One net a round: (rounds + 1, ...) arrays, index 0 unused. Inputs are standardised inside the first layer."""

    w1: Floats  # (rounds + 1, features, hidden)
    b1: Floats
    w2: Floats  # (rounds + 1, hidden, hidden)
    b2: Floats
    w3: Floats  # (rounds + 1, hidden)
    b3: Floats  # (rounds + 1,)


class Marginals(NamedTuple):
    """Sums over urgency of a belief that need not be normalised, (groups, rows + 1): mass, rate, rate squared, urgency.

    Kept apart from the urgency axis because a cue multiplies whole (group, row) entries.
    """

    mass: Floats
    rate: Floats
    rate_squared: Floats
    urgency: Floats


@inline
def features(sums: Marginals, factor: Floats, low: Floats, top: Floats, stance: NDArray[np.int64], place: tuple[float, float, float, OfferFeatures], out: Floats) -> float:  # fmt: skip  # noqa: PLR0913, E501
    """Write the features of the belief ``factor * sums`` and return its mass.

    ``place`` is (own, standing, last offer, past). The last row is the atom at the standing price. All moments are
    divided by the mass, as the belief is not normalised.
    """
    own, standing, last, past = place
    groups, rows = sums.mass.shape
    total, rate, square, urgency, cross = 0.0, 0.0, 0.0, 0.0, 0.0
    first, second, gains, feasible = 0.0, 0.0, 0.0, 0.0
    stances = np.zeros(3)
    by_row = np.empty(rows)
    for i in range(rows):
        edge = standing if i == rows - 1 else max(low[i], min(top[i], standing))
        gap = own - (standing if i == rows - 1 else (low[i] + edge) / 2)
        row = 0.0
        for g in range(groups):
            each = factor[g, i] * sums.mass[g, i]
            row += each
            stances[stance[g]] += each
            moment = factor[g, i] * sums.rate[g, i]
            rate += moment
            cross += moment * gap
            square += factor[g, i] * sums.rate_squared[g, i]
            urgency += factor[g, i] * sums.urgency[g, i]
        by_row[i] = row
        total += row
        first += row * gap
        second += row * gap * gap
        if gap > 0:
            gains += row * gap
            feasible += row
    if total <= 0.0:
        return 0.0
    rate, square, urgency, cross = rate / total, square / total, urgency / total, cross / total
    first, second, gains = first / total, second / total, gains / total
    rate_sd = math.sqrt(max(square - rate * rate, 0.0))
    gap_sd = math.sqrt(max(second - first * first, 0.0))
    out[0], out[1], out[2] = own / 100, (own - standing) / 10, (own - last) / 10
    out[3], out[4], out[5] = first / 10, gap_sd / 10, gains / 10
    out[6], out[7] = rate * 10, rate_sd * 10
    out[8] = (cross - rate * first) / (rate_sd * gap_sd + 1e-6)
    out[9], out[10] = stances[0] / total, stances[2] / total
    out[11], out[12], out[13], out[14] = past.magnitude * 10, past.last_step * 10, past.step_before * 10, past.rigidity
    out[15], out[16] = feasible / total, urgency * 4
    _quantiles(by_row, total, low, top, standing, own, out)
    out[24] = (standing - last) / 10
    out[25] = by_row[rows - 1] / total
    return total


@inline
def _quantiles(by_row: Floats, total: float, low: Floats, top: Floats, standing: float, own: float, out: Floats) -> None:  # fmt: skip  # noqa: PLR0913, E501
    """Write five quantiles of r and the best take-it-or-leave-it gain against the belief, with its price."""
    rows = by_row.shape[0]
    running, index, best, price = 0.0, 0, 0.0, standing
    for i in range(rows):
        lo = standing if i == rows - 1 else low[i]
        edge = standing if i == rows - 1 else max(low[i], min(top[i], standing))
        before = running
        running += by_row[i] / total
        while index < 5 and (running >= _SHARES[index] or i == rows - 1):
            inside = min(1.0, max(0.0, (_SHARES[index] - before) / max(running - before, 1e-12)))
            out[17 + index] = (own - (lo + inside * (edge - lo))) / 10
            index += 1
        if (own - edge) * running > best:
            best, price = (own - edge) * running, edge
    out[22], out[23] = best / 10, (own - price) / 10


@inline
def net_value(x: Floats, k: int, nets: Nets, first: Floats, second: Floats) -> float:
    """Return the net of round ``k`` at features ``x``; ``first``, ``second`` (hidden,) are work space."""
    hidden = first.shape[0]
    for h in range(hidden):
        first[h] = nets.b1[k, h]
    for f in range(x.shape[0]):
        value = x[f]
        for h in range(hidden):
            first[h] += value * nets.w1[k, f, h]
    for h in range(hidden):
        first[h] = math.tanh(first[h])
        second[h] = nets.b2[k, h]
    for h in range(hidden):
        value = first[h]
        for j in range(hidden):
            second[j] += value * nets.w2[k, h, j]
    total = float(nets.b3[k])
    for h in range(hidden):
        total += math.tanh(second[h]) * nets.w3[k, h]
    return total


@inline
def bounded_value(continuation: float, own: float, standing: float, opened: bool, gains: float) -> float:
    """Return ``V`` from the continuation value, inside its proven interval; ``gains`` is ``E[(r_A - r)^+]``."""
    floor = max(own - standing, 0.0) if opened else 0.0
    return max(floor, min(continuation, gains))
