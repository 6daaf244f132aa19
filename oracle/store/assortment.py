r"""What a store should carry, at what prices, with how much stock; and which stores to open.

Capital is scarce at first. A price ``r`` of capital a day makes a unit that is bought ``D`` days before it is paid for
cost ``c (1 + r D)``; against those costs the static optimum of the store, with at most ``M`` SKUs, sells ``u_i`` units
a day and ties up

.. math:: A = \sum_i c_i (\max(1, u_i T) + u_i D_0)

in stock for ``T`` days and in what is on its way or in escrow (``D_0`` days). The best ``M`` for a store is that of the
largest ``profit - r A``, and the right ``r`` is the least at which the best stores need no more than there is: the
multiplier of the budget. Money is in fen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from commerce.types import BoolArray, FloatArray, IntArray
from oracle.store.static_optimum import static_optimum
from oracle.store.store_model import StoreModel

CAPITAL_PRICES = (0.001, 0.004, 0.008, 0.014, 0.02, 0.027, 0.035, 0.044, 0.055, 0.07, 0.09)
_WIDTHS = (10, 25, 60, 150)
_FLOAT_DAYS = 12.0
_LEAD_DAYS = 7.0


class AssortmentPlan(NamedTuple):
    """A plan for one store; arrays over its SKUs. ``margin`` is what a unit earns beside what it costs the others."""

    listed: BoolArray
    price: FloatArray
    units: FloatArray
    margin: FloatArray
    profit: float
    capital: float
    value: float


def cover_days(capital_price: float) -> float:
    """Return how many days of sales to keep in stock and on order: fewer where capital is dear."""
    return float(np.interp(capital_price, (0.0, 0.01, 0.03), (34.0, 26.0, 18.0)))


def plan_store(model: StoreModel, cost: FloatArray, factor: float, capital_price: float) -> AssortmentPlan:
    """Return the best plan of a store at demand factor ``factor``, over the numbers of SKUs to list.

    ``cost`` is what a unit costs, in fen, infinite where it cannot be bought. The SKUs of a narrow plan are the most
    valuable ones of the wide one.
    """
    wide = _plan_some(model, cost, factor, capital_price, np.flatnonzero(np.isfinite(cost)))
    order = np.argsort(-wide.margin * wide.units, kind="stable")
    num = int(wide.listed.sum())
    plans = [wide]
    for width in _WIDTHS:
        if width < num:
            plans.append(_plan_some(model, cost, factor, capital_price, np.sort(order[:width])))
    return max(plans, key=lambda plan: plan.value)


def _plan_some(
    model: StoreModel, cost: FloatArray, factor: float, capital_price: float, places: IntArray
) -> AssortmentPlan:
    """Return the best plan that lists nothing but the SKUs at ``places``."""
    paid, num_days = cost[places], cover_days(capital_price)
    tied = num_days / 2 + _FLOAT_DAYS + _LEAD_DAYS
    dear = paid * (1 + capital_price * tied) + model.storage[places] * num_days / 2
    given = model.candidates(places, dear, factor)
    best, rows = static_optimum(given, model.capacity), np.arange(len(places))
    net = given.margin[rows, best.price] - best.congestion[given.category] * given.weight
    extra = model.earnings.kept[places][rows, best.price] * (dear - paid)
    profit = float(best.units @ (given.margin[rows, best.price] + extra))
    stock = np.where(best.listed, np.maximum(1.0, best.units * num_days), 0.0)
    capital = float(paid @ (stock + best.units * _FLOAT_DAYS))
    whole = [np.zeros(len(cost)) for _ in range(4)]
    columns = (best.listed, model.price[places][rows, best.price], best.units, net)
    for column, values in zip(whole, columns, strict=True):
        column[places] = values
    listed, price, units, net = whole
    return AssortmentPlan(listed > 0, price, units, net, profit, capital, profit - capital_price * capital)


PlanAt = Callable[[int, float], AssortmentPlan]
"""Returns the plan of a store type at a price of capital."""


def affordable_plans(
    plan: PlanAt, kinds: Sequence[int], capital: float, capital_price: float
) -> tuple[dict[int, AssortmentPlan], float]:
    """Return the plans of ``kinds`` at the least price of capital at which they need no more than ``capital`` (fen).

    The search begins at ``capital_price``: it changes little from one time to the next. The price comes with them.
    """

    def at(place: int) -> dict[int, AssortmentPlan]:
        return {kind: plan(kind, CAPITAL_PRICES[place]) for kind in kinds}

    def is_affordable(plans: Mapping[int, AssortmentPlan]) -> bool:
        return sum(row.capital for row in plans.values()) <= capital

    place, last = CAPITAL_PRICES.index(capital_price), len(CAPITAL_PRICES) - 1
    found = at(place)
    while is_affordable(found) and place > 0:
        cheaper = at(place - 1)
        if not is_affordable(cheaper):
            break
        place, found = place - 1, cheaper
    while not is_affordable(found) and place < last:
        place += 1
        found = at(place)
    return found, CAPITAL_PRICES[place]


def best_stores(
    plan: PlanAt, kinds: Sequence[int], num_stores: int, capital: float, capital_price: float
) -> tuple[dict[int, AssortmentPlan], float]:
    """Return the most profitable stores that ``capital`` stocks, with their plans, and the price of capital.

    At each price of capital near ``capital_price`` the stores of the largest value are a candidate; what it earns is
    what its plans earn at the price at which it can be afforded.
    """
    place = CAPITAL_PRICES.index(capital_price)
    found: dict[frozenset[int], tuple[dict[int, AssortmentPlan], float]] = {}
    for price in CAPITAL_PRICES[max(0, place - 2) : place + 3]:
        values = {kind: plan(kind, price).value for kind in kinds}
        chosen = sorted((kind for kind in kinds if values[kind] > 0), key=lambda kind: -values[kind])[:num_stores]
        if frozenset(chosen) not in found:
            found[frozenset(chosen)] = affordable_plans(plan, chosen, capital, price)
    return max(found.values(), key=lambda portfolio: total_profit(portfolio[0], capital))


def total_profit(plans: Mapping[int, AssortmentPlan], capital: float) -> float:
    """Return what some stores earn a day, in proportion where ``capital`` stocks only a part of them."""
    needed = sum(plan.capital for plan in plans.values())
    return sum(plan.profit for plan in plans.values()) * min(1.0, capital / max(needed, 1.0))


def shelf_prices(
    model: StoreModel, worth: FloatArray, factor: float, available: FloatArray, num_days: float
) -> tuple[FloatArray, BoolArray]:
    r"""Return the prices in fen of what is in stock, and which of it is worth listing, shape (n,).

    A unit left after ``num_days`` is worth ``worth`` (what another would cost, or nothing at the end). With the
    congestion ``\lambda`` of the best listing of what is there, each SKU charges the price that maximises
    ``\min(u(p) num\_days, available) (m(p) - \lambda)``: more where it would sell out, less where it would be left.
    """
    places = np.flatnonzero(available > 0)
    price, listed = np.zeros(len(available)), np.zeros(len(available), dtype=np.bool_)
    if len(places):
        given = model.candidates(places, worth[places], factor)
        best, rows = static_optimum(given, model.capacity), np.arange(len(places))
        raw = np.where(best.listed, given.demand[rows, best.price], 0.0)
        totals = [np.bincount(given.category, values, len(best.congestion)) for values in (best.units, raw)]
        share = np.divide(totals[0], totals[1], out=np.ones(len(totals[0])), where=totals[1] > 0)
        sold = np.minimum(given.demand * share[given.category][:, None] * num_days, available[places][:, None])
        net = sold * (given.margin - (best.congestion[given.category] * given.weight)[:, None])
        price[places], listed[places] = model.price[places][rows, net.argmax(axis=1)], best.listed
    return price, listed
