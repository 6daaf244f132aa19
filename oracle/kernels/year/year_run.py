"""The compiled year: day after day the plan's acts, what its defaults add, and the daily step of the store."""

from __future__ import annotations

import math

import numpy as np

from oracle.kernels.compiling import inline
from oracle.kernels.year.year_acts import (
    act_on_shelf,
    act_on_store,
    buy,
    lose_patience,
    move_money,
    pay,
    receive,
    take_part,
)
from oracle.kernels.year.year_goods import nearest_fen
from oracle.kernels.year.year_orders import morning_of_orders, refund, ship_planned, ship_unplanned
from oracle.kernels.year.year_sales import sell
from oracle.kernels.year.year_tables import (
    BY_BANKRUPTCY,
    BY_CALENDAR,
    BY_STOPPING,
    NOWHERE,
    ON_BUYS,
    ON_FEES,
    ON_PRICES,
    ON_PROMOTIONS,
    ON_SHELF,
    ON_SHIPMENTS,
    ON_STORES,
    ON_WITHDRAWALS,
    Books,
    OrderBook,
    PlanTables,
    Table,
    TableRow,
    WorldTables,
    year_kernel,
)
from terms.aliases import Ints


@year_kernel
def run_plan(world: WorldTables, plan: PlanTables, books: Books, book: OrderBook, path: Ints) -> tuple[int, int]:
    """Carry a plan out on fresh books; assets after each daily step go to ``path``, which is as long as the year.

    Returns
    -------
    tuple
        How many daily steps there were, and how the year ended; what there is then stands in the books.
    """
    rules, money = world.rules[0], books.money[0]
    in_wallet_for, negative_mornings, day, end = 0, 0, 0, NOWHERE
    while end == NOWHERE:
        for row in range(plan.group_start[day], plan.group_start[day + 1]):
            _act(world, plan, books, book, plan.groups[row], day)
        if plan.stop_day == day:
            end = BY_STOPPING
            break
        ship_unplanned(world, plan.defaults, books, book, day)
        lose_patience(world, plan.shelf_patience, books)
        in_wallet_for = in_wallet_for + 1 if money.wallet > 0 else 0
        if in_wallet_for > plan.wallet_patience:
            move_money(money, money.wallet)
            in_wallet_for = 0
        day += 1
        num_lots = _pay_the_day(world, books, day)
        book = _with_room(book, len(world.skus), num_lots)
        sell(world, plan.lines, books, book, day - 1)
        morning_of_orders(rules, books, book, day)
        receive(plan.buys, books, day)
        _judge_stores(rules, books.stores)
        negative_mornings = negative_mornings + 1 if money.bank < 0 else 0
        path[day - 1] = money.bank + money.wallet + money.escrow
        _open_windows(world, books, day)
        if day >= len(path):
            end = BY_CALENDAR
        elif negative_mornings >= rules.bankruptcy_mornings:
            end = BY_BANKRUPTCY
    for i in range(book.num[0]):
        if book.orders[i].due_back > 0:
            refund(rules, money, book.orders[i])
    return day, end


@inline
def _act(world: WorldTables, plan: PlanTables, books: Books, book: OrderBook, group: TableRow, day: int) -> None:
    kind, first, money = group.kind, group.first, books.money[0]
    if kind == ON_STORES:
        act_on_store(world, books, plan.stores[first].act, plan.stores[first].store_type)
    elif kind == ON_FEES:
        pay(money, plan.fees[first])
    elif kind == ON_WITHDRAWALS:
        move_money(money, plan.withdrawals[first])
    elif kind == ON_SHIPMENTS:
        ship_planned(world, books, book, first, plan.speeds[first], day)
    elif kind == ON_PROMOTIONS:
        take_part(books, plan.promotions[first])
    else:
        _act_by_row(world, plan, books, group)


