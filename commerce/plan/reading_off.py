"""Reading the plan off a year that was played."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from commerce.decisions import Decisions, line_keys, split_keys
from commerce.plan.planned import (
    NEVER,
    WEEK,
    Buys,
    Fees,
    Joinings,
    Lines,
    ListPrices,
    Patience,
    ShelfActs,
    Shipments,
    ShippingDefaults,
    Stop,
    StoreActs,
    StorePlan,
    Withdrawals,
)
from commerce.types import IntArray, Speed
from commerce.year import Year

_STANDARD = tuple(Speed).index(Speed.STANDARD)


def extract(year: Year) -> StorePlan:
    """Return what was decided in ``year``.

    Raises
    ------
    ValueError
        If the year began from a saved state: what was decided before it is not known.
    """
    if year.past is None:
        raise ValueError("this year began from a saved state, so its first decisions are not known")
    found = year.past.decisions
    lines = _lines(found)
    shipments = Shipments(*_columns([row[:4] for row in found.shipments], 4))
    return StorePlan(
        world=year.setting.world.digest,
        stores=StoreActs(*_columns(found.stores, 5)),
        buys=Buys(*_columns(found.buys, 10)),
        fees=Fees(*_columns(found.fees, 5)),
        withdrawals=Withdrawals(*_columns(found.withdrawals, 4)),
        shelf=ShelfActs(*_columns(found.shelf, 5)),
        prices=_changes(ListPrices(*_columns(found.prices, 4))),
        promotions=_joinings(found),
        shipments=shipments,
        lines=lines,
        defaults=_defaults(lines, shipments, year.setting.rules.num_days),
        patience=Patience(found.shelf_patience.copy(), found.wallet_patience),
        stop=None if found.stop is None else Stop(*found.stop),
    )


def _columns(rows: Sequence[Sequence[Any]], num: int) -> list[IntArray]:
    table = np.array(rows, dtype=np.int64).reshape(len(rows), num)
    return [np.ascontiguousarray(column) for column in table.T]


def _joinings(found: Decisions) -> Joinings:
    order, day, store_type, promotion, _ = _columns(found.promotions, 5)
    return Joinings(order, day, store_type, promotion, np.array([row[4] for row in found.promotions], dtype=float))


def _changes(prices: ListPrices) -> ListPrices:
    """Leave out prices that were in force already."""
    by_sku = np.argsort(prices.sku, kind="stable")
    sku, fen = prices.sku[by_sku], prices.fen[by_sku]
    is_new = np.concatenate([[True], (sku[1:] != sku[:-1]) | (fen[1:] != fen[:-1])])[: len(sku)]
    rows = np.sort(by_sku[is_new])
    return ListPrices(*(column[rows] for column in prices))


def _lines(found: Decisions) -> Lines:
    """Return every order that was sold; those of no shipping call were never shipped."""
    keys = np.sort(np.concatenate([*found.sold, np.zeros(0, dtype=np.int64)]))
    shipment = np.full(len(keys), NEVER)
    for row, call in enumerate(found.shipments):
        shipment[np.searchsorted(keys, line_keys(call.skus, call.sale_days))] = row
    return Lines(*split_keys(keys), shipment)


def _defaults(lines: Lines, shipments: Shipments, num_days: int) -> ShippingDefaults:
    """Return the commonest delay and speed of each week; a week without orders goes on as the one before it."""
    is_shipped = lines.shipment != NEVER
    call = np.where(is_shipped, lines.shipment, 0)
    day, speed = (np.append(column, 0)[call] for column in (shipments.day, shipments.speed))
    delay = np.where(is_shipped, day - lines.sale_day, NEVER)
    speed = np.where(is_shipped, speed, _STANDARD)
    weeks, found = lines.sale_day // WEEK, {}
    for week in np.unique(weeks).tolist():
        pairs, counts = np.unique(np.stack([delay, speed])[:, weeks == week], axis=1, return_counts=True)
        found[week] = pairs[:, counts.argmax()]
    last = found[min(found)] if found else np.array([1, _STANDARD])
    rows = [last := found.get(week, last) for week in range(num_days // WEEK + 1)]
    return ShippingDefaults(*np.array(rows, dtype=np.int64).T)
