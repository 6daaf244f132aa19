"""What the honest planner learns, and that it is told nothing else."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from commerce.config import FAIR
from commerce.setting import Setting
from commerce.types import World
from commerce.world import generate_world
from commerce.year import Result, Year
from oracle.store import demand_learning, honest_knowledge, planning_merchant
from oracle.store.demand_learning import ShelfSales, first_belief, scaled
from oracle.store.honest_knowledge import HonestKnowledge
from oracle.store.planning_merchant import PlanningMerchant
from oracle.store.static_optimum import Candidates, StoreCapacity, saturated
from oracle.store.store_model import StoreModel, true_model
from oracle.store.year_players import build_year_player

HIDDEN = ("commerce.world", "commerce.setting", "commerce.state", "commerce.procurement", "oracle.store.full_knowledge")
RULES = FAIR.model_copy(update={"num_days": 16})


def play(player: Any, world: World) -> tuple[Year, list[tuple[str, Mapping[str, Any]]]]:
    year, calls = Year(world, RULES), []

    def call(tool: str, given: Mapping[str, Any]) -> Result:
        calls.append((tool, given))
        return year.call(tool, given)

    player(call)
    year.stop()
    return year, calls


def test_it_reads_nothing_but_what_tools_answer() -> None:
    """Built without any world it makes the same calls: the tools' answers and the rules are all it has."""
    world = generate_world(4, RULES)
    year, calls = play(build_year_player("honest-planner", world, RULES), world)
    _, others = play(PlanningMerchant(lambda: HonestKnowledge(RULES), RULES), world)
    assert calls == others
    assert {tool for tool, _ in calls} >= {"market_search", "list_products", "chatbox", "trace_return_sources"}
    assert not year.state.refused


@pytest.mark.parametrize("module", [honest_knowledge, demand_learning, planning_merchant])
def test_it_imports_nothing_that_holds_the_hidden_side(module: Any) -> None:
    imported = [
        node.module or "" for node in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(node, ast.ImportFrom)
    ]
    assert not [name for name in imported for hidden in HIDDEN if name == hidden or name.startswith(hidden + ".")]


def unit_model(setting: Setting, kind: int) -> StoreModel:
    """The truth with scale and capacity 1, as a planner begins."""
    true = true_model(setting, kind)
    share = np.full(len(true.capacity.categories), setting.category_shares[kind])
    capacity = StoreCapacity(1.0, np.where(share < 1, share, np.inf), breadth=setting.rules.category_breadth)
    scale = setting.world.store_types[kind].demand_scale
    return StoreModel(**{**vars_of(true), "base": true.base / scale, "capacity": capacity})


def vars_of(model: StoreModel) -> dict[str, Any]:
    return {name: getattr(model, name) for name in model.__dataclass_fields__}


def test_demand_is_learned_from_sales() -> None:
    """Ten weeks of Poisson sales bring scale, capacity and elasticity nearer to those that made them."""
    setting, rng = Setting(generate_world(4, FAIR), FAIR), np.random.default_rng(0)
    kind, scale, capacity = setting.world.store_type_index["pet"], 2.0, 60.0
    belief = first_belief(unit_model(setting, kind), 0.5, 30.0)
    truth = scaled(belief.model, scale, capacity, np.array([4.5]))
    places = np.arange(30)
    for _ in range(10):
        price = truth.reference[places] * rng.uniform(0.8, 1.2, 30)
        demand = truth.demand_at(places, price)[:, None]
        given = Candidates(demand, demand, truth.weight[places], truth.category[places])
        ones, first = np.ones(30, dtype=np.bool_), np.zeros(30, dtype=np.int64)
        sold = rng.poisson(7 * saturated(given, truth.capacity, ones, first)).astype(np.float64)
        belief.learn(ShelfSales(places, price, sold, np.ones(30), 7.0, 1.0))
    found_scale, found_capacity = belief.estimate
    assert abs(np.log(found_scale / scale)) < 0.4 < np.log(scale / 0.5)
    assert abs(np.log(found_capacity / capacity)) < 0.4 < np.log(capacity / 30.0)
    assert 3.6 < belief.elasticities[0] < 5.0  # from 3.5 towards the true 4.5


def test_sold_out_products_say_nothing() -> None:
    setting = Setting(generate_world(4, FAIR), FAIR)
    belief = first_belief(unit_model(setting, 10), 0.5, 30.0)
    before = belief.log_weight.copy()
    places = np.arange(3)
    belief.learn(ShelfSales(places, belief.model.reference[places], np.ones(3), np.zeros(3), 7.0, 1.0))
    assert np.array_equal(belief.log_weight, before)
