"""Conversations with suppliers: one cycle of talks per (supplier, SKU) at a time, settled through the store's door.

The first offer opens a cycle, with a quote that the buyer is shown; it ends in an order, a walk-away, a reject, or,
where the rules set a limit of rounds, in a pause until the next day. The next offer opens a new cycle with draws of its
own and the same floor. Accepting or rejecting without a running cycle is an error that leaves no trace. An agreement is
recorded once its order is paid; until then the agreed price stands.
"""

from __future__ import annotations

from typing import Any

from commerce.money import to_yuan
from commerce.procurement.answer import answer_offer
from commerce.procurement.consent import agrees_to_fee
from commerce.procurement.dialogue import CLOSED, reply_text
from commerce.procurement.pair import pair_terms
from commerce.procurement.spoken import SupplierVoice, put_into_words
from commerce.procurement.talks import (
    AGREEMENT,
    OPEN,
    REJECT,
    ROUND_LIMIT,
    WALK,
    TalkRecord,
    answer_draws,
    go_on,
    is_out_of_rounds,
    last_talk,
    note_offer,
    open_talk,
    short_delivery_draw,
)
from commerce.supplier_protocol import Book, StoreDoor
from commerce.types import (
    Booking,
    BuyerAction,
    BuyerMove,
    ChatReply,
    ChatTurn,
    Fraud,
    NegotiationRecord,
    PurchaseOrder,
    Refusal,
)


class SupplierDesk:
    """The supplier side of a year; see :class:`commerce.supplier_protocol.Procurement`.

    A ``voice`` words answers that are given already.
    """

    def __init__(self, voice: SupplierVoice | None = None) -> None:
        self.voice = voice

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
        replies, actions = [], _read_actions(store, turn)
        for supplier in turn.suppliers:
            if self.is_retired(book, supplier):
                replies.append(ChatReply(supplier, CLOSED))
                continue
            outcomes = [_act(store, book, supplier, action) for action in actions]
            if any("order" in outcome or "fee_paid" in outcome for outcome in outcomes):
                _count_success(store, book, supplier)
            said = reply_text(store, supplier, outcomes, is_member=supplier in book["paid_fee"])
            who = (store.world.suppliers[supplier].supplier_id, store.day, store.minute)
            text = put_into_words(self.voice, who, outcomes, said)
            replies.append(ChatReply(supplier, text, tuple(outcomes)))
        return replies


def _read_actions(store: StoreDoor, turn: ChatTurn) -> tuple[BuyerAction, ...]:
    """Return the actions of a message, and first the fee its words agree to, where words may."""
    fee = BuyerAction(BuyerMove.PAY_VIP_FEE)
    if store.rules.fee_consent == "action" or fee in turn.actions or not agrees_to_fee(turn.text):
        return turn.actions
    return (fee, *turn.actions)


def _count_success(store: StoreDoor, book: Book, supplier: int) -> None:
    num = book["successes"].get(str(supplier), [0, False])[0] + 1
    book["successes"][str(supplier)] = [num, num >= store.world.suppliers[supplier].retirement_orders]


def _act(store: StoreDoor, book: Book, supplier: int, action: BuyerAction) -> dict[str, Any]:
    if action.move is BuyerMove.PAY_VIP_FEE:
        return _take_fee(store, book, supplier)
    world = store.world
    if action.sku is None or world.skus.category[action.sku] != world.suppliers[supplier].category:
        return _fault("unknown_sku", "this supplier does not sell that product")
    shown = {"sku_id": world.skus.sku_id[action.sku]}
    last = last_talk(book, supplier, action.sku)
    running = last if last is not None and last["outcome"] == OPEN else None
    if running is not None:
        go_on(store, running)
    elif last is not None and is_out_of_rounds(store, last):
        return shown | _fault("not_available", "there is no more talk about this product before tomorrow")
    if refused := _refused(store, running, action):
        return shown | refused
    record = open_talk(store, book, supplier, action.sku) if running is None else running
    return {**shown, "opening_price": to_yuan(record["opening_fen"]), **_move(store, book, record, action)}


def _refused(store: StoreDoor, running: TalkRecord | None, action: BuyerAction) -> dict[str, Any] | None:
    """Return why a move does not reach the supplier, which then leaves no trace."""
    if action.move is not BuyerMove.OFFER:
        if running is None:
            return _fault("no_active_negotiation", "no talk about this product is running; an offer opens one")
        return None
    bid = action.price_fen or 0
    if store.rules.unpaid_bids == "refused":  # else bids that nobody pays would press the price down
        due, agreed = action.quantity * bid, running["extra"].get("agreed_fen", 0) if running else 0
        if due > store.bank_fen:
            bank = to_yuan(store.bank_fen)
            return _fault("insufficient_funds", f"{to_yuan(due):.2f} yuan are due and the bank holds {bank:.2f}")
        if bid < agreed:
            return _fault("price_agreed", f"{to_yuan(agreed):.2f} yuan is agreed; accept it or reject the talk")
    return None


