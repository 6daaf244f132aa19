r"""Expected demand and its integer rounding.

For SKU ``i`` of category ``c`` in a store of type ``s`` with reputation ``rho``, on day ``D``, at price ratio
``r = p / reference`` (``p`` after any promotion discount ``d``), with ``n_c`` SKUs of its category listed:

.. math::
    R_i = base_i \, PF(r_i, k_i) \, W(D) \, P(d) \, Y_s(D) \, E_s(D) \, \rho, \qquad base_i = (M_{min} + M_{max}) / 2
    / 30 \cdot share \cdot S_s, \\
    R_i \leftarrow R_i \frac{m}{m + n_c - 1}, \\
    R_i \leftarrow R_i \frac{C_c}{C_c + \sum_{j \in c} w_j R_j}, \quad C_c = \varphi_s C_s, \qquad
    R_i \leftarrow R_i \frac{C_s}{C_s + \sum_j w_j R_j}, \\
    q_i = \lfloor R_i \rfloor + 1\{u_i < frac(R_i)\}.

The breadth ``m`` of a category is without bound where the rules name none, and the first saturation is left out when
``phi = 1``. The weight ``w`` of a unit is 1, or its reference price over the mean one of its store type. Arrays run
over the SKUs of one store.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from commerce.config import Rules
from commerce.types import FloatArray, IntArray


def base_demand(monthly_min: float, monthly_max: float, demand_scale: float, rules: Rules) -> float:
    """Return units a day of a SKU at the reference price, on a weekday, out of season, at reputation 1."""
    return (monthly_min + monthly_max) / 2 / 30 * rules.platform_share * demand_scale


def price_response(ratio: FloatArray, elasticity: FloatArray, response: IntArray, rules: Rules) -> FloatArray:
    r"""Return the price factor PF; ``response`` holds rows of :class:`PriceResponse`.

    With a response bound no factor grows below that ratio, and the quadratic rises instead of falling below 1: a
    discount then never lowers demand. With a choke ratio ``h`` the factor is multiplied by
    :math:`1 - ((r - 1) / (h - 1))^2` above 1, which bends it down to 0 at ``h``: the best price then lies below ``h``.
    """
    bound = rules.response_bound
    r = ratio if bound is None else np.maximum(ratio, bound)
    gap = r - 1
    linear = elasticity * gap
    square = linear * gap if bound is None else linear * np.abs(gap)
    factors = (np.maximum(0.0, 1 - linear), np.exp(-linear), np.power(r, -elasticity), np.maximum(0.0, 1 - square))
    found = np.choose(response, factors)
    if rules.choke_ratio is None:
        return found
    above = np.clip((ratio - 1) / (rules.choke_ratio - 1), 0.0, 1.0)
    return np.asarray(found * (1 - above * above))


def promotion_factor(discount: FloatArray, max_multiplier: float, rules: Rules) -> FloatArray:
    """Return P, which is full from ``rules.full_discount`` on."""
    return 1 + (max_multiplier - 1) * np.clip(discount / rules.full_discount, 0.0, 1.0)


def sub_cap_share(num_categories: int, rules: Rules) -> float:
    """Return phi, the part of the capacity one category can take; 1 switches the first saturation off."""
    return min(1.0, max(rules.sub_cap_floor, rules.sub_cap_numerator / num_categories))


def share_buyers(raw: FloatArray, category: IntArray, rules: Rules) -> FloatArray:
    """Return demand once the listed SKUs of each category share its buyers, at whatever price they are listed.

    Each has ``m / (m + n - 1)`` of its own demand beside ``n - 1`` others: alone all of it, and all together less than
    ``m`` times that of their mean.
    """
    if rules.category_breadth is None:
        return raw
    others = np.bincount(category)[category] - 1
    return np.asarray(raw * (rules.category_breadth / (rules.category_breadth + others)))


def saturate_categories(raw: FloatArray, weight: FloatArray, category: IntArray, caps: FloatArray) -> FloatArray:
    """Return demand after the first saturation; ``caps`` is indexed by category and 0 where there is none."""
    totals = np.bincount(category, weights=raw * weight, minlength=len(caps))
    factors = np.divide(caps, caps + totals, out=np.ones(len(caps)), where=caps > 0)
    return np.asarray(raw * factors[category])


def saturate_stores(
    demand: FloatArray, weight: FloatArray, store: IntArray, parts: Sequence[slice], capacity: FloatArray
) -> FloatArray:
    """Return demand after the second saturation, for stores that lie one after the other in ``parts``.

    The total of a store, by ``weight``, stays below its capacity.
    """
    # One sum a store: a running sum over rows would round differently from the sum of one store alone.
    taken = demand * weight
    totals = np.array([taken[part].sum() for part in parts])
    return np.asarray(demand * (capacity / (capacity + totals))[store])


def round_demand(expected: FloatArray, uniforms: FloatArray) -> IntArray:
    """Return whole units: the floor, plus one where the uniform is below the fraction. Fractions are not carried."""
    whole = np.floor(expected)
    return (whole + (uniforms < expected - whole)).astype(np.int64)
