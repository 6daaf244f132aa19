"""The bound of a year lies above whatever is tried, by proof and by trial."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commerce.config import FAIR, FIRST_FAIR, PAPER, Rules
from commerce.demand import price_response
from commerce.returns import price_return_factor
from commerce.selling import ShelfOffer, expected_demand
from commerce.setting import Setting
from commerce.state import new_store
from commerce.types import World
from oracle.store.bound import day_lines, purse_of, static_bound, year_bound
from oracle.store.bound_day import category_tables, day_worth
from oracle.store.bound_margins import UnitMargins
from oracle.store.bound_program import DayLines, Purse, cash_bound
from tests.commerce.builders import world_with

RULE_SETS = (FAIR, FIRST_FAIR, PAPER)
TINY_ROWS = [
    ("Skincare & Beauty", 90.0, "Small", 0.15),
    ("Beauty Devices", 400.0, "Medium", 0.05),
    ("Personal Care & Massage", 250.0, "Medium", 0.02),
    ("Pet Supplies", 60.0, "Small", 0.01),
    ("Pet Supplies", 120.0, "Medium", 0.02),
    ("Pet Supplies", 140.0, "Small", 0.03),
]
"""Two stores, six SKUs."""


def tiny_world() -> World:
    return world_with(TINY_ROWS)


def tiny(rules: Rules = FAIR, **changes: object) -> Rules:
    return rules.model_copy(update={"num_days": 20, **changes})


@pytest.mark.parametrize("rules", RULE_SETS, ids=lambda rules: rules.name)
@pytest.mark.parametrize("mu", [1.0, 2.6])
def test_curves_lie_above_every_price_and_close_to_the_best(rules: Rules, mu: float) -> None:
    """Against the formulas themselves, on prices between the points of the grid."""
    setting = Setting(tiny_world(), rules)
    margins, skus = UnitMargins(setting), setting.world.skus
    ratios = np.geomspace(margins.ratios[0], min(20.0, margins.ratios[-1]), 40_001)
    for sku in range(6):
        curve = margins.curve(np.array([sku]), None, mu, 1.0)
        response = price_response(ratios, np.full(40_001, setting.elasticity[sku]), setting.response[[sku]], rules)
        gain = (1 - rules.commission) * ratios * skus.reference_fen[sku] - mu * margins.cost[sku]
        worth = np.full(40_001, -np.inf)
        for cost, factor in zip(rules.speed_cost, rules.speed_returns, strict=True):
            rate = np.minimum(0.95, skus.return_rate[sku] * price_return_factor(ratios, rules) * factor)
            freight = setting.freight_fen[sku] * cost + 2 * setting.storage_fen[sku]
            worth = np.maximum(worth, (1 - rate) * gain - freight)
        drawn, weight = setting.base[sku] * response, curve.weight[0]
        free = np.max(drawn * np.maximum(worth, 0.0))
        for theta in np.array([0.0, 0.1, 0.3, 0.7]) * skus.reference_fen[sku] / weight:
            best = np.max(drawn * np.maximum(worth - theta * weight, 0.0))
            bound = np.max(curve.units * np.maximum(curve.worth - theta * weight, 0.0))
            assert best <= bound <= 1.01 * best + 0.05 * free + 2 * drawn.max()  # whole fen are two a unit at most


def _expected_profit(setting: Setting, store_type: int, chosen: list[tuple[int, float]], reputation: float) -> float:
    """Return the expected worth of a weekday of a listing, by the demand of the store itself."""
    rules, skus = setting.rules, setting.world.skus
    store = new_store(1, store_type, "tiny", 0, len(setting.rows_of_type[store_type]))
    store.reputation = reputation
    rows = np.array([sku for sku, _ in chosen])
    ratio = np.array([ratio for _, ratio in chosen])
    price = ratio * skus.reference_fen[rows]
    zeros = np.zeros(len(rows))
    offer = ShelfOffer(zeros.astype(int), setting.place[rows], rows, price, zeros, (None,))
    units = expected_demand(setting, [store], offer, 4)
    cost = UnitMargins(setting).cost[rows]
    best = np.full(len(rows), -np.inf)
    for freight, factor in zip(rules.speed_cost, rules.speed_returns, strict=True):
        rate = np.minimum(0.95, skus.return_rate[rows] * price_return_factor(ratio, rules) * factor)
        best = np.maximum(best, (1 - rate) * (0.98 * price - cost) - setting.freight_fen[rows] * freight)
    return float((units * (best - 2 * setting.storage_fen[rows])).sum())


@pytest.mark.parametrize("rules", RULE_SETS, ids=lambda rules: rules.name)
def test_a_day_against_every_listing_and_a_grid_of_prices(rules: Rules) -> None:
    setting = Setting(tiny_world(), rules)
    margins = UnitMargins(setting)
    for store_type in np.unique(setting.world.skus.store_type).tolist():
        rows = setting.rows_of_type[store_type]
        grid = [None, 0.9, 1.0, 1.05, 1.1, 1.15, 1.2, 1.25] if rules is FAIR else [None, 1.0, 1.2, 1.5, 2.0, 3.0, 4.9]
        options = [[None if ratio is None else (int(sku), ratio) for ratio in grid] for sku in rows]
        listings = ([pick for pick in picks if pick is not None] for picks in itertools.product(*options))
        best = max(_expected_profit(setting, store_type, chosen, 0.8) for chosen in listings if chosen)
        share, capacity = setting.category_shares[store_type], setting.world.store_types[store_type].capacity
        factor = 0.8 * setting.season(store_type, 4) * setting.event_factor(store_type, 4)
        factor *= rules.weekend_factor if setting.is_weekend(4) else 1.0
        tables = category_tables(margins, store_type, None, 1.0, 1.0)
        bound = day_worth(tables, share * capacity if share < 1 else None, capacity, np.array([factor]))[0]
        assert best <= bound <= best * 1.08  # the grid of the search is coarse


def test_the_cash_program_by_hand() -> None:
    """One store; goods of day 3 are bought on day 1 and paid for by day 5: with 10 to spend and 2 back for each 1.

    A day earns at most 12 less the cost, so 10 buy 20, of which the second sale turns 12 into 24; 10 - 10 + 20 - 12 +
    24 = 32.
    """
    lines = DayLines(
        net={1.0: np.array([[0.0, 0.0, 0.0, 12.0, 0.0, 0.0, 0.0, 12.0]]), 2.0: np.zeros((1, 8))},
        gross={1.0: np.array([[0.0, 0.0, 0.0, 12.0, 0.0, 0.0, 0.0, 12.0]]), 2.0: np.zeros((1, 8))},
        most_spent=np.full((1, 8), 100.0),
        bought=np.array([[-1, -1, -1, 1, 1, 1, 1, 5]]),
        settled=np.array([np.arange(2, 10)]),
        scarce_days=8,
    )
    found = cash_bound(lines, Purse(10.0, np.zeros(1), 0.0, 1))
    assert found.upper == pytest.approx(32.0)
    assert found.primal == pytest.approx(32.0)
    assert found.by_store_type.sum() == pytest.approx(22.0)
    assert found.money_worth[:2] == pytest.approx(2.0)


@pytest.mark.parametrize("rules", RULE_SETS, ids=lambda rules: rules.name)
def test_the_duality_gap_is_closed(rules: Rules) -> None:
    found = year_bound(replace(tiny_world(), digest=""), tiny(rules))
    assert abs(found.gap) < 1e-6
    assert found.primal <= found.upper + 1e-6
    assert found.upper <= found.static + 1.0
    assert len(found.by_store_type) == 12


@given(initial=st.integers(0, 5_000_000), more=st.integers(0, 5_000_000))
@settings(max_examples=8, deadline=None)
def test_more_money_never_lowers_the_bound_by_more_than_itself(initial: int, more: int) -> None:
    world = replace(tiny_world(), digest="")
    poor, rich = (year_bound(world, tiny(initial_fen=fen)).upper for fen in (initial, initial + more))
    assert rich >= poor + more / 100 - 1e-3


@given(breadth=st.floats(1.0, 30.0), more=st.floats(0.0, 30.0), stores=st.integers(1, 2))
@settings(max_examples=5, deadline=None)
def test_more_buyers_and_more_stores_never_lower_the_bound(breadth: float, more: float, stores: int) -> None:
    world = replace(tiny_world(), digest="")
    few = year_bound(world, tiny(category_breadth=breadth, max_open_stores=stores)).upper
    many = year_bound(world, tiny(category_breadth=breadth + more, max_open_stores=stores + 1)).upper
    assert many >= few - 1e-3


@pytest.mark.parametrize("initial", [200_000, 1_000_000, 10_000_000])
def test_twenty_days_against_every_steady_plan(initial: int) -> None:
    """Two stores, six SKUs: every listing at a grid of prices, and every number of days on which it is kept up.

    An independent account of expected money: goods are bought as they are needed, five days before their sale, for as
    long as the purse lasts; no income is back before the last purchase that can be sold.
    """
    rules = tiny(initial_fen=initial)
    world = replace(tiny_world(), digest="")
    setting = Setting(world, rules)
    bound = year_bound(world, rules)
    best = initial / 100
    cost = UnitMargins(setting).cost
    grid = [None, 1.0, 1.1, 1.2]
    plans: list[tuple[float, float]] = []
    for store_type in np.unique(world.skus.store_type).tolist():
        options = [[None if r is None else (int(sku), r) for r in grid] for sku in setting.rows_of_type[store_type]]
        offers = [[p for p in picks if p] for picks in itertools.product(*options)]
        days = [_steady(setting, store_type, chosen, cost) for chosen in offers if chosen]
        plans = [*plans, *days]
        best = max(best, *(_final(initial, [day], rules) for day in days))
    ranked = sorted(plans, key=lambda plan: -plan[0])[:40]
    best = max(best, *(_final(initial, list(pair), rules) for pair in itertools.combinations(ranked, 2)))
    assert best <= bound.upper
    gained = bound.upper - initial / 100
    assert gained <= 8.0 * (best - initial / 100)  # the lowest reputation against the highest


def _steady(
    setting: Setting, store_type: int, chosen: list[tuple[int, float]], cost: np.ndarray
) -> tuple[float, float]:
    """Return expected profit and cost of goods of a day of a new store, in yuan."""
    profit = _expected_profit(setting, store_type, chosen, 0.353)
    store = new_store(1, store_type, "tiny", 0, len(setting.rows_of_type[store_type]))
    store.reputation = 0.353
    rows = np.array([sku for sku, _ in chosen])
    price = np.array([ratio for _, ratio in chosen]) * setting.world.skus.reference_fen[rows]
    zeros = np.zeros(len(rows))
    offer = ShelfOffer(zeros.astype(int), setting.place[rows], rows, price, zeros, (None,))
    spent = float((expected_demand(setting, [store], offer, 4) * cost[rows]).sum())
    return (profit - setting.world.store_types[store_type].operations_fen) / 100, spent / 100


def _final(initial: int, days: list[tuple[float, float]], rules: Rules) -> float:
    """Return assets after as many of the fourteen days of sale as the purse lasts for."""
    money = initial / 100 - len(days) * rules.setup_fen / 100
    profit, spent = sum(day[0] for day in days), sum(day[1] for day in days)
    if money < 0:
        return 0.0
    num = min(14, money / spent)
    return money + num * profit


def test_the_static_bound_is_the_sum_of_the_best_days() -> None:
    setting = Setting(tiny_world(), tiny())
    lines, purse = day_lines(setting), purse_of(setting)
    first = int((lines.bought >= 0).any(axis=0).argmax())
    assert first == 5  # ordered on the day before the first, there on the fourth, seen on the fifth
    total = sum(
        sum(sorted(max(0.0, lines.net[1.0][row, day] - purse.operations[row]) for row in range(12))[-4:])
        for day in range(first, 19)
    )
    assert static_bound(lines, purse) == pytest.approx(purse.initial + total)
