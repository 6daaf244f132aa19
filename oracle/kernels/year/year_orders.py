"""From an order to money, compiled: shipping, cancelling, returns, escrow and settlement."""

from __future__ import annotations

from oracle.kernels.compiling import inline
from oracle.kernels.year.year_demand import draw_at
from oracle.kernels.year.year_goods import cost_share, nearest_fen, put_lot
from oracle.kernels.year.year_tables import NOWHERE, UNPLANNED, Books, OrderBook, TableRow, WorldTables
from terms.aliases import Ints

_WEEK = 7


@inline
def ship_planned(world: WorldTables, books: Books, book: OrderBook, shipment: int, speed: int, day: int) -> None:
    """Ship the orders that are planned for one call."""
    for i in range(_first_open(world.rules[0], book, day), book.num[0]):
        order = book.orders[i]
        if order.shipped_day == NOWHERE and order.planned == shipment:
            _ship_one(world, books, order, speed, day)


@inline
def ship_unplanned(world: WorldTables, defaults: Ints, books: Books, book: OrderBook, day: int) -> None:
    """Ship the due orders that the plan does not know, each as the orders of its week mostly were."""
    for i in range(_first_open(world.rules[0], book, day), book.num[0]):
        order = book.orders[i]
        if order.shipped_day == NOWHERE and order.planned == UNPLANNED:
            delay, speed = defaults[0, order.sale_day // _WEEK], defaults[1, order.sale_day // _WEEK]
            if delay != NOWHERE and order.sale_day + delay <= day:
                _ship_one(world, books, order, speed, day)


@inline
def _first_open(rules: TableRow, book: OrderBook, day: int) -> int:
    """Return the first order that may still be shipped: they lie by day of sale, and those too old are cancelled."""
    i = book.num[0]
    while i > 0 and book.orders[i - 1].sale_day + rules.ship_within_days >= day:
        i -= 1
    return i


@inline
def _ship_one(world: WorldTables, books: Books, order: TableRow, speed: int, day: int) -> None:
    rules, sku, units, money = world.rules[0], world.skus[order.sku], order.units, books.money[0]
    money.bank -= nearest_fen(sku.freight_fen * world.speeds[0, speed] * units)
    money.escrow += order.net_fen
    order.escrow_fen, order.shipped_day, order.settle_day = order.net_fen, day, day + rules.settlement_days
    rate, back = min(rules.return_cap, order.rate * world.speeds[1, speed]), 0
    for number in range(units):
        if draw_at(sku.return_key, order.sale_day, 1 + number) < rate:
            back += 1
    if back > 0:
        span = rules.return_lag_high - rules.return_lag_low + 1
        order.due_back = back
        order.return_day = day + rules.return_lag_low + int(draw_at(sku.return_key, order.sale_day, 0) * span)
    books.stores[order.store].shipped += units


@inline
def morning_of_orders(rules: TableRow, books: Books, book: OrderBook, day: int) -> None:
    """Cancel what is overdue, take back what is returned today, settle what is due, and close up the ranks."""
    kept, kept_lots, money = 0, 0, books.money[0]
    for i in range(book.num[0]):
        order = book.orders[i]
        is_gone = False
        if order.shipped_day == NOWHERE:
            if order.sale_day + rules.ship_within_days < day:
                books.stores[order.store].cancelled += order.units
                _take_back(books, book, order, order.units, order.cost_fen)
                is_gone = True
        else:
            if order.due_back > 0 and order.return_day <= day:
                books.stores[order.store].returned += order.due_back
                cost = cost_share(order.cost_fen, order.due_back, order.units)
                _take_back(books, book, order, order.due_back, cost)
                refund(rules, money, order)
            if order.settle_day <= day:
                money.escrow -= order.escrow_fen
                money.wallet += order.escrow_fen
                is_gone = True
        if not is_gone:
            kept_lots = _move_up(book, i, kept, kept_lots)
            kept += 1
    book.num[0], book.num[1] = kept, kept_lots


@inline
def refund(rules: TableRow, money: TableRow, order: TableRow) -> None:
    """Refund the units on their way back out of the order's own escrow."""
    units, returned = order.due_back, order.returned_units
    taken = units * order.unit_fen
    if rules.is_commission_reversed:
        before = cost_share(order.net_fen, returned, order.units)
        taken = cost_share(order.net_fen, returned + units, order.units) - before
    taken = min(order.escrow_fen, taken)
    money.escrow -= taken
    order.escrow_fen -= taken
    order.returned_units += units
    order.due_back = 0


@inline
def _take_back(books: Books, book: OrderBook, order: TableRow, units: int, cost: int) -> None:
    goods, place = books.goods[order.sku], order.first_lot
    goods.value_fen += cost
    while units > 0:
        lot = book.lots[place]
        moved = min(units, lot.units)
        if moved > 0:
            lot.units -= moved
            put_lot(goods, books.lots[order.sku], lot.day, moved)
            units -= moved
        place += 1


@inline
def _move_up(book: OrderBook, source: int, target: int, first_lot: int) -> int:
    """Move an order and its lots to the first free places; return the next free place among the lots."""
    order = book.orders[source]
    if order.first_lot != first_lot:
        for k in range(order.num_lots):
            book.lots[first_lot + k] = book.lots[order.first_lot + k]
        order.first_lot = first_lot
    num_lots = order.num_lots
    if target != source:
        book.orders[target] = order
    return first_lot + num_lots
