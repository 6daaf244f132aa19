"""The daily step at 08:00, its fourteen parts in order, and the end of the year.

What arrives today cannot serve the demand of yesterday, so sales come before receipts; what customers will see today is
fixed last.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from commerce.audit import check_books
from commerce.fulfilment import cancel_overdue, receive_returns, refund_pending, settle_escrow
from commerce.ledger import Account, Batch, Entity, close_batches, post
from commerce.lots import no_lots, storage_bill, sum_by
from commerce.money import round_fen
from commerce.notices import add_notice, announce, tell_cancellations, tell_deliveries, tell_returns
from commerce.orders import Orders
from commerce.receiving import receive_deliveries
from commerce.reputation import reputation
from commerce.selling import sell_day
from commerce.setting import Setting
from commerce.shopkeeping import refresh_windows
from commerce.state import YearState
from commerce.types import EndReason


def start_year(setting: Setting, state: YearState) -> None:
    """Announce what the first day brings."""
    announce(setting, state)


def daily_step(setting: Setting, state: YearState) -> list[Batch]:
    """Move to 08:00 of the next day and return the day's postings."""
    state.day, state.minute = state.day + 1, setting.rules.open_minute  # 1
    operations = _charge_operations(setting, state)  # 2
    idle = _charge_idling(setting, state)  # 3
    storage = _charge_storage(setting, state)  # 4
    sell_day(setting, state, state.day - 1)  # 5
    gone = cancel_overdue(setting, state)  # 6
    tell_cancellations(setting, state, gone)
    back = receive_returns(setting, state)  # 7
    tell_returns(setting, state, back)
    settled = settle_escrow(state)  # 8
    arrived = receive_deliveries(state)  # 9
    tell_deliveries(setting, state, arrived)
    announce(setting, state)  # 10
    _update_reputation(setting, state)  # 11
    _count_negative_mornings(setting, state)  # 12
    row = {"operations_fen": operations, "idle_fen": idle, "storage_fen": storage, "settled_fen": settled}
    row |= _flows(state, gone, back) | {"purchase_orders_received": len(arrived)}
    row |= _balances(state)  # 13
    refresh_windows(setting, state)
    _end_if_due(setting, state)  # 14
    batches = close_batches(state.ledger)
    state.history.append(row | {"flows_fen": _by_reason(batches)})
    check_books(setting, state)
    return batches


def finish(setting: Setting, state: YearState, reason: EndReason) -> None:
    """End the year: unshipped orders vanish, returns to come are refunded now, escrow goes to the wallet."""
    pending = state.orders.rows(state.orders.is_pending)
    entity = (Entity.ORDER, pending.order_id)
    post(state.ledger, state.stamp("unshipped"), Account.WRITE_OFF, Account.GOODS_SOLD, entity, pending.cost_fen)
    np.add.at(state.units.lost, pending.sku, pending.units)
    state.orders = state.orders.rows(~state.orders.is_pending)
    refund_pending(setting, state)
    settle_escrow(state, everything=True)
    state.order_lots = no_lots()
    state.end = reason.value


def _charge_operations(setting: Setting, state: YearState) -> int:
    stores = state.open_stores
    fees = [setting.world.store_types[store.store_type].operations_fen for store in stores]
    entity = (Entity.STORE, [store.number for store in stores])
    return post(state.ledger, state.stamp("operations"), Account.OPERATIONS, Account.BANK, entity, fees)


def _charge_idling(setting: Setting, state: YearState) -> int:
    rules = setting.rules
    if state.open_stores or state.day <= rules.idle_grace_days:
        return 0
    entity = (Entity.YEAR, 0)
    fee = post(
        state.ledger, state.stamp("idle penalty"), Account.IDLE_PENALTY, Account.BANK, entity, rules.idle_penalty_fen
    )
    add_notice(setting, state, "idle_penalty", f"No store is open: a penalty of {fee / 100:.2f} yuan was charged.")
    return fee


def _charge_storage(setting: Setting, state: YearState) -> int:
    lots = state.lots
    if not len(lots.owner):
        return 0
    bill = storage_bill(lots, state.day, setting.storage_fen, setting.rules)
    by_sku = round_fen(sum_by(lots.owner, bill, setting.num_skus))
    skus = np.flatnonzero(by_sku)
    entity = (Entity.SKU, skus)
    return post(state.ledger, state.stamp("storage"), Account.STORAGE, Account.BANK, entity, by_sku[skus])


def _update_reputation(setting: Setting, state: YearState) -> None:
    rules = setting.rules
    for store in state.open_stores:
        recent = (store.recent_returned, store.recent_sold, store.recent_cancelled)
        store.reputation = reputation(store.shipped_units, *recent, rules)
        store.recent_returned, store.recent_sold, store.recent_cancelled = (rules.reputation_memory * x for x in recent)


def _count_negative_mornings(setting: Setting, state: YearState) -> None:
    bank, wallet = state.bank_fen, state.ledger.balance(Account.WALLET)
    if bank >= 0:
        state.negative_mornings = 0
        return
    state.negative_mornings += 1
    state.totals.overdrawn_mornings += 1
    state.totals.coverable_mornings += bank + wallet >= 0
    left = setting.rules.bankruptcy_mornings - state.negative_mornings
    add_notice(setting, state, "overdrawn", f"The bank is below zero; {left} more such mornings are bankruptcy.")


def _end_if_due(setting: Setting, state: YearState) -> None:
    if state.day >= setting.last_day:
        finish(setting, state, EndReason.CALENDAR)
    elif state.negative_mornings >= setting.rules.bankruptcy_mornings:
        finish(setting, state, EndReason.BANKRUPTCY)


def _flows(state: YearState, gone: Orders, back: Orders) -> dict[str, Any]:
    stores = {
        store.store_id: {"units": int(store.sold.sum()), "revenue_fen": store.revenue_fen}
        for store in state.open_stores
    }
    return {
        "sales": stores,
        "cancelled_units": int(gone.units.sum()),
        "returned_units": int(back.return_units.sum()),
        "refunds_fen": int((back.return_units * back.unit_fen).sum()),
    }


def _balances(state: YearState) -> dict[str, Any]:
    ledger, lots = state.ledger, state.lots
    units = int(lots.units.sum())
    age = int((lots.units * (state.day - lots.day)).sum())
    return {
        "day": state.day,
        "bank_fen": ledger.balance(Account.BANK),
        "wallet_fen": ledger.balance(Account.WALLET),
        "escrow_fen": ledger.balance(Account.ESCROW),
        "stock_fen": ledger.balance(Account.INVENTORY),
        "stock_units": units,
        "stock_age_days": age / units if units else None,
        "num_listed": int(sum(np.count_nonzero(store.shelf) for store in state.open_stores)),
    }


def _by_reason(batches: list[Batch]) -> dict[str, int]:
    flows: dict[str, int] = {}
    for batch in batches:
        flows[batch.reason] = flows.get(batch.reason, 0) + batch.total_fen
    return flows
