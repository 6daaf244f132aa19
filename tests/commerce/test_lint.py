"""The economy lint: clean in ``fair``, candid about ``paper``, and able to find what is planted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from commerce.config import FAIR, FIRST_FAIR, PAPER, PriceBand
from commerce.demand import price_response
from commerce.lint import lint_economy, price_grid, sole_profit
from commerce.world import generate_world
from tests.commerce.builders import default_world, setting_of, world_with


def kinds(world, rules):
    return {finding.kind: finding.num for finding in lint_economy(world, rules).findings}


@pytest.mark.parametrize("seed", [20260122, 1, 2])
def test_fair_is_clean(seed):
    report = lint_economy(generate_world(seed, FAIR), FAIR)
    assert report.is_clean, report.findings
    assert report.num_skus == 6886


def test_paper_lists_what_the_published_rules_allow():
    found = kinds(default_world(), PAPER)
    responses = [default_world().categories[c].response for c in default_world().skus.category]
    assert found == {
        "demand without bound as the price falls": responses.count("constant_elasticity"),
        "a discount lowers demand": responses.count("quadratic"),
        "demand lifted by marking up and discounting back": 6886,
    }


def test_planted_faults_are_found():
    world = world_with([("Kitchenware", 100.0, "Medium", 0.3)])
    inelastic = [replace(c, elasticity=0.8) if c.name == "Kitchenware" else c for c in world.categories]
    assert kinds(replace(world, categories=tuple(inelastic)), FIRST_FAIR)["profit grows without bound"] == 1
    narrow = FAIR.model_copy(update={"price_band": PriceBand(low=0.9, high=0.95)})
    assert kinds(world, narrow)["best price outside the allowed band"] == 1


def test_sole_profit_by_hand():
    """One beauty SKU at 562.35, E2: 10 a day at reputation 1 saturates to 10 x 8.712/18.712 = 4.655836."""
    world = world_with([("Personal Care & Massage", 562.35, "Medium", 0.02)])
    setting = setting_of(world)
    profit = sole_profit(setting, np.array([[56235.0]]))[0, 0]
    sub = 10 * 8.712 / 18.712
    demand = sub * 21.78 / (21.78 + sub)
    margin = (56235 * 0.98 - 0.45 * 56235) * 0.98 - 150
    assert profit == pytest.approx(demand * margin, rel=1e-12)


def test_the_sweep_covers_both_ends():
    grid = price_grid(setting_of(default_world()))
    assert (grid.min(), grid.max()) == pytest.approx((1e-7, 1e14))
    assert np.isfinite(
        price_response(grid[0] / 100, np.full(grid.shape[1], 5.0), np.full(grid.shape[1], 2), PAPER)
    ).all()
