"""The six streams of a year's decisions, and the plan that takes each of them from one of two years.

* ``price_paid``: what was paid for goods, as a ratio to the least the supplier sells for;
* ``supplier``: of whom they were bought, fees included (:mod:`oracle.store.regret_buying` has both);
* ``assortment``: which stores are open, what was bought, how much and when, what is on the shelf, and when the merchant
  gave up. A purchase takes the share of the bank that it took in its own year, and never more than it was there;
* ``retail_price``: list prices and promotions (:mod:`oracle.store.regret_prices`);
* ``shipping``: each order with the call it was planned for; an order that there was none of in that year ships by the
  commonest delay and speed of its week;
* ``cash``: when money goes from the wallet to the bank. What another stream saves lies idle: nothing more is bought.

Acts of the two years are put in order by day and minute. What cannot be paid then is cut, and counted, by
:func:`commerce.plan.execute`. A plan that takes everything from one year is that year's plan as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np

from commerce.plan.planned import Buys, StorePlan
from commerce.setting import Setting
from commerce.types import IntArray
from oracle.store.regret_buying import Counterparts, is_same_bargain, is_same_supply, paid_at, supplied_by
from oracle.store.regret_prices import prices_for


class Stream(StrEnum):
    """The streams, in the order they are told."""

    PRICE_PAID = "price_paid"
    SUPPLIER = "supplier"
    ASSORTMENT = "assortment"
    RETAIL_PRICE = "retail_price"
    SHIPPING = "shipping"
    CASH = "cash"


_OWNED = {
    Stream.ASSORTMENT: ("stores", "buys", "shelf"),
    Stream.SUPPLIER: ("fees",),
    Stream.RETAIL_PRICE: ("prices", "promotions"),
    Stream.SHIPPING: ("shipments", "lines", "defaults"),
    Stream.CASH: ("withdrawals",),
}
"""Tables of each stream; the suppliers and prices of the buys belong to the first two."""
_NUMBERED = ("stores", "buys", "shelf", "fees", "prices", "promotions", "shipments", "withdrawals")
_OF_ITS_OWN = {"order", "bank_fen"}
"""Columns in which the same decisions may differ."""
_OF_THE_BARGAIN = {"supplier", "unit_fen", "delivered", "defective"}
_MINUTES = 24 * 60


class TwoYears:
    """The plan of a year that was played and that of a reference in the same world."""

    def __init__(self, setting: Setting, played: StorePlan, reference: StorePlan) -> None:
        self._setting, self._played, self._reference = setting, played, reference

    @cached_property
    def _counterparts(self) -> tuple[Counterparts, Counterparts]:
        """What the other year has in place of the buys of the played one, and the other way round."""
        setting, played, reference = self._setting, self._played, self._reference
        return (
            Counterparts.of(setting, played, reference, is_reference=True),
            Counterparts.of(setting, reference, played, is_reference=False),
        )

    @cached_property
    def differing(self) -> tuple[Stream, ...]:
        """The streams that are not the same in both years."""
        return tuple(stream for stream in Stream if not self._is_same(stream))

    def _is_same(self, stream: Stream) -> bool:
        if stream is Stream.PRICE_PAID:
            return all(is_same_bargain(self._setting, pairs) for pairs in self._counterparts)
        played, reference = self._played, self._reference
        is_same = all(_is_same_table(getattr(played, name), getattr(reference, name)) for name in _OWNED[stream])
        if stream is Stream.SUPPLIER:
            return is_same and all(is_same_supply(self._setting, pairs) for pairs in self._counterparts)
        if stream is Stream.ASSORTMENT:
            is_same &= np.array_equal(played.patience.shelf, reference.patience.shelf)
            return is_same and played.stop == reference.stop
        return is_same and (stream is not Stream.CASH or played.patience.wallet == reference.patience.wallet)

    def plan(self, streams: Set[Stream]) -> StorePlan:
        """Return the played plan with ``streams`` taken from the reference."""
        if len(streams) == len(Stream):
            return self._reference
        if not streams:
            return self._played
        of = {stream: self._reference if stream in streams else self._played for stream in Stream}
        base = of[Stream.ASSORTMENT]
        tables = {name: getattr(of[stream], name) for stream, names in _OWNED.items() for name in names}
        tables["buys"] = self._buys(of)
        tables["prices"] = prices_for(self._setting, base.buys.sku, tables["prices"])
        clocks = {name: _clock(of[stream]) for stream, names in _OWNED.items() for name in names if name in _NUMBERED}
        patience = base.patience._replace(wallet=of[Stream.CASH].patience.wallet)
        return replace(base, patience=patience, **_in_order(tables, clocks))

    def _buys(self, of: Mapping[Stream, StorePlan]) -> Buys:
        base = of[Stream.ASSORTMENT]
        pairs, buys = self._counterparts[base is self._reference], base.buys
        if of[Stream.SUPPLIER] is not base:
            buys = supplied_by(self._setting, pairs)
        return buys if of[Stream.PRICE_PAID] is base else paid_at(self._setting, buys, pairs)


def _is_same_table(one: Any, other: Any) -> bool:
    skipped = _OF_ITS_OWN | (_OF_THE_BARGAIN if isinstance(one, Buys) else set())
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in one._fields if name not in skipped)


def _clock(plan: StorePlan) -> tuple[IntArray, IntArray]:
    """Return the numbers of the acts whose minute of the year is known, ascending, and these minutes."""
    tables = [table for name in _NUMBERED if hasattr(table := getattr(plan, name), "minute")]
    order = np.concatenate([table.order for table in tables])
    minute = np.concatenate([table.day * _MINUTES + table.minute for table in tables])
    by_order = np.argsort(order, kind="stable")
    return order[by_order], minute[by_order]


def _in_order(tables: dict[str, Any], clocks: Mapping[str, tuple[IntArray, IntArray]]) -> dict[str, Any]:
    """Give the acts new numbers, by minute of the year and by the number each had in its own year."""
    keys = [_keys(tables[name], clock) for name, clock in clocks.items()]
    _, place = np.unique(np.concatenate(keys), axis=0, return_inverse=True)
    orders = np.split(place.reshape(-1).astype(np.int64), np.cumsum([len(rows) for rows in keys])[:-1])
    return tables | {name: tables[name]._replace(order=order) for name, order in zip(clocks, orders, strict=True)}


def _keys(table: Any, clock: tuple[IntArray, IntArray]) -> IntArray:
    """Return minute of the year and number of each row; a row without a minute comes right after the act before it."""
    if hasattr(table, "minute"):
        minute = table.day * _MINUTES + table.minute
    else:
        known, minutes = clock
        before = known.searchsorted(table.order, side="right") - 1
        minute = np.maximum(np.append(minutes, 0)[before], table.day * _MINUTES)
    return np.stack([minute, table.order], axis=1)
