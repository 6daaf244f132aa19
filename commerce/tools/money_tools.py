"""Handlers of the tools for money, stock and orders."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from commerce import shopkeeping
from commerce.fulfilment import SPEEDS, pending_orders, ship
from commerce.ledger import Account
from commerce.lots import storage_bill, sum_by
from commerce.money import round_fen, to_fen, to_yuan
from commerce.orders import Orders
from commerce.refusals import RefusedError
from commerce.returns import return_hint
from commerce.setting import Setting
from commerce.state import Inbound, YearState
from commerce.tools import arguments as args
from commerce.tools.handling import Data, Desk, clock, paged
from commerce.tools.pages import TablePage, bounds, written_names
from commerce.types import Speed

_NUM_UPCOMING = 5


def check_balance(desk: Desk, given: args.NoArguments) -> Data:
    """Report the three pockets and what is about to settle."""
    ledger, orders = desk.state.ledger, desk.state.orders
    shipped = orders.rows(~orders.is_pending)
    days = np.unique(shipped.settle_day)
    return {
        "bank_balance": to_yuan(desk.state.bank_fen),
        "platform_wallet": to_yuan(ledger.balance(Account.WALLET)),
        "escrow": to_yuan(ledger.balance(Account.ESCROW)),
        "total": to_yuan(ledger.assets_fen),
        "unshipped_sales_value": to_yuan(int(orders.net_fen[orders.is_pending].sum())),
        "upcoming_settlements": [
            {
                "date": desk.setting.date(int(day)).isoformat(),
                "amount": to_yuan(int(shipped.escrow_fen[shipped.settle_day == day].sum())),
            }
            for day in days[:_NUM_UPCOMING]
        ],
    }


def withdraw(desk: Desk, given: args.Withdraw) -> Data:
    """Move money from the wallet to the bank."""
    wallet = desk.state.ledger.balance(Account.WALLET)
    amount = wallet if given.amount is None else to_fen(given.amount)
    if wallet == 0:
        raise RefusedError("wallet_empty", None, "the wallet is empty")
    if amount > wallet:
        raise RefusedError(
            "insufficient_funds", "amount", f"amount={given.amount} exceeds the wallet of {to_yuan(wallet):.2f} yuan"
        )
    shopkeeping.move_to_bank(desk.state, amount)
    desk.decisions.withdrew(desk.state, amount)
    return {
        "withdrawn": to_yuan(amount),
        "bank_balance": to_yuan(desk.state.bank_fen),
        "platform_wallet": to_yuan(wallet - amount),
    }


def check_warehouse(desk: Desk, given: args.CheckWarehouse) -> Data:
    """Report all units on hand with their ages, what they cost to keep, and purchase orders on their way."""
    setting, state = desk.setting, desk.state
    last_row = state.history[-1] if state.history else {}
    return {
        "total_units": int(state.on_hand.sum()),
        "total_cost": to_yuan(int(state.value_fen.sum())),
        "storage_last_night": to_yuan(last_row.get("storage_fen", 0)),
        "items": _items(setting, state, given),
        "inbound": _inbound(setting, state, given),
    }


def _items(setting: Setting, state: YearState, given: args.CheckWarehouse) -> TablePage:
    """Return the units on hand by SKU."""
    lots, tomorrow, names = state.lots, state.day + 1, setting.world.skus.sku_id
    starts = np.flatnonzero(np.diff(lots.owner, prepend=-1))
    ends, where = np.append(starts, len(lots.owner))[1:], bounds(given.page, given.page_size)
    skus = lots.owner[starts][where]
    unlisted, on_hand, value_fen = (
        column[skus].tolist() for column in (state.unlisted, state.on_hand, state.value_fen)
    )
    unit_days = np.add.reduceat((state.day - lots.day) * lots.units, starts)[where].tolist() if len(starts) else []

    def columns() -> Iterator[tuple[int, int, int, int, int, int, int]]:
        bill = storage_bill(lots, tomorrow, setting.storage_fen, setting.rules)
        bills = round_fen(sum_by(lots.owner, bill, setting.num_skus))[skus].tolist()
        places = (skus.tolist(), starts[where].tolist(), ends[where].tolist())
        return zip(*places, unlisted, on_hand, value_fen, bills, strict=True)

    def lot_columns() -> Iterator[tuple[int, int]]:
        return zip((tomorrow - 1 - lots.day).tolist(), lots.units.tolist(), strict=True)

    def make() -> list[Data]:
        every_lot = [{"age_days": age, "units": units} for age, units in lot_columns()]
        titles, categories = setting.world.skus.title, setting.world.category_names
        return [
            {
                "product_id": names[sku],
                "title": titles[sku],
                "category": categories[sku],
                "unlisted": free,
                "on_hand": units,
                "average_cost": round(fen / units / 100, 4),
                "lots": every_lot[start:end],
                "storage_next_night": bill_fen / 100,
            }
            for sku, start, end, free, units, fen, bill_fen in columns()
        ]

    def write() -> list[str]:
        every_lot = [f'{{"age_days":{age},"units":{units}}}' for age, units in lot_columns()]
        ids, titles, categories, _ = written_names(setting.world)
        return [
            f'{{"average_cost":{round(fen / units / 100, 4)!r},"category":{categories[sku]},'
            f'"lots":[{",".join(every_lot[start:end])}],"on_hand":{units},"product_id":{ids[sku]},'
            f'"storage_next_night":{bill_fen / 100!r},"title":{titles[sku]},"unlisted":{free}}}'
            for sku, start, end, free, units, fen, bill_fen in columns()
        ]

    cheap = {
        "product_id": [names[sku] for sku in skus.tolist()],
        "unlisted": unlisted,
        "on_hand": on_hand,
        "unit_days": unit_days,
    }
    return TablePage(make, given.page, given.page_size, len(starts), cheap, write)


def _inbound(setting: Setting, state: YearState, given: args.CheckWarehouse) -> TablePage:
    """Return the purchase orders on their way."""
    rows = state.inbound[bounds(given.page, given.page_size)]

    def make() -> list[Data]:
        return [_show_inbound(setting, row) for row in rows]

    def write() -> list[str]:
        names, date = written_names(setting.world), setting.iso_date
        return [
            f'{{"expected_from":"{date(row.told_first_day)}","expected_to":"{date(row.told_last_day)}",'
            f'"ordered":"{date(row.placed_day)} {clock(row.placed_minute)}","product_id":{names.ids[row.sku]},'
            f'"purchase_order":{row.order_id},"quantity":{row.quantity},"supplier":{names.suppliers[row.supplier]},'
            f'"unit_price":{row.unit_price_fen / 100!r}}}'
            for row in rows
        ]

    return TablePage(make, given.page, given.page_size, len(state.inbound), None, write)


def _show_inbound(setting: Setting, row: Inbound) -> Data:
    return {
        "purchase_order": row.order_id,
        "product_id": setting.world.skus.sku_id[row.sku],
        "supplier": setting.world.suppliers[row.supplier].email,
        "quantity": row.quantity,
        "unit_price": to_yuan(row.unit_price_fen),
        "ordered": f"{setting.iso_date(row.placed_day)} {clock(row.placed_minute)}",
        "expected_from": setting.iso_date(row.told_first_day),
        "expected_to": setting.iso_date(row.told_last_day),
    }


def ship_orders(desk: Desk, given: args.ShipOrders) -> Data:
    """List or ship pending orders."""
    pending = pending_orders(desk.state)
    if given.action == "list":
        return paged(range(len(pending.order_id)), given.page, given.page_size, lambda i: _show_order(desk, pending, i))
    ids = pending.order_id if given.shipment_ids is None else np.array(_known(given.shipment_ids, pending))
    if not len(ids):
        raise RefusedError("nothing_to_ship", None, "no order is waiting to be shipped")
    speed = Speed(given.speed)
    done = ship(desk.setting, desk.state, ids, speed)
    desk.decisions.shipped(desk.state, done.orders, SPEEDS.index(speed))
    return {
        "speed": given.speed,
        "shipped_count": len(done.orders.order_id),
        "shipped_units": int(done.orders.units.sum()),
        "shipping_cost": to_yuan(int(done.freight_fen.sum())),
        "revenue_into_escrow": to_yuan(done.net_fen),
        "settles_on": desk.setting.date(desk.state.day + desk.setting.rules.settlement_days).isoformat(),
        "bank_balance": to_yuan(desk.state.bank_fen),
        "escrow": to_yuan(desk.state.ledger.balance(Account.ESCROW)),
    }


def _known(ids: list[int], pending: Orders) -> list[int]:
    known = set(pending.order_id.tolist())
    if strange := [number for number in ids if number not in known]:
        raise RefusedError(
            "unknown_shipment", "shipment_ids", f"shipment_ids={strange[:5]} are not waiting to be shipped"
        )
    return ids


def _show_order(desk: Desk, orders: Orders, row: int) -> Data:
    setting = desk.setting
    deadline = int(orders.sale_day[row]) + setting.rules.ship_within_days
    return {
        "shipment_id": int(orders.order_id[row]),
        "store_id": f"store_{int(orders.store[row]):03d}",
        "product_id": setting.world.skus.sku_id[int(orders.sku[row])],
        "quantity": int(orders.units[row]),
        "unit_price": to_yuan(int(orders.unit_fen[row])),
        "revenue_if_shipped": to_yuan(int(orders.net_fen[row])),
        "sale_date": setting.date(int(orders.sale_day[row])).isoformat(),
        "ship_deadline": setting.date(deadline).isoformat(),
        "days_left": deadline - desk.state.day,
    }


def trace_return_sources(desk: Desk, given: args.TraceReturnSources) -> Data:
    """Report by product what was delivered by whom, sold and returned, the most returned first."""
    units = desk.state.units
    rows = np.array([int(sku) for sku in desk.state.sources], dtype=np.int64)
    if given.product_id is not None:
        wanted = shopkeeping.find_sku(desk.setting, given.product_id)
        if wanted not in rows:
            raise RefusedError("no_history", "product_id", f"nothing of {given.product_id} was ever delivered")
        rows = np.array([wanted])
    rows = rows[np.lexsort((rows, -units.returned[rows] / np.maximum(1, units.sold[rows])))]
    columns = (rows, units.sold[rows], units.returned[rows], units.delivered[rows])
    counts = list(zip(*(column.tolist() for column in columns), strict=True))
    return paged(counts, given.page, given.page_size, lambda row: _show_returns(desk, *row))


def _show_returns(desk: Desk, sku: int, sold: int, returned: int, delivered: int) -> Data:
    world = desk.setting.world
    natural = float(world.skus.return_rate[sku])
    rate = returned / sold if sold else None
    shares = desk.state.sources[str(sku)]
    hint = return_hint(sold, returned, natural)
    return {
        "product_id": world.skus.sku_id[sku],
        "title": world.skus.title[sku],
        "category": world.category_names[sku],
        "units_delivered": delivered,
        "units_sold": sold,
        "units_returned": returned,
        "realized_return_rate": None if rate is None else round(rate, 4),
        "natural_return_rate": natural,
        "suppliers": [
            {"supplier": world.suppliers[int(row)].email, "units_delivered": num, "share": round(num / delivered, 4)}
            for row, num in shares.items()
        ],
        "note": None if hint is None else hint.value,
    }
