r"""Buys with the suppliers and at the prices of another year.

A buy is matched with one of the other year: of the same SKU on the nearest day (the earlier of two, and the same number
among several of that day), else of any SKU of its category, else of any at all.

* *Supplier*: that of the match, with the share it delivered and the defective share, if it sells such goods and has not
  had its last order by then. Otherwise the honest one with the lowest floor that still trades; but what the
  played year, which never bought such goods, would have done stays as the reference has it.
* *Price*: where :math:`p` was paid to a supplier that sells for :math:`c` at the least and quotes :math:`o`, the ratio
  :math:`\rho = p / c` times the least of the supplier the buy now has; from another category, where ratios mean
  something else, :math:`c' + (p - c) / (o - c) (o' - c')` in its place, the same share, at least 0 and at most 1, of
  the way from the least to the quote.

So a dear supplier is no fault of the bargaining and a bad bargain no fault of the supplier. Orders of one minute count
once against the orders that a supplier takes, as one message does, and so does a fee.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from commerce.plan.planned import Buys, Fees, StorePlan
from commerce.procurement import pair_terms
from commerce.setting import Setting
from commerce.types import BoolArray, FloatArray, IntArray


class Counterparts(NamedTuple):
    """Buys, those of another year, and for each of the former the row of the latter, if there is any at all.

    ``ratio`` is what was paid over the least the supplier sells for, ``other_ratio`` that of the match, ``other_way``
    the share of the way from the least to the quote at which the match was paid.
    """

    buys: Buys
    other: Buys
    fees: Fees
    row: IntArray
    is_of_category: BoolArray
    is_of_reference: bool
    ratio: FloatArray
    other_ratio: FloatArray
    other_way: FloatArray

    @classmethod
    def of(cls, setting: Setting, plan: StorePlan, other: StorePlan, *, is_reference: bool) -> Counterparts:
        """Match the buys of ``plan`` with those of ``other``; ``is_reference`` tells whether that is the reference."""
        buys, theirs, category = plan.buys, other.buys, setting.world.skus.category
        row = _nearest_rows(buys, theirs, category)
        found = np.append(category[theirs.sku], -1)[row] == category[buys.sku]
        least, quotes = _terms(setting, theirs)
        ratios = buys.unit_fen / _least(setting, buys), theirs.unit_fen / least
        way = np.clip((theirs.unit_fen - least) / np.maximum(1, quotes - least), 0, 1)
        matched = (np.append(column, np.nan)[row] for column in (ratios[1], way))
        return cls(buys, theirs, other.fees, row, found, is_reference, ratios[0], *matched)


def _nearest_rows(buys: Buys, theirs: Buys, category: IntArray) -> IntArray:
    """Return the row of ``theirs`` for each of ``buys``, -1 if there are none."""
    if not len(theirs.sku):
        return np.full(len(buys.sku), -1)
    by_sku, by_category = _rows_by(theirs.sku), _rows_by(category[theirs.sku])
    everything = np.arange(len(theirs.sku))
    seen: dict[tuple[int, int], int] = {}
    found = []
    for sku, day in zip(buys.sku.tolist(), buys.day.tolist(), strict=True):
        number = seen.get((sku, day), 0)
        seen[sku, day] = number + 1
        rows = by_sku.get(sku, by_category.get(int(category[sku]), everything))
        days = theirs.day[rows]
        of_day = rows[days == days[np.abs(days - day).argmin()]]
        found.append(of_day[min(number, len(of_day) - 1)])
    return np.array(found, dtype=np.int64)


def _rows_by(keys: IntArray) -> dict[int, IntArray]:
    order = np.argsort(keys, kind="stable")
    values, starts = np.unique(keys[order], return_index=True)
    return dict(zip(values.tolist(), np.split(order, starts[1:]), strict=True))


def supplied_by(setting: Setting, pairs: Counterparts) -> Buys:
    """Return the buys with the suppliers of the other year, at their own ratios."""
    buys, other, register = pairs.buys, pairs.other, _Register(setting, pairs.fees)
    rows = []
    for row, mate in enumerate(pairs.row.tolist()):
        when, units, own = (int(buys.day[row]), int(buys.minute[row])), int(buys.units[row]), int(buys.supplier[row])
        if not pairs.is_of_category[row] and not pairs.is_of_reference:
            supplier = own
        elif pairs.is_of_category[row] and register.trades(int(other.supplier[mate]), when):
            supplier = int(other.supplier[mate])
        else:
            supplier = register.cheapest_honest(int(buys.sku[row]), when)
        register.note(supplier, when)
        if supplier == own:
            rows.append((own, int(buys.delivered[row]), int(buys.defective[row])))
        elif setting.world.suppliers[supplier].is_honest:
            rows.append((supplier, units, 0))
        else:
            delivered = max(1, units * int(other.delivered[mate]) // int(other.units[mate]))
            defective = delivered * int(other.defective[mate]) // max(1, int(other.delivered[mate]))
            rows.append((supplier, delivered, defective))
    supplier_column, delivered_column, defective_column = np.array(rows, dtype=np.int64).reshape(len(rows), 3).T.copy()
    changed = buys._replace(supplier=supplier_column, delivered=delivered_column, defective=defective_column)
    return changed._replace(unit_fen=_priced(pairs.ratio * _least(setting, changed)))


def paid_at(setting: Setting, buys: Buys, pairs: Counterparts) -> Buys:
    """Return ``buys``, whose suppliers may be others than in ``pairs``, at the ratios of the other year."""
    if not len(pairs.other.sku):
        return buys
    least, quotes = _terms(setting, buys)
    apart = least + pairs.other_way * np.maximum(0, quotes - least)
    return buys._replace(unit_fen=_priced(np.where(pairs.is_of_category, pairs.other_ratio * least, apart)))


def is_same_bargain(setting: Setting, pairs: Counterparts) -> bool:
    """Whether the other year paid at the same ratios."""
    return bool(np.array_equal(paid_at(setting, pairs.buys, pairs).unit_fen, pairs.buys.unit_fen))


def is_same_supply(setting: Setting, pairs: Counterparts) -> bool:
    """Whether the other year bought of the same suppliers, and got the same from them."""
    found, buys = supplied_by(setting, pairs), pairs.buys
    return all(
        bool(np.array_equal(getattr(found, name), getattr(buys, name)))
        for name in ("supplier", "delivered", "defective")
    )


def _priced(fen: FloatArray) -> IntArray:
    return np.maximum(1, np.rint(fen)).astype(np.int64)


def _least(setting: Setting, buys: Buys) -> IntArray:
    return _terms(setting, buys)[0]


def _terms(setting: Setting, buys: Buys) -> tuple[IntArray, IntArray]:
    """Return the least and the expected quote of each buy's supplier."""
    suppliers = len(setting.world.suppliers)
    pairs, place = np.unique(buys.sku * suppliers + buys.supplier, return_inverse=True)
    found = [pair_terms(setting.world, setting.rules, pair % suppliers, pair // suppliers) for pair in pairs.tolist()]
    table = np.array([(terms.reservation, terms.opening) for terms in found], dtype=np.int64).reshape(len(pairs), 2)
    return table[place, 0], table[place, 1]


class _Register:
    """Which suppliers still trade, by the orders and fees they had so far; orders come in time."""

    def __init__(self, setting: Setting, fees: Fees) -> None:
        self._setting = setting
        self._had: dict[int, list[tuple[int, int]]] = {}
        self._fees: list[tuple[int, int, int]] = sorted(
            zip(fees.day.tolist(), fees.minute.tolist(), fees.supplier.tolist(), strict=True)
        )

    def note(self, supplier: int, when: tuple[int, int]) -> None:
        had = self._had.setdefault(supplier, [])
        if not had or had[-1] != when:
            had.append(when)

    def trades(self, supplier: int, when: tuple[int, int]) -> bool:
        had = self._had.get(supplier, [])
        if had and had[-1] == when:
            return True
        fees = sum(who == supplier and (day, minute) < when for day, minute, who in self._fees)
        return len(had) + fees < self._setting.world.suppliers[supplier].retirement_orders

    def cheapest_honest(self, sku: int, when: tuple[int, int]) -> int:
        """Return the honest supplier with the lowest floor, of those that trade if any does."""
        world, rules = self._setting.world, self._setting.rules
        rows = world.suppliers_by_category[int(world.skus.category[sku])]
        honest = [row for row in rows if world.suppliers[row].is_honest] or list(rows)
        trading = [row for row in honest if self.trades(row, when)] or honest
        return min(trading, key=lambda row: pair_terms(world, rules, row, sku).reservation)
