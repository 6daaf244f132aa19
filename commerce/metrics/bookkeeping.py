"""What of a year's postings its statement needs, collected while the year's plan is carried out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from commerce.ledger import Account, Batch
from commerce.lots import storage_bill, sum_by
from commerce.money import round_fen
from commerce.orders import Orders, no_orders
from commerce.setting import Setting
from commerce.state import YearState
from commerce.types import IntArray

_BY_ORDER = {
    (Account.FREIGHT, Account.BANK): "freight_fen",
    (Account.ESCROW, Account.SALES): "shipped_fen",
    (Account.REFUNDS, Account.ESCROW): "refunded_fen",
    (Account.INVENTORY, Account.COST_OF_SALES): "restocked_fen",
}
"""Postings that are kept for each order, by what they debit and credit."""


class OrderLines(NamedTuple):
    """Every order that could have been shipped, ascending by number, with all that was posted for it, in fen.

    ``returned`` counts the units that came or would have come back; ``refunded_fen`` left the escrow for them, and
    ``restocked_fen`` is the cost of those that were put back.
    """

    orders: Orders
    returned: IntArray
    freight_fen: IntArray
    shipped_fen: IntArray
    refunded_fen: IntArray
    restocked_fen: IntArray


class Bookkeeper:
    """Watches a year; see :class:`commerce.plan.watching.Watch`."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self.old_storage_fen = 0
        self._tonight_fen = 0
        self._last_seen = 0
        self._new: list[Orders] = [no_orders()]
        self._returned: list[tuple[IntArray, IntArray]] = []
        self._posted: dict[str, list[tuple[IntArray, IntArray]]] = {name: [] for name in _BY_ORDER.values()}

    def evening(self, state: YearState) -> None:
        """Note orders that are seen for the first time, what was shipped today, and what old units cost tonight."""
        orders = state.orders
        is_new, today = orders.order_id > self._last_seen, orders.shipped_day == state.day
        if is_new.any():
            self._new.append(orders.rows(is_new))
            self._last_seen = int(orders.order_id[-1])
        self._returned.append((orders.order_id[today], (orders.return_units + orders.returned_units)[today]))
        self._tonight_fen = self._old_storage(state)

    def posted(self, batches: list[Batch]) -> None:
        """Note what was posted for orders, and tonight's storage if there was a night."""
        for batch in batches:
            name = _BY_ORDER.get((batch.debit, batch.credit))
            if name is not None:
                self._posted[name].append((batch.entities, batch.amounts))
            elif batch.debit == Account.STORAGE:
                self.old_storage_fen += self._tonight_fen

    def lines(self) -> OrderLines:
        """Return all orders with what was posted for them."""
        orders = Orders._make(np.concatenate(columns) for columns in zip(*self._new, strict=True))
        found = {name: _sums(orders.order_id, pairs) for name, pairs in self._posted.items()}
        return OrderLines(orders, _sums(orders.order_id, self._returned), **found)

    def _old_storage(self, state: YearState) -> int:
        """Return what the bill of tonight says for units past the first step of its rates, at most the whole bill."""
        setting, lots, tomorrow = self._setting, state.lots, state.day + 1
        steps = setting.rules.storage_steps
        if len(steps) < 2 or not len(lots.owner):
            return 0
        bill = storage_bill(lots, tomorrow, setting.storage_fen, setting.rules)
        old = np.where(tomorrow - lots.day >= steps[1][0], bill, 0.0)
        whole, part = (round_fen(sum_by(lots.owner, amounts, setting.num_skus)) for amounts in (bill, old))
        return int(np.minimum(part, whole).sum())


def _sums(order_id: IntArray, pairs: list[tuple[IntArray, IntArray]]) -> IntArray:
    """Return the sums of the amounts of each order; ``order_id`` is ascending and holds all that occur."""
    sums = np.zeros(len(order_id), dtype=np.int64)
    for entities, amounts in pairs:
        np.add.at(sums, order_id.searchsorted(entities), amounts)
    return sums
