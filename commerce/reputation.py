r"""Reputation of a store.

With ``N`` units ever shipped and decaying sums ``A`` of returned, ``B`` of sold and ``K`` of cancelled units:

.. math::
    \rho = clip(0.3 + \frac{0.7}{1 + e^{-(N - 500) / 200}} - \min(0.5, (0.6 A + K) / \max(1, B)), 0.15, 1),

after which ``A``, ``B`` and ``K`` are multiplied by 0.85. The constants are those of the rules.
"""

from __future__ import annotations

import math

from commerce.config import Rules


def reputation_base(shipped: int, rules: Rules) -> float:
    """Return the part of the reputation that units shipped have earned."""
    exponent = -(shipped - rules.reputation_middle) / rules.reputation_width
    return rules.reputation_base + rules.reputation_rise / (1 + math.exp(exponent))


def reputation_penalty(returned: float, sold: float, cancelled: float, rules: Rules) -> float:
    """Return the penalty of recent returns and cancellations."""
    weighted = rules.reputation_return_weight * returned + rules.reputation_cancel_weight * cancelled
    return min(rules.reputation_penalty_max, weighted / max(1.0, sold))


def reputation(shipped: int, returned: float, sold: float, cancelled: float, rules: Rules) -> float:
    """Return the reputation that holds for the coming day."""
    low, high = rules.reputation_bounds
    return min(high, max(low, reputation_base(shipped, rules) - reputation_penalty(returned, sold, cancelled, rules)))
