"""An end of the year that nobody is told: drawn by the world, so all agents meet the same, and by the law it states."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from commerce.config import FAIR, PAPER
from commerce.merchants import build_merchant, play_year
from commerce.plan import execute, extract
from commerce.setting import Setting
from commerce.year import Year
from tests.commerce.builders import default_world

DRAWN = FAIR.model_copy(update={"ending": "drawn", "num_days": 60, "sure_share": 0.5, "end_hazard": 0.05})


def last_days(rules, num=4000):
    world = default_world()
    return [Setting(replace(world, seed=seed), rules).last_day for seed in range(num)]


def test_a_told_end_is_the_number_of_days():
    assert set(last_days(PAPER, 20)) == {365}


def test_the_law_of_the_drawn_end():
    """After 30 sure days each of 29 mornings ends the year with a chance of 5 %, and the 60th day in any case."""
    found = Counter(last_days(DRAWN))
    assert min(found) == 31
    assert max(found) == 60
    for day, chance in {31: 0.05, 32: 0.05 * 0.95, 40: 0.05 * 0.95**9, 60: 0.95**29}.items():
        spread = 4 * (chance * (1 - chance) / 4000) ** 0.5
        assert found[day] / 4000 == pytest.approx(chance, abs=spread)


@pytest.mark.parametrize(("hazard", "sure", "days"), [(1.0, 0.5, {31}), (0.5, 1.0, {60}), (1.0, 0.0, {1})])
def test_extremes(hazard, sure, days):
    assert set(last_days(DRAWN.model_copy(update={"end_hazard": hazard, "sure_share": sure}), 50)) == days


def played(name, rules=DRAWN):
    return play_year(Year(default_world(), rules), build_merchant(name, default_world(), rules))


def test_every_merchant_meets_the_same_end_and_none_is_told():
    ends = {name: played(name) for name in ("idle", "rule-based", "first-quote")}
    days = {year.state.day for year in ends.values()}
    assert days == {Setting(default_world(), DRAWN).last_day}
    assert {year.state.end for year in ends.values()} == {"max_days_reached"}
    year = Year(default_world(), DRAWN)
    assert year.call("wait_for_next_day").time["end"] is None


def test_the_days_before_a_drawn_end_are_those_of_a_told_one():
    told, drawn = played("idle", DRAWN.model_copy(update={"ending": "told"})), played("idle")
    days = drawn.state.day
    assert [row["bank_fen"] for row in drawn.state.history] == [row["bank_fen"] for row in told.state.history[:days]]


def test_a_year_with_a_drawn_end_has_a_plan_too():
    year = played("rule-based")
    again = execute(default_world(), DRAWN, extract(year)).year
    assert again.state.ledger.digest == year.state.ledger.digest
