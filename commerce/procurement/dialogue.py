"""What suppliers say: fixed sentences about what the kernel decided, and the pitch of a supplier's guise.

The words follow from decisions already taken and from public facts; they change no price and no delivery, and every
number in them is one of the answer or of the rules. A pitch says nothing about honesty, because honest suppliers use
the same sentences equally often (:mod:`commerce.procurement.guise`): what it is worth shows after a purchase.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from commerce.money import to_yuan
from commerce.procurement.guise import guise
from commerce.streams import keyed_integer, keyed_uniform
from commerce.supplier_protocol import StoreDoor
from commerce.types import Fraud, World

CLOSED = "We have closed for good."
PITCHES: dict[Fraud, tuple[str, ...]] = {
    Fraud.VIP_FEE: (
        "A one-time membership of {fee:.2f} yuan brings member prices from the next order on.",
        "We have a members' programme: pay {fee:.2f} yuan once and later orders are at member prices.",
    ),
    Fraud.FUTURE_DISCOUNT: (
        "The price may look high now, but we reward loyalty: expect a far better one on your next order.",
        "Take this order and we will make your next one much cheaper.",
    ),
    Fraud.FAKE_URGENCY: (
        "This is our last batch and the price goes up next week, so please decide today.",
        "Only a few units are left at this price; the offer ends today.",
    ),
    Fraud.QTY_BAIT: (
        "We can fill large orders at once; the more you take, the better for both of us.",
        "Our warehouse is full, so any quantity is fine.",
    ),
    Fraud.QUALITY_DOWNGRADE: ("",),
}


def reply_text(store: StoreDoor, supplier: int, outcomes: Sequence[Mapping[str, Any]], *, is_member: bool) -> str:
    """Return the answer of ``supplier``; a member is asked for no further fee."""
    return f"{_answer(outcomes)} {_pitch(store, supplier, is_member=is_member)}".strip()


def _answer(outcomes: Sequence[Mapping[str, Any]]) -> str:
    if not outcomes:
        return "Thank you for your message."
    if len(outcomes) > 1:
        return "Please see our answer to each of your points."
    (outcome,) = outcomes
    if "fee_paid" in outcome:
        return "Thank you, we have received your fee."
    return {
        "Offer": "We can offer {price:.2f} yuan a unit.",
        "Accept": "Agreed at {price:.2f} yuan a unit.",
        "Reject": "Then we end our talks about this product here.",
        "Error": "We cannot do that: {message}.",
    }[outcome["decision"]].format_map(outcome)


def _pitch(store: StoreDoor, supplier: int, *, is_member: bool) -> str:
    fee, kept = store.rules.vip_fee_fen, store.world.kept
    key = ("pitch", supplier, is_member, fee)
    if key not in kept:
        kept[key] = _new_pitch(store.world, supplier, fee, is_member=is_member)
    text: str = kept[key]
    return text


def _new_pitch(world: World, supplier: int, fee_fen: int, *, is_member: bool) -> str:
    kind = guise(world, supplier)
    if kind is None or (is_member and kind is Fraud.VIP_FEE):
        return ""
    uniform = keyed_uniform(world.seed, "pitch", world.suppliers[supplier].supplier_id)
    variants = PITCHES[kind]
    return variants[keyed_integer(0, len(variants) - 1, uniform)].format(fee=to_yuan(fee_fen))
