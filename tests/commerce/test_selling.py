"""Sales of a day: what the window showed, what the shelf still holds, and one order per SKU."""

from __future__ import annotations

import numpy as np
import pytest

from commerce.config import PAPER
from commerce.fulfilment import ship
from commerce.selling import day_offer, expected_demand, sell_day
from commerce.streams import keyed_uniforms
from commerce.types import Speed
from tests.commerce.builders import new_year, ok, stock_up, world_with

ROWS = [("Personal Care & Massage", 100.0, "Medium", 0.25), ("Beauty Devices", 300.0, "Medium", 0.05)]


def open_shop(units=(500, 500), listed=(500, 500)):
    year = new_year(world_with(ROWS))
    ok(year, "open_store", store_type="beauty", store_name="S")
    for sku, num in enumerate(units):
        stock_up(year, sku, num, 2000)
    plan = [dict(product_id=f"p{sku}", quantity=num, retail_price=ROWS[sku][1]) for sku, num in enumerate(listed)]
    ok(year, "publish_to_store", store_id="store_001", plan=plan)
    ok(year, "wait_for_next_day")
    return year


def test_nothing_sells_on_the_day_it_is_listed():
    year = open_shop()
    assert len(year.state.orders.order_id) == 0
    ok(year, "wait_for_next_day")
    assert len(year.state.orders.order_id) == 2


def test_units_sold_follow_from_demand_and_the_keyed_draw():
    year = open_shop()
    store, setting = year.state.stores[0], year.setting
    offer = day_offer(setting, [store], 1)
    expected = expected_demand(setting, [store], offer, 1)
    uniforms = keyed_uniforms(setting.demand_keys[offer.skus], 1)
    wanted = [int(e) + (u < e - int(e)) for e, u in zip(expected, uniforms, strict=True)]
    sell_day(setting, year.state, 1)
    assert year.state.orders.units.tolist() == wanted
    assert year.state.orders.sku.tolist() == [0, 1]
    assert year.state.orders.gross_fen.tolist() == [wanted[0] * 10_000, wanted[1] * 30_000]
    assert store.revenue_fen == wanted[0] * 10_000 + wanted[1] * 30_000


def test_units_taken_off_during_the_day_are_gone():
    year = open_shop()
    ok(year, "return_to_warehouse", store_id="store_001", items=[dict(product_id="p0", quantity=499)])
    sell_day(year.setting, year.state, 1)
    assert year.state.orders.units.tolist()[0] == 1


def test_units_added_during_the_day_sell_from_tomorrow():
    year = open_shop(listed=(1, 500))
    ok(year, "publish_to_store", store_id="store_001", plan=[dict(product_id="p0", quantity=100, retail_price=100.0)])
    sell_day(year.setting, year.state, 1)
    assert year.state.orders.units.tolist()[0] == 1


def test_a_token_listing_dilutes_the_others():
    """Saturation comes before stock: one unit of a product takes its full share of the capacity."""
    alone, both = open_shop(listed=(500, 1)), open_shop(listed=(500, 1))
    alone.state.stores[0].window_units[1] = 0
    demands = [
        expected_demand(y.setting, y.state.stores, day_offer(y.setting, y.state.stores, 1), 1)[0] for y in (alone, both)
    ]
    assert demands[1] < demands[0]


def test_defective_stock_raises_the_blended_rate_of_new_orders():
    year = open_shop()
    year.state.units.defective[0] = 200  # of 500: delta 0.4, r_d = max(0.40, 0.50) = 0.50
    sell_day(year.setting, year.state, 1)
    assert year.state.orders.natural[0] == 0.25
    assert year.state.orders.blended[0] == pytest.approx(0.6 * 0.25 + 0.4 * 0.50)


def test_returns_come_at_their_rate_after_three_to_seven_days():
    """20,000 units at rate 0.25: standard error 0.0031; the five lags of 2,000 orders are equally likely."""
    year = open_shop()
    sell_day(year.setting, year.state, 1)
    template = year.state.orders.rows(np.array([0]))._replace(units=np.array([10]), net_fen=np.array([98_000]))
    orders = template
    for day in range(2, 2001):
        row = template._replace(order_id=np.array([day]), sale_day=np.array([day]))
        orders = orders.extended(row)
    year.state.orders = orders
    done = ship(year.setting, year.state, orders.order_id, Speed.STANDARD).orders
    assert done.return_units.sum() / done.units.sum() == pytest.approx(0.25, abs=4 * 0.0031)
    lags = (done.return_day - year.state.day)[done.return_units > 0]
    counts = np.bincount(lags, minlength=8)
    assert counts[:3].sum() == 0
    assert len(counts) == 8
    expected = counts.sum() / 5
    assert ((counts[3:] - expected) ** 2 / expected).sum() < 18.5  # chi-square, 4 degrees, p = 0.001


def test_the_price_paid_is_at_least_one_fen():
    year = new_year(world_with(ROWS), PAPER)
    ok(year, "open_store", store_type="beauty", store_name="S")
    stock_up(year, 0, 100, 1)
    ok(year, "publish_to_store", store_id="store_001", plan=[dict(product_id="p0", quantity=100, retail_price=0.01)])
    arguments = dict(store_id="store_001", event_name="New Year Kickoff Sale", discount_rate=0.5)
    ok(year, "join_promotion", **arguments)
    ok(year, "wait_for_next_day")
    ok(year, "wait_for_next_day")
    assert year.state.orders.unit_fen.tolist() == [1]
