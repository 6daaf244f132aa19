r"""What a planner believes of one store type: demand, returns and costs of its SKUs as arrays, and what follows a day.

A unit of SKU ``i`` sold at price ``p`` and shipped at speed ``m`` comes back with probability ``q = \min(cap, r_i
g(p / ref_i) m)`` and can then be sold again, so that it earns

.. math:: (1 - q) (p (1 - fee) - c_i) - v_i f_m

where the platform gives the commission on returns back, and ``q p\, fee`` less where it does not; ``c_i`` is what a
unit costs, ``v_i`` its freight. Demand before saturation is that of :mod:`commerce.demand`. Money is in fen, arrays run
over the ``n`` SKUs of the store type.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from commerce.config import Rules
from commerce.demand import price_response, promotion_factor
from commerce.returns import price_return_factor
from commerce.setting import Setting
from commerce.types import FloatArray, IntArray
from oracle.store.static_optimum import Candidates, StoreCapacity

_RATIOS = np.concatenate([0.6 * 1.035 ** np.arange(29), 1.65 * 1.12 ** np.arange(37)])


class Sale(NamedTuple):
    """A promotion that runs: what it makes of demand and elasticity, and the discount taken off the list price."""

    max_multiplier: float
    elasticity_boost: float
    discount: float


@dataclass(frozen=True)
class StoreModel:
    """Beliefs about one store type.

    Attributes
    ----------
    skus
        Rows of the SKUs in the catalogue.
    base, elasticity, response, returns
        Units a day at the reference price, elasticity, row of the response family and natural return rate.
    reference, freight, storage
        Reference price, standard freight and storage a night, in fen.
    weight
        What a unit takes of the capacities.
    category
        Category within the store, from 0.
    capacity
        Capacity of the store and of its categories.
    """

    rules: Rules
    skus: IntArray
    base: FloatArray
    elasticity: FloatArray
    response: IntArray
    returns: FloatArray
    reference: FloatArray
    freight: FloatArray
    storage: FloatArray
    weight: FloatArray
    category: IntArray
    capacity: StoreCapacity

    def return_rate(self, ratio: FloatArray, speed: int) -> FloatArray:
        """Return the share of units that come back at the price ratios ``ratio`` (n,) or (n, P)."""
        factor = price_return_factor(ratio, self.rules)
        natural = self.returns if ratio.ndim == 1 else self.returns[:, None]
        cap = self.rules.return_cap
        return np.minimum(cap, np.minimum(cap, natural * factor) * self.rules.speed_returns[speed])

    def margin(self, price: FloatArray, cost: FloatArray, speed: int = 1) -> FloatArray:
        """Return what a unit sold earns in fen at the prices ``price`` (n, P) if a unit costs ``cost`` (n,)."""
        returned = self.return_rate(price / self.reference[:, None], speed)
        fee = self.rules.commission
        kept = (1 - returned) * (price * (1 - fee) - cost[:, None])
        if self.rules.commission_on_returns == "kept":
            kept -= returned * price * fee
        return np.asarray(kept - self.freight[:, None] * self.rules.speed_cost[speed])

    def demand(self, price: FloatArray, factor: float, sale: Sale | None = None) -> FloatArray:
        """Return units a day before saturation at the prices customers pay, shape (n, P)."""
        ratio, shape = price / self.reference[:, None], price.shape
        elasticity = np.broadcast_to(self.elasticity[:, None], shape)
        demand = np.broadcast_to(self.base[:, None] * factor, shape)
        if sale is not None:
            is_lower = self._counted_discount(price, sale)
            elasticity = elasticity * np.where(is_lower > 0, sale.elasticity_boost, 1.0)
            demand = demand * promotion_factor(is_lower, sale.max_multiplier, self.rules)
        response = np.broadcast_to(self.response[:, None], shape)
        return np.asarray(demand * price_response(ratio, elasticity, response, self.rules))

    def _counted_discount(self, price: FloatArray, sale: Sale) -> FloatArray:
        """Return the discount as the platform counts it, the trailing price being the reference or above it."""
        if self.rules.promotion_base == "list":
            return np.full(price.shape, sale.discount)
        return np.clip(1 - price / self.reference[:, None], 0.0, sale.discount)

    def some(self, places: IntArray) -> StoreModel:
        """Return what is believed of the SKUs at ``places``."""
        columns = (
            "skus",
            "base",
            "elasticity",
            "response",
            "returns",
            "reference",
            "freight",
            "storage",
            "weight",
            "category",
        )
        return replace(self, **{name: getattr(self, name)[places] for name in columns})

    def prices(self, sale: Sale | None = None) -> FloatArray:
        """Return the prices in fen that customers may pay, shape (n, P)."""
        band, ratios = self.rules.price_band, _RATIOS
        scale = 1.0 if sale is None else 1 - sale.discount
        if band is not None:
            low, high = max(0.3, band.low) * scale, band.high * scale
            ratios = np.unique(np.concatenate([ratios[(ratios > low) & (ratios < high)], [low, high]]))
        return np.asarray(np.minimum(self.reference[:, None] * ratios, self.rules.max_price_fen * scale))

    def candidates(
        self, price: FloatArray, cost: FloatArray, factor: float, sale: Sale | None = None, speed: int = 1
    ) -> Candidates:
        """Return what may be listed when units cost ``cost`` (fen, infinite where there is no supplier)."""
        is_there = np.isfinite(cost)
        demand = np.where(is_there[:, None], self.demand(price, factor, sale), 0.0)
        margin = self.margin(price, np.where(is_there, cost, 0.0), speed)
        return Candidates(demand, margin, self.weight, self.category)


def true_model(setting: Setting, store_type: int) -> StoreModel:
    """Return the beliefs of somebody who knows the world."""
    world, skus = setting.world, setting.rows_of_type[store_type]
    names = world.categories_by_type[store_type]
    caps = setting.category_caps[list(names)]
    return StoreModel(
        rules=setting.rules,
        skus=skus,
        base=setting.base[skus],
        elasticity=setting.elasticity[skus],
        response=setting.response[skus],
        returns=world.skus.return_rate[skus],
        reference=world.skus.reference_fen[skus].astype(np.float64),
        freight=setting.freight_fen[skus].astype(np.float64),
        storage=setting.storage_fen[skus].astype(np.float64),
        category=np.searchsorted(names, world.skus.category[skus]),
        weight=setting.capacity_weight[skus],
        capacity=StoreCapacity(
            world.store_types[store_type].capacity,
            np.where(caps > 0, caps, np.inf),
            breadth=setting.rules.category_breadth,
        ),
    )
