"""From a customer order to money: shipping, cancellation, returns, escrow and settlement."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from commerce.config import Rules
from commerce.ledger import Account, Entity, post
from commerce.lots import Lots, drop_owners, owned_by, sum_by, take_oldest
from commerce.money import pro_rata, round_fen
from commerce.orders import NONE, Orders
from commerce.returns import ReturnHint, count_returns, return_hint, shipped_rate
from commerce.setting import Setting
from commerce.state import StoreState, YearState
from commerce.stock import put_in
from commerce.streams import keyed_uniforms
from commerce.types import BoolArray, FloatArray, IntArray, Speed
from commerce.windfall import windfall_fen

SPEEDS = tuple(Speed)


class Shipped(NamedTuple):
    """What one shipping call did; money in fen."""

    orders: Orders
    freight_fen: IntArray
    net_fen: int


def pending_orders(state: YearState) -> Orders:
    """Return the orders that can be shipped now, oldest first."""
    return state.orders.rows(state.orders.is_pending)


def ship(setting: Setting, state: YearState, order_ids: IntArray, speed: Speed) -> Shipped:
    """Ship pending orders: freight leaves the bank, the net revenue enters escrow, returns are drawn."""
    rules, orders, row = setting.rules, state.orders, SPEEDS.index(speed)
    places = orders.places_of(order_ids)
    places = places[orders.shipped_day[places] == NONE]
    chosen = orders.rows(places)
    freight = round_fen(setting.freight_fen[chosen.sku] * rules.speed_cost[row] * chosen.units)
    units, lag, effective = _draw_returns(setting, chosen, rules.speed_returns[row])
    chosen = chosen._replace(
        shipped_day=np.full(len(places), state.day),
        settle_day=np.full(len(places), state.day + rules.settlement_days),
        escrow_fen=chosen.net_fen,
        return_units=units,
        return_day=np.where(units > 0, state.day + lag, NONE),
    )
    for name in ("shipped_day", "settle_day", "escrow_fen", "return_units", "return_day"):
        getattr(orders, name)[places] = getattr(chosen, name)
    _post_shipping(state, chosen, freight)
    np.add.at(state.units.shipped, chosen.sku, chosen.units)
    shipped, paid = by_store(state, chosen, chosen.units), by_store(state, chosen, freight)
    for store in state.stores:
        store.shipped_units += shipped[store.number]
        store.freight_today_fen += paid[store.number]
    _count_shipping(state, chosen, effective, row)
    kept_fen = (chosen.net_fen - chosen.cost_fen) / chosen.units
    state.totals.returns_windfall_fen -= windfall_fen(units, chosen.units * effective, kept_fen)
    return Shipped(chosen, freight, int(chosen.net_fen.sum()))


def by_store(state: YearState, orders: Orders, amounts: IntArray) -> list[int]:
    """Return the sums of ``amounts`` of orders by store number; exact for sums below 2**53."""
    return [int(total) for total in sum_by(orders.store, amounts, len(state.stores) + 1).tolist()]


def _draw_returns(setting: Setting, chosen: Orders, factor: float) -> tuple[IntArray, IntArray, np.ndarray]:
    rules, keys = setting.rules, setting.return_keys[chosen.sku]
    effective = shipped_rate(chosen.priced, factor, rules)
    units = count_returns(chosen.units, effective, return_draws(setting, chosen.sku, chosen.sale_day, chosen.units))
    low, high = rules.return_lag
    lag = low + (keyed_uniforms(keys, chosen.sale_day) * (high - low + 1)).astype(np.int64)
    return units, lag, effective


def return_draws(setting: Setting, skus: IntArray, sale_days: IntArray, units: IntArray) -> FloatArray:
    """Return the draw of every unit of some orders, one order after the other: below its rate a unit comes back."""
    owner = np.repeat(np.arange(len(units)), units)
    starts = np.cumsum(units) - units
    number = 1 + np.arange(len(owner)) - starts[owner]  # draw 0 is the lag
    return keyed_uniforms(setting.return_keys[skus][owner], sale_days[owner], number)


def _post_shipping(state: YearState, chosen: Orders, freight: IntArray) -> None:
    ledger, orders = state.ledger, (Entity.ORDER, chosen.order_id)
    post(ledger, state.stamp("freight"), Account.FREIGHT, Account.BANK, orders, freight)
    post(ledger, state.stamp("shipped"), Account.ESCROW, Account.SALES, orders, chosen.gross_fen)
    commission = chosen.gross_fen - chosen.net_fen
    post(ledger, state.stamp("commission"), Account.COMMISSION, Account.ESCROW, orders, commission)
    post(ledger, state.stamp("cost of sales"), Account.COST_OF_SALES, Account.GOODS_SOLD, orders, chosen.cost_fen)


def _count_shipping(state: YearState, chosen: Orders, effective: np.ndarray, row: int) -> None:
    totals, units = state.totals, chosen.units
    totals.natural_returns += _weighted_sum(units, chosen.natural)
    totals.defect_returns += _weighted_sum(units, chosen.blended - chosen.natural)
    margin = chosen.unit_fen - chosen.cost_fen / units
    totals.defect_loss_fen += _weighted_sum(units * margin, chosen.blended - chosen.natural)
    totals.price_returns += _weighted_sum(units, chosen.priced - chosen.blended)
    totals.speed_returns += _weighted_sum(units, effective - chosen.priced)
    totals.orders_shipped += len(units)
    totals.by_speed[row] += len(units)


def _weighted_sum(weights: np.ndarray, values: np.ndarray) -> float:
    """Return the scalar product; a BLAS would add in an order of its own for each kind of processor."""
    return float((weights * values).sum())


def cancel_overdue(setting: Setting, state: YearState) -> Orders:
    """Cancel the pending orders whose deadline has passed; their units go back to the unlisted stock, ages kept."""
    orders = state.orders
    mask = orders.is_pending & (orders.sale_day + setting.rules.ship_within_days < state.day)
    gone = orders.any_rows(mask)
    if len(gone.order_id):
        _goods_back(state, gone, gone.units, gone.cost_fen)
        stamp = state.stamp("cancelled")
        entity = (Entity.ORDER, gone.order_id)
        post(state.ledger, stamp, Account.INVENTORY, Account.GOODS_SOLD, entity, gone.cost_fen)
        np.add.at(state.units.cancelled, gone.sku, gone.units)
        units = by_store(state, gone, gone.units)
        for store in state.stores:
            store.recent_cancelled += units[store.number]
        state.orders = orders.rows(~mask)
        state.totals.orders_cancelled += len(gone.order_id)
    return gone


def receive_returns(setting: Setting, state: YearState) -> Orders:
    """Take back what customers return today: refunds out of escrow, goods back into the unlisted stock."""
    orders = state.orders
    mask = (orders.return_units > 0) & (orders.return_day <= state.day)
    back = orders.any_rows(mask)
    if len(back.order_id):
        cost = pro_rata(back.cost_fen, back.return_units, back.units)
        _goods_back(state, back, back.return_units, cost)
        entity = (Entity.ORDER, back.order_id)
        post(state.ledger, state.stamp("returned"), Account.INVENTORY, Account.COST_OF_SALES, entity, cost)
        _refund(setting.rules, state, mask, back)
        for store in state.stores:
            _note_returns(setting, store, back)
        _note_hints(setting, state, back.sku)
    return back


def _note_hints(setting: Setting, state: YearState, skus: IntArray) -> None:
    """Remember when the return trace first warned strongly of a SKU, for the metrics."""
    for sku in np.unique(skus).tolist():
        sold, natural = int(state.units.sold[sku]), float(setting.world.skus.return_rate[sku])
        if return_hint(sold, int(state.units.returned[sku]), natural) is ReturnHint.STRONG:
            state.hints.setdefault(str(sku), state.day)


def _note_returns(setting: Setting, store: StoreState, back: Orders) -> None:
    mask = back.store == store.number
    store.recent_returned += float(back.return_units[mask].sum())
    if store.is_open and mask.any():
        np.add.at(store.returned, setting.place[back.sku[mask]], back.return_units[mask])
        store.refunds_fen += int((back.return_units * back.unit_fen)[mask].sum())


def refund_pending(setting: Setting, state: YearState) -> None:
    """Apply every return still to come to its escrow now; the goods do not come back (end of the year)."""
    mask = state.orders.return_units > 0
    late = state.orders.rows(mask)
    np.add.at(state.units.not_restocked, late.sku, late.return_units)
    _refund(setting.rules, state, mask, late)


def _refund(rules: Rules, state: YearState, mask: BoolArray, rows: Orders) -> None:
    """Refund the due returns of the masked rows; what escrow does not give is commission the platform gives back."""
    refund = rows.return_units * rows.unit_fen
    if rules.commission_on_returns == "reversed":
        due = pro_rata(rows.net_fen, rows.returned_units + rows.return_units, rows.units)
        taken = np.minimum(rows.escrow_fen, due - pro_rata(rows.net_fen, rows.returned_units, rows.units))
    else:
        taken = np.minimum(rows.escrow_fen, refund)
    entity, ledger = (Entity.ORDER, rows.order_id), state.ledger
    post(ledger, state.stamp("refund"), Account.REFUNDS, Account.ESCROW, entity, taken)
    reversed_fen = refund - taken
    stamp = state.stamp("commission reversed")
    post(ledger, stamp, Account.REFUNDS, Account.COMMISSION_REVERSED, entity, reversed_fen)
    np.add.at(state.units.returned, rows.sku, rows.return_units)
    state.orders.escrow_fen[mask] -= taken
    state.orders.returned_units[mask] += rows.return_units
    state.orders.return_units[mask] = 0


def settle_escrow(state: YearState, *, everything: bool = False) -> int:
    """Move due escrow to the wallet, close its orders, and return the amount."""
    orders = state.orders
    mask = ~orders.is_pending & ((orders.settle_day <= state.day) | everything)
    due = orders.order_id[mask]
    entity = (Entity.ORDER, due)
    total = post(state.ledger, state.stamp("settled"), Account.WALLET, Account.ESCROW, entity, orders.escrow_fen[mask])
    if len(due):
        state.orders = orders.rows(~mask)
        state.order_lots = drop_owners(state.order_lots, due)
    return total


def _goods_back(state: YearState, rows: Orders, units: IntArray, cost: IntArray) -> None:
    order = np.argsort(rows.order_id)
    ids = rows.order_id[order]
    state.order_lots, taken = take_oldest(state.order_lots, ids, units[order])
    lots: Lots = owned_by(taken, ids, rows.sku[order])
    put_in(state, lots, rows.sku, cost)
