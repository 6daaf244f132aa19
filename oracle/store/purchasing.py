"""Buying at known prices: the same bids are repeated to one supplier until they are taken.

A supplier takes a bid at its floor in the end, but each message that buys something counts towards its retirement, so
all that is wanted of it goes into one message, and what is left after some rounds waits for the next time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from commerce.merchants.handover import Ask
from oracle.store.knowledge import MarketKnowledge

MESSAGE_MINUTES = 30
MOVES = 50
_ROUNDS = 5
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

    def buy(self, email: str, wanted: list[Wanted], budget: float, has_time: Callable[[], bool]) -> float:
        """Buy of one supplier what the budget allows, and return what was spent."""
        spent, total = 0.0, sum(row.units * row.bid_fen for row in wanted)
        for start in range(0, len(wanted), MOVES):
            rows = wanted[start : start + MOVES]
            for turn in range(_ROUNDS):
                rows = _affordable(rows, budget - spent)
                left = sum(row.units * row.bid_fen for row in rows)
                if not rows or not has_time() or (turn and left < (1 - _ENOUGH) * total):
                    break
                taken, quoted = self._say(email, rows, is_feeler=self._takes_quotes and turn == 0)
                spent += sum(taken.values())
                rows = [
                    row._replace(bid_fen=quoted.get(row.product_id, row.bid_fen) if self._takes_quotes else row.bid_fen)
                    for row in rows
                    if row.product_id not in taken
                ]
        return spent

    def _say(self, email: str, rows: list[Wanted], *, is_feeler: bool) -> tuple[dict[str, float], dict[str, int]]:
        """Send one message; return what was charged and the quote of each talk that was opened, by product."""
        moves = [
            {
                "action": "offer",
                "sku_id": row.product_id,
                "price": (_NOTHING_FEN if is_feeler else row.bid_fen) / 100,
                "quantity": row.units,
            }
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
