"""Lots: units of an owner (a SKU in the warehouse, an order on its way) by the day they came in.

Rows are sorted by (owner, day) and unique, so taking the oldest first is a running sum. Units keep their day through
every transfer: what is cancelled or returned goes back with the age it had.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from commerce.config import Rules
from commerce.types import FloatArray, IntArray

_DAY_BITS = 20


class Lots(NamedTuple):
    """Columns of the lots; ``units`` are positive."""

    owner: IntArray
    day: IntArray
    units: IntArray


def no_lots() -> Lots:
    """Return an empty table."""
    return Lots(*(np.zeros(0, dtype=np.int64) for _ in range(3)))


def merge(lots: Lots, added: Lots) -> Lots:
    """Return both tables together; rows of the same owner and day become one."""
    if not len(added.owner):
        return lots
    keys = np.concatenate([lots.owner, added.owner]) << _DAY_BITS | np.concatenate([lots.day, added.day])
    order = keys.argsort(kind="stable")
    keys, units = keys.take(order), np.concatenate([lots.units, added.units]).take(order)
    is_first = np.empty(len(keys), dtype=np.bool_)
    is_first[0] = True
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    starts = is_first.nonzero()[0]
    keys = keys.take(starts)
    return Lots(keys >> _DAY_BITS, keys & ((1 << _DAY_BITS) - 1), np.add.reduceat(units, starts))


def take_oldest(lots: Lots, owners: IntArray, units: IntArray) -> tuple[Lots, Lots]:
    """Return what is left and what was taken, ``units`` of each of the ascending ``owners``, oldest first.

    Raises
    ------
    ValueError
        If an owner has fewer units than are asked of it.
    """
    wanted = _by_row(lots, owners, units)
    running = np.cumsum(lots.units)
    before = running - lots.units
    first = np.concatenate([[True], lots.owner[1:] != lots.owner[:-1]]) if len(lots.owner) else np.zeros(0, bool)
    offset = np.maximum.accumulate(np.where(first, before, 0))
    taken = np.clip(wanted - (before - offset), 0, lots.units)
    if taken.sum() != units.sum():
        raise ValueError(f"asked for {units.sum()} units, the lots of these owners hold {taken.sum()} of them")
    return _keep(lots, lots.units - taken), _keep(lots, taken)


def drop_owners(lots: Lots, owners: IntArray) -> Lots:
    """Return the lots of everyone but the ascending ``owners``, of which there is at least one."""
    places = np.minimum(owners.searchsorted(lots.owner), len(owners) - 1)
    kept = (owners[places] != lots.owner).nonzero()[0]
    return Lots(lots.owner.take(kept), lots.day.take(kept), lots.units.take(kept))


def units_by_owner(lots: Lots, num_owners: int) -> IntArray:
    """Return the units of owners ``0 .. num_owners - 1``."""
    return sum_by(lots.owner, lots.units, num_owners).astype(np.int64)


def sum_by(rows: IntArray, values: IntArray | FloatArray, num: int) -> FloatArray:
    """Return the sums of ``values`` by row ``0 .. num - 1``; exact for whole numbers below 2**53."""
    return np.asarray(np.bincount(rows, weights=values, minlength=num), dtype=np.float64)


def age_factor(ages: IntArray, rules: Rules) -> FloatArray:
    """Return the storage multiplier at each age in days."""
    starts, factors = zip(*rules.storage_steps, strict=True)
    return np.asarray(factors)[np.searchsorted(starts, ages, side="right") - 1]


def storage_bill(lots: Lots, today: int, rates_fen: IntArray, rules: Rules) -> FloatArray:
    """Return the charge of one night per lot, in fractional fen; ``rates_fen`` is indexed by owner."""
    return lots.units * rates_fen[lots.owner] * age_factor(today - lots.day, rules)


def owned_by(lots: Lots, owners: IntArray, new_owners: IntArray) -> Lots:
    """Return the lots with each of the ascending ``owners`` replaced by the new owner in the same place."""
    return Lots(new_owners[np.searchsorted(owners, lots.owner)], lots.day, lots.units)


def from_rows(rows: Sequence[tuple[int, int, int]]) -> Lots:
    """Return lots of (owner, day, units) rows in any order."""
    if not rows:
        return no_lots()
    owner, day, units = np.array(rows, dtype=np.int64).T
    return merge(no_lots(), Lots(owner, day, units))


def _by_row(lots: Lots, owners: IntArray, units: IntArray) -> IntArray:
    if not len(owners):
        return np.zeros(len(lots.owner), dtype=np.int64)
    place = np.minimum(np.searchsorted(owners, lots.owner), len(owners) - 1)
    return np.where(owners[place] == lots.owner, units[place], 0)


def _keep(lots: Lots, units: IntArray) -> Lots:
    kept = (units > 0).nonzero()[0]
    return Lots(lots.owner.take(kept), lots.day.take(kept), units.take(kept))
