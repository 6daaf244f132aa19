"""What a planning merchant has: stores, goods, orders on their way and money, and what it must keep back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from commerce.branching import View
from commerce.config import Rules
from commerce.merchants.handover import Ask, pages_of
from commerce.types import IntArray
from oracle.store.knowledge import MarketKnowledge
from oracle.store.purchasing import Purchaser
from oracle.store.shelves import PlannedShelves

_RESERVE_DAYS, _FIRST_RESERVE_DAYS = 10, 17  # running costs kept back: the first sales are settled on about that day
_MIN_RESERVE = 2_000.0
_FREIGHT_SHARE = 0.3  # of the freight to come, once money comes in every day


class PlannerBooks:
    """Kept from what the tools answer; store types are rows of the knowledge's ``kinds``, money is in yuan."""

    def __init__(self, ask: Ask, knowledge: MarketKnowledge, rules: Rules) -> None:
        self._ask, self._knowledge, self._rules = ask, knowledge, rules
        self.purchaser = Purchaser(ask, knowledge)
        self.shelves = PlannedShelves(ask, knowledge.product_ids)
        self._row = {product: row for row, product in enumerate(knowledge.product_ids)}
        self.stores: dict[int, str] = {}
        self.reputation: dict[int, float] = {}
        self.shipped: dict[int, int] = {}
        self.sold, self.wallet, self._outflow = 0, 0.0, 0.0
        self._deliveries: list[Mapping[str, Any]] = []

    def inherit(self, view: View) -> None:
        """Take over the books of somebody else."""
        balance = view.look("check_balance")
        self.sold, self.purchaser.bank, self.wallet = 1, balance["bank_balance"], balance["platform_wallet"]
        names = list(self._knowledge.kinds)
        for card in view.look("check_store_status")["stores"]:
            if card["is_open"]:
                kind = names.index(card["store_type"])
                self.stores[kind], self.reputation[kind] = card["store_id"], card["reputation"]
        for row in view.purchases():
            if row["received"] is None:
                cost = row["quantity"] * row["unit_price"]
                self.purchaser.note_order(row["purchase_order"], row["product_id"], row["quantity"], cost)

    def note_deliveries(self, rows: list[Mapping[str, Any]]) -> None:
        """Take note of what arrived."""
        self.purchaser.receive(rows)
        self._knowledge.learn_deliveries(rows)
        self._deliveries += rows

    def note_day(self, report: Mapping[str, Any]) -> None:
        """Take in the report of a day."""
        self.wallet, self.purchaser.bank = report["wallet"], report["bank"]
        kind_of = {store: kind for kind, store in self.stores.items()}
        self.sold = sum(sale["units"] for sale in report["sales"].values())
        for store, sale in report["sales"].items():
            if store in kind_of:
                self.shipped[kind_of[store]] = self.shipped.get(kind_of[store], 0) + sale["units"]
        spent = sum(report["flows"].get(reason, 0.0) for reason in ("operations", "storage", "freight"))
        self._outflow = 0.8 * self._outflow + 0.2 * spent

    def take_stock(self) -> float:
        """Read what there is, and return what all of it is worth."""
        shelves = self.shelves
        shelves.on_hand[:] = shelves.unlisted[:] = 0
        self._deliveries, stock = [], 0.0
        for row in pages_of(self._ask, "check_warehouse", "items"):
            place = self._row[row["product_id"]]
            shelves.on_hand[place], shelves.unlisted[place] = row["on_hand"], row["unlisted"]
            stock += row["on_hand"] * row["average_cost"]
        balance = self._ask("check_balance")
        if not balance:
            return 0.0
        self.purchaser.bank = balance["bank_balance"]
        if self.stores:
            found = {card["store_id"]: card for card in self._ask("check_store_status").get("stores", [])}
            self.reputation = {kind: found[store]["reputation"] for kind, store in self.stores.items() if found}
        claims: float = balance["total"] + balance["unshipped_sales_value"]
        return claims + stock + self.purchaser.on_order_yuan

    def arrivals(self) -> IntArray:
        """Put what came in since the last time into the stock, and return its rows of the catalogue."""
        arrived, self._deliveries = self._deliveries, []
        rows = [self._row[row["product_id"]] for row in arrived]
        for place, row in zip(rows, arrived, strict=True):
            self.shelves.on_hand[place] += row["received"]
            self.shelves.unlisted[place] += row["received"]
        return np.unique(np.array(rows, dtype=np.int64))

    @property
    def on_order(self) -> IntArray:
        """Units on their way, by row of the catalogue."""
        units = np.zeros(len(self._row), dtype=np.int64)
        for product_id, num in self.purchaser.on_order.items():
            units[self._row[product_id]] = num
        return units

    def to_spend(self, day: int, freight_factor: float) -> float:
        """Return what of the bank is not kept back for running costs, shipping at ``freight_factor`` times standard."""
        operations = sum(self._knowledge.operations_fen(kind) for kind in self.stores) / 100
        units, freight = self.shelves.on_hand + self.on_order, 0.0
        for kind in self.stores:
            model = self._knowledge.model(kind)
            freight += freight_factor * float(units[model.skus] @ model.freight) / 100
        num_days = max(_RESERVE_DAYS, _FIRST_RESERVE_DAYS - day)
        share = 1.0 if day < _FIRST_RESERVE_DAYS else _FREIGHT_SHARE
        kept = _MIN_RESERVE + num_days * operations + share * freight + 1.5 * self._outflow
        return self.purchaser.bank - kept
