"""What fraud cost, by hand: price, fees, missing units; and what was bought after the evidence was visible."""

from __future__ import annotations

from dataclasses import replace

import pytest

from commerce.metrics.fraud import evidence_days, fraud_metrics, honest_ratios
from commerce.receiving import Door
from commerce.types import Fraud, PurchaseOrder
from tests.commerce.builders import default_world, new_year, world_with

PET = default_world().category_index["Pet Supplies"]


@pytest.fixture
def year():
    """A year with four suppliers of pet supplies: honest, short, overpriced, asking a fee."""
    world = world_with([("Pet Supplies", 100.0, "Small", 0.01)])
    base = replace(world.suppliers[0], category=PET, fraud=None)
    frauds = (None, Fraud.QTY_BAIT, Fraud.FAKE_URGENCY, Fraud.VIP_FEE)
    return new_year(replace(world, suppliers=tuple(replace(base, name=str(f), fraud=f) for f in frauds)))


def buy(year, supplier, quantity, unit_fen, delivered=None, *, received=None):
    booked = Door(year.setting, year.state).place_order(
        PurchaseOrder(supplier, 0, quantity, unit_fen, quantity if delivered is None else delivered)
    )
    if received is not None:
        row = year.state.purchases[booked.order_id - 1]
        year.state.purchases[booked.order_id - 1] = row._replace(received_day=received)


def values(year):
    return {name: measure.value for name, measure in fraud_metrics(year.setting, year.state).items()}


def test_loss_by_hand(year):
    buy(year, 0, 10, 2500)  # the honest price: a quarter of the reference
    buy(year, 1, 10, 2500, 6)  # four units missing: 100 yuan
    buy(year, 2, 10, 3000)  # 5 yuan too much on each of ten
    Door(year.setting, year.state).pay_fee(3, 100_000)
    found = values(year)
    assert honest_ratios(year.setting, year.state) == {PET: 0.25}
    assert found["fraud_loss"] == pytest.approx(100 + 50 + 1000)
    assert found["bad_spend_pct"] == pytest.approx(100 * (250 + 300 + 1000) / (250 + 250 + 300 + 1000))


def test_a_short_delivery_that_was_dear_as_well_is_counted_once(year):
    """Six units at 5 yuan too much and four paid in full for nothing: 6 x 5 + 4 x 30 = 150, of 300 paid for 150."""
    buy(year, 0, 10, 2500)
    buy(year, 1, 10, 3000, 6)
    assert values(year)["fraud_loss"] == pytest.approx(6 * 5 + 4 * 30)


def test_without_an_honest_purchase_the_opening_ratio_is_the_yardstick(year):
    buy(year, 2, 10, 7100)  # opening ratio of pet supplies is 0.61
    assert values(year)["fraud_loss"] == pytest.approx(100.0)


def test_evidence_and_what_was_bought_after_it(year):
    year.state.day = 2
    buy(year, 1, 10, 2500, 6, received=8)
    year.state.day = 8
    buy(year, 1, 10, 2500, 6)  # on the day the evidence came, still before it
    assert values(year)["short_deliveries_heeded"] == 1.0
    year.state.day = 9
    buy(year, 1, 4, 2500, 2)
    assert evidence_days(year.setting, year.state) == {1: 8}
    found = values(year)
    assert (found["bad_spend_before_evidence"], found["bad_spend_after_evidence"]) == (500.0, 100.0)
    assert found["short_deliveries_heeded"] == 0.0


def test_no_purchases_no_share(year):
    assert values(year)["bad_spend_pct"] is None
    assert values(year)["short_deliveries_heeded"] is None
