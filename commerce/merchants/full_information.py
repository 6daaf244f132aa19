"""Advice of somebody who has read the hidden side of the world: demand curves, floors, frauds.

An upper reference for the rule-based merchant, not a bound: it trades by the same routine and differs in what it
believes. The price of a product maximises the expected margin of one visit,
``PF(r) [r p (1 - fee) (1 - ret(r)) - floor (1 - ret(r)) - freight]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from commerce.config import Rules
from commerce.demand import price_response, saturate_categories, saturate_stores, share_buyers
from commerce.merchants.advice import Market, MarketProduct, SupplierCard
from commerce.procurement import pair_terms
from commerce.returns import price_return_factor
from commerce.setting import Setting
from commerce.types import FloatArray, Personality, World

_RATIOS = np.round(np.arange(0.70, 2.51, 0.05), 2)
_OVER_FLOOR = 1.002
_RANGE = 8  # products a category that the promise of a store type is judged by
_MEAN_REPUTATION = 0.8
#: Personalities from the most to the least yielding (acceptance at the floor).
_YIELDING = list(Personality)


class FullInformationAdvice:
    """Beliefs that are true."""

    def __init__(self, world: World, rules: Rules) -> None:
        self._setting = Setting(world, rules)

    @cached_property
    def _margins(self) -> FloatArray:
        """Expected margin of a visit in fen, by SKU and price ratio."""
        setting, rules, skus = self._setting, self._setting.rules, self._setting.world.skus
        reference = skus.reference_fen[:, None].astype(np.float64)
        floors = np.array([row.floor_ratio for row in setting.world.categories])[skus.category][:, None] * reference
        ratio = np.broadcast_to(_RATIOS, (setting.num_skus, len(_RATIOS)))
        response = np.stack(
            [price_response(column, setting.elasticity, setting.response, rules) for column in ratio.T],
            axis=1,
        )
        returned = np.minimum(rules.return_cap, skus.return_rate[:, None] * price_return_factor(_RATIOS, rules))
        income = ratio * reference * (1 - rules.commission) * (1 - returned)
        return np.asarray(response * (income - floors * (1 - returned) - setting.freight_fen[:, None]))

    @cached_property
    def _best(self) -> tuple[FloatArray, FloatArray]:
        """Best price ratio and its expected margin, by SKU."""
        places = self._margins.argmax(axis=1)
        return _RATIOS[places], self._margins.max(axis=1)

    def rank_store_types(self, market: Market) -> list[str]:
        """Rank by the daily margin of the best products of each category, capacity included."""
        names = [row.name for row in self._setting.world.store_types]
        promise = [self._promise(row) for row in range(len(names))]
        return [names[row] for row in sorted(range(len(names)), key=lambda row: -promise[row])]

    def _promise(self, store_type: int) -> float:
        setting, (_, margin) = self._setting, self._best
        rows = setting.rows_of_type[store_type]
        category = setting.world.skus.category[rows]
        chosen = np.concatenate(
            [rows[category == row][np.argsort(-margin[rows[category == row]])[:_RANGE]] for row in np.unique(category)]
        )
        kind = setting.world.store_types[store_type]
        category, weight = setting.world.skus.category[chosen], setting.capacity_weight[chosen]
        demand = share_buyers(setting.base[chosen] * _MEAN_REPUTATION, category, setting.rules)
        demand = saturate_categories(demand, weight, category, setting.category_caps)
        whole, capacity = np.zeros(len(chosen), dtype=np.int64), np.array([kind.capacity])
        demand = saturate_stores(demand, weight, whole, [slice(None)], capacity)
        return float(demand @ margin[chosen]) - kind.operations_fen

    def choose_products(self, category: str, products: Sequence[MarketProduct], num: int) -> list[MarketProduct]:
        """Take the products with the largest expected margin."""
        index, (_, margin) = self._setting.world.sku_index, self._best
        return sorted(products, key=lambda product: -margin[index[product.product_id]])[:num]

    def price(self, product: MarketProduct) -> float:
        """Return the price of the largest expected margin."""
        return float(self._best[0][self._setting.world.sku_index[product.product_id]]) * product.reference

    def choose_suppliers(self, suppliers: Sequence[SupplierCard]) -> list[SupplierCard]:
        """Ask honest suppliers only, the most yielding first."""
        world = self._setting.world
        usable = [card for card in suppliers if not card.is_blocked]
        cards = [(card, world.suppliers[world.supplier_index[card.email]]) for card in usable]
        honest = [(card, who) for card, who in cards if who.is_honest]
        return [
            card for card, who in sorted(honest, key=lambda pair: (_YIELDING.index(pair[1].personality), pair[0].email))
        ]

    def bid(self, product: MarketProduct, supplier: SupplierCard) -> float | None:
        """Repeat a bid just above the supplier's floor."""
        world = self._setting.world
        sku, row = world.sku_index[product.product_id], world.supplier_index[supplier.email]
        floor = pair_terms(world, self._setting.rules, row, sku).reservation
        return max(floor + 1, round(floor * _OVER_FLOOR)) / 100
