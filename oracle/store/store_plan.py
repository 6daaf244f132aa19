r"""What a store should carry, at what prices, when capital is scarce and its reputation is in the making.

Capital is scarce at first. A price ``r`` of capital a day makes a unit that is bought ``D`` days before it is paid for
cost ``c (1 + r D)``, and the right ``r`` is the least at which the stores need no more than there is: the multiplier of
the budget. Against those costs the static optimum of the store says what it lists.

Demand is proportional to reputation ``\rho``, so what a store earns a day, ``V``, is worth ``V / \rho`` a unit of
reputation. A unit sold moves it in two ways. It is one of the units ever shipped, on which reputation rises to its
highest: a unit more today brings all that follows forward by ``1 / U`` days, where ``U`` units are sold a day, which is
worth ``V / (\rho U)`` times the rise still to come. And where a share ``q`` of what was sold comes back, the penalty is
``a q``: a unit whose own chance is ``q_i`` moves it by ``a (q_i - q) / U`` of a day's sales. Both are added to its
margin,

.. math:: m_i + w (\rho_{max} - \rho_N + a (q - q_i)), \qquad w = \frac{V}{\rho U},

with ``w`` and ``q`` those of the store when it is known to its customers. The rise lies ahead, so it is divided by what
money is worth more until then. Money is in fen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from commerce.types import BoolArray, FloatArray, IntArray
from oracle.store.static_optimum import Candidates, static_optimum
from oracle.store.store_model import StoreModel

CAPITAL_PRICES = (0.0005, *(0.001 * 1.2**step for step in range(32)))
LEAD_DAYS = 7
"""Days from a purchase to the first sale of what was bought, on the mean."""
_SETTLING_DAYS = 11
_LEAST_STOCK = 0.5  # units expected to be sold of a stock, below which a product is not carried


class StoreOutlook(NamedTuple):
    """What a store expects of the days to come.

    Attributes
    ----------
    factor
        What season, events, weekends and reputation multiply demand by.
    reputation
        The reputation in it.
    rise
        By how much more reputation will rise with units shipped.
    speed
        Row of the speed at which orders are shipped.
    num_days
        Days from one purchase of a product to the next.
    """

    factor: float
    reputation: float
    rise: float
    speed: int
    num_days: float


class ReputationWorth(NamedTuple):
    """What a unit sold is worth for a unit of reputation, and the share of units that come back."""

    worth: float = 0.0
    returned: float = 0.0


class AssortmentPlan(NamedTuple):
    """A plan for one store; arrays over its SKUs. ``margin`` is what a unit earns beside what it costs the others."""

    listed: BoolArray
    price: FloatArray
    units: FloatArray
    margin: FloatArray
    profit: float
    capital: float
    reputation: ReputationWorth


def plan_store(
    model: StoreModel, cost: FloatArray, outlook: StoreOutlook, known: ReputationWorth, capital_price: float
) -> AssortmentPlan:
    """Return the best plan of a store; ``known`` is what the plan of the store that has sold enough says.

    ``cost`` is what a unit costs, in fen, infinite where it cannot be bought. What would not sell half a unit from one
    purchase to the next is left out.
    """
    stock_days = LEAD_DAYS + outlook.num_days
    tied = stock_days - outlook.num_days / 2 + _SETTLING_DAYS
    dear = cost * (1 + capital_price * tied) + model.storage * outlook.num_days / 2
    places = np.flatnonzero(np.isfinite(cost))
    given = with_reputation(model, places, dear[places], outlook, known)
    best = static_optimum(given, model.capacity)
    is_kept = best.units * stock_days >= _LEAST_STOCK
    if not is_kept[best.listed].all():
        places = places[is_kept]
        given = with_reputation(model, places, dear[places], outlook, known)
        best = static_optimum(given, model.capacity)
    rows, listed = np.arange(len(places)), np.zeros(len(cost), dtype=np.bool_)
    price, units, margin = (np.zeros(len(cost)) for _ in range(3))
    earnings = model.by_speed[outlook.speed]
    income, kept = (column[places, best.price] for column in earnings)
    listed[places], price[places], units[places] = best.listed, model.price[places, best.price], best.units
    margin[places] = given.margin[rows, best.price] - best.congestion[given.category] * given.weight
    sold, paid = max(1e-9, float(best.units.sum())), cost[places]
    earned = float(best.units @ (income - kept * dear[places]))
    reputation = ReputationWorth(
        max(0.0, earned) / (outlook.reputation * max(1.0, sold)), float(best.units @ (1 - kept)) / sold
    )
    profit = float(best.units @ (income - kept * paid))
    return AssortmentPlan(listed, price, units, margin, profit, float(paid @ best.units) * tied, reputation)


def with_reputation(
    model: StoreModel, places: IntArray, cost: FloatArray, outlook: StoreOutlook, known: ReputationWorth
) -> Candidates:
    """Return the SKUs at ``places`` as candidates whose margins have what they do to the reputation in them."""
    income, kept = (column[places] for column in model.by_speed[outlook.speed])
    weight = model.rules.reputation_return_weight
    moved = outlook.rise + weight * (known.returned - (1 - kept))
    margin = income - kept * cost[:, None] + known.worth * moved
    return Candidates(model.demand[places] * outlook.factor, margin, model.weight[places], model.category[places])


PlanAt = Callable[[int, float], AssortmentPlan]
"""Returns the plan of a store type at a price of capital."""


def affordable_plans(
    plan: PlanAt, kinds: Iterable[int], capital: float, capital_price: float
) -> tuple[dict[int, AssortmentPlan], float]:
    """Return the plans of ``kinds`` at the highest price of capital at which they need ``capital`` (fen) or more.

    Buying then stops where the money does. The search begins at ``capital_price``: it changes little from one time to
    the next. The price comes with them.
    """

    def at(place: int) -> dict[int, AssortmentPlan]:
        return {kind: plan(kind, CAPITAL_PRICES[place]) for kind in kinds}

    def needs_more(plans: Mapping[int, AssortmentPlan]) -> bool:
        return sum(row.capital for row in plans.values()) > capital

    place, last = CAPITAL_PRICES.index(capital_price), len(CAPITAL_PRICES) - 1
    found = at(place)
    while not needs_more(found) and place > 0:
        place -= 1
        found = at(place)
    while needs_more(found) and place < last:
        dearer = at(place + 1)
        if not needs_more(dearer):
            break
        place, found = place + 1, dearer
    return found, CAPITAL_PRICES[place]


def best_speed(plans: Sequence[tuple[StoreModel, AssortmentPlan]], costs: FloatArray) -> int:
    """Return the row of the speed at which what some stores plan earns most, what returns do to them in it.

    ``costs`` is what a unit costs, in fen, by row of the catalogue.
    """
    gains = np.zeros(max((len(model.by_speed) for model, _ in plans), default=1))
    for model, plan in plans:
        places = np.flatnonzero(plan.listed)
        column = np.abs(model.price[places] - plan.price[places][:, None]).argmin(axis=1)
        harm = model.rules.reputation_return_weight * plan.reputation.worth
        for speed, earnings in enumerate(model.by_speed):
            income, kept = (found[places, column] for found in earnings)
            gains[speed] += plan.units[places] @ (income + kept * (harm - costs[model.skus[places]]))
    return int(gains.argmax())


def shelf_prices(
    model: StoreModel, given: Candidates, places: IntArray, available: FloatArray, num_days: FloatArray
) -> tuple[FloatArray, BoolArray]:
    r"""Return the prices in fen of what is in stock at ``places``, and which of it is worth listing.

    ``given`` are these SKUs, whose cost is what a unit left after ``num_days`` is worth. With the congestion
    ``\lambda`` of the best listing of what is there, each SKU charges the price that maximises
    ``\min(u(p) num\_days, available) (m(p) - \lambda)``: more where it would sell out, less where it would be left.
    """
    best, rows = static_optimum(given, model.capacity), np.arange(len(places))
    raw = np.where(best.listed, given.demand[rows, best.price], 0.0)
    totals = [np.bincount(given.category, values, len(best.congestion)) for values in (best.units, raw)]
    share = np.divide(totals[0], totals[1], out=np.ones(len(totals[0])), where=totals[1] > 0)
    sold = np.minimum(given.demand * (share[given.category] * num_days)[:, None], available[:, None])
    net = sold * (given.margin - (best.congestion[given.category] * given.weight)[:, None])
    return model.price[places, net.argmax(axis=1)], best.listed
