"""Shipping, cancelling, returning, settling: money, units and ages, in both rule sets."""

from __future__ import annotations

import numpy as np
import pytest

from commerce.audit import check_books
from commerce.config import FAIR, PAPER
from commerce.fulfilment import ship
from commerce.ledger import Account
from commerce.selling import ShelfOffer, book_sales
from commerce.types import Speed
from tests.commerce.builders import new_year, ok, refused, stock_up, world_with

WORLD = world_with([("Women's Shoes", 100.0, "Medium", 0.45)])


def year_with_order(rules=PAPER, units=20, price=100.0, lots=((0, 12), (3, 20))):
    """A year with one order of ``units``, sold yesterday from lots that came in on the given days."""
    year = new_year(WORLD, rules)
    ok(year, "open_store", store_type="shoes_bags", store_name="S")
    for day, num in lots:
        while year.state.day < day:
            ok(year, "wait_for_next_day")
        stock_up(year, 0, num, 4000)
    state = year.state
    total = sum(num for _, num in lots)
    plan = [dict(product_id="p0", quantity=total, retail_price=price)]
    ok(year, "publish_to_store", store_id="store_001", plan=plan)
    offer = ShelfOffer(np.array([0]), np.array([0]), np.array([0]), np.array([price * 100]), np.zeros(1), (None,))
    book_sales(year.setting, state, state.stores, offer, np.array([units]), state.day - 1)
    check_books(year.setting, state)
    return year


@pytest.mark.parametrize(("speed", "freight"), [("fast", 60.0), ("standard", 30.0), ("slow", 15.0)])
def test_freight_and_escrow(speed, freight):
    year = year_with_order()
    bank = year.state.bank_fen
    data = ok(year, "ship_orders", action="ship", speed=speed)
    assert (data["shipping_cost"], data["revenue_into_escrow"]) == (freight, 1960.0)
    assert year.state.bank_fen == bank - round(freight * 100)
    assert data["settles_on"] == "2026-01-13"  # shipped on 4 January
    assert refused(year, "ship_orders", action="ship") == "nothing_to_ship"


def test_freight_may_overdraw_the_bank():
    year = year_with_order()
    year.state.ledger.balances[Account.EQUITY] += year.state.bank_fen
    year.state.ledger.balances[Account.BANK] = 0
    ok(year, "ship_orders", action="ship")
    assert year.state.bank_fen == -3000


def test_listing_ships_nothing():
    year = year_with_order()
    data = ok(year, "ship_orders", action="list")
    (row,) = data["results"]
    assert (row["quantity"], row["unit_price"], row["revenue_if_shipped"], row["days_left"]) == (20, 100.0, 1960.0, 1)
    assert year.state.orders.is_pending.all()
    assert refused(year, "ship_orders", action="ship", shipment_ids=[row["shipment_id"], 99]) == "unknown_shipment"
    assert year.state.orders.is_pending.all()


def test_faster_shipping_never_returns_more():
    """The uniforms of an order are its own, so speed only moves the threshold."""
    returned = []
    for speed in Speed:
        year = year_with_order(units=30, lots=((0, 40),))
        ship(year.setting, year.state, year.state.orders.order_id, speed)
        returned.append(int(year.state.orders.return_units[0]))
        parts = year.state.totals
        rate = (parts.natural_returns + parts.defect_returns + parts.price_returns + parts.speed_returns) / 30
        assert rate == pytest.approx(min(0.95, 0.45 * {"fast": 0.75, "standard": 1.0, "slow": 1.3}[speed]))
    assert returned[0] <= returned[1] <= returned[2]
    assert returned[0] < returned[2]


def test_returned_units_keep_their_age():
    year = year_with_order()
    state = year.state
    assert dict(zip(state.lots.day.tolist(), state.lots.units.tolist(), strict=True)) == {3: 12}
    ship(year.setting, state, state.orders.order_id, Speed.STANDARD)
    state.orders.return_units[:], state.orders.return_day[:] = 14, state.day + 3
    while state.day < 7:
        ok(year, "wait_for_next_day")
    # 12 units of day 0 and 2 of day 3 came back: the oldest of the order first, with the day they first came in
    sold = int(state.units.sold[0]) - 20
    assert dict(zip(state.lots.day.tolist(), state.lots.units.tolist(), strict=True))[3] == 14 - max(0, sold - 12)
    assert min(state.lots.day.tolist()) == 0


@pytest.mark.parametrize(("rules", "wallet"), [(PAPER, 1360_00), (FAIR, 1372_00)])
def test_commission_on_returned_units(rules, wallet):
    """6 of 20 units at 100 come back: kept commission leaves 1,360.00, a fair platform 14 x 98 = 1,372.00."""
    year = year_with_order(rules, lots=((0, 20),))
    state = year.state
    ship(year.setting, state, state.orders.order_id, Speed.STANDARD)
    state.orders.return_units[:], state.orders.return_day[:] = 6, state.day + 3
    while state.ledger.balance(Account.ESCROW):
        ok(year, "wait_for_next_day")
    assert state.ledger.balance(Account.WALLET) == wallet
    assert state.ledger.balance(Account.REFUNDS) == 600_00


def test_withdrawing():
    year = year_with_order(lots=((0, 20),))
    state = year.state
    assert refused(year, "withdraw") == "wallet_empty"
    ship(year.setting, state, state.orders.order_id, Speed.STANDARD)
    state.orders.return_units[:] = 0
    while not state.ledger.balance(Account.WALLET):
        ok(year, "wait_for_next_day")
    assert refused(year, "withdraw", amount=1960.01) == "insufficient_funds"
    assert ok(year, "withdraw", amount=60.0)["platform_wallet"] == 1900.0
    assert ok(year, "withdraw")["withdrawn"] == 1900.0


def test_the_end_refunds_what_is_still_to_come_and_settles():
    year = year_with_order(lots=((0, 30),))
    state = year.state
    ship(year.setting, state, state.orders.order_id, Speed.STANDARD)
    state.orders.return_units[:], state.orders.return_day[:] = 6, state.day + 7
    offer = ShelfOffer(np.array([0]), np.array([0]), np.array([0]), np.array([10000.0]), np.zeros(1), (None,))
    book_sales(year.setting, state, state.stores, offer, np.array([4]), state.day)
    year.stop()
    assert state.ledger.balance(Account.ESCROW) == 0
    assert state.ledger.balance(Account.WALLET) == 1360_00
    assert state.ledger.balance(Account.WRITE_OFF) == 4 * 4000
    assert state.units.lost.tolist() == [4]
    assert state.units.not_restocked.tolist() == [6]
    assert state.on_hand.tolist() == [6]
