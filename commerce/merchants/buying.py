"""The buying side of a trading merchant: scouting, test orders, negotiation on anchors, reconciliation.

Three bids far below any floor cost nothing and bring the quote down each time; the standing price is then the anchor
that is compared between suppliers and taken. What arrives is compared with what was ordered: a supplier that delivers
short or asks for a fee is not used again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from commerce.merchants.advice import Advice, MarketProduct, SupplierCard
from commerce.merchants.base import Call
from commerce.merchants.habits import SENSIBLE, Habits

PRESS_BIDS = 3
_LOW_BID = 0.10  # below every honest floor of the public tables
_TEST_UNITS = 6
_BLOCKING_FAULTS = ("members_only",)
_SCOUTED = 3


class Buyer:
    """Suppliers, quotes and open purchase orders of one merchant."""

    def __init__(self, call: Call, advice: Advice, habits: Habits = SENSIBLE) -> None:
        self._call, self._advice, self._habits = call, advice, habits
        self._press_bids = 1 if habits.pays_quotes else PRESS_BIDS
        self.suppliers: dict[str, list[SupplierCard]] = {}
        self._ordered: dict[int, tuple[SupplierCard, str, int]] = {}
        self._on_order: dict[str, int] = {}
        self.references: dict[str, float] = {}
        self._standing: dict[str, dict[str, float]] = {}
        self.bank = 0.0
        self.minutes_left = 0

    def on_order(self, product_id: str) -> int:
        """Return the units ordered and not arrived."""
        return self._on_order.get(product_id, 0)

    def find_suppliers(self, category: str) -> list[SupplierCard]:
        """Return the suppliers of a category, asking once."""
        if category not in self.suppliers:
            data = self._ask("supplier_search", {"category": category})
            cards = [SupplierCard(row["supplier_email"], category) for row in data.get("results", [])]
            self.suppliers[category] = cards
        return self.suppliers[category]

    def scout(self, product: MarketProduct, budget: float) -> None:
        """Press every supplier of a category at once, then give test orders to the cheapest."""
        cards = [card for card in self.find_suppliers(product.category) if not card.is_blocked]
        for _ in range(self._press_bids):
            if cards:
                self._say(cards, [self._low_bid(product)])
        for card in self._advice.choose_suppliers(cards)[:_SCOUTED]:
            cost = card.ratio * product.reference * _TEST_UNITS
            if cost <= min(budget, self.bank):
                self._take(card, [(product, _TEST_UNITS)])
                budget -= cost

    def restock(self, needs: Sequence[tuple[MarketProduct, int]], budget: float) -> None:
        """Buy ``needs`` of one category from its best proven supplier."""
        cards = self._advice.choose_suppliers(self.find_suppliers(needs[0][0].category))
        if not cards:
            return
        card = cards[0]
        for _ in range(self._press_bids):
            self._say([card], [self._low_bid(product) for product, _ in needs])
        self._take(card, affordable(needs, card.ratio, min(budget, self.bank)))

    def _take(self, card: SupplierCard, needs: Sequence[tuple[MarketProduct, int]]) -> None:
        """Accept the standing prices of a supplier, or offer what it asked first."""
        standing = self._standing.get(card.email, {})
        action = "offer" if self._habits.pays_quotes else "accept"
        moves = [
            move(action, product, standing[product.product_id], units)
            for product, units in needs
            if product.product_id in standing
        ]
        if moves:
            self._say([card], moves)

    def _low_bid(self, product: MarketProduct) -> dict[str, Any]:
        return move("offer", product, max(0.01, _LOW_BID * product.reference), 1)

    def _say(self, cards: Sequence[SupplierCard], moves: list[dict[str, Any]]) -> dict[str, float]:
        """Send one message, learn from every outcome, and return what was bought for how much."""
        data = self._ask("chatbox", {"uids": [card.email for card in cards], "actions": moves[:50]})
        self.bank = data.get("bank_balance", self.bank)
        bought: dict[str, float] = {}
        by_email = {card.email: card for card in cards}
        for reply in data.get("replies", []):
            card = by_email[reply["supplier"]]
            if not reply["outcomes"]:
                card.is_blocked = True
            for outcome in reply["outcomes"]:
                bought |= self._learn(card, outcome)
        return bought

    def _learn(self, card: SupplierCard, outcome: Mapping[str, Any]) -> dict[str, float]:
        sku = outcome.get("sku_id")
        if outcome.get("code") in _BLOCKING_FAULTS:
            self._meet_fee(card)
        if sku is None:
            return {}
        prices = self._standing.setdefault(card.email, {})
        if outcome["decision"] == "Offer":
            prices[sku] = outcome["opening_price" if self._habits.pays_quotes else "price"]
            card.ratio = prices[sku] / self.references[sku]
        elif outcome["decision"] == "Reject":
            prices.pop(sku, None)
        if "order" not in outcome:
            return {}
        prices.pop(sku, None)
        order = outcome["order"]
        self.note_order(order["purchase_order"], card, sku, order["quantity"])
        return {sku: order["charged"]}

    def _meet_fee(self, card: SupplierCard) -> None:
        """Pay the fee of a supplier that wants one, or have done with it."""
        if self._habits.is_trusting:
            self._ask("chatbox", {"uids": [card.email], "actions": [{"action": "pay_vip_fee"}]})
        else:
            card.is_blocked = True

    def note_order(self, number: int, card: SupplierCard, product_id: str, units: int) -> None:
        """Remember what was ordered from whom."""
        self._ordered[number] = (card, product_id, units)
        self._on_order[product_id] = self.on_order(product_id) + units

    def inherit(self, on_the_way: Iterable[Mapping[str, Any]]) -> None:
        """Expect the goods that somebody else ordered."""
        cards = {card.email: card for found in self.suppliers.values() for card in found}
        for row in on_the_way:
            card = cards.get(row["supplier"], SupplierCard(row["supplier"], ""))
            self.note_order(row["purchase_order"], card, row["product_id"], row["quantity"])

    def reconcile(self, deliveries: Iterable[Mapping[str, Any]]) -> None:
        """Compare receipts with orders; a short delivery ends the relation."""
        for row in deliveries:
            card, product_id, units = self._ordered.pop(row["purchase_order"])
            self._on_order[product_id] -= units
            if row["received"] < units and not self._habits.is_trusting:
                card.is_blocked = True
            else:
                card.deliveries += 1

    def block(self, emails: Iterable[str]) -> None:
        """Stop buying from suppliers, unless they are trusted whatever comes."""
        if self._habits.is_trusting:
            return
        blocked = set(emails)
        for cards in self.suppliers.values():
            for card in cards:
                card.is_blocked |= card.email in blocked

    def _ask(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return dict(self._call(tool, arguments).data or {})


def move(action: str, product: MarketProduct, price: float, units: int) -> dict[str, Any]:
    """Return one structured move."""
    return {"action": action, "sku_id": product.product_id, "price": round(price, 2), "quantity": units}


def affordable(
    needs: Sequence[tuple[MarketProduct, int]], ratio: float, budget: float
) -> list[tuple[MarketProduct, int]]:
    """Return what of ``needs`` the budget covers, in order."""
    chosen = []
    for product, units in needs:
        num = min(units, int(budget / (ratio * product.reference)))
        if num > 0:
            budget -= num * ratio * product.reference
            chosen.append((product, num))
    return chosen
