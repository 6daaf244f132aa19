"""A merchant that trades sensibly: research, test orders, reorder points, prompt shipping, withdrawals, clearing.

Every morning it reconciles deliveries, ships, withdraws, lists what came in and looks at its stores; the rest of the
day goes into buying, category by category, for the products that have fallen below their order-up-to level
``velocity * cover days``. What it believes about the market comes from its :mod:`advice <commerce.merchants.advice>`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from commerce.branching import View
from commerce.merchants.advice import Advice, Market, MarketProduct
from commerce.merchants.base import Call
from commerce.merchants.buying import Buyer
from commerce.merchants.habits import SENSIBLE, Habits
from commerce.merchants.handover import PAGE_ROWS, inherit, products_of
from commerce.merchants.lines import ProductLine, note_sales, units_needed
from commerce.tools import WAIT
from commerce.tools.pages import TablePage, read_columns
from commerce.year import Result

_COVER_DAYS = 24  # lead time of up to nine days and a review of two weeks
_REORDER_SHARE = 0.5  # of the order-up-to level; suppliers retire after some orders, so small ones are wasteful
_LAST_ORDER_DAYS = 30
_CLEAR_DAYS = 12
_OLD_DAYS = 60
_CLEAR_STEP = 0.85
_LAST_DAYS_STEP = 0.95
_LOWEST_PRICE = 0.3  # of the reference price
_RESERVE = 4_000.0
_EXPAND_AT = 120_000.0
_BUYING_MINUTES = 150  # a restock takes up to five messages


class TradingMerchant:
    """Plays a year by the rules above, guided by ``advice``."""

    def __init__(self, advice: Advice, num_days: int = 365, habits: Habits = SENSIBLE) -> None:
        self._advice, self._num_days, self._habits = advice, num_days, habits

    def __call__(self, call: Call) -> None:
        """Play until the year is over."""
        trader = _Trader(call, self._advice, self._num_days, self._habits)
        trader.prepare()
        trader.run()

    def take_over(self, view: View) -> None:
        """Go on from the books."""
        if not view.is_over:
            trader = _Trader(view.call, self._advice, self._num_days, self._habits)
            trader.take_over(view)
            trader.run()


class _Trader:
    def __init__(self, call: Call, advice: Advice, num_days: int, habits: Habits) -> None:
        self._raw_call, self._advice, self._num_days, self._habits = call, advice, num_days, habits
        self._buyer = Buyer(self._call, advice, habits)
        self._market = Market()
        self._stores: dict[str, str] = {}
        self._queue: list[str] = []
        self._catalogue: dict[str, list[MarketProduct]] = {}
        self._lines: dict[str, ProductLine] = {}
        self._scouted: set[str] = set()
        self._arrived = False
        self._sold_yesterday = 0
        self._wallet = 0.0
        self._day = 0
        self.is_over = False

    def _call(self, tool: str, arguments: Mapping[str, Any]) -> Result:
        result = self._raw_call(tool, arguments)
        self.is_over = result.is_over
        self._day = result.time["day"]
        self._buyer.minutes_left = result.time["minutes_left"]
        for notice in result.notices:
            if notice["kind"] == "delivery":
                self._buyer.reconcile(notice["deliveries"])
                self._arrived = True
        return result

    def _ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return dict(self._call(tool, arguments).data or {})

    def _pages(
        self, tool: str, part: str, names: tuple[str, ...], **arguments: Any
    ) -> Iterator[Iterator[tuple[Any, ...]]]:
        """Yield, page after page, the named columns of the rows in a part of what ``tool`` tells."""
        page = pages = 1
        while page <= pages:
            answer = self._call(tool, {**arguments, "page": page, "page_size": PAGE_ROWS}).answer or {}
            found = answer.get(part, {}) if isinstance(answer, Mapping) else answer
            pages, page = found.pages if isinstance(found, TablePage) else found.get("pages", 0), page + 1
            yield zip(*read_columns(found, names), strict=True)

    def prepare(self) -> None:
        """Study the market and open the first stores."""
        self._market.store_types = self._ask("market_search")["store_types"]
        for card in self._market.store_types:
            for name in card["category_names"]:
                found = self._ask("market_search", category=name)
                if self.is_over:  # the year was too short for the research
                    return
                self._market.categories[name] = found["detail"]
        self._queue = self._advice.rank_store_types(self._market)
        self._buyer.bank = self._ask("check_balance")["bank_balance"]
        for _ in range(self._habits.first_stores):
            self._open_next()

    def run(self) -> None:
        """Do one day's work after the other until the year is over."""
        while not self.is_over:
            self.run_day()

    def take_over(self, view: View) -> None:
        """Take up a store that somebody else ran."""
        books = inherit(view)
        self._day, self._buyer.minutes_left = view.time["day"], view.time["minutes_left"]
        self._market, self._stores, self._catalogue, self._lines = (
            books.market,
            books.stores,
            books.catalogue,
            books.lines,
        )
        self._buyer.suppliers, self._buyer.bank, self._wallet = books.suppliers, books.bank, books.wallet
        self._queue = [
            name for name in self._advice.rank_store_types(books.market) if name not in books.stores.values()
        ]
        self._scouted = {line.product.category for line in books.lines.values()}
        self._arrived, self._sold_yesterday = True, 1
        for line in books.lines.values():
            self._buyer.references[line.product.product_id] = line.product.reference
            line.price = line.price or self._advice.price(line.product)
        self._buyer.inherit(books.on_the_way)
        for category in set(books.catalogue) - self._scouted:
            kind = self._market.categories[category]["store_type"]
            self._widen(category, next(key for key, found in books.stores.items() if found == kind))

    def _open_next(self) -> None:
        if not self._queue:
            return
        store_type = self._queue.pop(0)
        data = self._ask("open_store", store_type=store_type, store_name=f"Store {len(self._stores) + 1}")
        if not data:
            return
        self._stores[data["store_id"]] = store_type
        for category in data["allowed_categories"]:
            self._catalogue[category] = products_of(self._ask, category)
            self._widen(category, data["store_id"])

    def _widen(self, category: str, store_id: str) -> None:
        """Add products of a category to the range."""
        traded = sum(line.product.category == category for line in self._lines.values())
        num = min(self._habits.max_products, traded + self._habits.start_products)
        for product in self._advice.choose_products(category, self._catalogue[category], num):
            if product.product_id not in self._lines:
                line = ProductLine(product, store_id, price=self._advice.price(product))
                self._lines[product.product_id] = line
                self._buyer.references[product.product_id] = product.reference

    def run_day(self) -> None:
        """Do one day's work and wait for the next."""
        if self._sold_yesterday:
            self._ask("ship_orders", action="ship")
        if self._wallet > 0:
            self._buyer.bank = self._ask("withdraw").get("bank_balance", self._buyer.bank)
        is_counted = self._arrived or self._day % 3 == 0
        if is_counted:
            self._stock_take()
            self._publish()
        self._look_at_stores(is_counted)
        if self._day % 7 == 3:
            self._trace()
        if self._day < self._num_days - _LAST_ORDER_DAYS:
            self._grow()
            self._buy()
        self._join_promotions()
        self._reprice()
        self._wait()

    def _wait(self) -> None:
        day = self._day
        report = self._ask(WAIT)
        if report:
            self._wallet, self._buyer.bank = report["wallet"], report["bank"]
            self._sold_yesterday = sum(sale["units"] for sale in report["sales"].values())
        if report.get("cancelled_units", 0) or report.get("returned_units", 0) or self._day > day + 1:
            self._arrived = True

    def _stock_take(self) -> None:
        """Read units and ages; pages until the end."""
        self._arrived = False
        for line in self._lines.values():
            line.on_hand = line.shelf = 0
        for columns in self._pages("check_warehouse", "items", ("product_id", "on_hand", "unlisted", "unit_days")):
            for product_id, on_hand, unlisted, unit_days in columns:
                if product_id in self._lines:  # else it is left over from a store that was closed
                    line = self._lines[product_id]
                    line.on_hand, line.shelf = on_hand, on_hand - unlisted
                    line.age_days = unit_days / on_hand

    def _publish(self) -> None:
        for store_id in self._stores:
            lines = [line for line in self._lines.values() if line.store_id == store_id and line.on_hand > line.shelf]
            plan = [
                {"product_id": x.product.product_id, "quantity": x.on_hand - x.shelf, "retail_price": round(x.price, 2)}
                for x in lines
            ]
            if plan:
                self._ask("publish_to_store", store_id=store_id, plan=plan[:500])
            for line in lines:
                line.shelf = line.on_hand

    def _look_at_stores(self, is_counted: bool) -> None:
        """Update velocities from yesterday's sales; stock that was counted today is right already."""
        for store_id in self._stores:
            names = ("product_id", "yesterday_sold", "quantity")
            for columns in self._pages("check_store_status", "products", names, store_id=store_id):
                for product_id, sold, shelf in columns:
                    line = self._lines[product_id]
                    if not is_counted:
                        line.on_hand -= sold
                    note_sales(line, sold, shelf)

    def _trace(self) -> None:
        """Stop buying from the sole supplier of goods that come back far too often."""
        for row in self._ask("trace_return_sources", page_size=200).get("results", []):
            if row["note"] and "far above" in row["note"]:
                self._buyer.block(source["supplier"] for source in row["suppliers"] if source["share"] > 0.5)

    def _grow(self) -> None:
        """Open another store or widen a range when money lies idle."""
        if self._buyer.bank < _EXPAND_AT:
            return
        if len(self._stores) < self._habits.max_stores and self._day % 5 == 0:
            self._open_next()
        elif self._day % 2 == 0 and self._lines:
            self._widen(*self._busiest())

    def _busiest(self) -> tuple[str, str]:
        """Return the category (and its store) whose products turn over most, full ranges left out."""
        rates: dict[tuple[str, str], list[float]] = {}
        for line in self._lines.values():
            turnover = line.velocity * line.product.reference
            rates.setdefault((line.product.category, line.store_id), []).append(turnover)
        return max(
            rates,
            key=lambda key: sum(rates[key]) / len(rates[key]) if len(rates[key]) < self._habits.max_products else 0.0,
        )

    def _buy(self) -> None:
        """Scout new categories and restock thin ones while the day and the money last."""
        by_category: dict[str, list[ProductLine]] = {}
        for line in self._lines.values():
            by_category.setdefault(line.product.category, []).append(line)
        urgency = {name: self._value(lines) for name, lines in by_category.items()}
        for name in sorted(urgency, key=lambda name: -urgency[name]):
            budget = self._buyer.bank - _RESERVE
            if budget < 500 or self._buyer.minutes_left < _BUYING_MINUTES or urgency[name] <= 0 or self.is_over:
                return
            lines = by_category[name]
            if name not in self._scouted:
                self._scouted.add(name)
                self._buyer.scout(lines[0].product, budget / 3)
            else:
                needs = [(line.product, self._need(line)) for line in lines]
                self._buyer.restock([need for need in needs if need[1] > 0], budget / 2)

    def _value(self, lines: list[ProductLine]) -> float:
        """Return how much it is worth to buy now; a category that was never scouted comes first."""
        if lines[0].product.category not in self._scouted:
            return 1e12
        if not any(card.deliveries for card in self._buyer.suppliers[lines[0].product.category]):
            return 0.0
        days, on_order = self._days_to_cover(), self._buyer.on_order
        needs = sum(units_needed(x, days, on_order(x.product.product_id)) * x.product.reference for x in lines)
        stock = sum(line.velocity * _COVER_DAYS * line.product.reference for line in lines)
        return needs if needs > _REORDER_SHARE * stock else 0.0

    def _need(self, line: ProductLine) -> int:
        """Return the units up to the order-up-to level."""
        return units_needed(line, self._days_to_cover(), self._buyer.on_order(line.product.product_id))

    def _days_to_cover(self) -> int:
        return min(_COVER_DAYS, self._num_days - _CLEAR_DAYS - self._day)

    def _join_promotions(self) -> None:
        if self._day % 7:
            return
        for row in self._ask("check_store_status").get("promotions", []):
            for store_id in self._stores:
                if row["is_active"] or len(row["windows"]) == 1:
                    self._ask("join_promotion", store_id=store_id, event_name=row["name"], discount_rate=0.05)

    def _reprice(self) -> None:
        """Mark old stock down, and everything in the last days."""
        is_clearing = self._day >= self._num_days - _CLEAR_DAYS
        if not is_clearing and self._day % 7:
            return
        for store_id in self._stores:
            prices = []
            for line in self._lines.values():
                if line.store_id == store_id and line.shelf and (is_clearing or line.age_days > _OLD_DAYS):
                    step = _LAST_DAYS_STEP if is_clearing else _CLEAR_STEP
                    line.price = max(0.01, _LOWEST_PRICE * line.product.reference, step * line.price)
                    prices.append({"product_id": line.product.product_id, "price": round(line.price, 2)})
            if prices:
                self._ask("set_prices", store_id=store_id, prices=prices[:500])
