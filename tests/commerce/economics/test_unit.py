"""Unit economics against values worked out by hand, and what must hold for every scenario."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from commerce.economics import (
    PUBLISHED_2,
    SESSION_ECONOMICS,
    EconomicsConfig,
    Perspective,
    UnitEconomics,
    unit_economics,
)
from commerce.economics.unit import price_scale
from terms import fresh_suite
from terms.scenario import Product
from terms.types import Regime, Role

MERCHANT = UnitEconomics(
    perspective=Perspective.MERCHANT,
    lot_size=10,
    reservation_price=48.7,
    margin_floor_cents=600,
    overhead_cents=300,
    outside_cents=-300,
    resale_cents=6000,
    fulfilment_cents=500,
)
VENDOR = UnitEconomics(
    perspective=Perspective.VENDOR,
    lot_size=4,
    reservation_price=36.75,
    margin_floor_cents=600,
    overhead_cents=300,
    outside_cents=238,
    cogs_cents=2500,
    sales_overhead_cents=500,
)
SUITE = fresh_suite(5, n_per_cell=2)


@pytest.mark.parametrize(
    ("price", "cents"),
    [
        (40.0, 14_700),  # 10 (60 - 40 - 5) - 3 = 147.00
        (48.7, 6_000),  # at the reservation 10 x 6.00 are left
        (54.7, 0),  # 10 (60 - 54.70 - 5) - 3
        (70.0, -15_300),  # past it the loss shows in full: 10 (60 - 70 - 5) - 3
        (40.0005, 14_700),  # a payment of 400.005 is rounded to the cent, half to even
        (None, -300),
    ],
)
def test_a_merchants_profit_by_hand(price, cents):
    assert MERCHANT.profit_cents(price) == cents


@pytest.mark.parametrize(
    ("price", "cents"),
    [
        (50.0, 7_700),  # 4 (50 - 25 - 5) - 3 = 77.00
        (36.75, 2_400),  # at the reservation 4 x 6.00 are left
        (20.0, -4_300),  # 4 (20 - 30) - 3
        (None, 238),
    ],
)
def test_a_vendors_profit_by_hand(price, cents):
    assert VENDOR.profit_cents(price) == cents


def test_the_best_feasible_profit_is_that_of_the_counterparts_reservation():
    assert MERCHANT.best_cents(30.0) == MERCHANT.profit_cents(30.0) == 24_700
    assert VENDOR.best_cents(60.0) == VENDOR.profit_cents(60.0) == 11_700
    assert MERCHANT.best_cents(48.7) is None, "where nothing is to be shared no deal is possible"
    assert VENDOR.best_cents(30.0) is None


def test_gross_margin_by_hand():
    assert MERCHANT.gross_margin(40.0) == pytest.approx(150 / 600)  # before the overhead, over the resale of the lot
    assert VENDOR.gross_margin(50.0) == pytest.approx(80 / 200)
    assert VENDOR.gross_margin(0.0) is None


def test_the_agent_is_told_its_own_side_and_never_whether_a_deal_is_possible():
    told = [replace(SUITE[0], regime=regime) for regime in (Regime.OVERLAP, Regime.NO_DEAL)]
    first, second = (unit_economics(scenario, EconomicsConfig()) for scenario in told)
    assert first.outside_cents != second.outside_cents
    assert first.to_json_object() == second.to_json_object()
    assert MERCHANT.to_json_object() == {
        "perspective": "merchant",
        "lot_size": 10,
        "resale": 60.0,
        "fulfilment": 5.0,
        "overhead": 3.0,
        "profit_of_a_deal": "lot_size * (resale - price - fulfilment) - overhead",
        "margin_per_unit_at_reservation": 6.0,
    }
    assert VENDOR.to_json_object()["sales_overhead"] == 5.0


@pytest.mark.parametrize("config", [EconomicsConfig(), SESSION_ECONOMICS, EconomicsConfig(margin_share=0.0)])
def test_the_reservation_leaves_the_margin_floor(config):
    for scenario in SUITE:
        economics = unit_economics(scenario, config)
        floor, lot = economics.margin_floor_cents, economics.lot_size
        assert lot * floor <= economics.profit_cents(scenario.agent_type.reservation_price) <= lot * (floor + 1) + 1
        assert floor == round(100 * config.margin_share * price_scale(scenario))


@given(
    st.sampled_from([MERCHANT, VENDOR]),
    st.floats(0, 100, allow_nan=False),
    st.floats(0, 100, allow_nan=False),
)
def test_profit_is_whole_cents_monotone_and_within_half_a_cent_of_the_formula(economics, a, b):
    buys = economics.perspective is Perspective.MERCHANT
    low, high = sorted((a, b))
    better, worse = (low, high) if buys else (high, low)
    assert isinstance(economics.profit_cents(a), int)
    assert economics.profit_cents(better) >= economics.profit_cents(worse)
    unit = Fraction(economics.resale_cents - economics.fulfilment_cents if buys else 3000)
    exact = economics.lot_size * (unit - 100 * Fraction(a)) * (1 if buys else -1) - economics.overhead_cents
    assert abs(economics.profit_cents(a) - exact) <= Fraction(1, 2) + Fraction(1, 10**6)


@given(st.integers(0, len(SUITE) - 1), st.floats(0, 1))
def test_no_deal_that_suits_both_earns_more_than_the_best(index, share):
    scenario = SUITE[index]
    economics = unit_economics(scenario, EconomicsConfig())
    own, other = scenario.agent_type.reservation_price, scenario.counterpart_type.reservation_price
    best = economics.best_cents(other)
    assert (best is None) == (scenario.zopa <= 0)
    if best is not None:
        assert economics.profit_cents(own + share * (other - own)) <= best


def test_draws_belong_to_the_scenario_and_cover_the_published_range_of_lots():
    found = [unit_economics(scenario, EconomicsConfig()) for scenario in SUITE]
    assert found == [unit_economics(scenario, EconomicsConfig()) for scenario in reversed(SUITE)][::-1]
    lots = [unit_economics(scenario, EconomicsConfig()).lot_size for scenario in fresh_suite(1, n_per_cell=25)]
    assert (min(lots), max(lots)) == (1, 50)
    counts = np.histogram(lots, bins=5, range=(1, 51))[0]
    chi2 = float(((counts - len(lots) / 5) ** 2 / (len(lots) / 5)).sum())
    assert chi2 < 18.5  # 99.9 % point of chi-square with 4 degrees of freedom
    assert {e.perspective.role for e in found} == {Role.BUYER, Role.SELLER}
    assert all(e.perspective.role is s.agent_role for e, s in zip(found, SUITE, strict=True))


def test_margins_of_a_catalogue_item_are_taken_of_its_own_spread():
    item = Product("kettle", "home", 30.0, 20.0, 45.0)
    scenario = replace(SUITE[0], product=item)
    assert unit_economics(scenario, EconomicsConfig()).margin_floor_cents == 150  # 6 % of 25 dollars


def test_the_published_outside_option():
    """Opus: total 68,591.57 less (96,892.84 - 28,415.72) on the feasible ones leaves 114.45 for 48 infeasible."""
    left = 68591.57367848064 - (96892.84220732289 - 28415.721316954983)
    assert round(100 * left / 48) == EconomicsConfig().infeasible_outside_cents
    other = 19785.882783599824 - (96892.84220732289 - 77221.41221183579)  # GPT-4o mini
    assert other == pytest.approx(left)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"lot_low": 9, "lot_high": 3}, "lot_low=9 exceeds lot_high=3"),
        ({"cogs_share": {"low": 0.5, "high": 1.5}}, "cogs_share"),
        ({"margin": 1}, "unknown key 'margin'"),
        ({"overhead_cents": -1}, "overhead_cents"),
        ({"overhead_cents": 10**12 + 1}, "overhead_cents"),
        ({"infeasible_outside_cents": -(10**12) - 1}, "infeasible_outside_cents"),
        ({"feasible_outside_cents": 10**13}, "feasible_outside_cents"),
        ({"lot_high": 10**6 + 1}, "lot_high"),
        ({"margin_share": 1e308}, "margin_share"),
        (
            {"fulfilment_share": {"low": 0.0, "high": 1e300}},
            r"fulfilment_share \[0.0, 1e\+300\] must lie between 0 and 100",
        ),
    ],
)
def test_wrong_settings_are_named(change, says):
    with pytest.raises(ValidationError, match=says):
        EconomicsConfig(**change)


def test_a_failed_feasible_negotiation_costs_the_overhead_unless_told_otherwise():
    assert EconomicsConfig().outside_cents(True, 50.0) == -300
    assert EconomicsConfig(feasible_outside_cents=5).outside_cents(True, 50.0) == 5
    assert EconomicsConfig(feasible_outside_cents=5).outside_cents(False, 50.0) == 238
    assert SESSION_ECONOMICS.outside_cents(True, 50.0) == 0


def test_a_scaled_surplus_by_hand():
    """A merchant with r = 50 that buys at 40 pays 50 - 1.3 x 10 = 37: 10 (60 - 37 - 5) - 3 = 177."""
    scaled = MERCHANT.model_copy(update={"reservation_price": 50.0, "surplus_scale": 1.3})
    assert scaled.profit_cents(40.0) == 17_700
    assert scaled.profit_cents(50.0) == MERCHANT.profit_cents(50.0)  # at the reservation nothing is scaled
    formula = scaled.to_json_object()["profit_of_a_deal"]
    assert formula == "lot_size * (resale - (50 + 1.3 * (price - 50)) - fulfilment) - overhead"
    names = {"lot_size": 10, "resale": 60.0, "price": 40.0, "fulfilment": 5.0, "overhead": 3.0}
    assert eval(formula, {}, names) == pytest.approx(177.0)
    vendor = VENDOR.model_copy(update={"reservation_price": 30.0, "surplus_scale": 1.3})
    assert vendor.profit_cents(50.0) == 4 * (5_600 - 3_000) - 300
    assert vendor.revenue_cents(50.0) == 4 * 5_600


def test_published_2_draws_margins_of_the_reservation_and_an_outside_income_of_five_percent():
    for scenario in SUITE:
        economics, own = unit_economics(scenario, PUBLISHED_2), scenario.agent_type.reservation_price
        assert economics.margin_floor_cents == round(10 * own)
        assert economics.outside_cents == (round(5 * own) if scenario.regime is Regime.NO_DEAL else -300)
        if economics.fulfilment_cents is not None:
            assert economics.fulfilment_cents == round(10 * own)
