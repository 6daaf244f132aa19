"""Sales of one finished day: expected demand of every open store's window, rounded, served and booked as orders.

What customers saw was fixed at 08:00, so nothing set during the day reaches back; units taken off the shelf during the
day are gone. One order per SKU and store collects the day's sale.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from commerce.demand import price_response, promotion_factor, round_demand, saturate
from commerce.ledger import Account, Entity, post
from commerce.lots import merge, owned_by
from commerce.money import round_fen
from commerce.orders import NONE, Orders
from commerce.returns import blended_rate, priced_rate
from commerce.setting import Setting
from commerce.state import StoreState, YearState
from commerce.stock import take_out
from commerce.streams import keyed_uniforms
from commerce.types import BoolArray, FloatArray, IntArray, Promotion


class Offer(NamedTuple):
    """What a store offered on one day: places in the store's arrays, SKUs, effective prices and discounts."""

    places: IntArray
    skus: IntArray
    price_fen: FloatArray
    discount: FloatArray
    promotion: Promotion | None


def sell_day(setting: Setting, state: YearState, day: int) -> None:
    """Book the sales of ``day`` in every open store, in opening order."""
    for store in state.open_stores:
        store.sold[:] = 0
        store.returned[:] = 0
        store.revenue_fen = store.refunds_fen = 0
        store.freight_fen, store.freight_today_fen = store.freight_today_fen, 0
        offer = day_offer(setting, store, day)
        if len(offer.places):
            units = _units_sold(setting, store, offer, day)
            book_sale(setting, state, store, _chosen(offer, units > 0), units[units > 0], day)


def day_offer(setting: Setting, store: StoreState, day: int) -> Offer:
    """Return what customers of ``store`` could buy on ``day`` and at what price."""
    rules = setting.rules
    places = np.flatnonzero((store.window_units > 0) & (store.window_fen > 0))
    skus = setting.rows_of_type[store.store_type][places]
    listed = store.window_fen[places].astype(np.float64)
    promotion = None if store.window_promotion is None else setting.world.promotions[store.window_promotion]
    if promotion is None or not promotion.is_active(day):
        return Offer(places, skus, listed, np.zeros(len(places)), None)
    price = listed * (1 - store.window_discount)
    if rules.promotion_base == "list":
        return Offer(places, skus, price, np.full(len(places), store.window_discount), promotion)
    base = np.minimum(setting.world.skus.reference_fen[skus], np.maximum(store.trailing_fen[places], 1))
    return Offer(places, skus, price, np.clip(1 - price / base, 0.0, 1.0), promotion)


def expected_demand(setting: Setting, store: StoreState, offer: Offer, day: int) -> FloatArray:
    """Return expected units of each SKU of ``offer``, after both saturations."""
    rules, skus = setting.rules, offer.skus
    store_type = setting.world.store_types[store.store_type]
    elasticity = setting.elasticity[skus]
    common = setting.season(store.store_type, day) * setting.event_factor(store.store_type, day) * store.reputation
    if setting.is_weekend(day):
        common *= rules.weekend_factor
    raw = setting.base[skus] * common
    if offer.promotion is not None:
        elasticity = np.where(offer.discount > 0, elasticity * offer.promotion.elasticity_boost, elasticity)
        raw = raw * promotion_factor(offer.discount, offer.promotion.max_multiplier, rules)
    ratio = offer.price_fen / setting.world.skus.reference_fen[skus]
    raw = raw * price_response(ratio, elasticity, setting.response[skus], rules.response_bound)
    share = setting.category_shares[store.store_type]
    return saturate(raw, setting.world.skus.category[skus], store_type.capacity, share)


def _units_sold(setting: Setting, store: StoreState, offer: Offer, day: int) -> IntArray:
    expected = expected_demand(setting, store, offer, day)
    wanted = round_demand(expected, keyed_uniforms(setting.demand_keys[offer.skus], day))
    return np.minimum(wanted, np.minimum(store.window_units, store.shelf)[offer.places])


def _chosen(offer: Offer, mask: BoolArray) -> Offer:
    places, skus, price, discount, promotion = offer
    return Offer(places[mask], skus[mask], price[mask], discount[mask], promotion)


def book_sale(setting: Setting, state: YearState, store: StoreState, offer: Offer, units: IntArray, day: int) -> None:
    """Book ``units`` of each SKU of ``offer`` as sold on ``day``: shelf and lots shrink, one order each is opened."""
    num, skus = len(units), offer.skus
    if not num:
        return
    lots, cost = take_out(state, skus, units)
    store.shelf[offer.places] -= units
    store.sold[offer.places] = units
    state.units.sold[skus] += units
    orders = _new_orders(setting, state, store, offer, units, day)._replace(cost_fen=cost)
    state.orders = state.orders.extended(orders)
    state.order_lots = merge(state.order_lots, owned_by(lots, skus, orders.order_id))
    post(
        state.ledger, state.stamp("sold"), Account.GOODS_SOLD, Account.INVENTORY, (Entity.ORDER, orders.order_id), cost
    )
    state.next_order += num
    state.totals.orders_created += num
    store.recent_sold += float(units.sum())
    store.revenue_fen = int(orders.gross_fen.sum())


def _new_orders(
    setting: Setting, state: YearState, store: StoreState, offer: Offer, units: IntArray, day: int
) -> Orders:
    rules, skus, num = setting.rules, offer.skus, len(units)
    unit_fen = np.maximum(1, round_fen(offer.price_fen))
    gross = units * unit_fen
    natural = setting.world.skus.return_rate[skus]
    delivered = np.maximum(state.units.delivered[skus], 1)
    blended = blended_rate(natural, np.minimum(1.0, state.units.defective[skus] / delivered), rules)
    ratio = offer.price_fen / setting.world.skus.reference_fen[skus]
    zeros, nothing = np.zeros(num, dtype=np.int64), np.full(num, NONE)
    return Orders(
        order_id=state.next_order + np.arange(num),
        store=np.full(num, store.number),
        sku=skus,
        units=units,
        unit_fen=unit_fen,
        net_fen=gross - round_fen(gross * rules.commission),
        cost_fen=zeros,
        sale_day=np.full(num, day),
        natural=natural,
        blended=blended,
        priced=priced_rate(blended, ratio, rules),
        shipped_day=nothing,
        escrow_fen=zeros,
        settle_day=nothing,
        return_day=nothing,
        return_units=zeros,
        returned_units=zeros,
    )
