r"""The prices a merchant was offered for each product, as it was told them, and the buys that were dearer than one.

Let :math:`q_s(k)` be the lowest price at which supplier :math:`s` has offered or sold product :math:`k` so far. The own
best earlier quote is :math:`\min_s q_s(k)` over suppliers that are still to be bought from: not those that have closed,
delivered short, ask for a fee that was not paid, or alone delivered goods that come back far too often. A buy of
:math:`u` units at price :math:`p` is dearer than it by :math:`u\,\max(0, p - \min_s q_s(k))`. All of it is known to who
made the calls; what the answer to the same message shows is not earlier.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from commerce.money import to_fen
from commerce.procurement.dialogue import CLOSED
from commerce.returns import ReturnHint

_FEE, _SHORT, _GONE, _RETURNS = "fee", "short", "gone", "returns"
MAIN_SOURCE = 0.5
"""A supplier of more than this share of a product is blamed for what comes back."""


class Quote(NamedTuple):
    """A price that was offered or paid: in fen a unit, by whom and on which day."""

    price_fen: int
    supplier: str
    day: int


class QuoteBook:
    """What one merchant was offered so far.

    Attributes
    ----------
    num_compared
        Buys of a product that had an earlier quote.
    num_dearer
        Those at a price above the best of them.
    dearer_fen
        What these cost more than at that quote.
    """

    def __init__(self) -> None:
        self._quotes: dict[str, dict[str, Quote]] = {}
        self._orders: dict[int, tuple[str, int]] = {}
        self._left_out: dict[str, str] = {}
        self.num_compared = self.num_dearer = self.dearer_fen = 0

    def best(self, product_id: str) -> Quote | None:
        """Return the lowest quote for a product, the earliest of equal ones; ``None`` without any."""
        open_quotes = (
            quote for quote in self._quotes.get(product_id, {}).values() if quote.supplier not in self._left_out
        )
        return min(open_quotes, key=lambda quote: (quote.price_fen, quote.day), default=None)

    def learn(self, tool: str, day: int, data: Mapping[str, Any]) -> None:
        """Take in the answer of a tool; most say nothing about prices."""
        if tool == "chatbox":
            self._hear(day, data["replies"])
        elif tool == "trace_return_sources":
            self._trace(data["results"])

    def receive(self, deliveries: Iterable[Mapping[str, Any]]) -> None:
        """Take in what arrived: rows with ``purchase_order`` and the units ``received``."""
        for row in deliveries:
            supplier, units = self._orders.pop(row["purchase_order"], ("", 0))
            if row["received"] < units:
                self._left_out[supplier] = _SHORT

    def _hear(self, day: int, replies: Iterable[Mapping[str, Any]]) -> None:
        heard = [(reply["supplier"], outcome) for reply in replies for outcome in reply["outcomes"]]
        for supplier, outcome in heard:  # no answer to a message is earlier than another one to it
            if "order" in outcome and {"sku_id", "price"} <= outcome.keys():  # a supplier of another make may say less
                self._compare(outcome["sku_id"], to_fen(outcome["price"]), outcome["order"]["quantity"])
                self._orders[outcome["order"]["purchase_order"]] = (supplier, outcome["order"]["quantity"])
        for supplier, outcome in heard:
            self._note(day, supplier, outcome)
        for reply in replies:
            if reply["message"] == CLOSED:
                self._left_out[reply["supplier"]] = _GONE

    def _compare(self, product_id: str, price_fen: int, units: int) -> None:
        best = self.best(product_id)
        if best is None:
            return
        self.num_compared += 1
        if price_fen > best.price_fen:
            self.num_dearer += 1
            self.dearer_fen += units * (price_fen - best.price_fen)

    def _note(self, day: int, supplier: str, outcome: Mapping[str, Any]) -> None:
        if outcome.get("code") == "members_only":
            self._left_out.setdefault(supplier, _FEE)
        elif "fee_paid" in outcome and self._left_out.get(supplier) == _FEE:
            del self._left_out[supplier]
        told = [outcome[key] for key in ("opening_price", "price") if key in outcome]
        if not told or "sku_id" not in outcome:
            return
        of_product = self._quotes.setdefault(outcome["sku_id"], {})
        lowest, known = to_fen(min(told)), of_product.get(supplier)
        if known is None or lowest < known.price_fen:
            of_product[supplier] = Quote(lowest, supplier, day)

    def _trace(self, rows: Iterable[Mapping[str, Any]]) -> None:
        for row in rows:
            if row["note"] == ReturnHint.STRONG:
                blamed = [one["supplier"] for one in row["suppliers"] if one["share"] > MAIN_SOURCE]
                self._left_out |= dict.fromkeys(blamed, _RETURNS)
