"""What the store and its suppliers promise each other.

The store gives a conversation the world, the rules, the clock and two ways to move money; a conversation gives back
what was said and what became of each structured action. Neither knows how the other is built: suppliers never touch the
ledger, the store never sees a floor.

What a supplier side remembers between messages is a plain JSON object (``book``): it is part of the year's state, so it
is saved, hashed and compared with it. Draws are keyed streams (:mod:`commerce.streams`), never held generators.
"""

from __future__ import annotations

from typing import Any, Protocol

from commerce.config import Rules
from commerce.types import Booking, ChatReply, ChatTurn, NegotiationRecord, PurchaseOrder, Refusal, World

Book = dict[str, Any]
"""Plain data of the supplier side: dicts with string keys, lists, strings, integers, floats, booleans, None."""


class StoreDoor(Protocol):
    """What a supplier conversation may ask of the store."""

    @property
    def world(self) -> World:
        """The world; reference prices are ``world.skus.reference_fen[sku]``."""

    @property
    def rules(self) -> Rules:
        """The rule set."""

    @property
    def day(self) -> int:
        """Days since the start of the year; an order of today is booked on this day."""

    @property
    def minute(self) -> int:
        """Minute of the day."""

    @property
    def bank_fen(self) -> int:
        """What can be spent now."""

    def place_order(self, order: PurchaseOrder) -> Booking | Refusal:
        """Pay for ``order`` and put it on its way; a refusal (funds, quantity) changes nothing."""

    def pay_fee(self, supplier: int, amount_fen: int) -> Refusal | None:
        """Pay a supplier that delivers nothing for it; a refusal (funds) changes nothing."""


class Procurement(Protocol):
    """The supplier side of a year. Implementations hold no state of their own."""

    def initial_book(self) -> Book:
        """Return the book of a new year."""

    def chat(self, store: StoreDoor, book: Book, turn: ChatTurn) -> list[ChatReply]:
        """Let every supplier of ``turn`` answer in order, updating ``book`` in place."""

    def is_retired(self, book: Book, supplier: int) -> bool:
        """Whether the supplier has closed for good; it then disappears from search."""

    def records(self, book: Book) -> list[NegotiationRecord]:
        """Return every negotiation so far, in the order they were opened."""
