"""The audit finds every kind of planted damage: a check that cannot fail is no check."""

from __future__ import annotations

import pytest

from commerce.audit import check_books
from commerce.ledger import Account
from commerce.year import Year
from tests.commerce.builders import new_year, ok, stock_up, world_with


@pytest.fixture
def year() -> Year:
    """A year with stock on and off the shelf, pending and shipped orders, and a purchase order on its way."""
    year = new_year(world_with([("Personal Care & Massage", 100.0, "Medium", 0.3)] * 2))
    ok(year, "open_store", store_type="beauty", store_name="S")
    for sku in range(2):
        stock_up(year, sku, 200, 3000)
    supplier = year.setting.world.suppliers[year.setting.world.suppliers_by_category[26][0]].email
    move = dict(action="offer", sku_id="p0", price=30.0, quantity=5)
    while not len(year.state.orders.order_id):
        plan = [dict(product_id=f"p{sku}", quantity=10, retail_price=100.0) for sku in range(2)]
        ok(year, "publish_to_store", store_id="store_001", plan=plan)
        ok(year, "wait_for_next_day")
    ok(year, "chatbox", uids=[supplier], actions=[move])
    check_books(year.setting, year.state)
    return year


def add(array, amount):
    array[0] += amount


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda s: add(s.ledger.balances, 1), "sum of all balances: the ledger says 1 fen"),
        (lambda s: (add(s.ledger.balances, 1), add(s.ledger.balances[Account.EQUITY :], -1)), None),
        (lambda s: add(s.value_fen, 1), "inventory"),
        (lambda s: add(s.orders.cost_fen, 1), "goods sold"),
        (lambda s: add(s.orders.escrow_fen, 1), "escrow"),
        (lambda s: s.inbound.clear(), "goods on order"),
        (lambda s: add(s.unlisted, 1), "shelves and unlisted stock"),
        (lambda s: add(s.stores[0].shelf, -1), "shelves and unlisted stock"),
        (lambda s: add(s.lots.units, 1), "lots"),
        (lambda s: add(s.units.delivered, 1), "units in and out"),
        (lambda s: add(s.units.shipped, 1), "sold units"),
        (lambda s: add(s.orders.units, 1), "sold units"),
        (lambda s: add(s.order_lots.units, 1), "orders hold"),
        (lambda s: (add(s.unlisted, -500), add(s.stores[0].shelf, 500)), "negative"),
    ],
)
def test_planted_damage_is_found(year, damage, says):
    damage(year.state)
    if says is None:  # money that came in as equity is money, not damage
        check_books(year.setting, year.state)
        return
    with pytest.raises(AssertionError, match=says):
        check_books(year.setting, year.state)
