"""Suppliers that sell through the bargaining kernel: the one door from the store to the game.

For each (supplier, SKU, cycle) the supplier is the selling counterpart with reservation ``r``, opening quote
``w * reference`` and price scale ``R = 1.5 * opening`` (less ``r`` for a fraudulent supplier on the published scale).
A new cycle starts after a deal, a walk-away or a reject; it has its own luck and the same floor. Draws are keyed by
(world seed, supplier, SKU, cycle, round), so what others do changes nothing. Quotes are whole fen before they are
stored, shown or compared.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import NormalDist
from typing import Any, NamedTuple

from commerce.config import Rules
from commerce.money import to_yuan
from commerce.seam import Book, StoreDoor
from commerce.streams import keyed_uniform
from commerce.types import (
    Booking,
    BuyerAction,
    BuyerMove,
    ChatReply,
    ChatTurn,
    Fraud,
    NegotiationRecord,
    Personality,
    PurchaseOrder,
    Refusal,
    World,
)
from terms import GameConfig, kernel
from terms.types import Family, Stance

_GAME = GameConfig()
_FAMILIES = {
    Personality.ENTHUSIASTIC: (Family.EXPRESSIVE, 0.70, Stance.CONCILIATORY),
    Personality.FRIENDLY: (Family.CANDID, 0.65, Stance.NEUTRAL),
    Personality.UNPREDICTABLE: (Family.STOCHASTIC, 0.60, Stance.NEUTRAL),
    Personality.PROFESSIONAL: (Family.TACITURN, 0.60, Stance.AGGRESSIVE),
    Personality.STRATEGIC: (Family.STRATEGIC, 0.55, Stance.AGGRESSIVE),
    Personality.TOUGH: (Family.ADVERSARIAL, 0.50, Stance.AGGRESSIVE),
}
_FRAUDS = {
    Fraud.VIP_FEE: (0.15, Stance.AGGRESSIVE),
    Fraud.FUTURE_DISCOUNT: (0.20, Stance.AGGRESSIVE),
    Fraud.FAKE_URGENCY: (0.20, Stance.AGGRESSIVE),
    Fraud.QTY_BAIT: (0.35, Stance.NEUTRAL),
    Fraud.QUALITY_DOWNGRADE: (0.35, Stance.NEUTRAL),
}


class Terms(NamedTuple):
    """Hidden terms of one (supplier, SKU) pair; prices in fen."""

    opening: int
    floor: int
    reservation: int
    family: Family
    urgency: float
    stance: Stance
    price_range: float


def pair_terms(world: World, rules: Rules, supplier: int, sku: int) -> Terms:
    """Return the terms of a pair."""
    who = world.suppliers[supplier]
    category = world.categories[who.category]
    reference = int(world.skus.reference_fen[sku])
    opening, floor = round(reference * category.wholesale_ratio), round(reference * category.floor_ratio)
    if who.fraud is None:
        family, urgency, stance = _FAMILIES.get(who.personality, (Family.CANDID, 0.5, Stance.NEUTRAL))
        reservation = floor
    else:
        family = Family.ADVERSARIAL
        urgency, stance = _FRAUDS[who.fraud]
        factor = rules.upfront_floor_factor if who.fraud.is_upfront else 1.0
        cap = round(reference * category.scam_cap_ratio)
        reservation = max(floor, min(round(floor * factor), cap, opening))
    scale = rules.opening_bound_factor * opening
    if who.fraud is not None and rules.fraud_price_scale == "published":
        scale -= reservation
    return Terms(max(1, opening), max(1, floor), max(1, reservation), family, urgency, stance, max(100.0, scale))


class SupplierDesk:
    """The supplier side of a year; see :class:`commerce.seam.Procurement`."""

    def initial_book(self) -> Book:
        """Return an empty book."""
        return {"talks": {}, "paid_fee": [], "successes": {}, "records": []}

    def is_retired(self, book: Book, supplier: int) -> bool:
        """Whether the supplier has closed for good."""
        return bool(book["successes"].get(str(supplier), [0, False])[1])

    def records(self, book: Book) -> list[NegotiationRecord]:
        """Return every negotiation so far."""
        return [NegotiationRecord(**{**row, "offers": tuple(row["offers"])}) for row in book["records"]]

    def chat(self, store: StoreDoor, book: Book, turn: ChatTurn) -> list[ChatReply]:
        """Let every supplier of ``turn`` answer in order."""
        replies = []
        for supplier in turn.suppliers:
            if self.is_retired(book, supplier):
                replies.append(ChatReply(supplier, "We have closed for good.", ()))
                continue
            outcomes = [self._act(store, book, supplier, action) for action in turn.actions]
            if any(outcome.get("order") or outcome.get("fee_paid") for outcome in outcomes):
                self._count_success(store, book, supplier)
            text = "Thank you for your message." if not outcomes else "Please see our answers."
            replies.append(ChatReply(supplier, text, tuple(outcomes)))
        return replies

    def _count_success(self, store: StoreDoor, book: Book, supplier: int) -> None:
        num = book["successes"].get(str(supplier), [0, False])[0] + 1
        is_retired = num >= store.world.suppliers[supplier].retirement_orders
        book["successes"][str(supplier)] = [num, is_retired]

    def _act(self, store: StoreDoor, book: Book, supplier: int, action: BuyerAction) -> dict[str, Any]:
        if action.move is BuyerMove.PAY_VIP_FEE:
            return self._take_fee(store, book, supplier)
        world = store.world
        if action.sku is None or world.skus.category[action.sku] != world.suppliers[supplier].category:
            return _fault("unknown_sku", "this supplier does not sell that product")
        talk = self._talk(store, book, supplier, action.sku)
        shown = {"sku_id": world.skus.sku_id[action.sku], "opening_price": to_yuan(talk["opening_fen"])}
        if talk["blocked_day"] == store.day:
            return shown | _fault("not_available", "no more talk about this product today")
        terms = pair_terms(world, store.rules, supplier, action.sku)
        if action.move is BuyerMove.REJECT:
            return shown | _closed(book["records"][talk["record"]], store, "buyer_reject")
        if action.move is BuyerMove.ACCEPT:
            if action.price_fen != talk["standing_fen"]:
                standing = to_yuan(talk["standing_fen"])
                return shown | _fault("accept_price_mismatch", f"the standing price is {standing:.2f}")
            return shown | self._order(store, book, talk, action, talk["standing_fen"])
        return shown | self._answer(store, book, talk, action, terms)

    def _talk(self, store: StoreDoor, book: Book, supplier: int, sku: int) -> dict[str, Any]:
        key = f"{supplier}/{sku}"
        number = book["talks"].get(key)
        cycle = 0 if number is None else book["records"][number]["cycle"]
        if number is not None and book["records"][number]["outcome"] == "open":
            talk: dict[str, Any] = book["records"][number]["extra"]
            return talk
        cycle += number is not None
        terms = pair_terms(store.world, store.rules, supplier, sku)
        talk = {"opening_fen": terms.opening, "standing_fen": terms.opening, "round": 1, "blocked_day": -1}
        record: dict[str, Any] = {
            "supplier": supplier,
            "sku": sku,
            "cycle": cycle,
            "day_opened": store.day,
            "day_closed": None,
            "outcome": "open",
            "price_fen": None,
            "quantity": 0,
            "offers": [],
            "opening_fen": terms.opening,
            "floor_fen": terms.floor,
            "reference_fen": int(store.world.skus.reference_fen[sku]),
            "is_honest": store.world.suppliers[supplier].is_honest,
            "extra": talk,
        }
        talk["record"] = len(book["records"])
        book["talks"][key] = len(book["records"])
        book["records"].append(record)
        return talk

    def _answer(
        self, store: StoreDoor, book: Book, talk: dict[str, Any], action: BuyerAction, terms: Terms
    ) -> dict[str, Any]:
        record = book["records"][talk["record"]]
        bid = action.price_fen or 0
        talk["round"] += 1
        k, horizon = talk["round"], _GAME.horizon
        earlier = [float(price) for price in record["offers"]]
        record["offers"].append(bid)
        if store.rules.history_includes_current:
            earlier.append(float(bid))
        params = kernel.kernel_params(_GAME, terms.family, terms.stance, terms.price_range)
        features = kernel.history_features(earlier, 1, params)
        gain = kernel.favourability(bid, terms.reservation, 1, terms.price_range)
        luck = _luck(store.world, record, k)
        takes_bid = store.rules.counter_below_bid == "take_bid" and bid >= talk["standing_fen"]
        if takes_bid or luck[0] < kernel.accept_prob(gain, terms.urgency, min(k, 4 * horizon), features, params):
            return self._order(store, book, talk, action, bid)
        limit = store.rules.round_limit
        if luck[1] < kernel.walk_prob(gain, k, params):
            return _closed(record, store, "supplier_walk")
        if limit is not None and k > limit:
            talk["blocked_day"] = store.day
            return {"decision": "Reject", "message": "no agreement within the round limit"}
        rate = kernel.concession_rate(terms.urgency, features, params)
        noise = NormalDist().inv_cdf(min(max(luck[2], 1e-12), 1 - 1e-12)) * params.noise_sd
        counter = round(kernel.counter_offer(talk["standing_fen"], terms.reservation, rate, noise, 1))
        if counter <= bid:
            if store.rules.counter_below_bid == "take_bid":
                return self._order(store, book, talk, action, bid)
            counter = min(round(bid + 0.03 * terms.price_range), talk["standing_fen"])
        talk["standing_fen"] = max(counter, math.ceil(terms.reservation))
        return {"decision": "Offer", "price": to_yuan(talk["standing_fen"]), "round": k}

    def _order(
        self, store: StoreDoor, book: Book, talk: dict[str, Any], action: BuyerAction, price: int
    ) -> dict[str, Any]:
        record = book["records"][talk["record"]]
        who = store.world.suppliers[record["supplier"]]
        if who.fraud is Fraud.VIP_FEE and record["supplier"] not in book["paid_fee"]:
            talk["standing_fen"] = price
            fee = to_yuan(store.rules.vip_fee_fen)
            return _fault("members_only", f"orders need a one-time membership of {fee:.2f} yuan")
        delivered, quantity = action.quantity, action.quantity
        if who.fraud is Fraud.QTY_BAIT:
            low, high = store.rules.short_delivery
            draw = keyed_uniform(store.world.seed, "short_delivery", who.supplier_id, record["sku"], store.day)
            delivered = max(1, int(quantity * (low + (high - low) * draw)))
        defective = delivered if who.fraud is Fraud.QUALITY_DOWNGRADE else 0
        order = PurchaseOrder(record["supplier"], record["sku"], quantity, price, delivered, defective)
        booked = store.place_order(order)
        if isinstance(booked, Refusal):
            talk["standing_fen"] = price
            return _fault(booked.code, booked.message)
        record.update(outcome="agreement", price_fen=price, quantity=quantity, day_closed=store.day)
        return {"decision": "Accept", "price": to_yuan(price), "order": _shown_order(booked, quantity)}

    def _take_fee(self, store: StoreDoor, book: Book, supplier: int) -> dict[str, Any]:
        is_scheme = store.world.suppliers[supplier].fraud is Fraud.VIP_FEE
        if not is_scheme or supplier in book["paid_fee"]:
            return _fault("no_fee_due", "this supplier asks for no fee")
        if refusal := store.pay_fee(supplier, store.rules.vip_fee_fen):
            return _fault(refusal.code, refusal.message)
        book["paid_fee"].append(supplier)
        return {"fee_paid": to_yuan(store.rules.vip_fee_fen)}


def _luck(world: World, record: Mapping[str, Any], k: int) -> list[float]:
    entity = (world.suppliers[record["supplier"]].supplier_id, record["sku"], record["cycle"], k)
    return [keyed_uniform(world.seed, "negotiation", *entity, index=index) for index in range(3)]


def _closed(record: dict[str, Any], store: StoreDoor, outcome: str) -> dict[str, Any]:
    record.update(outcome=outcome, day_closed=store.day)
    return {"decision": "Reject"}


def _fault(code: str, message: str) -> dict[str, Any]:
    return {"decision": "Error", "code": code, "message": message}


def _shown_order(booked: Booking, quantity: int) -> dict[str, Any]:
    return {
        "purchase_order": booked.order_id,
        "quantity": quantity,
        "charged": to_yuan(booked.total_fen),
        "delivery_days": list(booked.told_days),
    }
