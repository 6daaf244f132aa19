"""The columns of a plan and what they may hold.

A plan is what a merchant decided in a year, without the words, the minutes and the talks that led to it. Its rows are
policies on a stream rather than calls: a listing of all there is lists all there is, whatever came; an order that the
plan does not know ships as that week's orders mostly did; goods that lie longer than this merchant ever let goods lie
are listed. So a plan can be carried out where something else was changed, and carried out unchanged it is the year.

``order`` numbers the acts of the year: rows are carried out by day, then by it. Money is in fen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from commerce.decisions import EVERYTHING, LIQUIDATE_STORE, TAKE_ALL, line_keys
from commerce.setting import Setting
from commerce.state_codec import decode, encode
from commerce.types import FloatArray, IntArray, Speed

NEVER = -1
"""Shipment of an order that was not shipped, and delay of orders that are not."""
WEEK = 7
_MINUTES = 24 * 60
_HIGHEST = 2**53 - 1
_COUNTS = 10**12


class StoreActs(NamedTuple):
    """Stores opened (0), closed (1) and liquidated (2)."""

    order: IntArray
    day: IntArray
    minute: IntArray
    act: IntArray
    store_type: IntArray


class Buys(NamedTuple):
    """Purchase orders, with what the supplier delivers of them, and what there was to spend; 0 is not known."""

    order: IntArray
    day: IntArray
    minute: IntArray
    supplier: IntArray
    sku: IntArray
    units: IntArray
    unit_fen: IntArray
    delivered: IntArray
    defective: IntArray
    bank_fen: IntArray


class Fees(NamedTuple):
    """Fees paid to suppliers."""

    order: IntArray
    day: IntArray
    minute: IntArray
    supplier: IntArray
    fen: IntArray


class Withdrawals(NamedTuple):
    """Money moved to the bank; -1 is all there is."""

    order: IntArray
    day: IntArray
    minute: IntArray
    fen: IntArray


class ShelfActs(NamedTuple):
    """Units listed (0), all of them listed (1), units taken off (2), all taken off (3)."""

    order: IntArray
    day: IntArray
    sku: IntArray
    act: IntArray
    units: IntArray


class ListPrices(NamedTuple):
    """List prices from an act on."""

    order: IntArray
    day: IntArray
    sku: IntArray
    fen: IntArray


class Joinings(NamedTuple):
    """Promotions joined."""

    order: IntArray
    day: IntArray
    store_type: IntArray
    promotion: IntArray
    discount: FloatArray


class Shipments(NamedTuple):
    """Shipping calls; ``speed`` is a row of :class:`commerce.types.Speed`."""

    order: IntArray
    day: IntArray
    minute: IntArray
    speed: IntArray


class Lines(NamedTuple):
    """Orders by SKU and day of sale, ascending, each with its row among the shipments."""

    sku: IntArray
    sale_day: IntArray
    shipment: IntArray


class ShippingDefaults(NamedTuple):
    """How an order that has no line ships, by week of its sale: days after the sale and speed."""

    delay: IntArray
    speed: IntArray


class Patience(NamedTuple):
    """Day ends that goods of each SKU lay unlisted, and that money lay in the wallet, at the very most."""

    shelf: IntArray
    wallet: int


class Stop(NamedTuple):
    """When the merchant gave up."""

    day: int
    minute: int


@dataclass(frozen=True)
class StorePlan:
    """All decisions of one year; see the module. ``world`` is the digest of the world they were taken in."""

    world: str
    stores: StoreActs
    buys: Buys
    fees: Fees
    withdrawals: Withdrawals
    shelf: ShelfActs
    prices: ListPrices
    promotions: Joinings
    shipments: Shipments
    lines: Lines
    defaults: ShippingDefaults
    patience: Patience
    stop: Stop | None = None


_TABLES = (StoreActs, Buys, Fees, Withdrawals, ShelfActs, ListPrices, Joinings, Shipments, Lines, ShippingDefaults)


def check_plan(plan: StorePlan, setting: Setting) -> None:
    """Raise ValueError, naming the column and the value, unless ``plan`` can be carried out in ``setting``."""
    if plan.world != setting.world.digest:
        raise ValueError(f"plan.world={plan.world!r} is another world than {setting.world.digest!r}")
    for field in fields(plan):
        table = getattr(plan, field.name)
        if isinstance(table, _TABLES):
            _check_table(f"plan.{field.name}", table, _ranges(setting, plan))
    num, patience = setting.num_skus, plan.patience
    if patience.shelf.shape != (num,) or patience.wallet < 0 or (patience.shelf < 0).any():
        raise ValueError(f"plan.patience must hold {num} days for the shelf and one for the wallet, none negative")
    _check_order(plan)
    keys = line_keys(plan.lines.sku, plan.lines.sale_day)
    if (np.diff(keys) <= 0).any():
        raise ValueError("plan.lines must be ascending by sku and sale_day, each pair once")


def _check_table(name: str, table: tuple[Any, ...], ranges: Mapping[str, tuple[float, float]]) -> None:
    columns = dict(zip(table._fields, table, strict=True))  # type: ignore[attr-defined]
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1:
        raise ValueError(f"{name} has columns of {sorted(lengths)} rows")
    for field, column in columns.items():
        low, high = ranges[field]
        bad = ~((column >= low) & (column <= high))
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            raise ValueError(f"{name}.{field}[{row}]={column[row]} is outside [{low}, {high}]")


def _check_order(plan: StorePlan) -> None:
    """Rows are read off in slices, so each table must be in order; acts that are done at once must not meet."""
    for name in ("stores", "fees", "withdrawals", "promotions", "shipments", "buys", "prices", "shelf"):
        table = getattr(plan, name)
        steps, is_one_by_one = np.diff(table.order), not isinstance(table, Buys | ListPrices | ShelfActs)
        if (np.diff(table.day) < 0).any() or (steps < is_one_by_one).any():
            raise ValueError(f"plan.{name} must be ascending by day and by order")
        if isinstance(table, ListPrices | ShelfActs) and _has_twice(table.order, table.sku):
            raise ValueError(f"plan.{name} has a SKU twice under one order")


def _has_twice(order: IntArray, sku: IntArray) -> bool:
    by_both = np.lexsort((sku, order))
    return bool(((np.diff(order[by_both]) == 0) & (np.diff(sku[by_both]) == 0)).any())


def _ranges(setting: Setting, plan: StorePlan) -> dict[str, tuple[float, float]]:
    world, last = setting.world, setting.rules.num_days
    return {
        "order": (0, _HIGHEST),
        "day": (0, last),
        "sale_day": (0, last),
        "minute": (0, _MINUTES),
        "act": (0, max(LIQUIDATE_STORE, TAKE_ALL)),
        "store_type": (0, len(world.store_types) - 1),
        "supplier": (0, len(world.suppliers) - 1),
        "sku": (0, setting.num_skus - 1),
        "units": (1, _COUNTS),
        "delivered": (0, _COUNTS),
        "defective": (0, _COUNTS),
        "unit_fen": (1, _COUNTS),
        "bank_fen": (0, _HIGHEST),
        "fen": (EVERYTHING, _HIGHEST),
        "promotion": (0, len(world.promotions) - 1),
        "discount": (setting.rules.discount_min, setting.rules.discount_max),
        "speed": (0, len(Speed) - 1),
        "shipment": (NEVER, len(plan.shipments.order) - 1),
        "delay": (NEVER, last),
    }


def plan_to_json(plan: StorePlan) -> dict[str, Any]:
    """Return the plan as plain JSON data."""
    data: dict[str, Any] = encode(plan)
    return data


def plan_from_json(data: Mapping[str, Any]) -> StorePlan:
    """Return the plan that :func:`plan_to_json` was given; unknown or missing columns are refused."""
    try:
        plan = decode(dict(data), (StorePlan, *_TABLES, Patience, Stop))
    except (KeyError, TypeError) as error:
        raise ValueError(f"the data is not a plan: {error}") from None
    if not isinstance(plan, StorePlan):
        raise ValueError(f"the data holds a {type(plan).__name__}, not a plan")
    return plan
