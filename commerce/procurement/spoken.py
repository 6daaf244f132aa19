"""Other words for what a supplier has already answered: they are checked against it, and change nothing.

A :data:`SupplierVoice` may word an answer once everything in it is decided and done: it is handed the act, with the
sentences of :mod:`commerce.procurement.dialogue`, and returns words that nothing but the buyer reads. Words that name a
number that is not in the act, leave one out, claim an agreement that was not made or cannot be printed give way to
those sentences. What only the store says, an error or the answer to several points, is never worded otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from terms.voice import claims_deal, format_price, stray_numbers

LONGEST_WORDS = 600
_AMOUNT = re.compile(r"\d+\.\d\d")
_WORDED = ("Offer", "Accept", "Reject")


class SaidAct(NamedTuple):
    """What a supplier does in one answer.

    ``decision`` is ``None`` where it only replies; ``amounts`` are the prices and fees in yuan that its sentences name;
    ``said`` are these sentences. Supplier, day and minute tell it from all other answers of a year.
    """

    supplier: str
    day: int
    minute: int
    decision: str | None
    amounts: tuple[float, ...]
    said: str


SupplierVoice = Callable[[SaidAct], str | None]
"""Words for an act, ``None`` to leave it as it is said."""


def put_into_words(
    voice: SupplierVoice | None,
    who: tuple[str, int, int],
    outcomes: Sequence[Mapping[str, Any]],
    said: str,
) -> str:
    """Return what the supplier ``who`` (its id, day, minute) says: faithful words of the voice, or ``said``."""
    if voice is None or len(outcomes) > 1:
        return said
    decision = outcomes[0]["decision"] if outcomes else None
    if decision not in (None, *_WORDED):
        return said
    act = SaidAct(*who, decision, tuple(float(amount) for amount in _AMOUNT.findall(said)), said)
    words = voice(act)
    return words if words is not None and says_the_same(words, act) else said


def says_the_same(words: str, act: SaidAct) -> bool:
    """Whether words name the amounts of an act exactly as written, no other number, and no agreement that is none."""
    if not words or len(words) > LONGEST_WORDS or not words.isprintable():
        return False
    if act.decision != "Accept" and claims_deal(words):
        return False
    if not all(format_price(amount) in words for amount in act.amounts):
        return False
    stray = stray_numbers(words, None)
    for amount in act.amounts:
        stray = [number for number in stray if number in stray_numbers(words, amount)]
    return not stray
