r"""What own sales say of a store type: the scale of its demand, its capacity, and the elasticity of each category.

Sales of the SKUs that were on a shelf and did not sell out are taken as Poisson with the mean of the demand law, given
a scale ``S`` and a capacity ``K`` on a grid. The likelihood is tempered, because the law is known up to more than these
two numbers; with a log-normal prior,

.. math:: \log p(S, K \mid sold) = \log p(S) + \log p(K) + w \sum_i (sold_i \log \lambda_i - \lambda_i).

The elasticity of a category has a posterior of its own on a grid of five values, at the mean of the other two. Prices
near the reference say nothing of it, and then it stays at its prior mean.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from commerce.types import FloatArray, IntArray
from oracle.store.static_optimum import Candidates, StoreCapacity, saturated
from oracle.store.store_model import StoreModel

ELASTICITIES = np.array([1.5, 2.5, 3.5, 4.5, 5.5])
_SCALES = np.geomspace(0.1, 20.0, 16)
_SPREADS = (1.0, 1.2)  # standard deviations of the logarithms of scale and capacity
_CAPACITY_RANGE = np.geomspace(0.02, 50.0, 16)
_TEMPER = 0.3


class ShelfSales(NamedTuple):
    """What a store showed and sold: rows of its SKUs, prices in fen, units and expected factor times days."""

    places: IntArray
    price: FloatArray
    sold: FloatArray
    is_complete: FloatArray
    exposure: float
    factor: float


@dataclass
class DemandBelief:
    """Belief about one store type; ``prior_capacity`` is the median of the capacity's prior."""

    model: StoreModel
    prior_scale: float
    prior_capacity: float
    log_weight: FloatArray
    elasticity_weight: FloatArray

    @property
    def estimate(self) -> tuple[float, float]:
        """Posterior means of the logarithms of scale and capacity, back on their own scale."""
        weight = np.exp(self.log_weight - self.log_weight.max())
        weight /= weight.sum()
        scale = float(np.exp(weight.sum(axis=1) @ np.log(_SCALES)))
        capacity = self.prior_capacity * float(np.exp(weight.sum(axis=0) @ np.log(_CAPACITY_RANGE)))
        return scale, capacity

    @property
    def elasticities(self) -> FloatArray:
        """Posterior mean of the elasticity of each category."""
        weight = np.exp(self.elasticity_weight - self.elasticity_weight.max(axis=1, keepdims=True))
        return np.asarray((weight @ ELASTICITIES) / weight.sum(axis=1))

    def current(self) -> StoreModel:
        """Return the model at the estimates."""
        scale, capacity = self.estimate
        return scaled(self.model, scale, capacity, self.elasticities)

    def learn(self, seen: ShelfSales) -> None:
        """Take in what was sold."""
        for row, scale in enumerate(_SCALES):
            for column, share in enumerate(_CAPACITY_RANGE):
                capacity = share * self.prior_capacity
                model = scaled(self.model, float(scale), capacity, self.elasticities)
                self.log_weight[row, column] += _TEMPER * float(_fit(model, seen).sum())
        scale, capacity = self.estimate
        categories = self.model.category[seen.places]
        for column, elasticity in enumerate(ELASTICITIES):
            flat = np.full(len(self.elasticity_weight), elasticity)
            fit = _fit(scaled(self.model, scale, capacity, flat), seen)
            self.elasticity_weight[:, column] += _TEMPER * np.bincount(categories, fit, len(self.elasticity_weight))


def first_belief(model: StoreModel, prior_scale: float, prior_capacity: float) -> DemandBelief:
    """Return the prior: ``model`` has a scale and a capacity of 1."""
    scales = -((np.log(_SCALES / prior_scale) / _SPREADS[0]) ** 2) / 2
    capacities = -((np.log(_CAPACITY_RANGE) / _SPREADS[1]) ** 2) / 2
    elasticities = np.tile(-((ELASTICITIES - 3.5) ** 2) / 2, (len(model.capacity.categories), 1))
    return DemandBelief(model, prior_scale, prior_capacity, scales[:, None] + capacities[None, :], elasticities)


def scaled(model: StoreModel, scale: float, capacity: float, elasticities: FloatArray) -> StoreModel:
    """Return a model of scale and capacity 1 with others, and an elasticity for each category."""
    caps = StoreCapacity(capacity, model.capacity.categories * capacity, breadth=model.capacity.breadth)
    return replace(model, base=model.base * scale, elasticity=elasticities[model.category], capacity=caps)


def _fit(model: StoreModel, seen: ShelfSales) -> FloatArray:
    """Return the log-likelihood of each SKU shown, up to a constant."""
    demand = model.demand_at(seen.places, seen.price)[:, None] * seen.factor
    given = Candidates(demand, demand, model.weight[seen.places], model.category[seen.places])
    first = np.zeros(len(seen.places), dtype=np.int64)
    mean = saturated(given, model.capacity, np.ones(len(first), dtype=np.bool_), first) * seen.exposure
    mean = np.maximum(mean, 1e-6)
    return np.asarray(np.where(seen.is_complete > 0, seen.sold * np.log(mean) - mean, 0.0))
