"""One call at a time: validation before time, closing time, the envelope, the end, and the same year for everybody."""

from __future__ import annotations

import json

import numpy as np
import pytest

from commerce.config import FAIR, PAPER
from commerce.selling import sell_day
from commerce.state import state_digest
from commerce.year import Year
from tests.commerce.builders import default_world, new_year, ok, refused, stock_up, world_with


def test_the_envelope():
    year = new_year()
    good = year.call("check_balance").to_json_object()
    assert list(good) == ["notices", "ok", "data", "time"]
    assert [notice["kind"] for notice in good["notices"]] == ["promotion"]  # the New Year sale, which starts today
    assert good["time"] == {
        "day": 0, "date": "2026-01-01", "clock": "08:10", "minutes_charged": 10, "minutes_left": 590, "end": None,
    }  # fmt: skip
    bad = year.call("withdraw", {"amount": -1}).to_json_object()
    assert bad["error"]["code"] == "invalid_arguments"
    assert bad["error"]["field"] == "amount"
    assert "amount=-1" in bad["error"]["message"]
    assert bad["time"]["minutes_charged"] == 0


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("fly_to_moon", {}, "unknown_tool"),
        (None, {}, "unknown_tool"),
        ("check_balance", {"x": 1}, "invalid_arguments"),
        ("check_balance", [1], "malformed_arguments"),
        ("check_balance", "{", "malformed_arguments"),
        ("withdraw", '{"amount": NaN}', "malformed_arguments"),
        ("withdraw", {"amount": float("nan")}, "invalid_arguments"),
        ("withdraw", {"amount": float("inf")}, "invalid_arguments"),
        ("withdraw", {"amount": "5"}, "invalid_arguments"),
        ("withdraw", {"amount": True}, "invalid_arguments"),
        ("close_store", {"store_id": "store_001", "liquidate": "false"}, "invalid_arguments"),
        ("ship_orders", {"action": "ship", "shipment_ids": "[1]"}, "invalid_arguments"),
        ("ship_orders", {"action": "ship", "shipment_ids": []}, "invalid_arguments"),
        ("ship_orders", {}, "invalid_arguments"),
    ],
)
def test_an_invalid_call_takes_no_time_and_changes_nothing(tool, arguments, code):
    year = new_year()
    ok(year, "check_balance")
    before = json.dumps([year.state.minute, year.state.ledger.balances.tolist()])
    result = year.call(tool, arguments)
    assert (result.ok, result.error.code) == (False, code)
    assert json.dumps([year.state.minute, year.state.ledger.balances.tolist()]) == before


def test_reaching_closing_time_runs_the_morning_first():
    year = new_year()
    for _ in range(19):
        ok(year, "market_search")  # 30 minutes each
    assert year.state.minute == 17 * 60 + 30
    result = year.call("open_store", {"store_type": "pet", "store_name": "S"})
    assert result.time["date"] == "2026-01-02"
    assert result.time["clock"] == "08:00"
    assert result.time["minutes_charged"] == 30  # what was left of the day
    assert year.state.stores[0].opened_day == 1


def test_exactly_at_closing_time_is_too_late():
    year = new_year()
    for _ in range(20):
        ok(year, "market_search")
    assert (year.state.day, year.state.minute) == (1, 480)


def test_waiting_returns_the_report_of_the_day():
    year = new_year()
    ok(year, "open_store", store_type="pet", store_name="S")
    report = ok(year, "wait_for_next_day")
    assert report["day"] == 1
    assert report["operations"] == 60.0
    assert report["bank"] == 100_000 - 500 - 60
    assert report["flows"] == {"initial balance": 100_000.0, "store setup": 500.0, "operations": 60.0}
    assert report["sales"] == {"store_001": {"units": 0, "revenue": 0.0}}


def test_nothing_changes_after_the_end():
    year = new_year(num_days=2)
    while not year.is_over:
        ok(year, "wait_for_next_day")
    before = state_digest(year.state)
    for tool in ("wait_for_next_day", "check_balance", "open_store", "nope"):
        assert refused(year, tool) == "year_over"
    year.stop()
    assert state_digest(year.state) == before
    assert year.state.end == "max_days_reached"


def test_a_call_that_the_end_comes_before_is_refused():
    year = new_year(num_days=1)
    for _ in range(19):
        ok(year, "market_search")
    result = year.call("open_store", {"store_type": "pet", "store_name": "S"})
    assert result.error.code == "year_over"
    assert result.is_over
    assert year.state.stores == []


