"""A merchant that plans: every few days it solves for stores, listings, prices and stocks, and carries the plan out.

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
from commerce.merchants.handover import Ask, pages_of
from commerce.reputation import reputation_base
from commerce.tools import WAIT
from commerce.types import FloatArray
from commerce.year import Result
from oracle.store.assortment import (
    CAPITAL_PRICES,
    AssortmentPlan,
    affordable_plans,
    best_stores,
    cover_days,
    plan_store,
    shelf_prices,
    total_profit,
)
from oracle.store.knowledge import MarketKnowledge, Shown
from oracle.store.purchasing import MESSAGE_MINUTES, MOVES, PATIENT_MESSAGES, Purchaser
from oracle.store.replenishment import LEAD_DAYS, Purchase, Stock, purchases
from oracle.store.shelves import PlannedShelves

_SPEEDS = ("fast", "standard", "slow")
_RESERVE_DAYS, _FIRST_RESERVE_DAYS = 12, 24
_MIN_RESERVE = 1_500.0
_CHOICE_DAYS, _LAST_CHOICE_DAYS = ((90, 180), (6, 30)), 60  # days from one choice of stores to the next, by day
_LOYALTY = 1.15
_CLEARING_DAYS = 40
_BUYING_MINUTES = 400  # of a day
_IDLE_SHARE = 0.2
_STRETCH = (0.7, 3.0)


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
    def __init__(self, call: Call, knowledge: MarketKnowledge, rules: Rules) -> None:
        self._raw_call, self._knowledge, self._rules = call, knowledge, rules
        self._purchaser = Purchaser(self._ask, knowledge)
        self._stores: dict[int, str] = {}
        self._reputation: dict[int, float] = {}
        self._shipped: dict[int, int] = {}
        self._shown: dict[int, Shown] = {}
        self._plans: dict[int, AssortmentPlan] = {}
        self._paces: dict[int, float] = {}
        self._capital_price, self._stretch = CAPITAL_PRICES[-3], 1.3
        self._purchases: list[Purchase] = []
        self._deliveries: list[Mapping[str, Any]] = []
        self._next_plan = self._next_choice = 0
        self._day = self._minutes = self._sold = 0
        self._wallet = self._outflow = 0.0
        self._speed = "standard"
        self._has_income = self._is_short = False
        self.is_over = False

    def prepare(self) -> bool:
        """Learn what can be learned at first, and return whether anything is left of the year."""
        time = self._call("check_balance", {}).time
        self._get_ready(self._ask, time)
        return not self.is_over

    def _get_ready(self, look: Ask, time: Mapping[str, Any]) -> None:
        first_date = dt.date.fromisoformat(time["date"]) - dt.timedelta(days=time["day"])
        self._knowledge.prepare(look, self._ask, first_date)
        self._shelves = PlannedShelves(self._ask, self._knowledge.product_ids)
        self._row = {product: row for row, product in enumerate(self._knowledge.product_ids)}

    def _call(self, tool: str, arguments: Mapping[str, Any]) -> Result:
        result = self._raw_call(tool, arguments)
        self.is_over, self._day, self._minutes = result.is_over, result.time["day"], result.time["minutes_left"]
        for notice in result.notices:
            if notice["kind"] == "delivery":
                self._purchaser.receive(notice["deliveries"])
                self._knowledge.learn_deliveries(notice["deliveries"])
                self._deliveries += notice["deliveries"]
        return result

    def _ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return dict(self._call(tool, arguments).data or {})

    def run(self) -> None:
        """Do one day's work after the other until the year is over."""
        while not self.is_over:
            if self._sold:
                self._ask("ship_orders", action="ship", speed=self._speed)
            if self._wallet > 0:
                self._purchaser.bank = self._ask("withdraw").get("bank_balance", self._purchaser.bank)
            if self._day >= self._next_plan:
                self._make_plan()
            else:
                self._list_deliveries()
            self._buy()
            self._wait()

    def _wait(self) -> None:
        report = self._ask(WAIT)
        if not report:
            return
        self._wallet, self._purchaser.bank = report["wallet"], report["bank"]
        self._has_income |= self._wallet > 0
        kind_of = {store: kind for kind, store in self._stores.items()}
        self._sold = sum(sale["units"] for sale in report["sales"].values())
        for store, sale in report["sales"].items():
            if store in kind_of:
                self._shipped[kind_of[store]] = self._shipped.get(kind_of[store], 0) + sale["units"]
        spent = sum(report["flows"].get(reason, 0.0) for reason in ("operations", "storage", "freight"))
        self._outflow = 0.8 * self._outflow + 0.2 * spent

    def _make_plan(self) -> None:
        self._look_back()
        wealth = self._take_stock()
        if self.is_over:
            return
        costs = self._knowledge.unit_costs()
        self._choose(wealth, costs)
        self._next_plan = self._day + round(float(np.interp(self._capital_price, (0.001, 0.02), (7, 3))))
        self._shown = {kind: self._arrange_shelf(kind, costs) for kind in self._stores}
        self._speed = self._best_speed(costs)
        on_order = np.zeros(len(self._row), dtype=np.int64)
        for product_id, units in self._purchaser.on_order.items():
            on_order[self._row[product_id]] = units
        stock, days_left = Stock(self._shelves.on_hand, on_order), self._knowledge.last_day - 2 - self._day
        self._purchases = purchases(self._knowledge, self._plans, stock, self._capital_price, days_left)

    def _look_back(self) -> None:
        """Learn from what was sold since the last plan."""
        shown = {kind: found._replace(num_days=self._day - found.first_day) for kind, found in self._shown.items()}
        self._knowledge.learn_sales(self._ask, {kind: found for kind, found in shown.items() if found.num_days})

    def _take_stock(self) -> float:
        """Read what there is, and return what it is worth in fen."""
        shelves = self._shelves
        shelves.on_hand[:] = shelves.unlisted[:] = 0
        self._deliveries, stock = [], 0.0
        for row in pages_of(self._ask, "check_warehouse", "items"):
            place = self._row[row["product_id"]]
            shelves.on_hand[place], shelves.unlisted[place] = row["on_hand"], row["unlisted"]
            stock += row["on_hand"] * row["average_cost"]
        balance = self._ask("check_balance")
        if not balance:
            return 0.0
        self._purchaser.bank = balance["bank_balance"]
        if self._stores:
            found = {card["store_id"]: card for card in self._ask("check_store_status").get("stores", [])}
            self._reputation = {kind: found[store]["reputation"] for kind, store in self._stores.items() if found}
        claims: float = balance["total"] + balance["unshipped_sales_value"]
        wealth = claims + stock + self._purchaser.on_order_yuan
        idle = (self._purchaser.bank - self._reserve()) / max(1.0, wealth)
        change = 0.95 if self._is_short else 1.1 if idle > _IDLE_SHARE else 1.0
        self._stretch = float(np.clip(self._stretch * change, *_STRETCH))
        return 100 * wealth

    def _choose(self, wealth: float, costs: FloatArray) -> None:
        """Plan the stores that are open, and now and then ask whether others would be better."""
        plans: dict[tuple[int, float], AssortmentPlan] = {}
        capital = self._stretch * wealth

        def plan(kind: int, price: float) -> AssortmentPlan:
            if (kind, price) not in plans:
                model = self._knowledge.model(kind)
                factor = self._knowledge.demand_factor(kind, self._day + 1, int(cover_days(price)))
                found = plan_store(model, costs[model.skus], factor * self._coming_reputation(kind), price)
                operations = self._knowledge.operations_fen(kind)
                plans[kind, price] = found._replace(profit=found.profit - operations, value=found.value - operations)
            return plans[kind, price]

        mine: tuple[dict[int, AssortmentPlan], float] = ({}, self._capital_price)
        if self._stores:
            mine = affordable_plans(plan, list(self._stores), capital, self._capital_price)
        days_left = self._knowledge.last_day - self._day
        if self._day >= self._next_choice and (days_left > _LAST_CHOICE_DAYS or not self._stores):
            kinds, num = range(len(self._knowledge.kinds)), self._rules.max_open_stores
            best = best_stores(plan, kinds, num, capital, mine[1])
            is_better = total_profit(best[0], capital) > _LOYALTY * total_profit(mine[0], capital)
            mine = best if is_better else mine
            self._next_choice = self._day + max(
                self._knowledge.trial_days, round(float(np.interp(self._day, *_CHOICE_DAYS)))
            )
        self._plans, self._capital_price = mine
        self._open_and_close()

    def _open_and_close(self) -> None:
        for kind in [kind for kind in self._stores if kind not in self._plans]:
            self._ask("close_store", store_id=self._stores.pop(kind), liquidate=True)
        for kind in [kind for kind in self._plans if kind not in self._stores]:
            name = self._knowledge.kinds[kind]
            data = self._ask("open_store", store_type=name, store_name=name)
            if "store_id" in data:
                self._stores[kind], self._shipped[kind] = data["store_id"], 0
                self._purchaser.bank = data["bank_balance"]
        self._plans = {kind: plan for kind, plan in self._plans.items() if kind in self._stores}

    def _coming_reputation(self, kind: int) -> float:
        """Return the reputation expected half a month from now; a store not open yet is expected to start well."""
        shipped, rules = self._shipped.get(kind, 0), self._rules
        if kind not in self._stores:
            return float(np.clip(reputation_base(int(30 * self._pace(kind)), rules) - 0.1, *rules.reputation_bounds))
        plan = self._plans.get(kind)
        coming = shipped + (15 * float(plan.units.sum()) if plan is not None else 0.0)
        penalty = 0.1
        if shipped > 20:
            penalty = min(0.2, max(0.0, reputation_base(shipped, rules) - self._reputation.get(kind, 0.5)))
        return float(np.clip(reputation_base(int(coming), rules) - penalty, *rules.reputation_bounds))

    def _pace(self, kind: int) -> float:
        """Return the units a day that a new store of a type may sell."""
        if kind not in self._paces:
            model, costs = self._knowledge.model(kind), self._knowledge.unit_costs()
            self._paces[kind] = float(plan_store(model, costs[model.skus], 0.5, 0.02).units.sum())
        return self._paces[kind]

    def _best_speed(self, costs: FloatArray) -> str:
        """Return the speed at which what is planned earns most."""
        gains = np.zeros(len(_SPEEDS))
        for kind, plan in self._plans.items():
            model, places = self._knowledge.model(kind), np.flatnonzero(plan.listed)
            column = np.abs(model.price[places] - plan.price[places][:, None]).argmin(axis=1)
            for speed in range(len(_SPEEDS)):
                income, kept = (found[places, column] for found in model.shipped(speed))
                gains[speed] += plan.units[places] @ (income - kept * costs[model.skus[places]])
        return _SPEEDS[int(gains.argmax())]

    def _arrange_shelf(self, kind: int, costs: FloatArray) -> Shown:
        """Price what is on hand for a store, list what is worth it, take off the rest, and return what is shown."""
        model, plan = self._knowledge.model(kind), self._plans[kind]
        on_hand = self._shelves.on_hand[model.skus]
        days_left = max(1, self._knowledge.last_day - 2 - self._day)
        num_days = min(LEAD_DAYS + 2, days_left)
        worth = np.where(np.isfinite(costs[model.skus]), costs[model.skus], 0.0)
        if days_left > _CLEARING_DAYS:
            worth *= np.where(plan.listed, 1 + self._capital_price * 20, 0.3)
        else:
            num_days = days_left
            worth *= np.clip(2.0 - on_hand / np.maximum(plan.units * num_days, 1e-9), 0.0, 1.0)
        factor = self._knowledge.demand_factor(kind, self._day + 1, num_days) * self._reputation.get(kind, 0.4)
        price, listed = shelf_prices(model, worth, factor, on_hand.astype(np.float64), num_days)
        listed |= plan.listed & (on_hand > 0)
        price_fen = np.rint(np.where(price > 0, price, plan.price)).astype(np.int64)
        self._shelves.arrange(self._stores[kind], model.skus, price_fen, listed)
        shown = np.where(listed, on_hand, 0)
        return Shown(price_fen.astype(np.float64), shown, self._reputation.get(kind, 0.5), self._day, 0)

    def _list_deliveries(self) -> None:
        """Put what came in on the shelves."""
        arrived, self._deliveries = self._deliveries, []
        if not arrived:
            return
        for row in arrived:
            place = self._row[row["product_id"]]
            self._shelves.on_hand[place] += row["received"]
            self._shelves.unlisted[place] += row["received"]
        came = np.unique([self._row[row["product_id"]] for row in arrived])
        for kind, store in self._stores.items():
            model = self._knowledge.model(kind)
            self._shelves.publish(store, np.intersect1d(came, model.skus[self._plans[kind].listed]))

    def _buy(self) -> None:
        """Buy while the day and the money last."""
        self._is_short = False
        while self._purchases and self._minutes > MESSAGE_MINUTES and not self.is_over:
            budget = self._purchaser.bank - self._reserve()
            if budget < 100:
                self._is_short = True
                return
            num = sum(-(-len(purchase.wanted) // MOVES) for purchase in self._purchases)
            minutes = self._minutes + _BUYING_MINUTES * (self._next_plan - self._day - 1)
            is_patient = num * PATIENT_MESSAGES * MESSAGE_MINUTES <= minutes
            email, wanted, _, most = self._purchases.pop(0)
            self._purchaser.buy(email, wanted, min(budget, most), lambda: self._minutes, is_patient=is_patient)

    def _reserve(self) -> float:
        """Return the yuan to keep for running costs: of many days while nothing has been settled yet."""
        operations = sum(self._knowledge.operations_fen(kind) for kind in self._stores) / 100
        num_days = _RESERVE_DAYS if self._has_income else _FIRST_RESERVE_DAYS
        return _MIN_RESERVE + num_days * max(self._outflow, operations)

    def take_over(self, view: View) -> None:
        """Take up a store that somebody else ran."""
        self._get_ready(view.look, view.time)
        self._day, self._minutes, self._sold = view.time["day"], view.time["minutes_left"], 1
        balance = view.look("check_balance")
        self._purchaser.bank, self._wallet = balance["bank_balance"], balance["platform_wallet"]
        self._has_income = self._day > _FIRST_RESERVE_DAYS
        names = list(self._knowledge.kinds)
        for card in view.look("check_store_status")["stores"]:
            if card["is_open"]:
                kind = names.index(card["store_type"])
                self._stores[kind], self._reputation[kind] = card["store_id"], card["reputation"]
        for row in view.purchases():
            if row["received"] is None:
                cost = row["quantity"] * row["unit_price"]
                self._purchaser.note_order(row["purchase_order"], row["product_id"], row["quantity"], cost)
