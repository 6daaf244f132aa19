"""Buying at known prices: the same bids are repeated to one supplier until they are taken.

A supplier takes a bid at its floor in the end, the sooner the longer the talk has lasted, and each message that buys
something counts towards its retirement. So all that is wanted of it goes into one message; where there is time for it,
some bids that it will not take come first; and what is left after some rounds waits for the next time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from commerce.merchants.handover import Ask
from oracle.store.knowledge import BuyingStyle, MarketKnowledge

MESSAGE_MINUTES = 30
MOVES, SUPPLIERS = 50, 20  # of a message
ORDERS_A_PURCHASE = 1.2
_WARM_UP, _BUYING, _HURRIED = 3, 1, 2  # messages
_LOW_SHARE, _PRESSING_SHARE = 0.97, 0.15
_OVER_FLOOR = 1.04
_MOST_OVER = 1.4
PATIENT_MESSAGES = _WARM_UP + _BUYING
_NOTHING_FEN = 1


class Wanted(NamedTuple):
    """One SKU to buy: of whom, product, units and the bid in fen."""

    email: str
    product_id: str
    units: int
    bid_fen: int


class Purchase(NamedTuple):
    """One purchase of one category: what it earns for each yuan it costs, and the most to spend in yuan."""

    category: int
    wanted: list[Wanted]
    worth: float


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
        self, purchases: list[Purchase], budget: float, minutes_left: Callable[[], int], *, is_patient: bool
    ) -> None:
        """Buy what the budget in yuan allows while the day lasts; patiently where there is time.

        The purchases fit into one message: each is of another category.
        """
        rows = _affordable([row for purchase in purchases for row in purchase.wanted], budget)
        style, num_turns = self._knowledge.style, _HURRIED
        if style is BuyingStyle.COUNTERS:
            self._press(rows, budget)
            return
        if style is BuyingStyle.QUOTES:
            quotes = self._say([row._replace(bid_fen=_NOTHING_FEN) for row in rows]).quotes
            rows = _affordable([row._replace(bid_fen=quotes.get(row.product_id, row.bid_fen)) for row in rows], budget)
        elif is_patient and minutes_left() > PATIENT_MESSAGES * MESSAGE_MINUTES:
            standing: dict[str, int] = {}
            num_turns = _BUYING
            for _ in range(_WARM_UP):
                standing |= self._say(_lowered(rows, _LOW_SHARE)).standing
            rows = [row._replace(bid_fen=_raised(row.bid_fen, standing.get(row.product_id))) for row in rows]
        for _ in range(num_turns):
            if minutes_left() <= MESSAGE_MINUTES:
                break
            taken = self._say(_affordable(rows, budget)).taken
            budget -= sum(taken.values())
            rows = [row for row in rows if row.product_id not in taken]

    def _press(self, rows: list[Wanted], budget: float) -> None:
        """Press with low bids, bid the floor guessed then, and accept standing prices that are not far above."""
        standing: dict[str, int] = {}
        for _ in range(_WARM_UP):
            said = self._say(_lowered(rows, _PRESSING_SHARE))
            standing |= said.standing
            budget -= sum(said.taken.values())
            rows = [row for row in rows if row.product_id not in said.taken]
        heard = [row for row in rows if row.product_id in standing]
        bids = [
            row._replace(bid_fen=self._knowledge.bid(row.email, row.product_id, standing[row.product_id]))
            for row in heard
        ]
        said = self._say(_affordable(bids, budget))
        standing |= said.standing
        budget -= sum(said.taken.values())
        good = [
            row._replace(bid_fen=standing[row.product_id])
            for row in heard
            if row.product_id not in said.taken and standing[row.product_id] <= _MOST_OVER * row.bid_fen
        ]
        self._say(_affordable(good, budget), action="accept")

    def _say(self, rows: list[Wanted], action: str = "offer") -> MessageOutcome:
        """Send one message to all suppliers of the rows; each answers what it sells."""
        said = MessageOutcome({}, {}, {})
        if not rows:
            return said
        moves = [
            {"action": action, "sku_id": row.product_id, "price": row.bid_fen / 100, "quantity": row.units}
            for row in rows
        ]
        data = self._ask("chatbox", uids=list(dict.fromkeys(row.email for row in rows)), actions=moves)
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


def _raised(bid_fen: int, standing_fen: int | None) -> int:
    """Return a bid a little above a floor, or the standing price if it is lower."""
    raised = int(_OVER_FLOOR * bid_fen)
    return raised if standing_fen is None else max(bid_fen, min(raised, standing_fen))


def _affordable(rows: list[Wanted], budget: float) -> list[Wanted]:
    """Return what of ``rows`` the budget in yuan covers, in their order."""
    left, chosen = int(100 * budget), []
    for row in rows:
        units = min(row.units, left // row.bid_fen)
        if units > 0:
            left -= units * row.bid_fen
            chosen.append(row._replace(units=units))
    return chosen


def next_message(waiting: list[Purchase]) -> list[Purchase]:
    """Take from ``waiting`` what goes into the next message: the first, and after it whatever fits in beside it."""
    chosen: list[Purchase] = []
    for purchase in waiting:
        num = sum(len(row.wanted) for row in chosen)
        is_alone = all(purchase.category != row.category for row in chosen)
        if is_alone and num + len(purchase.wanted) <= MOVES and len(chosen) < SUPPLIERS:
            chosen.append(purchase)
    waiting[:] = [purchase for purchase in waiting if purchase not in chosen]
    return chosen