@inline
def _act_by_row(world: WorldTables, plan: PlanTables, books: Books, group: TableRow) -> None:
    kind, money, goods = group.kind, books.money[0], books.goods
    for row in range(group.first, group.stop):
        if kind == ON_BUYS:
            if buy(money, plan.buys[row], books.inbox[row]):
                due = plan.buys[row].due_day
                books.inbox[row].next = books.first_due[due]
                books.first_due[due] = row
        elif kind == ON_PRICES:
            sku, fen = plan.prices[row].sku, plan.prices[row].fen
            goods[sku].list_fen = fen
            if goods[sku].price_fen > 0:  # goods that are not listed come to the shelf at it later
                goods[sku].price_fen = fen
        elif kind == ON_SHELF:
            sku = plan.shelf[row].sku
            act_on_shelf(goods[sku], books.of_kind[world.skus[sku].kind] != NOWHERE, plan.shelf[row], money)


@inline
def _with_room(book: OrderBook, more_orders: int, more_lots: int) -> OrderBook:
    """Return the orders with room for more of them, and for their lots."""
    num, lots = book.num[0], book.num[1]
    if num + more_orders <= len(book.orders) and lots + more_lots <= len(book.lots):
        return book
    larger = OrderBook(
        np.empty(max(2 * num, len(book.orders)) + more_orders, book.orders.dtype),
        np.empty(max(2 * lots, len(book.lots)) + more_lots, book.lots.dtype),
        book.num,
    )
    larger.orders[:num] = book.orders[:num]
    larger.lots[:lots] = book.lots[:lots]
    return larger


@inline
def _pay_the_day(world: WorldTables, books: Books, day: int) -> int:
    """Pay stores, idling and storage; return the number of lots in the warehouse."""
    rules, money, num_open, num_lots = world.rules[0], books.money[0], 0, 0
    for kind in range(len(books.of_kind)):
        if books.of_kind[kind] != NOWHERE:
            money.bank -= world.kinds[kind].operations_fen
            num_open += 1
    if num_open == 0 and day > rules.idle_grace_days:
        money.bank -= rules.idle_penalty_fen
    for sku in range(len(books.goods)):
        left, came = books.goods[sku].on_hand, books.goods[sku].first_lot_day
        bill, lots, rate = 0.0, books.lots[sku], world.skus[sku].storage_fen
        while left > 0:
            if lots[came] > 0:
                bill += lots[came] * rate * world.age_factor[day - came]
                left -= lots[came]
                num_lots += 1
            came += 1
        money.bank -= nearest_fen(bill)
    return num_lots


@inline
def _judge_stores(rules: TableRow, stores: Table) -> None:
    """Update reputations by what was sold, returned and cancelled since the last morning."""
    for row in range(len(stores)):
        store = stores[row]
        if store.is_open == 1:
            sold, returned = store.recent_sold + store.sold, store.recent_returned + store.returned
            cancelled = store.recent_cancelled + store.cancelled
            exponent = -(store.shipped - rules.reputation_middle) / rules.reputation_width
            base = rules.reputation_base + rules.reputation_rise / (1 + math.exp(exponent))
            weighted = rules.reputation_return_weight * returned + rules.reputation_cancel_weight * cancelled
            penalty = min(rules.reputation_penalty_max, weighted / max(1.0, sold))
            store.reputation = min(rules.reputation_high, max(rules.reputation_low, base - penalty))
            store.recent_sold, store.recent_returned = (
                rules.reputation_memory * sold,
                rules.reputation_memory * returned,
            )
            store.recent_cancelled = rules.reputation_memory * cancelled
        store.sold = store.returned = store.cancelled = 0


@inline
def _open_windows(world: WorldTables, books: Books, day: int) -> None:
    """Fix what customers see today, and let the trailing prices follow the list prices."""
    for row in range(len(books.stores)):
        store = books.stores[row]
        if store.is_open == 0:
            continue
        if store.promotion != NOWHERE and day > world.promotions[store.promotion].last_day:
            store.promotion, store.discount = NOWHERE, 0.0
        store.window_promotion, store.window_discount = store.promotion, store.discount
        for place in range(world.kinds[store.kind].first_row, world.kinds[store.kind + 1].first_row):
            goods = books.goods[world.rows[place]]
            goods.window_units, goods.window_fen = goods.shelf, goods.price_fen
            if goods.price_fen > 0:
                change = (goods.price_fen - goods.trailing_fen) / world.rules[0].trailing_days
                goods.trailing_fen += nearest_fen(change)
