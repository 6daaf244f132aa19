"""Purchase orders: paid at once, told dates, keyed lead times, and what arrives."""

from __future__ import annotations

from dataclasses import replace

import pytest

from commerce.ledger import Account
from commerce.receiving import Door, lead_days, receive_deliveries
from commerce.types import Booking, PurchaseOrder, Refusal
from tests.commerce.builders import PAPER, default_world, new_year, ok, world_with

WORLD = world_with([("Pet Supplies", 50.0, "Small", 0.01), ("Smartphones", 500.0, "Small", 0.01)])


def order(quantity=10, price=1000, **changes):
    return PurchaseOrder(**{"supplier": 3, "sku": 0, "quantity": quantity, "unit_price_fen": price,
                            "delivered": quantity, **changes})  # fmt: skip


def test_a_purchase_is_paid_at_once():
    year = new_year(WORLD)
    booked = Door(year.setting, year.state).place_order(order())
    assert isinstance(booked, Booking)
    assert (booked.order_id, booked.total_fen) == (1, 10_000)
    assert year.state.ledger.balance(Account.GOODS_ON_ORDER) == 10_000
    assert year.state.bank_fen == 9_990_000
    assert 3 <= booked.told_days[0] < booked.told_days[1] <= 9


def test_what_the_bank_cannot_pay_is_refused():
    year = new_year(WORLD)
    door = Door(year.setting, year.state)
    refusal = door.place_order(order(10_001, 1000))
    assert isinstance(refusal, Refusal)
    assert refusal.code == "insufficient_funds"
    assert "100010.00" in refusal.message
    assert isinstance(door.place_order(order(10_000, 1000)), Booking)
    assert door.pay_fee(3, 1).code == "insufficient_funds"


def test_an_impossible_delivery_is_a_bug():
    year = new_year(WORLD)
    with pytest.raises(ValueError, match="defective <= delivered <= quantity"):
        Door(year.setting, year.state).place_order(order(delivered=11))


def test_short_and_defective_deliveries():
    year = new_year(WORLD)
    Door(year.setting, year.state).place_order(order(delivered=6, defective=2))
    year.state.inbound = [row._replace(arrival_day=0, arrival_minute=0) for row in year.state.inbound]
    receive_deliveries(year.state)
    state = year.state
    assert (state.on_hand[0], state.units.delivered[0], state.units.defective[0]) == (6, 6, 2)
    assert state.ledger.balance(Account.INVENTORY) == 6_000  # the cost basis holds what arrived
    assert state.ledger.balance(Account.SHORT_DELIVERY) == 4_000
    assert state.sources == {"0": {"3": 6}}
    assert state.purchases[0].received_day == 0


def test_lead_times_are_uniform_on_three_to_seven():
    counts = [sum(lead_days((i + 0.5) / 1000, 1.0, PAPER) == days for i in range(1000)) for days in range(3, 8)]
    assert counts == [200] * 5


def test_an_event_delays_orders_placed_during_it_only():
    event = replace(default_world().events[0], first_day=5, last_day=6, delay=5.0, delayed_types=(10,))
    year = new_year(replace(WORLD, events=(event,)))
    assert [year.setting.delay_factor(10, day) for day in (4, 5, 6, 7)] == [1.0, 5.0, 5.0, 1.0]
    assert year.setting.delay_factor(0, 5) == 1.0


def test_lead_times_are_keyed_by_supplier_sku_and_day():
    """What else is ordered, and when in the queue, changes nothing."""
    arrivals = []
    for first in (0, 1):
        year = new_year(WORLD)
        door = Door(year.setting, year.state)
        for _ in range(first):
            door.place_order(order(sku=1, supplier=5, price=10))
        door.place_order(order())
        arrivals.append([(r.arrival_day, r.arrival_minute) for r in year.state.inbound if r.sku == 0])
    assert arrivals[0] == arrivals[1]


def test_goods_arrive_at_the_first_morning_after_their_arrival():
    year = new_year(WORLD)
    Door(year.setting, year.state).place_order(order())
    (row,) = year.state.inbound
    while year.state.inbound:
        ok(year, "wait_for_next_day")
    due = row.arrival_day + (row.arrival_minute > 480)
    assert year.state.day == due
    assert year.state.lots.day.tolist() == [due]


def test_inbound_orders_are_shown_without_what_is_hidden():
    year = new_year(WORLD)
    Door(year.setting, year.state).place_order(order(delivered=6, defective=2))
    (row,) = ok(year, "check_warehouse")["inbound"]["results"]
    assert row["quantity"] == 10
    assert set(row) == {
        "purchase_order", "product_id", "supplier", "quantity", "unit_price", "ordered", "expected_from", "expected_to",
    }  # fmt: skip
