"""What a merchant decided during a year, written down as it takes effect, for :func:`commerce.plan.extract`.

Only what was done is kept, in the order it was done: a refused call decided nothing. Rows that carry the same ``order``
come from one call and touch different SKUs, so that they can be carried out at once. Besides the rows, the longest
time that goods lay unlisted and that money lay in the wallet is kept: beyond it this merchant would have acted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from commerce.ledger import Account
from commerce.orders import Orders
from commerce.state import Inbound, YearState
from commerce.types import IntArray

OPEN_STORE, CLOSE_STORE, LIQUIDATE_STORE = 0, 1, 2
LIST_UNITS, LIST_ALL, TAKE_UNITS, TAKE_ALL = 0, 1, 2, 3
EVERYTHING = -1
"""Amount of a withdrawal that emptied the wallet."""


_DAY_BITS = 20


def line_keys(skus: IntArray, sale_days: IntArray) -> IntArray:
    """Return one number for each SKU and day of sale, ascending with both; it names an order whatever its number."""
    return skus << _DAY_BITS | sale_days


def split_keys(keys: IntArray) -> tuple[IntArray, IntArray]:
    """Return the SKUs and days that :func:`line_keys` was given."""
    return keys >> _DAY_BITS, keys & ((1 << _DAY_BITS) - 1)


class ShippedOrders(NamedTuple):
    """One shipping call: when, how fast, and the SKUs and sale days of its orders."""

    order: int
    day: int
    minute: int
    speed: int
    skus: IntArray
    sale_days: IntArray


class Decisions:
    """The decisions of one year so far.

    Attributes
    ----------
    stores, buys, fees, withdrawals, shelf, prices, promotions
        Rows of the tables of the same names in :class:`commerce.plan.StorePlan`.
    shipments
        Shipping calls.
    sold
        Keys of the orders of each day of sale.
    shelf_patience : ndarray of int, shape (num_skus,)
        Most day ends in a row at which units of the SKU lay unlisted.
    wallet_patience : int
        Most day ends in a row at which there was money in the wallet.
    stop
        Day and minute at which the merchant gave up.
    """

    def __init__(self, num_skus: int) -> None:
        self.stores: list[tuple[int, ...]] = []
        self.buys: list[tuple[int, ...]] = []
        self.fees: list[tuple[int, ...]] = []
        self.withdrawals: list[tuple[int, ...]] = []
        self.shelf: list[tuple[int, ...]] = []
        self.prices: list[tuple[int, ...]] = []
        self.promotions: list[tuple[float, ...]] = []
        self.shipments: list[ShippedOrders] = []
        self.sold: list[IntArray] = []
        self.shelf_patience = np.zeros(num_skus, dtype=np.int64)
        self.wallet_patience = 0
        self.stop: tuple[int, int] | None = None
        self._unlisted_for = np.zeros(num_skus, dtype=np.int64)
        self._in_wallet_for = 0
        self._order = 0
        self._touched: set[int] = set()

    def store_act(self, state: YearState, act: int, store_type: int) -> None:
        """Note that a store was opened, closed or liquidated."""
        self.stores.append((self._next(), state.day, state.minute, act, store_type))

    def bought(self, row: Inbound, bank_fen: int) -> None:
        """Note a purchase order, for which there were ``bank_fen`` to spend."""
        what = (row.supplier, row.sku, row.quantity, row.unit_price_fen, row.delivered, row.defective, bank_fen)
        self.buys.append((self._next(), row.placed_day, row.placed_minute, *what))

    def paid_fee(self, state: YearState, supplier: int, amount_fen: int) -> None:
        """Note a fee."""
        self.fees.append((self._next(), state.day, state.minute, supplier, amount_fen))

    def withdrew(self, state: YearState, amount_fen: int) -> None:
        """Note a withdrawal after it was made."""
        is_all = state.ledger.balance(Account.WALLET) == 0
        self.withdrawals.append((self._next(), state.day, state.minute, EVERYTHING if is_all else amount_fen))

    def shipped(self, state: YearState, orders: Orders, speed: int) -> None:
        """Note a shipping call."""
        self.shipments.append(ShippedOrders(self._next(), state.day, state.minute, speed, orders.sku, orders.sale_day))

    def listed(self, state: YearState, sku: int, units: int, price_fen: int) -> None:
        """Note units put on the shelf, after they were."""
        self.priced(state, sku, price_fen)
        act = LIST_UNITS if state.unlisted[sku] else LIST_ALL
        self.shelf.append((self._order, state.day, sku, act, units))

    def taken_off(self, state: YearState, sku: int, units: int, left: int) -> None:
        """Note units taken off the shelf, on which ``left`` remain."""
        self._touch(sku)
        self.shelf.append((self._order, state.day, sku, TAKE_UNITS if left else TAKE_ALL, units))

    def priced(self, state: YearState, sku: int, price_fen: int) -> None:
        """Note a list price."""
        self._touch(sku)
        self.prices.append((self._order, state.day, sku, price_fen))

    def joined(self, state: YearState, store_type: int, promotion: int, discount: float) -> None:
        """Note that a store joined a promotion."""
        self.promotions.append((self._next(), state.day, store_type, promotion, discount))

    def begin_call(self) -> None:
        """Begin a call; its rows come after all others."""
        self._next()

    def end_day(self, state: YearState) -> None:
        """Look at what lies idle when the day closes."""
        self._unlisted_for = np.where(state.unlisted > 0, self._unlisted_for + 1, 0)
        np.maximum(self.shelf_patience, self._unlisted_for, out=self.shelf_patience)
        self._in_wallet_for = self._in_wallet_for + 1 if state.ledger.balance(Account.WALLET) > 0 else 0
        self.wallet_patience = max(self.wallet_patience, self._in_wallet_for)

    def begin_day(self, state: YearState) -> None:
        """Look at the orders that yesterday's customers left."""
        new = state.orders.sale_day == state.day - 1
        self.sold.append(line_keys(state.orders.sku[new], state.orders.sale_day[new]))

    def stopped(self, state: YearState) -> None:
        """Note that the merchant gives up now."""
        self.stop = (state.day, state.minute)

    def _next(self) -> int:
        self._order += 1
        self._touched.clear()
        return self._order

    def _touch(self, sku: int) -> None:
        # Two rows of one SKU in one call must not be carried out at once.
        if sku in self._touched:
            self._next()
        self._touched.add(sku)
