r"""Return rates: how often a shipped unit comes back, and why.

With ``r_0`` the SKU's natural rate, ``delta`` the share of defective among all units ever delivered of the SKU, price
ratio ``r`` and speed factor ``m``:

.. math::
    r_d = \min(0.95, \max(0.40, 2 r_0)), \quad r_1 = (1 - \delta) r_0 + \delta r_d, \quad
    r_2 = \min(0.95, r_1 g(r)), \quad r_3 = \min(0.95, r_2 m),

``g`` piecewise linear through the knees and flat outside. The layers ``r_0, r_1 - r_0, r_2 - r_1, r_3 - r_2`` are the
natural, defect, price and speed parts; they add up to the rate that is drawn with.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from commerce.config import Rules
from commerce.types import FloatArray, IntArray


def price_return_factor(ratio: FloatArray, rules: Rules) -> FloatArray:
    """Return g, the effect of the price on returns."""
    knots, values = zip(*rules.return_knees, strict=True)
    return np.asarray(np.interp(ratio, knots, values), dtype=np.float64)


def blended_rate(natural: FloatArray, defective_share: FloatArray, rules: Rules) -> FloatArray:
    """Return r_1, the natural rate mixed with that of defective units."""
    worst = np.minimum(rules.return_cap, np.maximum(rules.defect_return_min, rules.defect_return_factor * natural))
    return (1 - defective_share) * natural + defective_share * worst


def priced_rate(blended: FloatArray, ratio: FloatArray, rules: Rules) -> FloatArray:
    """Return r_2, the rate at the price the customer paid."""
    return np.minimum(rules.return_cap, blended * price_return_factor(ratio, rules))


def shipped_rate(priced: FloatArray, speed_factor: float, rules: Rules) -> FloatArray:
    """Return r_3, the rate once the speed is known."""
    return np.minimum(rules.return_cap, priced * speed_factor)


def count_returns(units: IntArray, rates: FloatArray, uniforms: FloatArray) -> IntArray:
    """Return how many units of each order come back: one uniform per unit, orders one after the other.

    A faster speed can only turn a return into a sale that stays, because the uniforms are the same.
    """
    owner = np.repeat(np.arange(len(units)), units)
    return np.bincount(owner, weights=uniforms < rates[owner], minlength=len(units)).astype(np.int64)


class ReturnHint(StrEnum):
    """What a realised return rate suggests."""

    STRONG = "returns far above the natural rate; the goods of a supplier may be defective"
    WEAK = "returns above the natural rate; watch price, shipping speed and suppliers"


_HINT_MIN_SOLD = 10
_ROUNDING = 1e-9  # 1.5 * 0.10 is a little more than 3 / 20 in binary
_STRONG_RATE, _STRONG_FACTOR, _WEAK_FACTOR = 0.25, 2.0, 1.5


def return_hint(sold: int, returned: int, natural: float) -> ReturnHint | None:
    """Return the hint of the return trace, once enough units were sold to say anything."""
    if sold < _HINT_MIN_SOLD:
        return None
    rate = returned / sold + _ROUNDING
    if rate >= max(_STRONG_RATE, _STRONG_FACTOR * natural):
        return ReturnHint.STRONG
    return ReturnHint.WEAK if returned and rate >= _WEAK_FACTOR * natural else None
