"""The purchase ledger: what was bought, from whom, at what price and how much of it arrived, read from the answers.

It knows only what the agent was told. As a text it is kept in view; as a guard it refuses to pay more for a product
than a share of the lowest price paid before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from commerce.argument_parser import read_text
from commerce.types import Refusal
from experiments.years.transcript import Told

LARGEST_PRICE = "price_limit"


@dataclass
class Bought:
    """Dealings in one product: prices in yuan, units, and the suppliers with the units each was paid for."""

    best: float
    latest: float
    day: int
    ordered: int = 0
    received: int = 0
    due: int = 0
    suppliers: dict[str, int] = field(default_factory=dict)


class TradeLedger:
    """Purchases so far."""

    def __init__(self) -> None:
        self.products: dict[str, Bought] = {}
        self._orders: dict[int, tuple[str, int]] = {}

    def learn(self, told: Told) -> None:
        """Take in one answer."""
        envelope = told.envelope
        for notice in envelope.get("notices", ()):
            for row in notice.get("deliveries", ()):
                self._receive(row)
        if told.name == "chatbox" and told.ok:
            for reply in envelope["data"]["replies"]:
                for outcome in reply["outcomes"]:
                    if "order" in outcome:
                        self._order(told.day, reply["supplier"], outcome)

    def _order(self, day: int, supplier: str, outcome: Mapping[str, Any]) -> None:
        order, price = outcome["order"], outcome["price"]
        row = self.products.pop(outcome["sku_id"], None) or Bought(price, price, day)
        row.best, row.latest, row.day = min(row.best, price), price, day
        row.ordered += order["quantity"]
        row.suppliers[supplier] = row.suppliers.get(supplier, 0) + order["quantity"]
        self.products[outcome["sku_id"]] = row  # the latest bought stands last
        self._orders[order["purchase_order"]] = (outcome["sku_id"], order["quantity"])

    def _receive(self, row: Mapping[str, Any]) -> None:
        known = self._orders.pop(row["purchase_order"], None)
        if known is not None:
            bought = self.products[known[0]]
            bought.received += row["received"]
            bought.due += known[1]

    def text(self, num_rows: int) -> str | None:
        """Return the latest ``num_rows`` products as a table, ``None`` before the first purchase."""
        if not self.products:
            return None
        rows = [_table_row(sku, row) for sku, row in list(self.products.items())[-num_rows:]]
        head = "product | lowest price | latest price | ordered | arrived of due | units by supplier"
        return "\n".join(["Your purchases, kept by the system:", head, *rows])


def _table_row(sku: str, row: Bought) -> str:
    suppliers = ", ".join(f"{who} {units}" for who, units in row.suppliers.items())
    prices = f"{row.best:.2f} | {row.latest:.2f} on day {row.day}"
    return f"{sku} | {prices} | {row.ordered} | {row.received} of {row.due} | {suppliers}"


class PriceGuard:
    """Refuses an offer or accept above ``limit_pct`` percent of the lowest price paid for the product."""

    def __init__(self, limit_pct: float) -> None:
        self._share = limit_pct / 100
        self._ledger = TradeLedger()

    def learn(self, told: Told) -> None:
        """Take in one answer."""
        self._ledger.learn(told)

    def refusal(self, name: str, arguments: str) -> Refusal | None:
        """Return why the call is not to be made; what cannot be read is left to the store, which refuses it."""
        if name != "chatbox":
            return None
        for place, move in enumerate(_moves(arguments)):
            row = self._ledger.products.get(str(move.get("sku_id")))
            price = move.get("price")
            if move.get("action") not in ("offer", "accept") or row is None or not _is_number(price):
                continue
            most = row.best * self._share
            if price > most + 0.005:
                paid = f"the lowest price you have paid is {row.best:.2f}"
                message = f"price={price} is above your limit of {most:.2f} yuan; {paid}"
                return Refusal(LARGEST_PRICE, f"actions.{place}.price", message)
        return None


def _moves(arguments: str) -> list[Mapping[str, Any]]:
    try:
        actions = read_text(arguments)["actions"]
        return [move for move in actions if isinstance(move, Mapping)]
    except (ValueError, TypeError, KeyError):
        return []


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
