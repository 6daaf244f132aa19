"""Sales of one finished day, compiled: what was offered, what was wanted, and the orders it became."""

from __future__ import annotations

import math

import numpy as np

from oracle.kernels.compiling import inline
from oracle.kernels.year.year_demand import draw_at, price_factor, rate_at_sale, sum_in_pairs
from oracle.kernels.year.year_goods import cost_out, nearest_fen, next_lot
from oracle.kernels.year.year_tables import (
    NOWHERE,
    UNPLANNED,
    Books,
    OrderBook,
    TableRow,
    WorldTables,
)
from terms.aliases import Ints

_DAY_BITS = 20


@inline
def sell(world: WorldTables, lines: Ints, books: Books, book: OrderBook, day: int) -> None:
    """Book the sales of ``day`` in every open store; there must be room for an order of each SKU, and all lots."""
    rules, offers, goods, demand_of = world.rules[0], books.offers, books.goods, books.totals
    books.listed[:] = 0
    demand_of[:] = 0.0
    num, store = 0, 0
    while store < len(books.stores) and books.stores[store].kind != NOWHERE:
        if books.stores[store].is_open:
            num = _offer(world, books, store, day, num)
        store += 1
    breadth = rules.category_breadth
    for i in range(num):
        sku = world.skus[offers[i].sku]
        if not math.isnan(breadth):
            offers[i].demand *= breadth / (breadth + (books.listed[sku.category] - 1))
        demand_of[sku.category] += offers[i].demand * sku.weight
    first = 0
    while first < num:
        store, stop = offers[first].store, first
        while stop < num and offers[stop].store == store:
            sku = world.skus[offers[stop].sku]
            cap = world.category_caps[sku.category]
            offers[stop].demand *= cap / (cap + demand_of[sku.category]) if cap > 0 else 1.0
            books.taken[stop - first] = offers[stop].demand * sku.weight
            stop += 1
        capacity = world.kinds[books.stores[store].kind].capacity
        factor = capacity / (capacity + sum_in_pairs(books.taken, stop - first))
        for i in range(first, stop):
            sku, stock = world.skus[offers[i].sku], goods[offers[i].sku]
            expected = offers[i].demand * factor
            whole = math.floor(expected)
            wanted = int(whole) + (1 if draw_at(sku.demand_key, day, 0) < expected - whole else 0)
            units = min(wanted, min(stock.window_units, stock.shelf))
            if units > 0:
                order = book.orders[book.num[0]]
                order.rate = rate_at_sale(sku, stock, rules, world.knees, offers[i].price_fen)
                order.planned = _planned(lines, offers[i].sku, day)
                order.store, order.sku = store, offers[i].sku
                _fill_order(rules.commission, order, stock, units, offers[i].price_fen, day)
                _take_lots(stock, books.lots[offers[i].sku], book, order)
                books.stores[store].sold += units
                book.num[0] += 1
        first = stop


@inline
def _offer(world: WorldTables, books: Books, store: int, day: int, num: int) -> int:
    """Write what one store offers, and its demand before others share it, from row ``num`` on; return the next row."""
    rules, shop = world.rules[0], books.stores[store]
    is_running = shop.window_promotion != NOWHERE and world.is_active[shop.window_promotion, day] == 1
    common = world.day_factor[shop.kind, day] * shop.reputation
    if world.is_weekend[day] == 1:
        common *= rules.weekend_factor
    for row in range(world.kinds[shop.kind].first_row, world.kinds[shop.kind + 1].first_row):
        sku, goods = world.skus[world.rows[row]], books.goods[world.rows[row]]
        if goods.window_units <= 0 or goods.window_fen <= 0:
            continue
        price, elasticity, demand = float(goods.window_fen), sku.elasticity, sku.base * common
        if is_running:
            price *= 1 - shop.window_discount
            discount = shop.window_discount
            if not rules.is_base_listed:
                base = min(sku.reference_fen, max(goods.trailing_fen, 1))
                discount = min(max(1 - price / base, 0.0), 1.0)
            promotion = world.promotions[shop.window_promotion]
            if discount > 0:
                elasticity *= promotion.elasticity_boost
            demand *= 1 + (promotion.max_multiplier - 1) * min(max(discount / rules.full_discount, 0.0), 1.0)
        demand *= price_factor(price / sku.reference_fen, elasticity, sku.response, rules)
        offer = books.offers[num]
        offer.store, offer.sku, offer.price_fen, offer.demand = store, world.rows[row], price, demand
        books.listed[sku.category] += 1
        num += 1
    return num


@inline
def _fill_order(commission: float, order: TableRow, goods: TableRow, units: int, price: float, day: int) -> None:
    order.units, order.sale_day, order.cost_fen = units, day, cost_out(goods, units)
    order.unit_fen = max(1, nearest_fen(price))
    gross = units * order.unit_fen
    order.net_fen = gross - nearest_fen(gross * commission)
    order.shipped_day = order.settle_day = order.return_day = NOWHERE
    order.escrow_fen = order.due_back = order.returned_units = 0
    goods.shelf -= units


@inline
def _take_lots(goods: TableRow, lots: Ints, book: OrderBook, order: TableRow) -> None:
    left, place = order.units, book.num[1]
    order.first_lot = place
    while left > 0:
        came = next_lot(goods, lots)
        taken = min(left, lots[came])
        lots[came] -= taken
        book.lots[place].day, book.lots[place].units = came, taken
        place += 1
        left -= taken
    order.num_lots = place - order.first_lot
    book.num[1] = place


@inline
def _planned(lines: Ints, sku: int, day: int) -> int:
    """Return the shipment of the plan for what was sold of a SKU on a day."""
    key = sku << _DAY_BITS | day
    place = np.searchsorted(lines[0], key)
    return lines[1, place] if place < lines.shape[1] and lines[0, place] == key else UNPLANNED
