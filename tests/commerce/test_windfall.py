"""A windfall is what was realised less what was expected, valued before the draw."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from commerce.config import FAIR
from commerce.demand import round_demand
from commerce.merchants import build_merchant, play_year
from commerce.metrics import year_metrics
from commerce.plan import execute, extract
from commerce.windfall import expected_sales, sale_value, windfall_fen
from commerce.world import generate_world
from commerce.year import Year


def test_expected_sales_are_the_mean_over_every_draw():
    demand = np.array([0.0, 0.3, 1.25, 2.75, 2.75, 2.75, 7.0])
    there = np.array([3, 5, 1, 2, 3, 1, 4])
    uniforms = (np.arange(4000) + 0.5) / 4000
    sold = [np.minimum(round_demand(demand, np.full(len(demand), u)), there) for u in uniforms]
    assert expected_sales(demand, there) == pytest.approx(np.mean(sold, axis=0), abs=1e-9)


def test_values_by_hand():
    """A unit at 100 less commission 2, of which a tenth comes back, freight 3: 0.6 * (0.9 * 98 - 3)."""
    value = sale_value(np.array([98.0]), np.array([0.1]), np.array([3]))
    assert value == pytest.approx([51.12])
    assert windfall_fen(np.array([3]), np.array([2.5]), value) == pytest.approx(25.56)


@pytest.fixture(scope="module")
def carried_out() -> tuple[np.ndarray, np.ndarray]:
    """Assets and windfalls in yuan of one plan carried out on 24 draws of one world."""
    rules = FAIR.model_copy(update={"num_days": 120})
    world = generate_world(5, rules)
    plan = extract(play_year(Year(world, rules), build_merchant("rule-based", world, rules)))
    found = []
    for draw in range(24):
        metrics = year_metrics(execute(replace(world, seed=1_000 + draw), rules, plan).year)
        adjusted, final = metrics["luck_adjusted_assets"].value, metrics["final_assets"].value
        demand, returns = metrics["demand_windfall"].value, metrics["returns_windfall"].value
        assert adjusted == pytest.approx(final - demand - returns)
        found.append((final, demand, returns))
    return np.array(found)[:, 0], np.array(found)[:, 1:]


def test_windfalls_have_mean_zero(carried_out):
    _, windfalls = carried_out
    for part in windfalls.T:
        assert part.std() > 0
        assert abs(part.mean()) < 3.5 * part.std(ddof=1) / np.sqrt(len(part))


def test_without_its_windfall_a_plan_varies_less(carried_out):
    assets, windfalls = carried_out
    assert (assets - windfalls.sum(axis=1)).var() < 0.6 * assets.var()
