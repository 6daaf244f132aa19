r"""Expected demand and its integer rounding.

For SKU ``i`` of category ``c`` in a store of type ``s`` with reputation ``rho``, on day ``D``, at price ratio
``r = p / reference`` (``p`` after any promotion discount ``d``):

.. math::
    R_i = base_i \, PF(r_i, k_i) \, W(D) \, P(d) \, Y_s(D) \, E_s(D) \, \rho, \qquad base_i = (M_{min} + M_{max}) / 2
    / 30 \cdot share \cdot S_s, \\
    R_i \leftarrow R_i \frac{C_c}{C_c + \sum_{j \in c} R_j}, \quad C_c = \varphi_s C_s, \qquad
    R_i \leftarrow R_i \frac{C_s}{C_s + \sum_j R_j}, \\
    q_i = \lfloor R_i \rfloor + 1\{u_i < frac(R_i)\}.

The first saturation is left out when ``phi = 1``. Arrays run over the SKUs of one store.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from commerce.config import Rules
from commerce.types import FloatArray, IntArray


def base_demand(monthly_min: float, monthly_max: float, demand_scale: float, rules: Rules) -> float:
    """Return units a day of a SKU at the reference price, on a weekday, out of season, at reputation 1."""
    return (monthly_min + monthly_max) / 2 / 30 * rules.platform_share * demand_scale


def price_response(ratio: FloatArray, elasticity: FloatArray, response: IntArray, bound: float | None) -> FloatArray:
    """Return the price factor PF; ``response`` holds rows of :class:`PriceResponse`.

    With a ``bound`` no factor grows below that ratio, and the quadratic rises instead of falling below 1: a discount
    then never lowers demand.
    """
    r = ratio if bound is None else np.maximum(ratio, bound)
    gap = r - 1
    linear = elasticity * gap
    square = linear * gap if bound is None else linear * np.abs(gap)
    factors = (np.maximum(0.0, 1 - linear), np.exp(-linear), np.power(r, -elasticity), np.maximum(0.0, 1 - square))
    return np.choose(response, factors)


def promotion_factor(discount: FloatArray, max_multiplier: float, rules: Rules) -> FloatArray:
    """Return P, which is full from ``rules.full_discount`` on."""
    return 1 + (max_multiplier - 1) * np.clip(discount / rules.full_discount, 0.0, 1.0)


def sub_cap_share(num_categories: int, rules: Rules) -> float:
    """Return phi, the part of the capacity one category can take; 1 switches the first saturation off."""
    return min(1.0, max(rules.sub_cap_floor, rules.sub_cap_numerator / num_categories))


def saturate(raw: FloatArray, category: IntArray, capacity: float, share: float) -> FloatArray:
    """Return expected demand after both saturations. The store total stays below ``capacity``."""
    demand = raw
    if share < 1:
        demand = saturate_categories(raw, category, np.full(int(category.max(initial=0)) + 1, share * capacity))
    return demand * (capacity / (capacity + float(demand.sum())))


def saturate_categories(raw: FloatArray, category: IntArray, caps: FloatArray) -> FloatArray:
    """Return demand after the first saturation; ``caps`` is indexed by category and 0 where there is none."""
    totals = np.bincount(category, weights=raw, minlength=len(caps))
    factors = np.divide(caps, caps + totals, out=np.ones(len(caps)), where=caps > 0)
    return np.asarray(raw * factors[category])


def saturate_stores(demand: FloatArray, store: IntArray, parts: Sequence[slice], capacity: FloatArray) -> FloatArray:
    """Return demand after the second saturation, for stores that lie one after the other in ``parts``."""
    # One sum a store: a running sum over rows would round differently from the sum of one store alone.
    totals = np.array([demand[part].sum() for part in parts])
    return np.asarray(demand * (capacity / (capacity + totals))[store])


def round_demand(expected: FloatArray, uniforms: FloatArray) -> IntArray:
    """Return whole units: the floor, plus one where the uniform is below the fraction. Fractions are not carried."""
    whole = np.floor(expected)
    return (whole + (uniforms < expected - whole)).astype(np.int64)
