"""The acts of a plan, compiled: stores, purchases, money, promotions, prices and shelves."""

from __future__ import annotations

import numpy as np

from oracle.kernels.compiling import inline
from oracle.kernels.year.year_goods import cost_out, nearest_fen, next_lot, put_lot
from oracle.kernels.year.year_tables import NOWHERE, Books, TableRow, WorldTables
from terms.aliases import Ints

_OPEN, _LIQUIDATE = 0, 2
_LIST_ALL, _TAKE_UNITS, _TAKE_ALL = 1, 2, 3
_EVERYTHING = -1
_ALL = np.iinfo(np.int64).max


@inline
def act_on_store(world: WorldTables, books: Books, act: int, kind: int) -> None:
    """Open, close or liquidate the store of a type."""
    stores, money, rules = books.stores, books.money[0], world.rules[0]
    mine = books.of_kind[kind]
    if act != _OPEN and mine != NOWHERE:
        _close(world, books, mine, act == _LIQUIDATE)
        return
    num = num_open = 0
    while num < len(stores) and stores[num].kind != NOWHERE:
        num_open += stores[num].is_open
        num += 1
    if act != _OPEN or mine != NOWHERE or num_open >= rules.max_open_stores or money.bank < rules.setup_fen:
        money.void_acts += 1
        return
    stores[num].kind, stores[num].is_open, books.of_kind[kind] = kind, 1, num
    stores[num].reputation = rules.reputation_new
    stores[num].promotion = stores[num].window_promotion = NOWHERE
    money.bank -= rules.setup_fen


@inline
def _close(world: WorldTables, books: Books, store: int, is_liquidated: bool) -> None:
    shop, money, share = books.stores[store], books.money[0], world.rules[0].salvage_share
    for row in range(world.kinds[shop.kind].first_row, world.kinds[shop.kind + 1].first_row):
        goods, lots = books.goods[world.rows[row]], books.lots[world.rows[row]]
        if is_liquidated:
            _sell_off(goods, lots, money, share)
        goods.unlisted += goods.shelf
        goods.shelf = goods.price_fen = goods.trailing_fen = goods.window_units = goods.window_fen = 0
    books.of_kind[shop.kind] = NOWHERE
    shop.is_open, shop.promotion, shop.window_promotion = 0, NOWHERE, NOWHERE


@inline
def _sell_off(goods: TableRow, lots: Ints, money: TableRow, share: float) -> None:
    units = goods.shelf
    money.bank += nearest_fen(cost_out(goods, units) * share)
    while units > 0:
        day = next_lot(goods, lots)
        taken = min(units, lots[day])
        lots[day] -= taken
        units -= taken
    goods.shelf = 0


@inline
def pay(money: TableRow, fen: int) -> None:
    """Pay a fee, if the bank holds it."""
    if fen <= money.bank:
        money.bank -= fen
    else:
        money.void_acts += 1


@inline
def buy(money: TableRow, bought: TableRow, comes: TableRow) -> bool:
    """Buy the share of the money at hand that was planned, and no more than it pays; return whether anything comes."""
    planned, price, bank = bought.units, bought.unit_fen, max(0, money.bank)
    wanted = planned * bank // bought.bank_fen if bank < bought.bank_fen else planned
    units, comes.delivered, comes.defective = min(wanted, bank // price), bought.delivered, bought.defective
    money.num_bought += 1
    if units < planned:
        money.scaled_fen += (planned - wanted) * price
        money.cut_units += wanted - units
        money.cut_fen += (wanted - units) * price
        comes.delivered = max(1, bought.delivered * units // planned) if bought.delivered > 0 else 0
        comes.defective = min(comes.delivered, bought.defective * units // planned)
    comes.units = units
    money.bank -= units * price
    return units > 0


@inline
def receive(buys: TableRow, books: Books, day: int) -> None:
    """Take in what is there this morning."""
    row = books.first_due[day]
    while row != NOWHERE:
        comes, sku = books.inbox[row], buys[row].sku
        goods = books.goods[sku]
        if comes.delivered > 0:
            put_lot(goods, books.lots[sku], day, comes.delivered)
        goods.value_fen += comes.delivered * buys[row].unit_fen
        goods.delivered += comes.delivered
        goods.defective += comes.defective
        row = comes.next


@inline
def move_money(money: TableRow, wanted: int) -> None:
    """Move money to the bank, as far as it is there."""
    fen = money.wallet if wanted == _EVERYTHING else min(wanted, money.wallet)
    if fen == 0:
        money.void_acts += 1
    money.wallet -= fen
    money.bank += fen


@inline
def take_part(books: Books, joining: TableRow) -> None:
    """Let the store of a type take part in a promotion."""
    store = books.of_kind[joining.store_type]
    if store == NOWHERE:
        books.money[0].void_acts += 1
    else:
        books.stores[store].promotion = joining.promotion
        books.stores[store].discount = joining.discount


@inline
def act_on_shelf(goods: TableRow, is_open: bool, act: TableRow, money: TableRow) -> None:
    """List or take off units, as far as they are there."""
    wanted = _ALL if act.act in (_LIST_ALL, _TAKE_ALL) else act.units
    if act.act < _TAKE_UNITS:
        if not is_open or not put_on_shelf(goods, wanted):
            money.void_listings += 1
    elif is_open:
        taken = min(wanted, goods.shelf)
        goods.shelf -= taken
        goods.unlisted += taken
        if goods.shelf <= 0:
            goods.price_fen = 0


@inline
def put_on_shelf(goods: TableRow, wanted: int) -> bool:
    """List what is there of ``wanted`` units; return whether anything was."""
    units = min(wanted, goods.unlisted)
    if units <= 0:
        return False
    goods.unlisted -= units
    goods.shelf += units
    goods.price_fen = goods.list_fen
    if goods.trailing_fen == 0:
        goods.trailing_fen = goods.list_fen
    return True


@inline
def lose_patience(world: WorldTables, shelf_patience: Ints, books: Books) -> None:
    """List what has lain unlisted longer than the merchant ever let it."""
    for sku in range(len(world.skus)):
        goods = books.goods[sku]
        goods.lain_for = goods.lain_for + 1 if goods.unlisted > 0 else 0
        if goods.lain_for > shelf_patience[sku] and books.of_kind[world.skus[sku].kind] != NOWHERE:
            put_on_shelf(goods, goods.unlisted)
            goods.lain_for = 0
