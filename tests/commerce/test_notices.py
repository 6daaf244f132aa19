"""Notices: every promotion window announced with its dates, events in full, deliveries by purchase order."""

from __future__ import annotations

from commerce.receiving import Door
from commerce.types import PurchaseOrder
from tests.commerce.builders import default_world, new_year, ok, world_with


def notices_of_a_year(year):
    found = []
    while not year.is_over:
        found += year.call("wait_for_next_day").notices
    return found


def test_every_window_and_event_is_announced_once_and_in_full():
    found = notices_of_a_year(new_year(initial_fen=10**9))
    promotions = [notice for notice in found if notice["kind"] == "promotion"]
    windows = sum(len(row.windows) for row in default_world().promotions)
    assert len(promotions) == windows == 11
    first = promotions[0]
    assert (first["name"], first["date"], first["windows"][0]["last_date"]) == (
        "New Year Kickoff Sale", "2026-01-01", "2026-01-07",
    )  # fmt: skip
    carnival = [notice["date"] for notice in promotions if notice["name"] == "Grand Autumn Carnival"]
    assert carnival == ["2026-10-08", "2026-10-13", "2026-10-24"]  # seven days before each window
    events = [notice for notice in found if notice["kind"] == "event"]
    assert [notice["name"] for notice in events] == [row.name for row in default_world().events]
    assert "Deliveries ordered meanwhile take about 2.5 times as long (all goods)." in events[0]["text"]
    assert [notice["date"] for notice in events][:2] == ["2026-01-15", "2026-03-01"]


def test_deliveries_tell_what_came_but_not_what_was_ordered():
    year = new_year(world_with([("Pet Supplies", 50.0, "Small", 0.01)]))
    Door(year.setting, year.state).place_order(PurchaseOrder(0, 0, 10, 100, 6))
    found = []
    while not found:
        found = [n for n in year.call("wait_for_next_day").notices if n["kind"] == "delivery"]
    assert found[0]["deliveries"] == [{"purchase_order": 1, "product_id": "p0", "received": 6}]


def test_notices_are_told_once():
    year = new_year()
    assert len(year.call("check_balance").notices) == 1
    assert year.call("check_balance").notices == ()


def test_idling_and_overdraft_are_told():
    kinds = [notice["kind"] for notice in notices_of_a_year(new_year())]
    assert kinds.count("idle_penalty") == 110
    assert kinds.count("overdrawn") == 10
    assert ok(new_year(), "check_balance")["bank_balance"] == 100_000.0
