"""Customer orders: one row per store, SKU and day of sale, from the sale to the settlement of its escrow.

A row is *pending* until it is shipped or cancelled, then *in escrow* until the escrow settles. Returns are drawn when
it ships and arrive earlier than the settlement, so the refund is always taken from the row's own escrow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from commerce.types import BoolArray, FloatArray, IntArray

NONE = -1


class Orders(NamedTuple):
    """Columns; money in fen. ``natural``, ``blended``, ``priced`` are the layers of the return rate at the sale."""

    order_id: IntArray
    store: IntArray
    sku: IntArray
    units: IntArray
    unit_fen: IntArray
    net_fen: IntArray
    cost_fen: IntArray
    sale_day: IntArray
    natural: FloatArray
    blended: FloatArray
    priced: FloatArray
    shipped_day: IntArray
    escrow_fen: IntArray
    settle_day: IntArray
    return_day: IntArray
    return_units: IntArray
    returned_units: IntArray

    @property
    def gross_fen(self) -> IntArray:
        """What the customers pay."""
        return self.units * self.unit_fen

    @property
    def is_pending(self) -> BoolArray:
        """Which rows are not shipped."""
        return np.equal(self.shipped_day, NONE)

    def rows(self, mask: BoolArray | IntArray) -> Orders:
        """Return the rows of a mask or an index."""
        places = mask.nonzero()[0] if mask.dtype == np.bool_ else mask  # counted once, not for every column
        return Orders._make([column.take(places) for column in self])

    def any_rows(self, mask: BoolArray) -> Orders:
        """Return the rows of a mask that is mostly empty."""
        return self.rows(mask) if mask.any() else _NONE

    def places_of(self, order_ids: IntArray) -> IntArray:
        """Return the places of those of ``order_ids`` that are here, ascending, each once; ids are in order."""
        found = np.zeros(len(self.order_id) + 1, dtype=np.bool_)
        places = self.order_id.searchsorted(order_ids)
        found[places[np.append(self.order_id, NONE)[places] == order_ids]] = True
        return found.nonzero()[0]

    def extended(self, more: Orders) -> Orders:
        """Return this table with the rows of ``more`` after its own."""
        return Orders._make([np.concatenate(pair) for pair in zip(self, more, strict=True)])


_FLOATS = ("natural", "blended", "priced")


def no_orders() -> Orders:
    """Return an empty table."""
    return Orders._make(np.zeros(0, dtype=np.float64 if name in _FLOATS else np.int64) for name in Orders._fields)


_NONE = no_orders()
