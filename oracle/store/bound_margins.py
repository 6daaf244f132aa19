r"""What one unit of each SKU can bring at most, and how many units it can draw, at every price at once.

A SKU listed at price ratio ``r`` draws ``d(r)`` units before anything is shared or saturated and a unit is worth
``m(r)``. The bound needs, for every price ``\theta`` of a unit of capacity, at least
``\max_r d(r) (m(r) - \theta w)^+`` over the *continuum* of prices. With ``\varphi = d (m - \theta w)`` twice
differentiable between neighbouring points of a grid (all kinks are points of it) and ``\Delta`` the wider of a point's
two steps,

.. math::
    \varphi \le \max(\varphi_k, \varphi_{k+1}) + \tfrac{\Delta^2}{8} \sup |\varphi''|, \qquad
    |\varphi''| \le |d''| (m - \theta w)^+ + |d''| |m'| \Delta + 2 |d'| |m'| + d |m''|,

so that the points ``(\tilde d_k, \tilde m_k)`` with ``\tilde d = d + \Delta^2 |d''| / 8`` (more will do) and
``\tilde m = m + \Delta^2 |m''| / 8 + \Delta^2 (|d''| |m'| \Delta + 2 |d'| |m'| + d |m''|) / (8 \tilde d)`` dominate the
whole curve (``m`` is nowhere above the larger of its neighbours by more than the first summand):
``\max_k \tilde d_k (\tilde m_k - \theta w)^+`` is what is needed, convex in ``\theta``.

Money is in fen; ``\mu`` is what a fen of cost of goods is worth in fen of income, ``\psi`` the same for freight and
storage: ``m = (1 - q) (g(r) - \mu c) - \psi (freight + storage)``, with ``q`` the smallest rate of return at that price
(no defective goods), the speed of shipping the best, ``c`` the lowest price at which any supplier of the category
parts with the SKU, and ``g`` the price less commission, plus what rounding to whole fen can give.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from commerce.config import Rules
from commerce.procurement import pair_terms
from commerce.returns import price_return_factor
from commerce.setting import Setting
from commerce.types import FloatArray, IntArray, PriceResponse, Promotion

_STEP, _FAR_STEP, _FARTHEST_STEP = 0.025, 0.05, 0.4
"""Largest steps of the logarithm of the price ratio: near the reference, far from it, and farther still."""
_NEAR, _FAR = (0.3, 6.0), 3_000.0
_LEAST_SHARE = 1e-3
"""Of the demand next to a point without any that stands for it."""
_ROUNDING_FEN = 2.0
"""Most that whole fen can add to a unit: half a fen each to its price and commission, one to what a refund leaves."""
_HALF_FEN = 0.5
"""Most that rounding can take off the freight of an order."""
_NIGHTS = 2
"""Nights that a unit lies in the warehouse at least: received or returned at 08:00, shown to customers a day later and
sold at the end of that."""


class UnitCurve(NamedTuple):
    """Dominating points of some SKUs: units drawn and worth of a unit, shape (n, points); weight of a unit (n,)."""

    units: FloatArray
    worth: FloatArray
    weight: FloatArray


class UnitMargins:
    """Demand and worth of every SKU under one setting."""

    def __init__(self, setting: Setting) -> None:
        self.setting, self.rules = setting, setting.rules
        rules, reference = setting.rules, setting.world.skus.reference_fen
        losing = float(((self.cost - _ROUNDING_FEN) / reference).min())
        if rules.response_bound is None and losing <= 0:
            raise ValueError("a SKU costs less than rounding can bring, so its best price has no bound from below")
        self.ratios = price_points(rules, losing, rules.max_price_fen / float(reference.min()))
        step = np.diff(self.ratios)
        self._width = np.maximum(np.append(0.0, step), np.append(step, 0.0))

    @cached_property
    def cost(self) -> FloatArray:
        """Lowest price in fen at which any supplier parts with a unit of each SKU."""
        return cheapest_prices(self.setting)

    def curve(
        self, rows: IntArray, promotion: Promotion | None, mu: float, psi: float, kappa: float = 0.0
    ) -> UnitCurve:
        """Return the dominating points of the SKUs ``rows``, all of one category, on a day with ``promotion``.

        ``kappa`` is added to the worth of every unit.
        """
        worth, slope, bend = self._worth(rows, mu, psi)
        width = self._width
        worth = worth + kappa + width**2 / 8 * bend
        units, tops = [], []
        for drawn, first, second in self._draws(int(self.setting.world.skus.category[rows[0]]), promotion):
            nearby = _wider(drawn)
            has = nearby > 0  # next to the last point with demand lies one without, and demand between them
            lifted = np.maximum(drawn + width**2 / 8 * second, _LEAST_SHARE * nearby)
            extra = width**2 / 8 * (second * slope * width + 2 * first * slope + nearby * bend)
            units.append(np.broadcast_to(lifted, worth.shape)[:, has])
            tops.append((worth + extra / np.where(has, lifted, 1.0))[:, has])
        return UnitCurve(
            np.concatenate(units, axis=1), np.concatenate(tops, axis=1), self.setting.capacity_weight[rows]
        )

    def _worth(self, rows: IntArray, mu: float, psi: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return worth of a unit at the ratios, and bounds of its first and second derivative around each."""
        setting, rules, ratios = self.setting, self.rules, self.ratios
        reference = setting.world.skus.reference_fen[rows][:, None].astype(np.float64)
        natural = setting.world.skus.return_rate[rows][:, None]
        net = (1 - rules.commission) * reference
        gain = net * ratios + _ROUNDING_FEN - mu * self.cost[rows][:, None]
        raised = price_return_factor(ratios, rules)
        nights = _NIGHTS * min(factor for _, factor in rules.storage_steps) * setting.storage_fen[rows][:, None]
        worth = np.full(gain.shape, -np.inf)
        for cost, factor in zip(rules.speed_cost, rules.speed_returns, strict=True):
            rate = np.minimum(rules.return_cap, np.minimum(rules.return_cap, natural * raised) * factor)
            kept = np.where(gain > 0, 1 - rate, 1 - rules.return_cap)
            freight = np.maximum(0.0, setting.freight_fen[rows][:, None] * cost - _HALF_FEN)
            worth = np.maximum(worth, kept * gain - psi * (freight + nights))
        steeper = np.abs(np.diff(raised) / np.diff(ratios))
        steepest = np.maximum(np.append(0.0, steeper), np.append(steeper, 0.0)) * max(rules.speed_returns) * natural
        slope = net + steepest * np.abs(gain)
        return worth, _wider(slope), _wider(2 * steepest * net)

    def _draws(self, category: int, promotion: Promotion | None) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
        """Return units drawn by ratio outside and inside a promotion, with bounds of two derivatives around each."""
        row, rules, ratios = self.setting.world.categories[category], self.rules, self.ratios
        base = float(self.setting.base[self.setting.world.skus.category == category][0])
        kind, one, none = list(PriceResponse).index(row.response), np.ones(len(ratios)), np.zeros(len(ratios))
        found = [self._product(kind, row.elasticity, one, none, base)]
        if promotion is None:
            return found
        boosted, most = row.elasticity * promotion.elasticity_boost, promotion.max_multiplier - 1
        if rules.promotion_base == "list":
            return [*found, self._product(kind, boosted, one + max(0.0, most), none, base)]
        inside = np.where(ratios <= 1, one, none)  # a discount on at most the reference price ends below it
        factor = 1 + most * np.clip((1 - ratios) / rules.full_discount, 0.0, 1.0)
        rise = np.where(ratios >= 1 - rules.full_discount - 1e-9, abs(most) / rules.full_discount, 0.0)
        value, first, second = self._product(kind, boosted, factor, rise, base)
        return [*found, (value * inside, first * inside, second * inside)]

    def _product(
        self, kind: int, elasticity: float, factor: FloatArray, rise: FloatArray, base: float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return base demand times price response, choke and ``factor`` (whose slope is ``rise``), with derivatives."""
        value, first, second = smooth_response(self.ratios, kind, elasticity, self.rules.response_bound)
        choke = self.rules.choke_ratio
        if choke is not None:
            above = np.clip((self.ratios - 1) / (choke - 1), 0.0, 1.0)
            inside = (self.ratios >= 1) & (self.ratios <= choke)
            bend, turn, curl = 1 - above**2, inside * 2 * above / (choke - 1), inside * 2 / (choke - 1) ** 2
            second = second * bend + 2 * first * turn + np.abs(value) * curl
            first = first * bend + np.abs(value) * turn
            value = value * bend
        second = _wider(base * (second * factor + 2 * first * rise))
        first = _wider(base * (first * factor + np.abs(value) * rise))
        return base * np.maximum(value, 0.0) * factor, first, second


def smooth_response(
    ratios: FloatArray, kind: int, elasticity: float, bound: float | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the price response as it goes on smoothly below zero, and the sizes of its two derivatives."""
    gap, k, flat = ratios - 1, elasticity, np.zeros(len(ratios))
    if kind == 0:
        return 1 - k * gap, flat + k, flat
    if kind == 1:
        response = np.exp(-k * gap)
        return response, k * response, k * k * response
    if kind == 2:
        response = ratios**-k
        return response, k * response / ratios, k * (k + 1) * response / ratios**2
    square = k * gap * (gap if bound is None else np.abs(gap))
    return 1 - square, 2 * k * np.abs(gap), flat + 2 * k


def price_points(rules: Rules, lowest: float, highest: float) -> FloatArray:
    """Return the price ratios that the curves are taken at, every kink among them.

    Parameters
    ----------
    rules
        Below their response bound demand grows no further, so no lower price can be better.
    lowest
        Without a response bound: the ratio below which every SKU sells at a loss.
    highest
        Without a band: the highest ratio the platform takes of any SKU.
    """
    low = lowest if rules.response_bound is None else rules.response_bound
    high = highest if rules.price_band is None else rules.price_band.high
    if rules.choke_ratio is not None:
        high = min(high, rules.choke_ratio)
    edges = [low, *(edge for edge in (*_NEAR, _FAR) if low < edge < high), high]
    parts = [
        np.geomspace(first, last, 2 + int(np.log(last / first) / _step_between(first, last)))
        for first, last in pairwise(edges)
    ]
    kinks = [knee for knee, _ in rules.return_knees] + [1.0, 1 - rules.full_discount]
    return np.unique(np.concatenate([*parts, [kink for kink in kinks if low < kink < high]]))


def _step_between(first: float, last: float) -> float:
    if first >= _FAR:
        return _FARTHEST_STEP
    return _STEP if _NEAR[0] <= first and last <= _NEAR[1] else _FAR_STEP


def cheapest_prices(setting: Setting) -> FloatArray:
    """Return the lowest price in fen at which any supplier parts with a unit, by SKU."""
    world, rules = setting.world, setting.rules
    by_category = world.suppliers_by_category
    return np.array(
        [
            min(pair_terms(world, rules, supplier, sku).reservation for supplier in by_category[category])
            for sku, category in enumerate(world.skus.category.tolist())
        ],
        dtype=np.float64,
    )


def _wider(values: FloatArray) -> FloatArray:
    """Return at each point the largest of its own value and its neighbours'."""
    wide = values.copy()
    wide[..., 1:] = np.maximum(wide[..., 1:], values[..., :-1])
    wide[..., :-1] = np.maximum(wide[..., :-1], values[..., 1:])
    return wide
