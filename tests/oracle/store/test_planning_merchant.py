"""Years of the merchants that plan."""

from __future__ import annotations

from functools import cache

import pytest

from commerce.branching import branch
from commerce.config import FAIR, FIRST_FAIR, PAPER, RULE_SETS
from commerce.merchants import build_merchant, play_year
from commerce.types import EndReason
from commerce.world import generate_world
from commerce.year import Year
from oracle.store.year_players import YEAR_PLAYERS, build_year_player

RULES = {rules.name: rules for rules in (PAPER, FAIR, FIRST_FAIR)}
DAYS = 35


@cache
def short_year(name: str, rule_set: str, seed: int = 3, num_days: int = DAYS) -> Year:
    rules = RULES[rule_set].model_copy(update={"num_days": num_days})
    world = generate_world(seed, rules)
    return play_year(Year(world, rules), build_year_player(name, world, rules))


@pytest.mark.parametrize("rule_set", RULES)
def test_it_grows_from_the_start_and_is_never_overdrawn(rule_set: str) -> None:
    year = short_year("full-knowledge-planner", rule_set)
    assert year.state.end == EndReason.CALENDAR
    assert year.state.totals.overdrawn_mornings == 0
    assert year.final_fen > 1.1 * year.setting.rules.initial_fen
    assert not year.state.refused


def test_the_same_world_gives_the_same_year() -> None:
    first = short_year("full-knowledge-planner", "fair", num_days=20)
    rules = first.setting.rules
    again = play_year(
        Year(first.setting.world, rules), build_year_player("full-knowledge-planner", first.setting.world, rules)
    )
    assert again.state.ledger.digest == first.state.ledger.digest


@pytest.mark.parametrize("rule_set", RULE_SETS)
def test_it_takes_over_from_another(rule_set: str) -> None:
    rules = RULES[rule_set].model_copy(update={"num_days": DAYS})
    world = generate_world(3, rules)
    year = play_year(Year(world, rules), build_merchant("rule-based", world, rules))
    found = branch(year, 15, build_year_player("full-knowledge-planner", world, rules))
    assert found.state.end == EndReason.CALENDAR
    assert found.state.ledger.digest != year.state.ledger.digest
    assert found.state.totals.overdrawn_mornings == year.state.totals.overdrawn_mornings


def test_the_honest_one_learns_its_trade() -> None:
    year = short_year("honest-planner", "fair", 4, 25)
    assert year.state.end == EndReason.CALENDAR
    assert year.state.totals.overdrawn_mornings == 0
    assert year.state.units.sold.sum() > 0


@pytest.mark.slow
@pytest.mark.parametrize("rule_set", RULES)
@pytest.mark.parametrize("name", ["honest-planner", "full-knowledge-planner"])
@pytest.mark.parametrize("seed", range(1, 21))
def test_it_is_never_bankrupt(name: str, rule_set: str, seed: int) -> None:
    assert short_year(name, rule_set, seed, 365).state.end == EndReason.CALENDAR


@pytest.mark.slow
def test_who_knows_everything_earns_millions() -> None:
    assert short_year("full-knowledge-planner", "fair-1", 1, 365).final_fen >= 20_000_000_00


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ValueError, match=f"choose one of {', '.join(YEAR_PLAYERS)}"):
        build_year_player("greedy", generate_world(3, FAIR), FAIR)
