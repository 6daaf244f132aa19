"""Buying at known prices: the same bids are repeated to one supplier until they are taken.

A supplier takes a bid at its floor in the end, the sooner the longer the talk has lasted, and each message that buys
something counts towards its retirement. So all that is wanted of it goes into one message; where there is time for it,
some bids that it will not take come first; and what is left after some rounds waits for the next time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from commerce.merchants.handover import Ask
from oracle.store.knowledge import BuyingStyle, MarketKnowledge

MESSAGE_MINUTES = 30
MOVES = 50
ORDERS_A_PURCHASE = 2.5
_WARM_UP, _BUYING, _HURRIED = 3, 4, 5  # messages
_LOW_SHARE, _PRESSING_SHARE = 0.9, 0.15
_MOST_OVER = 1.4
PATIENT_MESSAGES = _WARM_UP + _BUYING
_ENOUGH = 0.93  # of the value wanted of a supplier
_NOTHING_FEN = 1


class Wanted(NamedTuple):
    """One SKU to buy: product, units and the bid in fen."""

    product_id: str
    units: int
    bid_fen: int


class MessageOutcome(NamedTuple):
    """What came of one message, by product: yuan charged, first quote and standing price of each talk in fen."""

    taken: dict[str, float]
    quotes: dict[str, int]
    standing: dict[str, int]


class Purchaser:
    """Sends the messages of one merchant and keeps what is on order."""

    def __init__(self, ask: Ask, knowledge: MarketKnowledge) -> None:
        self._ask, self._knowledge = ask, knowledge
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
        total, style = sum(row.units * row.bid_fen for row in wanted), self._knowledge.style
        for start in range(0, len(wanted), MOVES):
            rows, num_turns = _affordable(wanted[start : start + MOVES], budget), _HURRIED
            if style is BuyingStyle.COUNTERS:
                budget -= self._press(email, rows, budget)
                continue
            if style is BuyingStyle.QUOTES:
                quotes = self._say(email, [row._replace(bid_fen=_NOTHING_FEN) for row in rows]).quotes
                rows = [row._replace(bid_fen=quotes.get(row.product_id, row.bid_fen)) for row in rows]
                rows = _affordable(rows, budget)
            elif is_patient and minutes_left() > PATIENT_MESSAGES * MESSAGE_MINUTES:
                num_turns = _BUYING
                for _ in range(_WARM_UP):
                    self._say(email, _lowered(rows, _LOW_SHARE))
            for turn in range(num_turns):
                left = sum(row.units * row.bid_fen for row in rows)
                if not rows or minutes_left() <= MESSAGE_MINUTES or (turn and left < (1 - _ENOUGH) * total):
                    break
                taken = self._say(email, rows).taken
                budget -= sum(taken.values())
                rows = [row for row in rows if row.product_id not in taken]

    def _press(self, email: str, rows: list[Wanted], budget: float) -> float:
        """Press with low bids, then accept the standing prices that are not far from what was expected."""
        standing: dict[str, int] = {}
        spent = 0.0
        for _ in range(_WARM_UP):
            said = self._say(email, _lowered(rows, _PRESSING_SHARE))
            standing |= said.standing
            spent += sum(said.taken.values())
            rows = [row for row in rows if row.product_id not in said.taken]
        good = [
            row._replace(bid_fen=standing[row.product_id])
            for row in rows
            if standing.get(row.product_id, math.inf) <= _MOST_OVER * row.bid_fen
        ]
        return spent + sum(self._say(email, _affordable(good, budget - spent), action="accept").taken.values())

    def _say(self, email: str, rows: list[Wanted], action: str = "offer") -> MessageOutcome:
        """Send one message."""
        said = MessageOutcome({}, {}, {})
        if not rows:
            return said
        moves = [
            {"action": action, "sku_id": row.product_id, "price": row.bid_fen / 100, "quantity": row.units}
            for row in rows
        ]
        data = self._ask("chatbox", uids=[email], actions=moves)
        self.bank = data.get("bank_balance", self.bank)
        self._knowledge.learn_talk(data.get("replies", []))
        for reply in data.get("replies", []):
            for outcome in reply["outcomes"]:
                if "opening_price" in outcome:
                    said.quotes[outcome["sku_id"]] = round(100 * outcome["opening_price"])
                if outcome["decision"] == "Offer":
                    said.standing[outcome["sku_id"]] = round(100 * outcome["price"])
                if "order" in outcome:
                    order = outcome["order"]
                    said.taken[outcome["sku_id"]] = order["charged"]
                    self.note_order(order["purchase_order"], outcome["sku_id"], order["quantity"], order["charged"])
        return said

    def note_order(self, number: int, product_id: str, units: int, cost: float) -> None:
        """Expect goods."""
        self._open[number] = (product_id, units, cost)
        self.on_order[product_id] = self.on_order.get(product_id, 0) + units

    def receive(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Take note of what arrived."""
        for row in rows:
            product_id, units, _ = self._open.pop(row["purchase_order"])
            self.on_order[product_id] -= units


def _lowered(rows: list[Wanted], share: float) -> list[Wanted]:
    return [row._replace(bid_fen=max(_NOTHING_FEN, int(share * row.bid_fen))) for row in rows]


def _affordable(rows: list[Wanted], budget: float) -> list[Wanted]:
    """Return what of ``rows`` the budget in yuan covers, in their order."""
    left, chosen = int(100 * budget), []
    for row in rows:
        units = min(row.units, left // row.bid_fen)
        if units > 0:
            left -= units * row.bid_fen
            chosen.append(row._replace(units=units))
    return chosen
