"""A merchant that plans: every few days it solves for listings, prices and stocks, and carries the plan out.

Each morning it ships, withdraws, and lists what came in; the rest of the day goes into buying what the plan lacks, the
most profitable first for the money it takes. What it believes comes from its :mod:`knowledge <oracle.store.knowledge>`;
all it does goes through the tools of the year.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from commerce.branching import View
from commerce.config import Rules
from commerce.merchants.base import Call
from commerce.merchants.handover import Ask
from commerce.reputation import reputation_base
from commerce.tools import WAIT
from commerce.types import FloatArray
from commerce.year import Result
from oracle.store.knowledge import MarketKnowledge, Shown
from oracle.store.planner_books import PlannerBooks
from oracle.store.purchasing import MESSAGE_MINUTES, MOVES, PATIENT_MESSAGES, Purchase, next_message
from oracle.store.replenishment import Stock, purchases
from oracle.store.store_plan import (
    CAPITAL_PRICES,
    LEAD_DAYS,
    AssortmentPlan,
    ReputationWorth,
    StoreOutlook,
    affordable_plans,
    best_speed,
    plan_store,
    shelf_prices,
    with_reputation,
)

_SPEEDS = ("fast", "standard", "slow")
_LOYALTY = 1.5
_LAST_CHOICE_DAYS = 60
_RENT_SHARE, _RENT_DAYS = 0.25, 60  # of what there is may go to rent in so many days
_BUYING_MINUTES = 400  # of a day
_FIRST_PRICE = CAPITAL_PRICES[24]
_DEAR_MONEY = 0.01
_SHORT_WAIT, _UNWANTED = 4.0, 0.5  # days; what an unlisted unit is worth of its cost
_LEAST_BUDGET, _MATURE = 100.0, 0.87
_AHEAD, _REPUTATION_DAYS = 10, 150
_GAP = 6.0


class PlanningMerchant:
    """Plays a year by what ``build_knowledge`` returns, which is made anew for each year."""

    def __init__(self, build_knowledge: Callable[[], MarketKnowledge], rules: Rules) -> None:
        self._build, self._rules = build_knowledge, rules

    def __call__(self, call: Call) -> None:
        """Play until the year is over."""
        planner = _Planner(call, self._build(), self._rules)
        if planner.prepare():
            planner.run()

    def take_over(self, view: View) -> None:
        """Go on from the books."""
        if not view.is_over:
            planner = _Planner(view.call, self._build(), self._rules)
            planner.take_over(view)
            planner.run()


class _Planner:
    _books: PlannerBooks

    def __init__(self, call: Call, knowledge: MarketKnowledge, rules: Rules) -> None:
        self._raw_call, self._knowledge, self._rules = call, knowledge, rules
        self._worth: dict[int, ReputationWorth] = {}
        self._shown: dict[int, Shown] = {}
        self._plans: dict[int, AssortmentPlan] = {}
        self._purchases: list[Purchase] = []
        self._capital_price, self._speed = _FIRST_PRICE, 1
        self._next_plan = self._next_choice = self._day = self._minutes = 0
        self.is_over = False

    def prepare(self) -> bool:
        """Learn what can be learned at first, and return whether anything is left of the year."""
        time = self._call("check_balance", {}).time
        self._get_ready(self._ask, time)
        return not self.is_over

    def take_over(self, view: View) -> None:
        """Take up a store that somebody else ran."""
        self._get_ready(view.look, view.time)
        self._day, self._minutes = view.time["day"], view.time["minutes_left"]
        self._books.inherit(view)

    def _get_ready(self, look: Ask, time: Mapping[str, Any]) -> None:
        first_date = dt.date.fromisoformat(time["date"]) - dt.timedelta(days=time["day"])
        self._knowledge.prepare(look, self._ask, first_date)
        self._books = PlannerBooks(self._ask, self._knowledge, self._rules)

    def _call(self, tool: str, arguments: Mapping[str, Any]) -> Result:
        result = self._raw_call(tool, arguments)
        self.is_over, self._day, self._minutes = result.is_over, result.time["day"], result.time["minutes_left"]
        for notice in result.notices:
            if notice["kind"] == "delivery":
                self._books.note_deliveries(notice["deliveries"])
        return result

    def _ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return dict(self._call(tool, arguments).data or {})

    def run(self) -> None:
        """Do one day's work after the other until the year is over."""
        books = self._books
        while not self.is_over:
            if books.sold:
                self._ask("ship_orders", action="ship", speed=_SPEEDS[self._speed])
            if books.wallet > 0:
                books.purchaser.bank = self._ask("withdraw").get("bank_balance", books.purchaser.bank)
            if self._day >= self._next_plan:
                self._make_plan()
            else:
                self._list_deliveries()
            self._buy()
            if report := self._ask(WAIT):
                books.note_day(report)

    @property
    def _days_left(self) -> int:
        """Days of sales that can still be shipped."""
        return self._knowledge.last_day(self._day) - 2 - self._day

    def _make_plan(self) -> None:
        shown = {kind: found._replace(num_days=self._day - found.first_day) for kind, found in self._shown.items()}
        self._knowledge.learn_sales(self._ask, {kind: found for kind, found in shown.items() if found.num_days})
        wealth = 100 * self._books.take_stock()
        if self.is_over:
            return
        costs = self._knowledge.unit_costs()
        self._choose_stores(costs, wealth)
        stores = self._books.stores
        self._worth = {kind: self._mature_plan(kind, costs, self._capital_price).reputation for kind in stores}
        self._plans, self._capital_price = affordable_plans(
            lambda kind, price: self._plan(kind, costs, price), stores, wealth, self._capital_price
        )
        self._next_plan = self._day + (2 if self._capital_price > _DEAR_MONEY else 3)
        self._shown = {kind: self._arrange_shelf(kind, costs) for kind in stores}
        self._speed = best_speed([(self._knowledge.model(kind), plan) for kind, plan in self._plans.items()], costs)
        stock = Stock(self._books.shelves.on_hand, self._books.on_order)
        self._purchases = purchases(self._knowledge, self._plans, stock, self._capital_price, self._days_left)

    def _choose_stores(self, costs: FloatArray, wealth: float) -> None:
        """Now and then ask which stores would earn most in the long run, and change to them."""
        stores = self._books.stores
        if self._day < self._next_choice or (self._days_left < _LAST_CHOICE_DAYS and stores):
            return
        self._next_choice = self._day + self._knowledge.trial_days
        values = {kind: self._value(kind, costs) for kind in range(len(self._knowledge.kinds))}
        values |= {kind: _LOYALTY * values[kind] for kind in stores}
        rent = sum(self._knowledge.operations_fen(kind) for kind in values) / len(values)
        num = min(self._rules.max_open_stores, max(1, int(_RENT_SHARE * wealth / (_RENT_DAYS * rent))))
        best = sorted(values, key=lambda kind: -values[kind])[:num]
        chosen = [kind for kind in best if values[kind] > 0] or best[:1]
        leaving = sorted((kind for kind in stores if kind not in chosen), key=lambda kind: values[kind])
        for kind in leaving[:1]:  # one at a time: what is believed of a store never tried is easily too good
            self._ask("close_store", store_id=stores.pop(kind), liquidate=True)
        for kind in [kind for kind in chosen if kind not in stores][: max(0, num - len(stores))]:
            name = self._knowledge.kinds[kind]
            data = self._ask("open_store", store_type=name, store_name=name)
            if "store_id" in data:
                stores[kind], self._books.shipped[kind] = data["store_id"], 0
                self._books.purchaser.bank = data["bank_balance"]

    def _value(self, kind: int, costs: FloatArray) -> float:
        """Return what a store that has shipped enough earns a day where capital is not scarce, in fen."""
        return self._mature_plan(kind, costs, CAPITAL_PRICES[0]).profit - self._knowledge.operations_fen(kind)

    def _mature_plan(self, kind: int, costs: FloatArray, capital_price: float) -> AssortmentPlan:
        """Return the plan of a store that has shipped enough, over the rest of the year."""
        model, num_days = self._knowledge.model(kind), max(1, self._days_left)
        factor = _MATURE * self._knowledge.demand_factor(kind, self._day + 1, num_days)
        outlook = StoreOutlook(factor, _MATURE, 0.0, 0, _GAP)
        return plan_store(model, costs[model.skus], outlook, ReputationWorth(), capital_price)

    def _plan(self, kind: int, costs: FloatArray, capital_price: float) -> AssortmentPlan:
        model, outlook = self._knowledge.model(kind), self._outlook(kind)
        return plan_store(model, costs[model.skus], outlook, self._worth.get(kind, ReputationWorth()), capital_price)

    def _outlook(self, kind: int) -> StoreOutlook:
        """Return what a store expects when that arrives which is bought now."""
        shipped, plan, rules = self._books.shipped.get(kind, 0), self._plans.get(kind), self._rules
        coming = shipped + (_AHEAD * float(plan.units.sum()) if plan is not None else 0.0)
        if shipped > 100:
            penalty = reputation_base(shipped, rules) - self._books.reputation.get(kind, 0.5)
        else:
            penalty = rules.reputation_return_weight * self._worth.get(kind, ReputationWorth()).returned
        coming_base = reputation_base(int(coming), rules)
        reputation = float(np.clip(coming_base - penalty, *rules.reputation_bounds))
        first = min(LEAD_DAYS, max(1, self._days_left))
        factor = self._knowledge.demand_factor(kind, self._day + first, int(_GAP)) * reputation
        rise = rules.reputation_base + rules.reputation_rise - coming_base
        rise /= 1 + _REPUTATION_DAYS * self._capital_price
        return StoreOutlook(factor, reputation, rise, self._speed, _GAP)

    def _arrange_shelf(self, kind: int, costs: FloatArray) -> Shown:
        """Price what is on hand for a store, list what is worth it, take off the rest, and return what is shown."""
        model, plan, days_left = self._knowledge.model(kind), self._plans[kind], max(1, self._days_left)
        shelves, reputation = self._books.shelves, self._books.reputation.get(kind, 0.4)
        on_hand, is_coming = shelves.on_hand[model.skus], self._books.on_order[model.skus] > 0
        price, listed = plan.price.copy(), plan.listed & (on_hand > 0)
        places = np.flatnonzero(on_hand > 0)
        if len(places):
            cost, available = costs[model.skus[places]], on_hand[places].astype(np.float64)
            worth = np.where(np.isfinite(cost), cost, 0.0) * np.where(plan.listed[places], 1.0, _UNWANTED)
            num_days = np.where(is_coming[places], _SHORT_WAIT, LEAD_DAYS + 2.0)
            if days_left <= LEAD_DAYS + 2:  # nothing comes after it, and what is left is worth nothing
                worth, num_days = np.zeros(len(places)), np.full(len(places), float(days_left))
            factor = self._knowledge.demand_factor(kind, self._day + 1, min(5, days_left)) * reputation
            outlook = self._outlook(kind)._replace(factor=factor)
            given = with_reputation(model, places, worth, outlook, plan.reputation)
            price[places], chosen = shelf_prices(model, given, places, available, num_days)
            listed[places] |= chosen
        price_fen = np.rint(price).astype(np.int64)
        shelves.arrange(self._books.stores[kind], model.skus, price_fen, listed)
        shown = np.where(listed, on_hand, 0)
        return Shown(price_fen.astype(np.float64), shown, self._books.reputation.get(kind, 0.5), self._day, 0)

    def _list_deliveries(self) -> None:
        """Put what came in on the shelves."""
        came = self._books.arrivals()
        for kind, store in self._books.stores.items():
            model = self._knowledge.model(kind)
            self._books.shelves.publish(store, np.intersect1d(came, model.skus[self._plans[kind].listed]))

    def _buy(self) -> None:
        """Buy while the day and the money last."""
        freight_factor = self._rules.speed_cost[self._speed]
        while self._purchases and self._minutes > MESSAGE_MINUTES and not self.is_over:
            budget = self._books.to_spend(self._day, freight_factor)
            if budget < _LEAST_BUDGET:
                return
            num = -(-sum(len(purchase.wanted) for purchase in self._purchases) // MOVES)
            minutes = self._minutes + _BUYING_MINUTES * (self._next_plan - self._day - 1)
            is_patient = num * PATIENT_MESSAGES * MESSAGE_MINUTES <= minutes
            message = next_message(self._purchases)
            self._books.purchaser.buy(message, budget, lambda: self._minutes, is_patient=is_patient)
