"""The parts of the planner: what it plans, buys and bids."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commerce.config import FAIR
from commerce.setting import Setting
from commerce.world import generate_world
from oracle.store.floor_guesses import FloorGuesses, extrapolated
from oracle.store.full_knowledge import FullKnowledge
from oracle.store.honest_knowledge import HonestKnowledge
from oracle.store.purchasing import MOVES, SUPPLIERS, Purchase, Wanted, next_message
from oracle.store.static_optimum import static_optimum
from oracle.store.store_model import true_model
from oracle.store.store_plan import (
    CAPITAL_PRICES,
    AssortmentPlan,
    ReputationWorth,
    StoreOutlook,
    affordable_plans,
    plan_store,
    with_reputation,
)

WORLD = generate_world(3, FAIR)
MODEL = true_model(Setting(WORLD, FAIR), WORLD.store_type_index["daily_office"])
COSTS = FullKnowledge(WORLD, FAIR).unit_costs()[MODEL.skus]
OUTLOOK = StoreOutlook(0.9, 0.9, 0.0, 1, 60.0)
"""Purchases so rare that nothing is left out for selling too little."""


def test_with_money_and_a_name_it_is_the_static_optimum() -> None:
    plan = plan_store(MODEL, COSTS, OUTLOOK, ReputationWorth(), 0.0)
    dear = COSTS + MODEL.storage * OUTLOOK.num_days / 2
    given_ = with_reputation(MODEL, np.arange(len(COSTS)), dear, OUTLOOK, ReputationWorth())
    best = static_optimum(given_, MODEL.capacity)
    assert np.array_equal(plan.listed, best.listed)
    assert plan.units == pytest.approx(best.units)


def test_dearer_money_buys_less_and_reputation_sells_more() -> None:
    plans = [plan_store(MODEL, COSTS, OUTLOOK, ReputationWorth(), price) for price in (0.0, 0.003, 0.006)]
    assert plans[0].capital > plans[1].capital > plans[2].capital
    rising = plan_store(MODEL, COSTS, OUTLOOK._replace(rise=0.5), plans[0].reputation, 0.0)
    assert rising.units.sum() > plans[0].units.sum()
    assert rising.profit < plans[0].profit


def test_what_comes_back_is_listed_less_when_returns_harm_the_store() -> None:
    careless = plan_store(MODEL, COSTS, OUTLOOK, ReputationWorth(), 0.0)
    careful = plan_store(MODEL, COSTS, OUTLOOK, careless.reputation, 0.0)
    assert careful.reputation.returned < careless.reputation.returned


def test_plans_cost_what_there_is_or_a_little_more() -> None:
    def plan(kind: int, price: float) -> AssortmentPlan:
        return plan_store(MODEL, COSTS, OUTLOOK._replace(num_days=6.0), ReputationWorth(), price)

    for capital in (1e6, 1e7, 1e12):
        plans, price = affordable_plans(plan, [0], capital, CAPITAL_PRICES[5])
        place = CAPITAL_PRICES.index(price)
        assert plans[0].capital > capital or place == 0
        if place < len(CAPITAL_PRICES) - 1:
            assert plan(0, CAPITAL_PRICES[place + 1]).capital <= capital or plans[0].capital <= capital


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 40)), max_size=30))
def test_a_message_asks_one_supplier_of_a_category_for_no_more_than_it_holds(sizes: list[tuple[int, int]]) -> None:
    waiting = [
        Purchase(category, [Wanted(f"{place}@x", f"{place}-{row}", 1, 1) for row in range(num)], 1.0)
        for place, (category, num) in enumerate(sizes)
    ]
    everything, sent = list(waiting), []
    while waiting:
        message = next_message(waiting)
        assert message
        assert len({purchase.category for purchase in message}) == len(message) <= SUPPLIERS
        assert sum(len(purchase.wanted) for purchase in message) <= MOVES
        sent += message
    assert sorted(map(id, sent)) == sorted(map(id, everything))


@given(st.floats(100, 1e5), st.floats(1.05, 2.0), st.floats(0.4, 0.9))
def test_geometric_concessions_give_the_floor_away(floor: float, opening: float, left: float) -> None:
    told = [floor * (1 + (opening - 1) * left**k) for k in range(3)]
    assert extrapolated(*told) == pytest.approx(max(0.75 * told[2], floor))


def test_guesses_are_averaged_and_bounded_by_what_was_agreed() -> None:
    guesses = FloorGuesses()
    assert guesses.of("a@x", "P") is None
    for price in (15.0, 12.5):
        guesses.note("a@x", {"sku_id": "P", "decision": "Offer", "opening_price": 20.0, "price": price})
    assert guesses.of("a@x", "P") == pytest.approx(1000)  # 20, 15, 12.5 go to 10
    guesses.note("a@x", {"sku_id": "P", "decision": "Accept", "opening_price": 20.0, "price": 9.0})
    assert guesses.of("a@x", "P") == 900


def test_prices_that_do_not_slow_down_say_nothing() -> None:
    assert extrapolated(20, 18, 15) is None
    assert extrapolated(20, 20, 20) is None


def test_the_honest_planner_is_not_told_when_a_drawn_year_ends() -> None:
    told = HonestKnowledge(FAIR)
    drawn = HonestKnowledge(FAIR.model_copy(update={"ending": "drawn"}))
    assert told.last_day(100) == 365
    assert [drawn.last_day(day) for day in (0, 273, 300, 364)] == [308, 308, 335, 365]  # median wait: ln 2 / 0.02
