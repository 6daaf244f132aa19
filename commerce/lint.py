"""The economy's own test: what prices, discounts and tools allow on every SKU alone, before any agent plays.

What full stores allow is :mod:`oracle.store.store_lint`, because it takes the best listing of a store to say so.

For one SKU alone in an open store at full reputation, bought at the honest floor and shipped at standard speed, the
expected profit of a day at list price ``p`` is

    ``D(p) [p (1 - fee) (1 - ret(p)) - floor (1 - ret(p)) - freight]``, ``D`` after both saturations,

swept over prices from 1e-9 to 1e12 yuan. A healthy SKU has its best price inside the prices the platform takes, and
less profit at both ends of the sweep. A promotion is a free lunch when marking the list price up and then discounting
back to the same price raises demand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from commerce.config import Rules
from commerce.demand import price_response, promotion_factor
from commerce.returns import price_return_factor
from commerce.selling import day_offer
from commerce.setting import Setting
from commerce.state import new_store
from commerce.types import FloatArray, World

#: Factors on the reference price between the ends of the sweep, 2 % apart.
_RATIOS = np.exp(np.arange(np.log(0.01), np.log(100.0), 0.02))
SWEEP_YUAN = (1e-9, 1e12)
_DISCOUNT = 0.30
_LIFT = 1.05  # a marked-up price is whole fen, so the price after the discount is not exactly the reference


class Finding(NamedTuple):
    """Something the rules allow that they had better not: what ``num`` of how many ``what`` it concerns, an example."""

    kind: str
    num: int
    total: int
    what: str
    example: str


class LintReport(NamedTuple):
    """What the lint found under one rule set."""

    rules: str
    world: str
    num_skus: int
    findings: tuple[Finding, ...]

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found."""
        return not self.findings


def lint_economy(world: World, rules: Rules) -> LintReport:
    """Sweep every SKU of ``world`` under ``rules``."""
    setting = Setting(world, rules)
    findings = tuple(finding for finding in _findings(setting) if finding.num)
    return LintReport(rules.name, world.digest, setting.num_skus, findings)


def price_grid(setting: Setting) -> FloatArray:
    """Return the swept prices in fen, shape (SKUs, prices): both ends, and a fine grid around each reference."""
    reference = setting.world.skus.reference_fen[:, None].astype(np.float64)
    low, high = (np.full((setting.num_skus, 1), yuan * 100) for yuan in SWEEP_YUAN)
    return np.concatenate([low, reference * _RATIOS, high], axis=1)


def undisturbed_demand(setting: Setting, prices: FloatArray) -> FloatArray:
    """Return the units each SKU would sell on an ordinary day at reputation 1 if nothing held them back.

    ``prices`` in fen, one row a SKU.
    """
    ratio = prices / setting.world.skus.reference_fen[:, None]
    factor = price_response(ratio, setting.elasticity[:, None], setting.response[:, None], setting.rules)
    return np.asarray(setting.base[:, None] * factor)


def unit_margin(setting: Setting, prices: FloatArray) -> FloatArray:
    """Return what a sold unit earns in fen, bought at the floor of its category and shipped at standard speed."""
    rules, skus = setting.rules, setting.world.skus
    ratio = prices / skus.reference_fen[:, None]
    returned = np.minimum(rules.return_cap, skus.return_rate[:, None] * price_return_factor(ratio, rules))
    floor = np.array([row.floor_ratio for row in setting.world.categories])[skus.category] * skus.reference_fen
    margin = prices * (1 - rules.commission) - floor[:, None]
    return np.asarray(margin * (1 - returned) - setting.freight_fen[:, None])


