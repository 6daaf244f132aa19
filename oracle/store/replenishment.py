r"""What to buy, of whom, in which order.

A category is bought when a share of its stock is lacking, by what it would earn, and then up to its level: the sales of
``T`` days, in stock and on order. Suppliers retire after some orders, so ``T`` grows where those left would not last
to the end of the year, and where more are left than are needed, a purchase is divided among several suppliers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from commerce.types import FloatArray, IntArray
from oracle.store.assortment import AssortmentPlan, cover_days
from oracle.store.knowledge import MarketKnowledge
from oracle.store.purchasing import MOVES, ORDERS_A_PURCHASE, Wanted

LEAD_DAYS = 8
_LACKING = 0.35
_MOST_DAYS, _MOST_SUPPLIERS = 75.0, 3


class Purchase(NamedTuple):
    """One purchase: whom to ask for what, what it earns for each yuan it costs, and the most to spend in yuan."""

    email: str
    wanted: list[Wanted]
    worth: float
    most: float


class Stock(NamedTuple):
    """Units by row of the catalogue."""

    on_hand: IntArray
    on_order: IntArray


def purchases(
    knowledge: MarketKnowledge,
    plans: Mapping[int, AssortmentPlan],
    stock: Stock,
    capital_price: float,
    days_left: int,
) -> list[Purchase]:
    """Return what to buy, the most profitable for its cost first; one can still sell for ``days_left`` days."""
    found: list[Purchase] = []
    if days_left <= LEAD_DAYS:
        return found
    for kind, plan in plans.items():
        model = knowledge.model(kind)
        for category in range(len(model.capacity.categories)):
            places = np.flatnonzero((model.category == category) & plan.listed)
            if len(places):
                orders_left = knowledge.orders_left(int(model.skus[places[0]]))
                num_days, most = _horizon(len(places), orders_left, capital_price, days_left)
                target = plan.units[places] * min(num_days, 0.9 * (days_left - LEAD_DAYS) + LEAD_DAYS)
                if num_days < days_left - LEAD_DAYS:
                    target = np.maximum(1.0, target)
                if most:
                    found += _of_category(knowledge, model.skus[places], plan.margin[places], target, stock, most)
    return sorted(found, key=lambda purchase: -purchase.worth)


def _horizon(num_skus: int, orders_left: int, capital_price: float, days_left: int) -> tuple[float, int]:
    """Return the days of sales to hold, and the most suppliers to divide a purchase among; 0 where none is left."""
    if orders_left == 0:
        return 0.0, 0
    a_purchase = ORDERS_A_PURCHASE * -(-num_skus // MOVES)
    spaced = a_purchase * days_left / orders_left / _LACKING  # as far apart as makes the orders last
    num_days = float(np.clip(spaced, cover_days(capital_price), _MOST_DAYS))
    return num_days, int(np.clip(num_days / spaced, 1, _MOST_SUPPLIERS))


def _of_category(
    knowledge: MarketKnowledge, skus: IntArray, earns: FloatArray, target: FloatArray, stock: Stock, most: int
) -> list[Purchase]:
    """Return what to buy of one category, if enough is lacking, divided among its cheapest suppliers."""
    need = np.maximum(0, np.rint(target) - stock.on_hand[skus] - stock.on_order[skus])
    if not need.any() or need @ earns < _LACKING * (target @ earns):
        return []
    chosen = np.flatnonzero(need)
    found = []
    for supply, mine in knowledge.supplies(skus[chosen], need[chosen], most):
        rows = chosen[mine]
        wanted = [
            Wanted(knowledge.product_ids[skus[rows[k]]], int(need[rows[k]]), int(supply.bids[k]))
            for k in np.argsort(-earns[rows] / supply.bids, kind="stable").tolist()
        ]
        worth = float((earns[rows] @ need[rows]) / (supply.bids @ need[rows]))
        found.append(Purchase(supply.email, wanted, worth, supply.most_fen / 100))
    return found
