"""Sales of one finished day: expected demand of every open store's window, rounded, served and booked as orders.

What customers saw was fixed at 08:00, so nothing set during the day reaches back; units taken off the shelf during the
day are gone. One order per SKU and store collects the day's sale.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from commerce.demand import (
    price_response,
    promotion_factor,
    round_demand,
    saturate_categories,
    saturate_stores,
    share_buyers,
)
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
from commerce.windfall import expected_sales, sale_value, windfall_fen


class ShelfOffer(NamedTuple):
    """What stores offered on one day, store after store: row of the store, place on its shelf, SKU, price, discount."""

    store: IntArray
    places: IntArray
    skus: IntArray
    price_fen: FloatArray
    discount: FloatArray
    promotions: tuple[Promotion | None, ...]

    @property
    def parts(self) -> list[slice]:
        """Where the offer of each store lies."""
        stops = np.bincount(self.store, minlength=len(self.promotions)).cumsum().tolist()
        return [slice(first, stop) for first, stop in zip([0, *stops], stops, strict=False)]


def sell_day(setting: Setting, state: YearState, day: int) -> None:
    """Book the sales of ``day`` in every open store, in opening order."""
    stores = state.open_stores
    for store in stores:
        store.sold[:] = 0
        store.returned[:] = 0
        store.revenue_fen = store.refunds_fen = 0
        store.freight_fen, store.freight_today_fen = store.freight_today_fen, 0
    offer = day_offer(setting, stores, day)
    if len(offer.skus):
        units = _units_sold(setting, state, stores, offer, day)
        book_sales(setting, state, stores, _chosen(offer, units > 0), units[units > 0], day)


def day_offer(setting: Setting, stores: Sequence[StoreState], day: int) -> ShelfOffer:
    """Return what customers of ``stores`` could buy on ``day`` and at what price."""
    places = [((store.window_units > 0) & (store.window_fen > 0)).nonzero()[0] for store in stores]
    nothing = np.zeros(0, dtype=np.int64)  # without it there would be no type when no store is open
    skus = [setting.rows_of_type[store.store_type][mine] for store, mine in zip(stores, places, strict=True)]
    price = [store.window_fen[mine] for store, mine in zip(stores, places, strict=True)]
    owner = np.repeat(np.arange(len(stores)), [len(mine) for mine in places])
    listed = np.concatenate([*price, nothing]).astype(np.float64)
    running = tuple(_running(setting, store, day) for store in stores)
    offer = ShelfOffer(
        owner,
        np.concatenate([*places, nothing]),
        np.concatenate([*skus, nothing]),
        listed,
        np.zeros(len(owner)),
        running,
    )
    for store, promotion, part in zip(stores, running, offer.parts, strict=True):
        if promotion is not None:
            _discount(setting, store, offer, part)
    return offer


def _running(setting: Setting, store: StoreState, day: int) -> Promotion | None:
    if store.window_promotion is None:
        return None
    promotion = setting.world.promotions[store.window_promotion]
    return promotion if promotion.is_active(day) else None


def _discount(setting: Setting, store: StoreState, offer: ShelfOffer, part: slice) -> None:
    """Lower the prices of one store to those of its promotion, and note what the discount is worth."""
    offer.price_fen[part] *= 1 - store.window_discount
    if setting.rules.promotion_base == "list":
        offer.discount[part] = store.window_discount
        return
    trailing = np.maximum(store.trailing_fen[offer.places[part]], 1)
    base = np.minimum(setting.world.skus.reference_fen[offer.skus[part]], trailing)
    offer.discount[part] = np.clip(1 - offer.price_fen[part] / base, 0.0, 1.0)


def expected_demand(setting: Setting, stores: Sequence[StoreState], offer: ShelfOffer, day: int) -> FloatArray:
    """Return expected units of each SKU of ``offer``, after what its category shares and both saturations."""
    rules, skus = setting.rules, offer.skus
    elasticity = setting.elasticity[skus]
    common = np.array([_common_factor(setting, store, day) for store in stores])
    demand = setting.base[skus] * common[offer.store]
    parts = offer.parts
    for part, promotion in zip(parts, offer.promotions, strict=True):
        if promotion is not None:
            discount = offer.discount[part]
            elasticity[part] *= np.where(discount > 0, promotion.elasticity_boost, 1.0)
            demand[part] *= promotion_factor(discount, promotion.max_multiplier, rules)
    ratio = offer.price_fen / setting.world.skus.reference_fen[skus]
    demand *= price_response(ratio, elasticity, setting.response[skus], rules)
    category, weight = setting.world.skus.category[skus], setting.capacity_weight[skus]
    capacity = np.array([setting.world.store_types[store.store_type].capacity for store in stores])
    demand = share_buyers(demand, category, rules)
    demand = saturate_categories(demand, weight, category, setting.category_caps)
    return saturate_stores(demand, weight, offer.store, parts, capacity)


def _common_factor(setting: Setting, store: StoreState, day: int) -> float:
    factor = setting.season(store.store_type, day) * setting.event_factor(store.store_type, day) * store.reputation
    return factor * setting.rules.weekend_factor if setting.is_weekend(day) else factor


def _units_sold(
    setting: Setting, state: YearState, stores: Sequence[StoreState], offer: ShelfOffer, day: int
) -> IntArray:
    demand = expected_demand(setting, stores, offer, day)
    wanted = round_demand(demand, keyed_uniforms(setting.demand_keys[offer.skus], day))
    there = np.concatenate(
        [
            np.minimum(store.window_units, store.shelf)[offer.places[part]]
            for store, part in zip(stores, offer.parts, strict=True)
        ]
    )
    units = np.asarray(np.minimum(wanted, there))
    value = _unit_value(setting, state, offer)
    state.totals.demand_windfall_fen += windfall_fen(units, expected_sales(demand, there), value)
    return units


def _unit_value(setting: Setting, state: YearState, offer: ShelfOffer) -> FloatArray:
    """Return what the sale of a unit is worth before anything is drawn."""
    rules, skus = setting.rules, offer.skus
    ratio = offer.price_fen / setting.world.skus.reference_fen[skus]
    rate = priced_rate(_blended(setting, state, skus), ratio, rules)
    return sale_value((1 - rules.commission) * offer.price_fen, rate, setting.freight_fen[skus])


def _blended(setting: Setting, state: YearState, skus: IntArray) -> FloatArray:
    delivered = np.maximum(state.units.delivered[skus], 1)
    share = np.minimum(1.0, state.units.defective[skus] / delivered)
    return blended_rate(setting.world.skus.return_rate[skus], share, setting.rules)


def _chosen(offer: ShelfOffer, mask: BoolArray) -> ShelfOffer:
    store, places, skus, price, discount, promotions = offer
    return ShelfOffer(store[mask], places[mask], skus[mask], price[mask], discount[mask], promotions)


def book_sales(
    setting: Setting, state: YearState, stores: Sequence[StoreState], offer: ShelfOffer, units: IntArray, day: int
) -> None:
    """Book ``units`` of each SKU of ``offer`` as sold on ``day``: shelf and lots shrink, one order each is opened."""
    num, skus = len(units), offer.skus
    if not num:
        return
    ascending = np.argsort(skus)
    lots, sorted_cost = take_out(state, skus[ascending], units[ascending])
    cost = np.empty(num, dtype=np.int64)
    cost[ascending] = sorted_cost
    state.units.sold[skus] += units
    numbers = np.array([store.number for store in stores])
    orders = _new_orders(setting, state, offer, numbers[offer.store], units, day)._replace(cost_fen=cost)
    state.orders = state.orders.extended(orders)
    new_owners = orders.order_id[ascending]
    state.order_lots = merge(state.order_lots, owned_by(lots, skus[ascending], new_owners))
    state.next_order += num
    state.totals.orders_created += num
    for store, part in zip(stores, offer.parts, strict=True):
        _book_in_store(state, store, offer, orders, part)


def _book_in_store(state: YearState, store: StoreState, offer: ShelfOffer, orders: Orders, part: slice) -> None:
    places, units = offer.places[part], orders.units[part]
    store.shelf[places] -= units
    store.sold[places] = units
    store.recent_sold += float(units.sum())
    store.revenue_fen = int((units * orders.unit_fen[part]).sum())
    entity, cost = (Entity.ORDER, orders.order_id[part]), orders.cost_fen[part]
    post(state.ledger, state.stamp("sold"), Account.GOODS_SOLD, Account.INVENTORY, entity, cost)


def _new_orders(
    setting: Setting, state: YearState, offer: ShelfOffer, numbers: IntArray, units: IntArray, day: int
) -> Orders:
    rules, skus, num = setting.rules, offer.skus, len(units)
    unit_fen = np.maximum(1, round_fen(offer.price_fen))
    gross = units * unit_fen
    natural = setting.world.skus.return_rate[skus]
    blended = _blended(setting, state, skus)
    ratio = offer.price_fen / setting.world.skus.reference_fen[skus]
    zeros, nothing = np.zeros(num, dtype=np.int64), np.full(num, NONE)
    return Orders(
        order_id=state.next_order + np.arange(num),
        store=numbers,
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