def sole_profit(setting: Setting, prices: FloatArray) -> FloatArray:
    """Return the expected profit of a day in fen for each SKU alone in its store, shape of ``prices``."""
    world, skus = setting.world, setting.world.skus
    demand = undisturbed_demand(setting, prices)
    capacity = np.array([row.capacity for row in world.store_types])[skus.store_type][:, None]
    share = np.array(setting.category_shares)[skus.store_type][:, None]
    weight = setting.capacity_weight[:, None]
    demand = np.where(share < 1, demand * share * capacity / (share * capacity + weight * demand), demand)
    demand = demand * capacity / (capacity + weight * demand)
    return np.asarray(demand * unit_margin(setting, prices))


def _findings(setting: Setting) -> Iterator[Finding]:
    prices = price_grid(setting)
    profit = sole_profit(setting, prices)
    best = profit.argmax(axis=1)
    is_unbounded = (best == 0) | (best == prices.shape[1] - 1) | ~np.isfinite(profit).all(axis=1)
    yield _finding(setting, "profit grows without bound", is_unbounded, prices, best)
    low, high = allowed_prices(setting)
    best_price = prices[np.arange(len(prices)), best]
    is_outside = ((best_price < low) | (best_price > high)) & (profit.max(axis=1) > 0)
    yield _finding(setting, "best price outside the allowed band", is_outside, prices, best)
    yield _finding(setting, "demand without bound as the price falls", _unbounded_demand(setting), prices, best)
    yield _finding(setting, "a discount lowers demand", _discount_hurts(setting), prices, best)
    yield _finding(setting, "demand lifted by marking up and discounting back", _free_lunch(setting), prices, best)


def allowed_prices(setting: Setting) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and highest list price the platform takes, in fen by SKU."""
    rules, reference = setting.rules, setting.world.skus.reference_fen.astype(np.float64)
    if rules.price_band is None:
        return np.ones(setting.num_skus), np.full(setting.num_skus, float(rules.max_price_fen))
    return np.maximum(1.0, reference * rules.price_band.low), reference * rules.price_band.high


def _respond(setting: Setting, ratio: float) -> FloatArray:
    ratios = np.full(setting.num_skus, ratio)
    return price_response(ratios, setting.elasticity, setting.response, setting.rules)


def _unbounded_demand(setting: Setting) -> FloatArray:
    return np.asarray(_respond(setting, 1e-6) > 100 * _respond(setting, 0.1))


def _discount_hurts(setting: Setting) -> FloatArray:
    return np.asarray(_respond(setting, 0.9) < _respond(setting, 1.0))


def _free_lunch(setting: Setting) -> FloatArray:
    """Return which SKUs sell more at the reference price when it is a marked-up price less a discount."""
    lifted = np.zeros(setting.num_skus, dtype=bool)
    for row, promotion in enumerate(setting.world.promotions):
        for store_type, skus in enumerate(setting.rows_of_type):
            reference = setting.world.skus.reference_fen[skus]
            store = new_store(1, store_type, "lint", 0, len(skus))
            store.window_units[:], store.trailing_fen[:] = 1, reference
            store.window_fen[:] = np.rint(reference / (1 - _DISCOUNT))
            store.window_promotion, store.window_discount = row, _DISCOUNT
            offer = day_offer(setting, [store], promotion.windows[0][0])
            lifted[skus] |= promotion_factor(offer.discount, promotion.max_multiplier, setting.rules) > _LIFT
    return lifted


def _finding(setting: Setting, kind: str, mask: FloatArray, prices: FloatArray, best: FloatArray) -> Finding:
    rows = np.flatnonzero(mask)
    if not len(rows):
        return Finding(kind, 0, len(mask), "SKUs", "")
    sku = int(rows[0])
    category = setting.world.categories[int(setting.world.skus.category[sku])].name
    reference = int(setting.world.skus.reference_fen[sku]) / 100
    price = prices[sku, best[sku]] / 100
    text = f"{setting.world.skus.sku_id[sku]} ({category}), reference {reference:.2f}, best price {price:.6g} yuan"
    return Finding(kind, len(rows), len(mask), "SKUs", text)
