r"""What to buy, of whom, in which order.

Every category is bought from time to time, ``g`` days apart: often while capital is scarce, and else so seldom that the
orders that its suppliers take last to the end of the year. A purchase fills stock and what is on order up to the sales
of ``LEAD_DAYS + g`` days, and some more where capital is not scarce; where more orders are left than are needed, it is
divided among several suppliers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from commerce.types import FloatArray, IntArray
from oracle.store.knowledge import MarketKnowledge
from oracle.store.purchasing import MOVES, ORDERS_A_PURCHASE, Purchase, Wanted
from oracle.store.store_plan import LEAD_DAYS, AssortmentPlan

_SCARCE, _HURRY = 0.02, 0.6
_SHORTEST_GAP, _LONGEST_GAP = 3.0, 20.0
_SAFETY_DAYS = 5.0
_MOST_SUPPLIERS = 3
_LACKING = 0.8  # of what is sold between two purchases


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
    if days_left < LEAD_DAYS:
        return found
    for kind, plan in plans.items():
        model = knowledge.model(kind)
        for category in range(len(model.capacity.categories)):
            places = np.flatnonzero((model.category == category) & plan.listed)
            orders_left = knowledge.orders_left(int(model.skus[places[0]])) if len(places) else 0
            if orders_left:
                rhythm = _rhythm(ORDERS_A_PURCHASE * days_left / orders_left, capital_price)
                target = plan.units[places] * min(rhythm.cover, days_left)
                if rhythm.cover < days_left:
                    target = np.maximum(1.0, target)
                found += _of_category(knowledge, model.skus[places], plan.margin[places], target, stock, rhythm)
    return sorted(found, key=lambda purchase: -purchase.worth)


class _Rhythm(NamedTuple):
    """How often a category is bought.

    Attributes
    ----------
    cover
        Days of sales that stock and orders are filled up to.
    lacking
        Share of that which is lacking when it is time.
    most
        Most suppliers to divide a purchase among.
    """

    cover: float
    lacking: float
    most: int


def _rhythm(lasting: float, capital_price: float) -> _Rhythm:
    """Return how to buy where the orders last when purchases of one supplier are ``lasting`` days apart."""
    is_scarce = capital_price >= _SCARCE
    gap = float(np.clip(lasting * (_HURRY if is_scarce else 1.0), _SHORTEST_GAP, _LONGEST_GAP))
    cover = LEAD_DAYS + gap + (0.0 if is_scarce else _SAFETY_DAYS)
    return _Rhythm(cover, _LACKING * gap / (LEAD_DAYS + gap), int(np.clip(gap / lasting, 1, _MOST_SUPPLIERS)))


def _of_category(
    knowledge: MarketKnowledge, skus: IntArray, earns: FloatArray, target: FloatArray, stock: Stock, rhythm: _Rhythm
) -> list[Purchase]:
    """Return what to buy of one category, if enough is lacking, divided among its cheapest suppliers."""
    need = np.maximum(0, np.rint(target) - stock.on_hand[skus] - stock.on_order[skus])
    if not need.any() or need @ earns < rhythm.lacking * (target @ earns):
        return []
    chosen = np.flatnonzero(need)
    found = []
    for supply, mine in knowledge.supplies(skus[chosen], need[chosen], rhythm.most):
        rows = chosen[mine]
        wanted = [
            Wanted(supply.email, knowledge.product_ids[skus[rows[k]]], int(need[rows[k]]), int(supply.bids[k]))
            for k in np.argsort(-earns[rows] * need[rows], kind="stable")[:MOVES].tolist()
        ]
        wanted = _within(wanted, supply.most_fen)
        worth = float((earns[rows] @ need[rows]) / (supply.bids @ need[rows]))
        found.append(Purchase(int(skus[0]), wanted, worth))
    return found


def _within(wanted: list[Wanted], most_fen: float) -> list[Wanted]:
    """Return the first of ``wanted`` that together cost no more than ``most_fen``."""
    spent = np.cumsum([row.units * row.bid_fen for row in wanted])
    return wanted[: max(1, int((spent <= most_fen).sum()))]
