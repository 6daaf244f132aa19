"""The double-entry ledger in integer fen.

Every posting debits one account and credits another by the same amount, for one entity, with day, minute and reason, so
debits equal credits after each. Balances are signed (debit positive): assets and expenses are positive, equity and
revenue negative, and all of them sum to zero. Postings of one kind over many entities are stored as one batch of
arrays. The batches of a day are closed into a running digest, so that the state stays small and two years can still be
compared posting by posting.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from commerce.types import IntArray


class Account(IntEnum):
    """Accounts of the ledger; the value is the row in the balances."""

    BANK = 0
    WALLET = 1
    ESCROW = 2
    GOODS_ON_ORDER = 3
    INVENTORY = 4
    GOODS_SOLD = 5  # sold and not yet shipped
    EQUITY = 6
    SALES = 7
    COMMISSION = 8
    REFUNDS = 9
    COMMISSION_REVERSED = 10
    COST_OF_SALES = 11
    FREIGHT = 12
    STORAGE = 13
    OPERATIONS = 14
    IDLE_PENALTY = 15
    SETUP = 16
    SUPPLIER_FEES = 17
    SHORT_DELIVERY = 18
    SALVAGE = 19
    LIQUIDATION_COST = 20
    WRITE_OFF = 21


class Entity(IntEnum):
    """What the entity number of a posting refers to."""

    YEAR = 0
    STORE = 1
    SKU = 2
    SUPPLIER = 3
    PURCHASE_ORDER = 4
    ORDER = 5


class Batch(NamedTuple):
    """Postings of one kind: ``amounts[i]`` fen from ``credit`` to ``debit`` because of ``entities[i]``."""

    day: int
    minute: int
    reason: str
    debit: Account
    credit: Account
    kind: Entity
    entities: IntArray
    amounts: IntArray
    total_fen: int = 0


@dataclass
class Ledger:
    """Balances, the batches since the last close, and the digest of all closed ones."""

    balances: IntArray = field(default_factory=lambda: np.zeros(len(Account), dtype=np.int64))
    open_batches: list[Batch] = field(default_factory=list)
    num_postings: int = 0
    digest: str = ""

    def balance(self, account: Account) -> int:
        """Return the signed balance of ``account``."""
        return int(self.balances[account])

    @property
    def assets_fen(self) -> int:
        """What the score counts: bank, wallet and escrow."""
        return int(self.balances[: Account.ESCROW + 1].sum())


class Stamp(NamedTuple):
    """When and why a posting is made."""

    day: int
    minute: int
    reason: str


def post(
    ledger: Ledger, stamp: Stamp, debit: Account, credit: Account, entity: tuple[Entity, ArrayLike], amounts: ArrayLike
) -> int:
    """Post ``amounts`` (fen, none negative) and return their sum; zero amounts leave no posting."""
    kind, numbers = entity
    fen = np.array(amounts, dtype=np.int64, ndmin=1)
    if not len(fen):
        return 0
    entities = np.array(numbers, dtype=np.int64, ndmin=1)
    if len(entities) != len(fen):
        entities = np.repeat(entities, len(fen))
    least = np.minimum.reduce(fen)
    if least < 0:
        raise AssertionError(f"posting {stamp.reason!r} has a negative amount: {least} fen")
    if least == 0:
        mask = fen > 0
        entities, fen = entities[mask], fen[mask]
    total = int(np.add.reduce(fen))
    if total:
        ledger.balances[debit] += total
        ledger.balances[credit] -= total
        ledger.open_batches.append(Batch(*stamp, debit, credit, kind, entities, fen, total))
        ledger.num_postings += len(fen)
    return total


def close_batches(ledger: Ledger) -> list[Batch]:
    """Fold the open batches into the digest and return them."""
    closed = ledger.open_batches
    parts = [ledger.digest.encode()]
    for batch in closed:
        parts += (_heading(*batch[:6]), batch.entities.tobytes(), batch.amounts.tobytes())
    ledger.digest = hashlib.sha256(b"".join(parts)).hexdigest()
    ledger.open_batches = []
    return closed


def _heading(day: int, minute: int, reason: str, debit: Account, credit: Account, kind: Entity) -> bytes:
    """Return the text of all but the rows of a batch; its form is part of the digest."""
    return f"({day}, {minute}, {reason!r}, {_SHOWN[debit]}, {_SHOWN[credit]}, {_ENTITIES[kind]})".encode()


_SHOWN = {account: repr(account) for account in Account}
_ENTITIES = {kind: repr(kind) for kind in Entity}
