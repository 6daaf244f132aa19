"""Stores: opening, closing, listing, pricing, promotions; refusals name the field and change nothing."""

from __future__ import annotations

import pytest

from commerce.config import FAIR
from commerce.selling import day_offer
from commerce.shopkeeping import refresh_windows
from commerce.state import state_digest
from tests.commerce.builders import new_year, ok, refused, stock_up, world_with

WORLD = world_with([("Pet Supplies", 50.0, "Small", 0.01), ("Skincare & Beauty", 80.0, "Small", 0.1)])


@pytest.fixture
def year():
    year = new_year(WORLD)
    ok(year, "open_store", store_type="pet", store_name="S")
    stock_up(year, 0, 40, 1000)
    return year


def publish(year, quantity=10, price=50.0, product="p0", store="store_001"):
    plan = [dict(product_id=product, quantity=quantity, retail_price=price)]
    return ok(year, "publish_to_store", store_id=store, plan=plan)["results"][0]


def test_opening_refusals_in_order(year):
    assert refused(year, "open_store", store_type="space", store_name="S") == "unknown_store_type"
    assert refused(year, "open_store", store_type="pet", store_name="S") == "type_open"
    for store_type in ("beauty", "fashion", "mother_baby"):
        ok(year, "open_store", store_type=store_type, store_name="S")
    assert refused(year, "open_store", store_type="shoes_bags", store_name="S") == "too_many_stores"


def test_opening_needs_the_setup_fee():
    year = new_year(WORLD, initial_fen=49_999)
    assert refused(year, "open_store", store_type="pet", store_name="S") == "insufficient_funds"
    assert year.state.bank_fen == 49_999


def test_publishing_moves_units_and_sets_the_price_of_all(year):
    assert publish(year, 10, 50.0)["ok"]
    assert publish(year, 5, 60.0)["ok"]
    status = ok(year, "check_store_status", store_id="store_001")
    (row,) = status["products"]["results"]
    assert (row["quantity"], row["retail_price"]) == (15, 60.0)
    assert year.state.unlisted[0] == 25


@pytest.mark.parametrize(
    ("item", "code"),
    [
        (dict(product_id="p9", quantity=1, retail_price=1.0), "unknown_product"),
        (dict(product_id="p1", quantity=1, retail_price=1.0), "category_not_allowed"),
        (dict(product_id="p0", quantity=41, retail_price=1.0), "not_enough_stock"),
        (dict(product_id="p0", quantity=1, retail_price=0.004), "price_out_of_range"),
        (dict(product_id="p0", quantity=1, retail_price=10_000_000.5), "price_out_of_range"),
    ],
)
def test_an_item_that_cannot_be_listed_fails_alone(year, item, code):
    good = dict(product_id="p0", quantity=2, retail_price=50.0)
    data = ok(year, "publish_to_store", store_id="store_001", plan=[item, good])
    assert [row["ok"] for row in data["results"]] == [False, True]
    assert (data["num_failed"], data["results"][0]["error"]["code"]) == (1, code)
    assert year.state.stores[0].shelf.tolist() == [2]


def test_unlisting(year):
    publish(year, 10)
    items = [dict(product_id="p0", quantity=11), dict(product_id="p0", quantity=10)]
    data = ok(year, "return_to_warehouse", store_id="store_001", items=items)
    assert [row["ok"] for row in data["results"]] == [False, True]
    assert year.state.unlisted[0] == 40
    prices = [dict(product_id="p0", price=40.0)]
    assert ok(year, "set_prices", store_id="store_001", prices=prices)["results"][0]["error"]["code"] == "not_listed"


def test_a_sold_out_product_can_still_be_priced(year):
    publish(year, 10)
    year.state.stores[0].shelf[0] = 0
    prices = [dict(product_id="p0", price=40.0)]
    row = ok(year, "set_prices", store_id="store_001", prices=prices)["results"][0]
    assert (row["old_price"], row["new_price"]) == (50.0, 40.0)


def test_closing_returns_the_shelf_with_its_age(year):
    publish(year, 10)
    ok(year, "wait_for_next_day")
    units = int(year.state.on_hand[0])
    data = ok(year, "close_store", store_id="store_001")
    assert data["salvage"] is None
    assert year.state.unlisted[0] == units
    assert year.state.lots.day.tolist() == [0]
    assert refused(year, "close_store", store_id="store_001") == "store_closed"
    assert refused(year, "close_store", store_id="store_009") == "unknown_store"
    assert ok(year, "open_store", store_type="pet", store_name="S")["is_reopened"]
    assert year.state.stores[1].shipped_units == 0


def test_no_sales_and_no_operations_for_the_day_of_closing(year):
    publish(year, 10)
    ok(year, "wait_for_next_day")
    ok(year, "close_store", store_id="store_001")
    report = ok(year, "wait_for_next_day")
    assert report["operations"] == 0
    assert report["sales"] == {}


