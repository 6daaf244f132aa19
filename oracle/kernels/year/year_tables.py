"""What the compiled year reads and writes: tables of records. Units and indices as in :mod:`commerce.state`.

One store of a type is open at most, so shelves and prices are held by SKU. Lots of the warehouse lie in an array of SKU
by day of arrival; those of an order in a slice of one pool, oldest first. Records keep the numbers of one thing side by
side, and a table is one argument of a kernel, however many columns it has.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from oracle.kernels.compiling import kernel
from terms.aliases import Floats, Ints

_F = TypeVar("_F", bound=Callable[..., Any])

Table = Any
"""An array of one of the record types below; the compiler knows which."""
TableRow = Any
"""One record."""

NOWHERE = -1
UNPLANNED = -2
"""Shipment of an order that the plan does not know; ``NOWHERE`` is that of one it never ships."""
BY_CALENDAR, BY_BANKRUPTCY, BY_STOPPING = range(3)
ON_STORES, ON_FEES, ON_BUYS, ON_WITHDRAWALS, ON_SHIPMENTS, ON_PROMOTIONS, ON_PRICES, ON_SHELF = range(8)
"""Tables of a plan, in the order of :mod:`commerce.plan.acts`."""


def _record(*, ints: str = "", floats: str = "", keys: str = "") -> np.dtype[np.void]:
    kinds = ((ints, np.int64), (floats, np.float64), (keys, np.uint64))
    return np.dtype([(name, kind) for names, kind in kinds for name in names.split()])


RULE_TERMS = _record(
    ints="initial_fen setup_fen max_open_stores settlement_days ship_within_days idle_penalty_fen idle_grace_days "
    "bankruptcy_mornings trailing_days is_base_listed is_commission_reversed return_lag_low return_lag_high",
    floats="commission salvage_share weekend_factor full_discount response_bound choke_ratio category_breadth "
    "return_cap defect_return_min defect_return_factor reputation_new reputation_base reputation_rise "
    "reputation_middle reputation_width reputation_return_weight reputation_cancel_weight reputation_penalty_max "
    "reputation_low reputation_high reputation_memory",
)
"""The rules, as far as a plan meets them; a bound that there is none of is ``NaN``."""
SKU_TERMS = _record(
    ints="reference_fen category kind response freight_fen storage_fen",
    floats="base elasticity weight natural",
    keys="demand_key return_key",
)
KIND_TERMS = _record(ints="operations_fen first_row", floats="capacity")
"""By store type, one more at the end; its SKUs begin at ``first_row`` of the rows."""
PROMOTION_TERMS = _record(ints="last_day", floats="max_multiplier elasticity_boost")
ACT_GROUPS = _record(ints="kind first stop")
BUYS = _record(ints="sku units unit_fen delivered defective bank_fen due_day")
"""Purchases; ``due_day`` is the morning on which one is there."""
SHELF_ACTS = _record(ints="sku act units")
LIST_PRICES = _record(ints="sku fen")
JOININGS = _record(ints="store_type promotion", floats="discount")
STORE_ACTS = _record(ints="act store_type")
GOODS = _record(
    ints="unlisted shelf on_hand value_fen price_fen trailing_fen window_units window_fen list_fen lain_for delivered "
    "defective first_lot_day"
)
"""By SKU; ``list_fen`` is the plan's price, ``first_lot_day`` no later than the day of the oldest lot."""
STORES = _record(
    ints="kind is_open shipped sold returned cancelled promotion window_promotion",
    floats="reputation recent_sold recent_returned recent_cancelled discount window_discount",
)
"""In opening order; units sold, returned and cancelled are those since the last morning."""
MONEY = _record(ints="bank wallet escrow scaled_fen cut_fen cut_units void_listings void_acts num_bought")
"""What there is, and what of the plan could not be done."""
INBOX = _record(ints="next units delivered defective")
"""By purchase: what comes of it, and the next one that is due on the same morning."""
ORDERS = _record(
    ints="store sku units unit_fen net_fen cost_fen sale_day shipped_day escrow_fen settle_day return_day due_back "
    "returned_units planned first_lot num_lots",
    floats="rate",
)
"""``due_back`` are the units on their way back, ``rate`` the return rate at the sale."""
LOTS = _record(ints="day units")
SHELF_OFFERS = _record(ints="store sku", floats="price_fen demand")


class WorldTables(NamedTuple):
    """A world and its rules."""

    rules: Table  # RULE_TERMS, shape (1,)
    skus: Table  # SKU_TERMS
    rows: Ints  # SKUs by store type
    kinds: Table  # KIND_TERMS
    category_caps: Floats
    promotions: Table  # PROMOTION_TERMS
    is_active: Ints  # (promotion, day)
    day_factor: Floats  # (store type, day): season and events
    is_weekend: Ints
    speeds: Floats  # (cost and returns, speed)
    knees: Floats  # (price ratio and factor of returns, knee)
    age_factor: Floats  # by age in days


class PlanTables(NamedTuple):
    """A plan; groups of acts by day begin at ``group_start``."""

    group_start: Ints
    groups: Table
    stores: Table
    fees: Ints
    buys: Table
    withdrawals: Ints
    shelf: Table
    prices: Table
    promotions: Table
    speeds: Ints  # of shipments
    lines: Ints  # keys and shipments, shape (2, lines)
    defaults: Ints  # delay and speed by week, shape (2, weeks)
    shelf_patience: Ints
    first_price: Ints
    wallet_patience: int
    stop_day: int


class Books(NamedTuple):
    """What changes, but the orders."""

    goods: Table
    lots: Ints  # (SKU, day)
    stores: Table
    of_kind: Ints  # the open store of each type
    money: Table  # MONEY, shape (1,)
    inbox: Table
    first_due: Ints  # the first purchase that is due on each morning
    offers: Table
    taken: Floats  # capacity that each offer takes
    listed: Ints  # by category
    totals: Floats  # by category


class OrderBook(NamedTuple):
    """Orders not settled yet, the lots of all of them, and how many there are of either."""

    orders: Table
    lots: Table
    num: Ints


def _digest() -> str:
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def year_kernel(function: _F) -> _F:
    """Compile a kernel of the year; its cache is named after these sources too, so that all solutions keep theirs."""
    function.__qualname__ = f"{function.__qualname__}_{_digest()}"
    return kernel(function)
