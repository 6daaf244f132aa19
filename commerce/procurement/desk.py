"""Conversations with suppliers: one cycle of talks per (supplier, SKU) at a time, settled through the store's door.

A cycle opens with a quote that the buyer is shown; it ends in an order, a walk-away, a reject, or, where the rules set
a limit of rounds, in a pause until the next day. The next move opens a new cycle with its own draws and the same floor.
An agreement is recorded once its order is paid; if the money is missing, the agreed price stands. Draws are keyed by
(world seed, supplier, SKU, cycle, round), so nothing else that happens can change them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from commerce.money import to_yuan
from commerce.procurement.answer import AnswerDraws, answer_offer
from commerce.procurement.dialogue import CLOSED, reply_text
from commerce.procurement.pair import opening_quote, pair_terms
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
    PurchaseOrder,
    Refusal,
)

OPEN, AGREEMENT, WALK, REJECT, ROUND_LIMIT = "open", "agreement", "supplier_walk", "buyer_reject", "round_limit"

Record = dict[str, Any]
"""One cycle of talks: the fields of a negotiation record, with ``standing_fen`` and ``round`` under ``extra``."""


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
                replies.append(ChatReply(supplier, CLOSED))
                continue
            outcomes = [_act(store, book, supplier, action) for action in turn.actions]
            if any("order" in outcome or "fee_paid" in outcome for outcome in outcomes):
                _count_success(store, book, supplier)
            text = reply_text(store, supplier, outcomes, is_member=supplier in book["paid_fee"])
            replies.append(ChatReply(supplier, text, tuple(outcomes)))
        return replies


def _count_success(store: StoreDoor, book: Book, supplier: int) -> None:
    num = book["successes"].get(str(supplier), [0, False])[0] + 1
    book["successes"][str(supplier)] = [num, num >= store.world.suppliers[supplier].retirement_orders]


def _act(store: StoreDoor, book: Book, supplier: int, action: BuyerAction) -> dict[str, Any]:
    if action.move is BuyerMove.PAY_VIP_FEE:
        return _take_fee(store, book, supplier)
    world = store.world
    if action.sku is None or world.skus.category[action.sku] != world.suppliers[supplier].category:
        return _fault("unknown_sku", "this supplier does not sell that product")
    record = _current(store, book, supplier, action.sku)
    shown = {"sku_id": world.skus.sku_id[action.sku], "opening_price": to_yuan(record["opening_fen"])}
    if record["outcome"] == ROUND_LIMIT:
        return shown | _fault("not_available", "there is no more talk about this product before tomorrow")
    return shown | _move(store, book, record, action)


def _move(store: StoreDoor, book: Book, record: Record, action: BuyerAction) -> dict[str, Any]:
    talk = record["extra"]
    if action.move is BuyerMove.REJECT:
        return _close(record, store, REJECT)
    if action.move is BuyerMove.ACCEPT:
        if action.price_fen != talk["standing_fen"]:
            return _fault("accept_price_mismatch", f"the standing price is {to_yuan(talk['standing_fen']):.2f} yuan")
        return _order(store, book, record, action.quantity, talk["standing_fen"])
    return _answer(store, book, record, action)


def _current(store: StoreDoor, book: Book, supplier: int, sku: int) -> Record:
    """Return the running cycle of a pair, or one that paused today, else open a new one."""
    key = f"{supplier}/{sku}"
    last: Record | None = book["records"][book["talks"][key]] if key in book["talks"] else None
    if last is not None:
        is_paused = last["outcome"] == ROUND_LIMIT and last["day_closed"] == store.day
        if last["outcome"] == OPEN or is_paused:
            return last
    record = _new_record(store, supplier, sku, 0 if last is None else last["cycle"] + 1)
    book["talks"][key] = len(book["records"])
    book["records"].append(record)
    return record


def _new_record(store: StoreDoor, supplier: int, sku: int, cycle: int) -> Record:
    terms = pair_terms(store.world, store.rules, supplier, sku)
    record: Record = {
        "supplier": supplier,
        "sku": sku,
        "cycle": cycle,
        "day_opened": store.day,
        "day_closed": None,
        "outcome": OPEN,
        "price_fen": None,
        "quantity": 0,
        "offers": [],
        "opening_fen": 0,
        "floor_fen": terms.floor,
        "reference_fen": int(store.world.skus.reference_fen[sku]),
        "is_honest": store.world.suppliers[supplier].is_honest,
    }
    record["opening_fen"] = opening_quote(terms, store.rules, _draws(store, record, 1).price)
    return record | {"extra": {"standing_fen": record["opening_fen"], "round": 1}}


def _answer(store: StoreDoor, book: Book, record: Record, action: BuyerAction) -> dict[str, Any]:
    talk, bid, limit = record["extra"], action.price_fen or 0, store.rules.round_limit
    if limit is not None and talk["round"] >= limit:
        return _close(record, store, ROUND_LIMIT) | {"message": f"no agreement in {limit} rounds"}
    talk["round"] += 1
    record["offers"].append(bid)
    terms = pair_terms(store.world, store.rules, record["supplier"], record["sku"])
    draws = _draws(store, record, talk["round"])
    answer = answer_offer(terms, store.rules, talk["standing_fen"], record["offers"], talk["round"], draws)
    if answer.accepts:
        return _order(store, book, record, action.quantity, bid)
    if answer.walks or answer.price is None:
        return _close(record, store, WALK)
    talk["standing_fen"] = answer.price
    return {"decision": "Offer", "price": to_yuan(answer.price), "round": talk["round"]}


def _order(store: StoreDoor, book: Book, record: Record, quantity: int, price: int) -> dict[str, Any]:
    who = store.world.suppliers[record["supplier"]]
    is_payable = (
        quantity * price <= store.bank_fen
    )  # else an order nobody can pay would ask who wants a fee for nothing
    if who.fraud is Fraud.VIP_FEE and is_payable and record["supplier"] not in book["paid_fee"]:
        record["extra"]["standing_fen"] = price
        fee = to_yuan(store.rules.vip_fee_fen)
        return _fault("members_only", f"orders need a one-time membership of {fee:.2f} yuan")
    booked = store.place_order(_purchase(store, record, quantity, price))
    if isinstance(booked, Refusal):
        record["extra"]["standing_fen"] = price
        return _fault(booked.code, booked.message)
    record.update(outcome=AGREEMENT, price_fen=price, quantity=quantity, day_closed=store.day)
    return {"decision": "Accept", "price": to_yuan(price), "order": _shown_order(booked, quantity)}


def _purchase(store: StoreDoor, record: Record, quantity: int, price: int) -> PurchaseOrder:
    """Return the order with what will really arrive."""
    who, sku = store.world.suppliers[record["supplier"]], record["sku"]
    delivered = quantity
    if who.fraud is Fraud.QTY_BAIT:
        low, high = store.rules.short_delivery
        entity = (who.supplier_id, store.world.skus.sku_id[sku], record["cycle"])
        draw = keyed_uniform(store.world.seed, "short_delivery", *entity)
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


def _draws(store: StoreDoor, record: Mapping[str, Any], round_number: int) -> AnswerDraws:
    world = store.world
    who, sku = world.suppliers[record["supplier"]].supplier_id, world.skus.sku_id[record["sku"]]
    entity = (who, sku, record["cycle"], round_number)
    return AnswerDraws(*(keyed_uniform(world.seed, "negotiation", *entity, index=index) for index in range(3)))


def _close(record: Record, store: StoreDoor, outcome: str) -> dict[str, Any]:
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