def test_every_posting_is_passed_on_once():
    batches = []
    year = Year(default_world(), PAPER.model_copy(update={"num_days": 3}), on_postings=batches.extend)
    ok(year, "open_store", store_type="pet", store_name="S")
    while not year.is_over:
        report = ok(year, "wait_for_next_day")
    assert [batch.reason for batch in batches] == ["initial balance", "store setup", *["operations"] * 3]
    assert sum(len(batch.amounts) for batch in batches) == year.state.ledger.num_postings
    assert report["final_assets"] == 100_000 - 500 - 180


def test_a_year_can_be_stopped():
    year = new_year()
    ok(year, "wait_for_next_day")
    year.stop()
    assert year.state.ledger.open_batches == []
    assert year.state.end == "stopped"
    assert year.final_fen == 10_000_000


def test_reading_changes_no_draw():
    """One merchant only waits, the other reads everything all day: the same demand, lead times and returns."""
    quiet, curious = trading_year(), trading_year()
    for _ in range(12):
        for tool in ("market_search", "supplier_search", "trace_return_sources", "check_warehouse"):
            curious.call(tool)
        reports = [ok(year, "wait_for_next_day") for year in (quiet, curious)]
        assert reports[0] == reports[1]
        for year in (quiet, curious):
            year.call("ship_orders", {"action": "ship"})


def trading_year() -> Year:
    year = new_year(world_with([("Personal Care & Massage", 100.0, "Medium", 0.3)] * 3))
    ok(year, "open_store", store_type="beauty", store_name="S")
    for sku in range(3):
        stock_up(year, sku, 200, 3000)
    plan = [dict(product_id=f"p{sku}", quantity=200, retail_price=100.0) for sku in range(3)]
    ok(year, "publish_to_store", store_id="store_001", plan=plan)
    return year


def test_different_merchants_meet_the_same_noise():
    """Demand draws depend on SKU and day alone: a merchant that also sells something else keeps its draws."""
    rows = [("Pet Supplies", 100.0, "Small", 0.01), ("Skincare & Beauty", 100.0, "Small", 0.1)]
    years = []
    for both in (False, True):
        year = new_year(world_with(rows))
        for store_type, sku in (("pet", 0), ("beauty", 1)):
            if sku == 0 or both:
                ok(year, "open_store", store_type=store_type, store_name="S")
                stock_up(year, sku, 500, 1000)
                store = f"store_{len(year.state.stores):03d}"
                item = dict(product_id=f"p{sku}", quantity=500, retail_price=100.0)
                ok(year, "publish_to_store", store_id=store, plan=[item])
        years.append(year)
    for _ in range(20):
        pets = []
        for year in years:
            ok(year, "wait_for_next_day")
            pets.append(int(year.state.stores[0].sold.sum()))
            year.state.stores[0].reputation = 0.5  # cancellations would move it, shipped or not
        assert pets[0] == pets[1]


@pytest.mark.parametrize("rules", [PAPER, FAIR], ids=["paper", "fair"])
def test_degenerate_prices(rules):
    """Prices from 1e-9 to 1e12 are refused or sold at, and the books hold (checked by every daily step)."""
    world = default_world()
    sku = world.sku_index[world.skus.sku_id[0]]
    kind = world.store_types[int(world.skus.store_type[sku])].name
    year = new_year(world, rules)
    ok(year, "open_store", store_type=kind, store_name="S")
    stock_up(year, sku, 1000, 100)
    accepted = 0
    product = world.skus.sku_id[sku]
    for exponent in range(-9, 13):
        item = dict(product_id=product, quantity=10, retail_price=10.0**exponent)
        result = year.call("publish_to_store", {"store_id": "store_001", "plan": [item]})
        if result.ok and result.data["num_failed"] == 0:
            accepted += 1
            ok(year, "wait_for_next_day")
            year.call("ship_orders", {"action": "ship", "speed": "fast"})
        else:
            fault = result.error or result.data["results"][0]["error"]
            assert "price" in (fault.message if result.error else fault["message"])
    assert accepted >= (9 if rules is PAPER else 1)
    assert np.isfinite(year.final_fen)


def test_evening_prices_are_not_retroactive():
    year = trading_year()
    ok(year, "wait_for_next_day")
    prices = [dict(product_id=f"p{sku}", price=999.0) for sku in range(3)]
    ok(year, "set_prices", store_id="store_001", prices=prices)
    sell_day(year.setting, year.state, 1)
    assert set(year.state.orders.unit_fen.tolist()) == {10_000}
