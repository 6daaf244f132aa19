"""The state of a running year: plain data that can be saved, hashed, loaded and compared.

Arrays of a store run over the SKUs of its type (:attr:`commerce.setting.Setting.rows_of_type`), all others over all
SKUs. Units are in exactly one place: on order, in the warehouse (unlisted or on a shelf), in a customer order, with a
customer, liquidated or lost.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from commerce.ledger import Account, Batch, Entity, Ledger, Stamp, post
from commerce.lots import Lots, no_lots
from commerce.orders import Orders, no_orders
from commerce.setting import Setting
from commerce.state_codec import decode, encode
from commerce.types import IntArray


class Inbound(NamedTuple):
    """A purchase order; ``delivered`` and ``defective`` are hidden. ``received_day`` is -1 while it is on its way."""

    order_id: int
    supplier: int
    sku: int
    quantity: int
    unit_price_fen: int
    delivered: int
    defective: int
    placed_day: int
    placed_minute: int
    told_first_day: int
    told_last_day: int
    arrival_day: int
    arrival_minute: int
    received_day: int = -1


@dataclass
class StoreState:
    """One store. The *window* is what customers see all day: shelf, prices and promotion as they were at 08:00."""

    number: int
    store_type: int
    name: str
    opened_day: int
    shelf: IntArray
    price_fen: IntArray
    trailing_fen: IntArray
    window_units: IntArray
    window_fen: IntArray
    sold: IntArray
    returned: IntArray
    reputation: float = 0.0
    closed_day: int | None = None
    promotion: int | None = None
    discount: float = 0.0
    window_promotion: int | None = None
    window_discount: float = 0.0
    shipped_units: int = 0
    recent_sold: float = 0.0
    recent_returned: float = 0.0
    recent_cancelled: float = 0.0
    revenue_fen: int = 0
    refunds_fen: int = 0
    freight_fen: int = 0
    freight_today_fen: int = 0

    @property
    def store_id(self) -> str:
        """The id agents use."""
        return f"store_{self.number:03d}"

    @property
    def is_open(self) -> bool:
        """Whether the store sells."""
        return self.closed_day is None


def new_store(number: int, store_type: int, name: str, day: int, num_skus: int) -> StoreState:
    """Return a store with an empty shelf for the ``num_skus`` SKUs of its type."""
    shelf, price, trailing, units, fen, sold, returned = (np.zeros(num_skus, dtype=np.int64) for _ in range(7))
    return StoreState(number, store_type, name, day, shelf, price, trailing, units, fen, sold, returned)


@dataclass
class Totals:
    """Running sums for the metrics that no account holds.

    The four parts are expected returned units by cause; windfalls are those of :mod:`commerce.windfall`.
    """

    natural_returns: float = 0.0
    defect_returns: float = 0.0
    price_returns: float = 0.0
    speed_returns: float = 0.0
    defect_loss_fen: float = 0.0
    orders_created: int = 0
    orders_shipped: int = 0
    orders_cancelled: int = 0
    by_speed: list[int] = field(default_factory=lambda: [0, 0, 0])
    overdrawn_mornings: int = 0
    coverable_mornings: int = 0
    demand_windfall_fen: float = 0.0
    returns_windfall_fen: float = 0.0


@dataclass
class Units:
    """Units of each SKU that ever took a path, over the whole year.

    ``returned`` are refunded; those of them that come too late to reach the warehouse are ``not_restocked``.
    """

    delivered: IntArray
    defective: IntArray
    sold: IntArray
    cancelled: IntArray
    shipped: IntArray
    returned: IntArray
    liquidated: IntArray
    lost: IntArray
    not_restocked: IntArray


@dataclass
class YearState:
    """Everything that changes during a year. ``hints`` holds the day the return trace first warned of a SKU."""

    day: int
    minute: int
    stores: list[StoreState]
    unlisted: IntArray
    on_hand: IntArray
    value_fen: IntArray
    lots: Lots
    orders: Orders
    order_lots: Lots
    units: Units
    ledger: Ledger
    book: dict[str, Any]
    end: str | None = None
    negative_mornings: int = 0
    next_order: int = 1
    inbound: list[Inbound] = field(default_factory=list)
    purchases: list[Inbound] = field(default_factory=list)
    fees: list[dict[str, int]] = field(default_factory=list)
    sources: dict[str, dict[str, int]] = field(default_factory=dict)
    hints: dict[str, int] = field(default_factory=dict)
    announced: list[str] = field(default_factory=list)
    notices: list[dict[str, Any]] = field(default_factory=list)
    memos: dict[str, str] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)
    totals: Totals = field(default_factory=Totals)
    calls: dict[str, int] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    minutes: dict[str, int] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        """Whether the year has ended; from then on nothing changes."""
        return self.end is not None

    @property
    def open_stores(self) -> list[StoreState]:
        """Stores that sell, in opening order."""
        return [store for store in self.stores if store.is_open]

    @property
    def bank_fen(self) -> int:
        """The bank balance; negative when overdrawn."""
        return self.ledger.balance(Account.BANK)

    def stamp(self, reason: str) -> Stamp:
        """Return the present moment with a reason, for a posting."""
        return Stamp(self.day, self.minute, reason)


_TYPES = (YearState, StoreState, Inbound, Totals, Units, Ledger, Batch, Lots, Orders)


def initial_state(setting: Setting, book: dict[str, Any]) -> YearState:
    """Return the state at 08:00 of the first day: the initial money in the bank and nothing else."""
    num = setting.num_skus

    def zeros() -> IntArray:
        return np.zeros(num, dtype=np.int64)

    state = YearState(
        day=0,
        minute=setting.rules.open_minute,
        stores=[],
        unlisted=zeros(),
        on_hand=zeros(),
        value_fen=zeros(),
        lots=no_lots(),
        orders=no_orders(),
        order_lots=no_lots(),
        units=Units(*(zeros() for _ in range(9))),
        ledger=Ledger(),
        book=book,
    )
    start = setting.rules.initial_fen
    post(state.ledger, state.stamp("initial balance"), Account.BANK, Account.EQUITY, (Entity.YEAR, 0), start)
    return state


def state_to_json(state: YearState) -> dict[str, Any]:
    """Return the state as plain JSON data."""
    data: dict[str, Any] = encode(state)
    return data


def state_from_json(data: Mapping[str, Any]) -> YearState:
    """Return the state that :func:`state_to_json` was given."""
    state = decode(data, _TYPES)
    if not isinstance(state, YearState):
        raise ValueError(f"the data holds a {type(state).__name__}, not the state of a year")
    ledger = state.ledger
    ledger.open_batches = [
        batch._replace(debit=Account(batch.debit), credit=Account(batch.credit), kind=Entity(batch.kind))
        for batch in ledger.open_batches
    ]
    return state


def state_digest(state: YearState) -> str:
    """Return the SHA-256 of the state; equal digests mean equal states."""
    text = json.dumps(state_to_json(state), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
