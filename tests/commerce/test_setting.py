"""Calendar, seasons and events of a setting."""

from __future__ import annotations

import numpy as np
import pytest

from tests.commerce.builders import default_world, setting_of

SETTING = setting_of(default_world())
TYPES = default_world().store_type_index


def test_calendar_of_2026():
    assert SETTING.date(0).isoformat() == "2026-01-01"
    assert SETTING.date(365).isoformat() == "2027-01-01"
    assert [SETTING.is_weekend(day) for day in range(5)] == [False, False, True, True, False]  # Thursday first


@pytest.mark.parametrize(
    ("store_type", "date", "season", "event"),
    [
        ("food_beverage", 31 + 14, 1.6, 1.0),
        ("fashion", 14, 0.75, 0.3),
        ("appliance_digital", 187, 0.9, 3.0),
        ("home_living", 355, 1.0, 2.5),
        ("pet", 14, 1.0, 1.0),
    ],
)
def test_seasons_and_events(store_type, date, season, event):
    assert SETTING.season(TYPES[store_type], date) == season
    assert SETTING.event_factor(TYPES[store_type], date) == event


def test_delays():
    assert SETTING.delay_factor(TYPES["pet"], 14) == 2.5
    assert SETTING.delay_factor(TYPES["pet"], 60) == 1.0
    assert SETTING.delay_factor(TYPES["toys_entertainment"], 60) == 4.0


def test_base_demand_of_the_table():
    """Units a day per SKU at the reference price, as listed for each category."""
    names = {"Major Appliances": 0.6, "Storage & Organization": 40.0, "Women's Shoes": 1.3333, "Pet Supplies": 2.25}
    world = default_world()
    for name, units in names.items():
        mask = world.skus.category == world.category_index[name]
        assert SETTING.base[mask] == pytest.approx(np.full(mask.sum(), units), abs=5e-5)


def test_places_within_store_types():
    for store_type, rows in enumerate(SETTING.rows_of_type):
        assert (SETTING.place[rows] == np.arange(len(rows))).all()
        assert (default_world().skus.store_type[rows] == store_type).all()
