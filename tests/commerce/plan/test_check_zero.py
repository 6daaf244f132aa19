"""A plan read off a year and carried out again is that year, to the last posting."""

from __future__ import annotations

import json
import random

import pytest

from commerce.config import FAIR, PAPER, RULE_SETS, Rules
from commerce.merchants import MERCHANTS, build_merchant, play_year
from commerce.plan import execute, extract, plan_from_json, plan_to_json
from commerce.replay import Entry, entry_from_json, replay_calls, result_digest
from commerce.world import generate_world
from commerce.year import Result, Year
from oracle.store.year_players import YEAR_PLAYERS, build_year_player
from tests.commerce.builders import HonestCounter
from tests.commerce.fuzzing import Fuzzer

SHORT_DAYS = 40


def assert_same(year: Year) -> None:
    done = execute(year.setting.world, year.setting.rules, extract(year))
    assert done.year.state.ledger.digest == year.state.ledger.digest
    assert done.year.state.end == year.state.end
    assert done.year.state.history == year.state.history
    assert done.cuts._replace(planned_fen=0) == (0, 0, 0, 0, 0, 0)


def merchant_year(name: str, seed: int, rules: Rules) -> Year:
    world = generate_world(seed, rules)
    return play_year(Year(world, rules), build_year_player(name, world, rules, seed))


@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=RULE_SETS)
@pytest.mark.parametrize("name", MERCHANTS)
def test_short_years_of_every_merchant(name, rules):
    assert_same(merchant_year(name, 3, rules.model_copy(update={"num_days": SHORT_DAYS})))


def random_year(seed: int, rules: Rules, num_calls: int) -> Year:
    """Random calls in three stores whose first goods were bought like all others."""
    world = generate_world(seed, rules)
    year = Year(world, rules, procurement=HonestCounter())
    fuzzer = Fuzzer(year, random.Random(seed))
    for store_type in fuzzer._types:
        year.call("open_store", {"store_type": store_type, "store_name": "S"})
    for sku in fuzzer._skus:
        move = {"action": "offer", "sku_id": sku, "price": 2.0, "quantity": 150}
        year.call("chatbox", {"uids": [fuzzer.supplier(sku)], "actions": [move]})
    for _ in range(num_calls):
        year.call(*fuzzer.call())
    year.stop()
    return year


@pytest.mark.parametrize("seed", range(2))
def test_random_calls(seed):
    """Stores that close and open again, units taken off, the same product twice in a call, years given up midway."""
    for rules in (PAPER, FAIR):
        year = random_year(seed, rules.model_copy(update={"initial_fen": 10**8}), 350)
        assert len(extract(year).lines.sku) > 20
        assert_same(year)


def test_a_plan_survives_its_json():
    year = random_year(1, FAIR, 300)
    plan = plan_from_json(plan_to_json(extract(year)))
    assert execute(year.setting.world, FAIR, plan).year.state.ledger.digest == year.state.ledger.digest


def test_a_recorded_year():
    """The journal of a year, carried out again, has the plan of the year; so a year of any agent has."""
    rules = FAIR.model_copy(update={"num_days": SHORT_DAYS})
    world, journal = generate_world(3, rules), []
    year = Year(world, rules)

    def recorded(tool: str, arguments: dict[str, object]) -> Result:
        result = year.call(tool, arguments)
        journal.append(Entry(len(journal), tool, arguments, result_digest(result)).to_json_object())
        return result

    build_merchant("rule-based", world, rules)(recorded)
    again = replay_calls(Year(world, rules), [entry_from_json(json.loads(json.dumps(row))) for row in journal])
    assert_same(again)


@pytest.mark.slow
@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=RULE_SETS)
@pytest.mark.parametrize("seed", range(1, 9))
def test_full_years_of_every_merchant(seed, rules):
    """Eight worlds under each rule set."""
    for name in YEAR_PLAYERS:
        assert_same(merchant_year(name, seed, rules))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20, 40))
def test_many_random_calls(seed):
    for rules in (PAPER, FAIR):
        assert_same(random_year(seed, rules.model_copy(update={"initial_fen": 10**8}), 4_000))