@pytest.mark.parametrize(
    ("name", "rate", "day", "code"),
    [
        ("Winter Clearance Festival", 0.04, 0, "discount_out_of_range"),
        ("Winter Clearance Festival", 0.51, 0, "discount_out_of_range"),
        ("winter clearance festival", 0.10, 0, "unknown_promotion"),
        ("Spring Blossom Sale", 0.10, 0, "promotion_not_open"),
        ("New Year Kickoff Sale", 0.10, 7, "promotion_not_open"),
        ("Winter Clearance Festival", 0.10, 0, None),  # starts in 28 days
        ("New Year Kickoff Sale", 0.50, 6, None),
    ],
)
def test_joining_a_promotion(year, name, rate, day, code):
    while year.state.day < day:
        ok(year, "wait_for_next_day")
    arguments = dict(store_id="store_001", event_name=name, discount_rate=rate)
    if code is not None:
        assert refused(year, "join_promotion", **arguments) == code
        assert year.state.stores[0].promotion is None
    else:
        assert ok(year, "join_promotion", **arguments)["event"] == name


def test_a_promotion_survives_between_its_windows_and_ends_after_the_last(year):
    midyear = next(p for p in WORLD.promotions if p.name == "Midyear Mega Sale")
    (first, _), (_, last) = midyear.windows
    state = year.state
    state.day = first
    ok(year, "join_promotion", store_id="store_001", event_name=midyear.name, discount_rate=0.3)
    for day, is_joined in ((first + 1, True), (first + 10, True), (last, True), (last + 1, False)):
        state.day = day
        refresh_windows(year.setting, state)
        assert (state.stores[0].promotion is not None) == is_joined


def test_the_fair_discount_is_measured_against_reference_or_trailing_price():
    year = new_year(WORLD, FAIR, calendar="published")
    ok(year, "open_store", store_type="pet", store_name="S")
    stock_up(year, 0, 40, 1000)
    publish(year, 10, 50.0 / 0.8)
    name = "New Year Kickoff Sale"
    ok(year, "join_promotion", store_id="store_001", event_name=name, discount_rate=0.2)
    ok(year, "wait_for_next_day")
    offer = day_offer(year.setting, year.state.stores, 1)
    assert offer.price_fen[0] == pytest.approx(5000, abs=1)
    assert offer.discount[0] == pytest.approx(0.0, abs=1e-3)  # marked up, then discounted back: no discount
    ok(year, "set_prices", store_id="store_001", prices=[dict(product_id="p0", price=50.0)])
    ok(year, "wait_for_next_day")
    offer = day_offer(year.setting, year.state.stores, 2)
    assert offer.discount[0] == pytest.approx(0.2, abs=1e-3)


def test_trailing_price_follows_slowly():
    """A price raised from 30 to 50 before a sale: the base of the discount is still close to 30."""
    year = new_year(WORLD, FAIR, calendar="published")
    ok(year, "open_store", store_type="pet", store_name="S")
    stock_up(year, 0, 40, 1000)
    publish(year, 10, 30.0)
    ok(year, "wait_for_next_day")
    ok(year, "set_prices", store_id="store_001", prices=[dict(product_id="p0", price=50.0)])
    ok(year, "wait_for_next_day")
    assert year.state.stores[0].trailing_fen[0] == 3000 + round(2000 / 14)


def test_taking_a_product_off_does_not_launder_its_trailing_price():
    year = new_year(WORLD, FAIR, calendar="published")
    ok(year, "open_store", store_type="pet", store_name="S")
    stock_up(year, 0, 40, 1000)
    publish(year, 10, 30.0)
    ok(year, "return_to_warehouse", store_id="store_001", items=[dict(product_id="p0", quantity=10)])
    ok(year, "wait_for_next_day")
    publish(year, 10, 50.0)
    assert year.state.stores[0].trailing_fen[0] == 3000


def test_fair_prices_stay_in_the_band():
    year = new_year(WORLD, FAIR)
    ok(year, "open_store", store_type="pet", store_name="S")
    stock_up(year, 0, 40, 1000)
    assert [publish(year, 1, price)["ok"] for price in (12.49, 12.50, 65.0, 65.01)] == [False, True, True, False]


def test_refusals_change_nothing_but_time_and_counters(year):
    publish(year, 10)
    state = year.state

    def fingerprint():
        for counter in (state.calls, state.refused, state.minutes):
            counter.clear()
        state.minute = 480
        return state_digest(state)

    before = fingerprint()
    for tool, arguments in (
        ("open_store", dict(store_type="pet", store_name="S")),
        ("close_store", dict(store_id="store_009")),
        ("withdraw", dict(amount=5.0)),
        ("join_promotion", dict(store_id="store_001", event_name="No", discount_rate=0.2)),
        ("trace_return_sources", dict(product_id="p1")),
    ):
        refused(year, tool, **arguments)
        assert fingerprint() == before
