"""A merchant that plans: every few days it solves for stores, listings, prices and stocks, and carries the plan out.

Each morning it ships, withdraws, and lists what came in; the rest of the day goes into buying what the plan lacks, the
most profitable first for the money it takes. What it believes comes from its :mod:`knowledge <oracle.store.knowledge>`;
all it does goes through the tools of the year.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from commerce.branching import View
from commerce.config import Rules
from commerce.merchants.base import Call
from commerce.merchants.handover import pages_of
from commerce.reputation import reputation_base
from commerce.tools import WAIT
from commerce.types import FloatArray, IntArray
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
from oracle.store.knowledge import MarketKnowledge
from oracle.store.purchasing import MESSAGE_MINUTES, MOVES, Purchaser, Wanted

_LEAD_DAYS = 8
_REVIEW_SHARE = 0.35  # of a category's stock, by value, that must be lacking before it is bought
_RESERVE_DAYS, _FIRST_RESERVE_DAYS = 12, 24
_MIN_RESERVE = 1_500.0
_CHOICE_DAYS = 10
_LOYALTY = 1.15
_BATCH = 500
_CLEARING_DAYS, _LAST_CHOICE_DAYS = 40, 60
_MESSAGES_AN_ORDER = 3.5
_MOST_DAYS = 75.0
_MOST_SUPPLIERS = 3


class PurchaseTask(NamedTuple):
    """One purchase: whom to ask for what, and what it earns for each yuan it costs."""

    email: str
    wanted: list[Wanted]
    worth: float


class PlanningMerchant:
    """Plays a year by what ``build_knowledge`` returns, which is made anew for each year."""

    def __init__(self, build_knowledge: Any, rules: Rules, *, takes_quotes: bool = False) -> None:
        self._build, self._rules, self._takes_quotes = build_knowledge, rules, takes_quotes

    def __call__(self, call: Call) -> None:
        """Play until the year is over."""
        planner = _Planner(call, self._build(), self._rules, takes_quotes=self._takes_quotes)
        planner.run()

    def take_over(self, view: View) -> None:
        """Go on from the books."""
        if not view.is_over:
            planner = _Planner(view.call, self._build(), self._rules, takes_quotes=self._takes_quotes)
            planner.take_over(view)
            planner.run()


class _Planner:
    def __init__(self, call: Call, knowledge: MarketKnowledge, rules: Rules, *, takes_quotes: bool) -> None:
        self._raw_call, self._knowledge, self._rules = call, knowledge, rules
        self._purchaser = Purchaser(self._ask, knowledge, takes_quotes=takes_quotes)
        self._row = {product: row for row, product in enumerate(knowledge.product_ids)}
        num = len(self._row)
        self._on_hand, self._unlisted = np.zeros(num, dtype=np.int64), np.zeros(num, dtype=np.int64)
        self._price = np.zeros(num, dtype=np.int64)
        self._stores: dict[int, str] = {}
        self._reputation: dict[int, float] = {}
        self._shipped: dict[int, int] = {}
        self._plans: dict[int, AssortmentPlan] = {}
        self._paces: dict[int, float] = {}
        self._capital_price = CAPITAL_PRICES[-3]
        self._tasks: list[PurchaseTask] = []
        self._deliveries: list[Mapping[str, Any]] = []
        self._next_plan = self._next_choice = 0
        self._day = self._minutes = self._sold = 0
        self._wallet = self._outflow = 0.0
        self._speed = "standard"
        self._has_income = False
        self.is_over = False

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
            self._carry_out()
            self._wait()

    def _wait(self) -> None:
        report = self._ask(WAIT)
        if not report:
            return
        self._wallet, self._purchaser.bank = report["wallet"], report["bank"]
        self._has_income |= self._wallet > 0
        kind_of = {store: kind for kind, store in self._stores.items()}
        self._sold = 0
        for store, sale in report["sales"].items():
            self._sold += sale["units"]
            if store in kind_of:
                self._shipped[kind_of[store]] = self._shipped.get(kind_of[store], 0) + sale["units"]
        flows = report["flows"]
        spent = sum(flows.get(reason, 0.0) for reason in ("operations", "storage", "freight"))
        self._outflow = 0.8 * self._outflow + 0.2 * spent

    # planning

    def _make_plan(self) -> None:
        wealth = self._take_stock()
        if self.is_over:
            return
        costs = self._knowledge.unit_costs()
        self._choose(wealth, costs)
        self._next_plan = self._day + round(float(np.interp(self._capital_price, (0.001, 0.035), (8, 3))))
        for kind, store in self._stores.items():
            self._stock_shelf(kind, store, costs)
        self._speed = self._best_speed(costs)
        self._tasks = self._purchases()

    def _take_stock(self) -> float:
        """Read what there is, and return what it is worth in fen."""
        self._on_hand[:] = self._unlisted[:] = 0
        self._deliveries, stock = [], 0.0
        for row in pages_of(self._ask, "check_warehouse", "items"):
            place = self._row[row["product_id"]]
            self._on_hand[place], self._unlisted[place] = row["on_hand"], row["unlisted"]
            stock += row["on_hand"] * row["average_cost"]
        balance = self._ask("check_balance")
        if not balance:
            return 0.0
        self._purchaser.bank = balance["bank_balance"]
        if self._stores:
            for card in self._ask("check_store_status").get("stores", []):
                for kind, store in self._stores.items():
                    if card["store_id"] == store:
                        self._reputation[kind] = card["reputation"]
        claims: float = balance["total"] + balance["unshipped_sales_value"]
        return 100 * (claims + stock + self._purchaser.on_order_yuan)

    def _choose(self, wealth: float, costs: FloatArray) -> None:
        """Plan the stores that are open, and now and then ask whether others would be better."""
        plans: dict[tuple[int, float], AssortmentPlan] = {}

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
            mine = affordable_plans(plan, list(self._stores), wealth, self._capital_price)
        days_left = self._rules.num_days - self._day
        if self._day >= self._next_choice and (days_left > _LAST_CHOICE_DAYS or not self._stores):
            self._next_choice = self._day + _CHOICE_DAYS
            kinds, num = range(len(self._knowledge.kinds)), self._rules.max_open_stores
            best = best_stores(plan, kinds, num, wealth, mine[1])[0]
            if total_profit(best[0], wealth) > _LOYALTY * total_profit(mine[0], wealth):
                mine = best
        self._plans, self._capital_price = mine
        self._open_and_close()

    def _open_and_close(self) -> None:
        for kind in [kind for kind in self._stores if kind not in self._plans]:
            self._ask("close_store", store_id=self._stores.pop(kind), liquidate=True)
        for kind in self._plans:
            if kind not in self._stores and len(self._stores) < self._rules.max_open_stores:
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
            self._paces[kind] = float(plan_store(model, costs[model.skus], 0.5, 0.025).units.sum())
        return self._paces[kind]

    def _best_speed(self, costs: FloatArray) -> str:
        gains = np.zeros(3)
        for kind, plan in self._plans.items():
            model = self._knowledge.model(kind)
            cost = np.where(np.isfinite(costs[model.skus]), costs[model.skus], 0.0)
            price = np.maximum(plan.price, 1.0)[:, None]
            gains += [float(plan.units @ model.margin(price, cost, speed)[:, 0]) for speed in range(3)]
        return ("fast", "standard", "slow")[int(gains.argmax())]

    # shelves

    def _stock_shelf(self, kind: int, store: str, costs: FloatArray) -> None:
        """Price what is on hand for a store, list what is worth it and take the rest off the shelf."""
        model, plan = self._knowledge.model(kind), self._plans[kind]
        days_left = self._rules.num_days - 2 - self._day
        num_days = max(1, min(_LEAD_DAYS + 2, days_left))
        on_hand = self._on_hand[model.skus]
        worth = np.where(np.isfinite(costs[model.skus]), costs[model.skus], 0.0)
        if days_left > _CLEARING_DAYS:
            worth *= np.where(plan.listed, 1 + self._capital_price * 20, 0.3)
        else:
            num_days = max(1, days_left)
            worth *= np.clip(2.0 - on_hand / np.maximum(plan.units * num_days, 1e-9), 0.0, 1.0)
        factor = self._knowledge.demand_factor(kind, self._day + 1, num_days) * self._reputation.get(kind, 0.4)
        price, listed = shelf_prices(model, worth, factor, on_hand.astype(np.float64), num_days)
        listed |= plan.listed & (on_hand > 0)
        self._price[model.skus] = np.rint(np.where(price > 0, price, plan.price))
        off = model.skus[~listed & (on_hand > self._unlisted[model.skus])]
        self._take_off(store, off)
        shown = model.skus[listed & (on_hand > self._unlisted[model.skus])]
        rows = [
            {"product_id": self._knowledge.product_ids[row], "price": max(1, int(self._price[row])) / 100}
            for row in shown.tolist()
        ]
        for start in range(0, len(rows), _BATCH):
            self._ask("set_prices", store_id=store, prices=rows[start : start + _BATCH])
        self._publish(store, model.skus[listed & (self._unlisted[model.skus] > 0)], self._unlisted)

    def _take_off(self, store: str, rows: IntArray) -> None:
        items = [
            {
                "product_id": self._knowledge.product_ids[row],
                "quantity": int(self._on_hand[row] - self._unlisted[row]),
            }
            for row in rows.tolist()
        ]
        for start in range(0, len(items), _BATCH):
            self._ask("return_to_warehouse", store_id=store, items=items[start : start + _BATCH])

    def _publish(self, store: str, rows: IntArray, units: IntArray) -> None:
        items = [
            {
                "product_id": self._knowledge.product_ids[row],
                "quantity": int(units[row]),
                "retail_price": max(1, int(self._price[row])) / 100,
            }
            for row in rows.tolist()
        ]
        for start in range(0, len(items), _BATCH):
            self._ask("publish_to_store", store_id=store, plan=items[start : start + _BATCH])
        units[rows] = 0

    def _list_deliveries(self) -> None:
        """Put what came in on the shelves."""
        arrived, self._deliveries = self._deliveries, []
        if not arrived:
            return
        units = np.zeros(len(self._row), dtype=np.int64)
        for row in arrived:
            units[self._row[row["product_id"]]] += row["received"]
        for kind, store in self._stores.items():
            skus = self._knowledge.model(kind).skus
            mine = skus[(units[skus] > 0) & (self._price[skus] > 0) & self._plans[kind].listed]
            self._unlisted[mine] += units[mine]
            if mine.size:
                self._publish(store, mine, self._unlisted)

    # buying

    def _purchases(self) -> list[PurchaseTask]:
        """Return what to buy, the most profitable for its cost first."""
        tasks: list[PurchaseTask] = []
        days_left = self._rules.num_days - 2 - self._day - _LEAD_DAYS
        if days_left <= 1:
            return tasks
        for kind, plan in self._plans.items():
            model = self._knowledge.model(kind)
            for category in range(len(model.capacity.categories)):
                places = np.flatnonzero((model.category == category) & plan.listed)
                if len(places):
                    tasks += self._of_category(model.skus[places], plan, places, days_left)
        return sorted(tasks, key=lambda task: -task.worth)

    def _of_category(
        self, skus: IntArray, plan: AssortmentPlan, places: IntArray, days_left: int
    ) -> list[PurchaseTask]:
        """Return what to buy of one category, if enough is lacking, divided among its cheapest suppliers."""
        orders_left = self._knowledge.orders_left(int(skus[0]))
        if orders_left == 0:
            return []
        messages = _MESSAGES_AN_ORDER * -(-len(skus) // MOVES)
        slowest = messages * (days_left + 10) / orders_left / _REVIEW_SHARE
        num_days = float(np.clip(slowest, cover_days(self._capital_price), _MOST_DAYS))
        target = plan.units[places] * min(num_days, 0.9 * days_left + _LEAD_DAYS)
        if num_days < days_left:
            target = np.maximum(1.0, target)
        product_ids = [self._knowledge.product_ids[row] for row in skus]
        have = self._on_hand[skus] + np.array([self._purchaser.on_order.get(name, 0) for name in product_ids])
        need, earns = np.maximum(0, np.rint(target) - have), plan.margin[places]
        if need @ earns < _REVIEW_SHARE * (target @ earns) or not need.any():
            return []
        chosen = np.flatnonzero(need)
        most = int(np.clip(orders_left * num_days * _REVIEW_SHARE / (messages * (days_left + 10)), 1, _MOST_SUPPLIERS))
        tasks = []
        for source, mine in self._knowledge.sources(skus[chosen], need[chosen], most):
            rows = chosen[mine]
            order = np.argsort(-earns[rows] / source.bids, kind="stable")
            wanted = [Wanted(product_ids[rows[k]], int(need[rows[k]]), int(source.bids[k])) for k in order]
            tasks.append(
                PurchaseTask(source.email, wanted, float((earns[rows] @ need[rows]) / (source.bids @ need[rows])))
            )
        return tasks

    def _carry_out(self) -> None:
        """Buy while the day and the money last."""
        while self._tasks and self._has_time():
            budget = self._purchaser.bank - self._reserve()
            if budget < 100:
                return
            task = self._tasks.pop(0)
            self._purchaser.buy(task.email, task.wanted, budget, self._has_time)

    def _reserve(self) -> float:
        """Return the yuan to keep for running costs: of many days while nothing has been settled yet."""
        operations = sum(self._knowledge.operations_fen(kind) for kind in self._stores) / 100
        num_days = _RESERVE_DAYS if self._has_income else _FIRST_RESERVE_DAYS
        return _MIN_RESERVE + num_days * max(self._outflow, operations)

    def _has_time(self) -> bool:
        return self._minutes > MESSAGE_MINUTES and not self.is_over

    def take_over(self, view: View) -> None:
        """Take up a store that somebody else ran."""
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
