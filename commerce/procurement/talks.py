"""Cycles of talks as plain records, and the draws that belong to each round of them.

Draws are keyed by (world seed, supplier, SKU, cycle, round) ``by_cycle``, as published, and by (world seed, supplier,
SKU, day, n-th talk of the day, round) ``by_day``. Then two merchants that ask the same supplier for the same SKU in the
same round of the same day meet the same draws, whatever they did on the days before. A cycle that runs on from the day
before is the first talk of the new day.
"""

from __future__ import annotations

from typing import Any

from commerce.procurement.answer import AnswerDraws
from commerce.procurement.pair import opening_quote, pair_terms
from commerce.streams import keyed_uniform, scalar_uniforms, stream_key
from commerce.supplier_protocol import Book, StoreDoor

OPEN, AGREEMENT, WALK, REJECT, ROUND_LIMIT = "open", "agreement", "supplier_walk", "buyer_reject", "round_limit"

TalkRecord = dict[str, Any]
"""One cycle: the fields of a negotiation record. Under ``extra`` are ``standing_fen`` and ``round``; with draws
``by_day`` also ``day``, ``talk`` and ``day_rounds``, the rounds that all talks of that day took; and ``agreed_fen``
once a price is agreed that must be paid before there is any other."""


def last_talk(book: Book, supplier: int, sku: int) -> TalkRecord | None:
    """Return the newest cycle of a pair."""
    place = book["talks"].get(_pair(supplier, sku))
    found: TalkRecord | None = None if place is None else book["records"][place]
    return found


def open_talk(store: StoreDoor, book: Book, supplier: int, sku: int) -> TalkRecord:
    """Open the next cycle of a pair with its quote."""
    record = _blank(store, supplier, sku, last_talk(book, supplier, sku))
    terms = pair_terms(store.world, store.rules, supplier, sku)
    opening = opening_quote(terms, store.rules, answer_draws(store, record).price)
    record["opening_fen"] = record["extra"]["standing_fen"] = opening
    book["talks"][_pair(supplier, sku)] = len(book["records"])
    book["records"].append(record)
    return record


def _blank(store: StoreDoor, supplier: int, sku: int, last: TalkRecord | None) -> TalkRecord:
    talk = {"standing_fen": 0, "round": 1}
    if store.rules.negotiation_draws == "by_day":
        before = last["extra"] if last is not None and last["extra"]["day"] == store.day else None
        talk["day"] = store.day
        talk["talk"] = before["talk"] + 1 if before else 1
        talk["day_rounds"] = before["day_rounds"] + 1 if before else 1
    return {
        "supplier": supplier,
        "sku": sku,
        "cycle": 0 if last is None else last["cycle"] + 1,
        "day_opened": store.day,
        "day_closed": None,
        "outcome": OPEN,
        "price_fen": None,
        "quantity": 0,
        "offers": [],
        "opening_fen": 0,
        "floor_fen": pair_terms(store.world, store.rules, supplier, sku).floor,
        "reference_fen": int(store.world.skus.reference_fen[sku]),
        "is_honest": store.world.suppliers[supplier].is_honest,
        "extra": talk,
    }


def go_on(store: StoreDoor, record: TalkRecord) -> None:
    """Let a running talk go on today."""
    talk = record["extra"]
    if "day" in talk and talk["day"] != store.day:
        talk.update(day=store.day, talk=1, day_rounds=0)


def note_offer(record: TalkRecord, bid: int) -> None:
    """Begin the next round with the buyer's offer."""
    talk = record["extra"]
    talk["round"] += 1
    if "day_rounds" in talk:
        talk["day_rounds"] += 1
    record["offers"].append(bid)


def is_out_of_rounds(store: StoreDoor, record: TalkRecord) -> bool:
    """Whether a cycle, or all talks of its pair today, have had the rounds the rules allow."""
    limit = store.rules.round_limit
    if limit is None:
        return False
    talk = record["extra"]
    if record["outcome"] == OPEN and talk["round"] >= limit:
        return True
    is_paused = record["outcome"] == ROUND_LIMIT and record["day_closed"] == store.day
    return bool(is_paused or (talk.get("day") == store.day and talk["day_rounds"] >= limit))


def answer_draws(store: StoreDoor, record: TalkRecord) -> AnswerDraws:
    """Return the draws of the round a talk is in."""
    entity = (*_talk_key(store, record), record["extra"]["round"])
    return AnswerDraws(*scalar_uniforms(stream_key(store.world.seed, "negotiation", *entity), 3))


def short_delivery_draw(store: StoreDoor, record: TalkRecord) -> float:
    """Return the uniform draw of how much of an order arrives short."""
    entity = _talk_key(store, record)
    if "day" in record["extra"]:
        entity = (*entity, record["extra"]["round"])
    return keyed_uniform(store.world.seed, "short_delivery", *entity)


def _talk_key(store: StoreDoor, record: TalkRecord) -> tuple[object, ...]:
    talk, world = record["extra"], store.world
    pair = (world.suppliers[record["supplier"]].supplier_id, world.skus.sku_id[record["sku"]])
    return (*pair, talk["day"], talk["talk"]) if "day" in talk else (*pair, record["cycle"])


def _pair(supplier: int, sku: int) -> str:
    return f"{supplier}/{sku}"
