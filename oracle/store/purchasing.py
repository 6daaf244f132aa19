"""Buying at known prices: the same bids are repeated to one supplier until they are taken.

A supplier takes a bid at its floor in the end, the sooner the longer the talk has lasted, and each message that buys
something counts towards its retirement. So all that is wanted of it goes into one message; where there is time for it,
some bids that it will not take come first; and what is left after some rounds waits for the next time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from commerce.merchants.handover import Ask
from oracle.store.knowledge import MarketKnowledge

MESSAGE_MINUTES = 30
MOVES = 50
ORDERS_A_PURCHASE = 2.5
_WARM_UP, _BUYING, _HURRIED = 3, 4, 5  # messages
_LOW_SHARE = 0.9
PATIENT_MESSAGES = _WARM_UP + _BUYING
_ENOUGH = 0.93  # of the value wanted of a supplier
_NOTHING_FEN = 1


class Wanted(NamedTuple):
    """One SKU to buy: product, units and the bid in fen."""

    product_id: str
    units: int
    bid_fen: int


class Purchaser:
    """Sends the messages of one merchant and keeps what is on order."""

    def __init__(self, ask: Ask, knowledge: MarketKnowledge, *, takes_quotes: bool = False) -> None:
        self._ask, self._knowledge, self._takes_quotes = ask, knowledge, takes_quotes
        self._open: dict[int, tuple[str, int, float]] = {}
        self.on_order: dict[str, int] = {}
        self.bank = 0.0

    @property
    def on_order_yuan(self) -> float:
        """What the goods on order have cost."""
        return sum(cost for _, _, cost in self._open.values())

    def buy(
        self, email: str, wanted: list[Wanted], budget: float, minutes_left: Callable[[], int], *, is_patient: bool
    ) -> None:
        """Buy of one supplier what the budget in yuan allows while the day lasts; patiently where there is time."""
        total = sum(row.units * row.bid_fen for row in wanted)
        for start in range(0, len(wanted), MOVES):
            rows, is_warm = _affordable(wanted[start : start + MOVES], budget), False
            if self._takes_quotes:
                rows = self._quoted(email, rows)
            elif is_patient and minutes_left() > PATIENT_MESSAGES * MESSAGE_MINUTES:
                is_warm = True
                for _ in range(_WARM_UP):
                    self._say(email, [row._replace(bid_fen=max(1, int(_LOW_SHARE * row.bid_fen))) for row in rows])
            for turn in range(_BUYING if is_warm else _HURRIED):
                left = sum(row.units * row.bid_fen for row in rows)
                if not rows or minutes_left() <= MESSAGE_MINUTES or (turn and left < (1 - _ENOUGH) * total):
                    break
                taken, _ = self._say(email, rows)
                budget -= sum(taken.values())
                rows = [row for row in rows if row.product_id not in taken]

    def _quoted(self, email: str, rows: list[Wanted]) -> list[Wanted]:
        """Ask for the first quote of each talk, and return what can still be afforded at those."""
        budget = sum(row.units * row.bid_fen for row in rows) / 100
        _, quotes = self._say(email, [row._replace(bid_fen=_NOTHING_FEN) for row in rows])
        return _affordable([row._replace(bid_fen=quotes.get(row.product_id, row.bid_fen)) for row in rows], budget)

    def _say(self, email: str, rows: list[Wanted]) -> tuple[dict[str, float], dict[str, int]]:
        """Send one message; return what was charged and the quote of each talk, by product."""
        moves = [
            {"action": "offer", "sku_id": row.product_id, "price": row.bid_fen / 100, "quantity": row.units}
            for row in rows
        ]
        data = self._ask("chatbox", uids=[email], actions=moves)
        self.bank = data.get("bank_balance", self.bank)
        self._knowledge.learn_talk(data.get("replies", []))
        taken, quoted = {}, {}
        for reply in data.get("replies", []):
            for outcome in reply["outcomes"]:
                if "opening_price" in outcome:
                    quoted[outcome["sku_id"]] = round(100 * outcome["opening_price"])
                if "order" in outcome:
                    order = outcome["order"]
                    taken[outcome["sku_id"]] = order["charged"]
                    self.note_order(order["purchase_order"], outcome["sku_id"], order["quantity"], order["charged"])
        return taken, quoted

    def note_order(self, number: int, product_id: str, units: int, cost: float) -> None:
        """Expect goods."""
        self._open[number] = (product_id, units, cost)
        self.on_order[product_id] = self.on_order.get(product_id, 0) + units

    def receive(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Take note of what arrived."""
        for row in rows:
            product_id, units, _ = self._open.pop(row["purchase_order"])
            self.on_order[product_id] -= units


def _affordable(rows: list[Wanted], budget: float) -> list[Wanted]:
    """Return what of ``rows`` the budget in yuan covers, in their order."""
    left, chosen = int(100 * budget), []
    for row in rows:
        units = min(row.units, left // row.bid_fen)
        if units > 0:
            left -= units * row.bid_fen
            chosen.append(row._replace(units=units))
    return chosen
