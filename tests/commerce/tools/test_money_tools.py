"""What the money and stock tools show."""

from __future__ import annotations

import pytest

from tests.commerce.builders import new_year, ok, refused, stock_up, world_with

WORLD = world_with([("Pet Supplies", 50.0, "Medium", 0.02), ("Skincare & Beauty", 80.0, "Small", 0.1)])


def test_the_warehouse_shows_listed_units_ages_and_the_next_bill():
    year = new_year(WORLD)
    ok(year, "open_store", store_type="pet", store_name="S")
    stock_up(year, 0, 200, 1000)
    ok(year, "publish_to_store", store_id="store_001", plan=[dict(product_id="p0", quantity=50, retail_price=5000.0)])
    while year.state.day < 20:
        ok(year, "wait_for_next_day")
    data = ok(year, "check_warehouse")
    (row,) = data["items"]["results"]
    assert (row["on_hand"], row["unlisted"], row["average_cost"]) == (200, 150, 10.0)
    assert row["lots"] == [{"age_days": 20, "units": 200}]
    assert data["storage_last_night"] == 30.0  # 200 medium units, age 20
    assert row["storage_next_night"] == 42.0  # age 21
    ok(year, "wait_for_next_day")
    assert ok(year, "check_warehouse")["storage_last_night"] == 42.0


def test_return_trace_by_hand():
    year = new_year(WORLD)
    stock_up(year, 1, 30, 1000)
    stock_up(year, 0, 10, 1000)
    units = year.state.units
    units.sold[1], units.returned[1] = 20, 6
    first, second = ok(year, "trace_return_sources")["results"]
    assert (first["product_id"], second["product_id"]) == ("p1", "p0")
    assert first["realized_return_rate"] == 0.3
    assert first["natural_return_rate"] == 0.1
    assert first["suppliers"][0]["share"] == 1.0
    assert "far above" in first["note"]
    assert (second["realized_return_rate"], second["note"]) == (None, None)
    assert refused(new_year(WORLD), "trace_return_sources", product_id="p0") == "no_history"


@pytest.mark.parametrize(
    ("sold", "returned", "note"),
    [(9, 9, None), (10, 1, None), (20, 3, "watch price"), (20, 5, "far above"), (100, 14, None), (100, 15, "watch")],
)
def test_hints_of_the_return_trace(sold, returned, note):
    """Natural rate 0.10: a weak hint from 0.15, a strong one from 0.25, none before ten units are sold."""
    year = new_year(WORLD)
    stock_up(year, 1, 100, 1000)
    year.state.units.sold[1], year.state.units.returned[1] = sold, returned
    found = ok(year, "trace_return_sources", product_id="p1")["results"][0]["note"]
    assert found is None if note is None else note in found


def test_balance():
    year = new_year(WORLD)
    data = ok(year, "check_balance")
    assert (data["bank_balance"], data["platform_wallet"], data["escrow"], data["total"]) == (1e5, 0, 0, 1e5)
    assert data["upcoming_settlements"] == []
