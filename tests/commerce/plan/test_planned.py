"""What a plan may hold: a bad column is named before anything is carried out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from commerce.config import PAPER
from commerce.merchants import build_merchant, play_year
from commerce.plan import StorePlan, execute, extract, plan_from_json, plan_to_json
from commerce.state import state_from_json, state_to_json
from commerce.year import Year
from tests.commerce.builders import default_world

RULES = PAPER.model_copy(update={"num_days": 45})


@pytest.fixture(scope="module")
def plan() -> StorePlan:
    return extract(play_year(Year(default_world(), RULES), build_merchant("rule-based", default_world(), RULES)))


def changed(table, name, row, value):
    column = getattr(table, name).copy()
    column[row] = value
    return table._replace(**{name: column})


@pytest.mark.parametrize(
    ("table", "column", "value", "message"),
    [
        ("buys", "sku", 10_000, r"plan.buys.sku\[0\]=10000 is outside \[0, 6885\]"),
        ("buys", "unit_fen", 0, r"plan.buys.unit_fen\[0\]=0 is outside"),
        ("prices", "fen", -2, r"plan.prices.fen\[0\]=-2"),
        ("stores", "store_type", 12, r"plan.stores.store_type\[0\]=12"),
        ("buys", "day", 44, "plan.buys must be ascending by day and by order"),
        ("withdrawals", "order", 10**9, "plan.withdrawals must be ascending"),
        ("shipments", "speed", 3, r"plan.shipments.speed\[0\]=3 is outside \[0, 2\]"),
        ("lines", "sku", 6885, "plan.lines must be ascending"),
    ],
)
def test_a_bad_column_is_named(plan, table, column, value, message):
    spoiled = replace(plan, **{table: changed(getattr(plan, table), column, 0, value)})
    with pytest.raises(ValueError, match=message):
        execute(default_world(), RULES, spoiled)


def test_columns_of_different_lengths(plan):
    spoiled = replace(plan, buys=plan.buys._replace(sku=plan.buys.sku[1:]))
    with pytest.raises(ValueError, match=r"plan\.buys has columns of"):
        execute(default_world(), RULES, spoiled)


def test_a_sku_twice_under_one_order(plan):
    twice = plan.shelf._replace(**{name: np.repeat(column, 2) for name, column in plan.shelf._asdict().items()})
    with pytest.raises(ValueError, match=r"plan\.shelf has a SKU twice"):
        execute(default_world(), RULES, replace(plan, shelf=twice))


def test_another_world(plan):
    with pytest.raises(ValueError, match="is another world"):
        execute(default_world(), RULES, replace(plan, world="0" * 64))


def test_json_that_is_no_plan(plan):
    data = plan_to_json(plan)
    with pytest.raises(ValueError, match="not a plan"):
        plan_from_json({**data, "more": 1})
    with pytest.raises(ValueError, match="not a plan"):
        plan_from_json({key: value for key, value in data.items() if key != "buys"})
    with pytest.raises(ValueError, match="holds a dict, not a plan"):
        plan_from_json({"a": 1})


def test_a_year_from_a_saved_state_has_no_plan():
    year = Year(default_world(), RULES)
    again = Year(default_world(), RULES, state=state_from_json(state_to_json(year.state)))
    with pytest.raises(ValueError, match="began from a saved state"):
        extract(again)
