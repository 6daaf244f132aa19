r"""What a planner believes of one store type: demand, returns and costs of its SKUs as arrays, and what follows a day.

A unit of SKU ``i`` sold at price ``p`` and shipped at speed ``m`` comes back with probability ``q = \min(cap, r_i
g(p / ref_i) m)`` and can then be sold again, so that it earns

.. math:: (1 - q) (p (1 - fee) - c_i) - v_i f_m

where the platform gives the commission on returns back, and ``q p\, fee`` less where it does not; ``c_i`` is what a
unit costs, ``v_i`` its freight. Demand before sharing and saturation is that of :mod:`commerce.demand`. Money is in
fen, arrays run over the ``n`` SKUs of the store type and ``P`` prices from far below the reference to the highest that
is allowed, or a hundred times the reference.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from commerce.config import Rules
from commerce.demand import price_response
from commerce.returns import price_return_factor
from commerce.setting import Setting
from commerce.types import FloatArray, IntArray
from oracle.store.static_optimum import Candidates, StoreCapacity

_RATIOS = np.concatenate([0.6 * 1.035 ** np.arange(29), 1.65 * 1.12 ** np.arange(37)])
_LOWEST = 0.3


class Earnings(NamedTuple):
    """What a unit sold brings at each price, shape (n, P): ``income`` less ``kept`` times what the unit costs."""

    income: FloatArray
    kept: FloatArray


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

    @cached_property
    def price(self) -> FloatArray:
        """Prices in fen, shape (n, P)."""
        band, ratios = self.rules.price_band, _RATIOS
        if band is not None:
            low = max(_LOWEST, band.low)
            ratios = np.concatenate([[low], ratios[(ratios > low) & (ratios < band.high)], [band.high]])
        return np.asarray(np.minimum(self.reference[:, None] * ratios, self.rules.max_price_fen))

    @cached_property
    def demand(self) -> FloatArray:
        """Units a day at demand factor 1 before sharing and saturation, shape (n, P)."""
        ratio = self.price / self.reference[:, None]
        response = np.broadcast_to(self.response[:, None], ratio.shape)
        return np.asarray(self.base[:, None] * price_response(ratio, self.elasticity[:, None], response, self.rules))

    def demand_at(self, places: IntArray, price: FloatArray) -> FloatArray:
        """Return units a day at demand factor 1 of the SKUs at ``places`` at one price each, in fen."""
        ratio = price / self.reference[places]
        response = price_response(ratio, self.elasticity[places], self.response[places], self.rules)
        return np.asarray(self.base[places] * response)

    @cached_property
    def by_speed(self) -> tuple[Earnings, ...]:
        """What a unit brings, by the row of the speed it is shipped at."""
        return tuple(self._shipped(speed) for speed in range(len(self.rules.speed_cost)))

    @property
    def earnings(self) -> Earnings:
        """What a unit brings, shipped at standard speed."""
        return self.by_speed[1]

    def _shipped(self, speed: int) -> Earnings:
        rules, cap = self.rules, self.rules.return_cap
        factor = price_return_factor(self.price / self.reference[:, None], rules)
        returned = np.minimum(cap, np.minimum(cap, self.returns[:, None] * factor) * rules.speed_returns[speed])
        income = (1 - returned) * self.price * (1 - rules.commission)
        if rules.commission_on_returns == "kept":
            income -= returned * self.price * rules.commission
        return Earnings(income - self.freight[:, None] * rules.speed_cost[speed], 1 - returned)

    def candidates(self, places: IntArray, cost: FloatArray, factor: float) -> Candidates:
        """Return the SKUs at ``places`` as candidates when a unit costs ``cost`` (fen, shape of ``places``)."""
        income, kept = self.earnings
        margin = income[places] - kept[places] * cost[:, None]
        return Candidates(self.demand[places] * factor, margin, self.weight[places], self.category[places])


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
        weight=setting.capacity_weight[skus],
        category=np.searchsorted(names, world.skus.category[skus]),
        capacity=StoreCapacity(
            world.store_types[store_type].capacity,
            np.where(caps > 0, caps, np.inf),
            breadth=setting.rules.category_breadth,
        ),
    )
