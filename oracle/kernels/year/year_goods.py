"""Goods in and out of the compiled warehouse, oldest first, at average cost."""

from __future__ import annotations

import numpy as np

from oracle.kernels.compiling import inline
from oracle.kernels.year.year_tables import TableRow
from terms.aliases import Ints


@inline
def nearest_fen(amount: float) -> int:
    """Return fractional fen rounded half to even."""
    return int(np.rint(amount))


@inline
def cost_share(total: int, part: int, whole: int) -> int:
    """Return ``total * part / whole`` rounded down without forming the product."""
    if part == whole:
        return total
    units = max(whole, 1)
    return total // units * part + total % units * part // units


@inline
def put_lot(goods: TableRow, lots: Ints, day: int, units: int) -> None:
    """Add units of a SKU that came in on ``day`` to the unlisted stock; ``lots`` are those of the SKU."""
    lots[day] += units
    goods.on_hand += units
    goods.unlisted += units
    goods.first_lot_day = min(goods.first_lot_day, day)


@inline
def cost_out(goods: TableRow, units: int) -> int:
    """Take units and their average cost off the books."""
    cost = cost_share(goods.value_fen, units, goods.on_hand)
    goods.value_fen -= cost
    goods.on_hand -= units
    return cost


@inline
def next_lot(goods: TableRow, lots: Ints) -> int:
    """Return the day of the oldest lot of a SKU that has one."""
    day = goods.first_lot_day
    while lots[day] == 0:
        day += 1
    goods.first_lot_day = day
    return day
