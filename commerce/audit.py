"""Conservation of money and units, checked after every daily step and, in tests, after every call.

A failure is a bug of ours and stops the year: it raises ``AssertionError`` with the identity and both sides.
"""

from __future__ import annotations

import numpy as np

from commerce.ledger import Account
from commerce.lots import units_by_owner
from commerce.setting import Setting
from commerce.state import YearState
from commerce.types import IntArray


def check_books(setting: Setting, state: YearState) -> None:
    """Check every identity of money and units."""
    check_money(state)
    check_units(setting, state)


def check_money(state: YearState) -> None:
    """Debits equal credits, and every control account equals the books behind it."""
    ledger, orders = state.ledger, state.orders
    pending = orders.is_pending
    in_transit = sum(row.quantity * row.unit_price_fen for row in state.inbound)
    for name, left, right in (
        ("sum of all balances", int(ledger.balances.sum()), 0),
        ("escrow", ledger.balance(Account.ESCROW), int(orders.escrow_fen.sum())),
        ("inventory", ledger.balance(Account.INVENTORY), int(state.value_fen.sum())),
        ("goods sold, not shipped", ledger.balance(Account.GOODS_SOLD), int(orders.cost_fen[pending].sum())),
        ("goods on order", ledger.balance(Account.GOODS_ON_ORDER), in_transit),
    ):
        if left != right:
            raise AssertionError(f"{name}: the ledger says {left} fen, the books {right}")
    if ledger.balance(Account.WALLET) < 0 or (orders.escrow_fen < 0).any():
        raise AssertionError("wallet and escrow must not be negative")


def check_units(setting: Setting, state: YearState) -> None:
    """Every unit is in exactly one place, and shelves, unlisted stock and lots agree."""
    units, orders = state.units, state.orders
    shelved = state.unlisted.copy()
    for store in state.open_stores:
        shelved[setting.rows_of_type[store.store_type]] += store.shelf
    _require_equal("shelves and unlisted stock", shelved, state.on_hand)
    _require_equal("lots", units_by_owner(state.lots, setting.num_skus), state.on_hand)
    back = units.returned - units.not_restocked
    came = units.delivered + units.cancelled + back
    _require_equal("units in and out", came, state.on_hand + units.sold + units.liquidated)
    pending = _sum_by_sku(setting, orders.sku[orders.is_pending], orders.units[orders.is_pending])
    _require_equal("sold units", units.sold, units.cancelled + units.shipped + units.lost + pending)
    if (state.unlisted < 0).any() or any((store.shelf < 0).any() for store in state.stores):
        raise AssertionError("a shelf or the unlisted stock is negative")
    if not state.is_over:
        held = orders.units - orders.returned_units
        if int(held.sum()) != int(state.order_lots.units.sum()):
            raise AssertionError(f"orders hold {held.sum()} units, their lots {state.order_lots.units.sum()}")


def _sum_by_sku(setting: Setting, skus: IntArray, units: IntArray) -> IntArray:
    return np.bincount(skus, weights=units, minlength=setting.num_skus).astype(np.int64)


def _require_equal(name: str, left: IntArray, right: IntArray) -> None:
    if not np.array_equal(left, right):
        sku = int(np.flatnonzero(left != right)[0])
        raise AssertionError(f"{name}: SKU {sku} has {left[sku]} against {right[sku]} units")