def _move(store: StoreDoor, book: Book, record: TalkRecord, action: BuyerAction) -> dict[str, Any]:
    talk = record["extra"]
    if action.move is BuyerMove.REJECT:
        return _close(record, store, REJECT)
    if action.move is BuyerMove.ACCEPT:
        if action.price_fen != talk["standing_fen"]:
            return _fault("accept_price_mismatch", f"the standing price is {to_yuan(talk['standing_fen']):.2f} yuan")
        return _order(store, book, record, action.quantity, talk["standing_fen"])
    return _answer(store, book, record, action)


def _answer(store: StoreDoor, book: Book, record: TalkRecord, action: BuyerAction) -> dict[str, Any]:
    talk, bid = record["extra"], action.price_fen or 0
    if is_out_of_rounds(store, record):
        return _close(record, store, ROUND_LIMIT) | {"message": f"no agreement in {store.rules.round_limit} rounds"}
    note_offer(record, bid)
    terms = pair_terms(store.world, store.rules, record["supplier"], record["sku"])
    draws = answer_draws(store, record)
    answer = answer_offer(terms, store.rules, talk["standing_fen"], record["offers"], talk["round"], draws)
    if answer.accepts:
        return _order(store, book, record, action.quantity, bid)
    if answer.walks or answer.price is None:
        return _close(record, store, WALK)
    talk["standing_fen"] = answer.price
    return {"decision": "Offer", "price": to_yuan(answer.price), "round": talk["round"]}


def _order(store: StoreDoor, book: Book, record: TalkRecord, quantity: int, price: int) -> dict[str, Any]:
    who = store.world.suppliers[record["supplier"]]
    # Asked after the funds, else an order nobody can pay would ask who wants a fee for nothing.
    is_payable = quantity * price <= store.bank_fen
    if who.fraud is Fraud.VIP_FEE and is_payable and record["supplier"] not in book["paid_fee"]:
        record["extra"]["standing_fen"] = price
        if store.rules.unpaid_bids == "refused":
            record["extra"]["agreed_fen"] = price
        fee = to_yuan(store.rules.vip_fee_fen)
        return _fault("members_only", f"orders need a one-time membership of {fee:.2f} yuan")
    booked = store.place_order(_purchase(store, record, quantity, price))
    if isinstance(booked, Refusal):
        record["extra"]["standing_fen"] = price
        return _fault(booked.code, booked.message)
    record.update(outcome=AGREEMENT, price_fen=price, quantity=quantity, day_closed=store.day)
    return {"decision": "Accept", "price": to_yuan(price), "order": _shown_order(booked, quantity)}


def _purchase(store: StoreDoor, record: TalkRecord, quantity: int, price: int) -> PurchaseOrder:
    """Return the order with what will really arrive."""
    who, sku = store.world.suppliers[record["supplier"]], record["sku"]
    delivered = quantity
    if who.fraud is Fraud.QTY_BAIT:
        low, high = store.rules.short_delivery
        draw = short_delivery_draw(store, record)
        delivered = max(1, int(quantity * (low + (high - low) * draw)))
    defective = delivered if who.fraud is Fraud.QUALITY_DOWNGRADE else 0
    return PurchaseOrder(record["supplier"], sku, quantity, price, delivered, defective)


def _take_fee(store: StoreDoor, book: Book, supplier: int) -> dict[str, Any]:
    fee, bank = store.rules.vip_fee_fen, store.bank_fen
    if fee > bank:  # said to everyone, else an empty bank would ask for nothing who takes a fee
        message = f"the fee is {to_yuan(fee):.2f} yuan and the bank holds {to_yuan(bank):.2f}"
        return _fault("insufficient_funds", message)
    if store.world.suppliers[supplier].fraud is not Fraud.VIP_FEE or supplier in book["paid_fee"]:
        return _fault("no_fee_due", "orders from this supplier need no fee")
    if refusal := store.pay_fee(supplier, fee):
        return _fault(refusal.code, refusal.message)
    book["paid_fee"].append(supplier)
    return {"decision": "Accept", "fee_paid": to_yuan(fee)}


def _close(record: TalkRecord, store: StoreDoor, outcome: str) -> dict[str, Any]:
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
