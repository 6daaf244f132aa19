"""The compiled year is the readable one to the fen: on mixed, changed and random plans, in random worlds."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commerce.config import FAIR, FIRST_FAIR, PAPER, Rules
from commerce.merchants import build_merchant, play_year
from commerce.plan import StorePlan, extract
from commerce.plan.planned import Stop
from commerce.setting import Setting
from commerce.world import generate_world
from commerce.year import Year
from oracle.kernels.year.year_demand import sum_in_pairs
from oracle.store.compiled_year import PlanRunner, carry_out_readably
from oracle.store.regret_streams import Stream, TwoYears
from tests.commerce.plan.test_check_zero import random_year

DAYS = 40
RULES = {rules.name: rules.model_copy(update={"num_days": DAYS}) for rules in (PAPER, FAIR, FIRST_FAIR)}
EVENTFUL = FAIR.model_copy(
    update={"num_days": DAYS, "initial_fen": 2_000_000, "bankruptcy_mornings": 2, "calendar": "published"}
)


@cache
def setting(seed: int, rules: Rules) -> Setting:
    return Setting(generate_world(seed, rules), rules)


@cache
def plan_by(name: str, seed: int, rules: Rules) -> StorePlan:
    world = setting(seed, rules).world
    return extract(play_year(Year(world, rules), build_merchant(name, world, rules)))


def assert_same(where: Setting, plan: StorePlan) -> None:
    assert PlanRunner(where).run(plan) == carry_out_readably(where, plan)


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_mixed_plans(rules):
    """A merchant of few goods and one that lists all it can, one stream at a time and all but one."""
    two = TwoYears(setting(5, rules), plan_by("rule-based", 5, rules), plan_by("listing-hoarder", 5, rules))
    for stream in Stream:
        for group in ({stream}, set(Stream) - {stream}):
            assert_same(setting(5, rules), two.plan(group))


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(1, 3),
    name=st.sampled_from(["rule-based", "random-legal", "fraud-seeker", "first-quote"]),
    rules=st.sampled_from([*RULES.values(), EVENTFUL]),
    dearer=st.sampled_from([0.3, 1.0, 1.5, 4.0]),
    later=st.integers(0, 6),
    patience=st.sampled_from([0, 2, 365]),
    stop=st.none() | st.integers(0, DAYS - 1),
    is_banked=st.booleans(),
)
def test_changed_plans(seed, name, rules, dearer, later, patience, stop, is_banked):
    plan = plan_by(name, seed, rules)
    unit_fen = np.maximum(1, plan.buys.unit_fen * dearer).astype(np.int64)
    buys = plan.buys._replace(unit_fen=unit_fen, day=np.minimum(plan.buys.day + later, DAYS))
    if not is_banked:
        buys = buys._replace(bank_fen=np.zeros_like(buys.bank_fen))
    least = plan.patience._replace(shelf=np.minimum(plan.patience.shelf, patience), wallet=patience)
    prices = plan.prices._replace(fen=np.maximum(1, plan.prices.fen * dearer).astype(np.int64))
    changed = replace(plan, buys=buys, patience=least, prices=prices, stop=None if stop is None else Stop(stop, 600))
    assert_same(setting(seed, rules), changed)


@pytest.mark.parametrize("seed", range(6))
def test_random_calls(seed):
    """Every kind of act, in every order that the rules allow."""
    rules = (PAPER, FAIR)[seed % 2].model_copy(update={"initial_fen": 10**8})
    plan = extract(year := random_year(seed, rules, 500))
    assert len(plan.lines.sku) > 20
    assert_same(year.setting, plan)


def test_numbers_beyond_64_bits_are_carried_out_readably():
    rules = RULES["paper"]
    plan = plan_by("first-quote", 1, rules)
    rich = replace(plan, buys=plan.buys._replace(bank_fen=np.full_like(plan.buys.bank_fen, 2**53 - 1),
                                                 units=np.full_like(plan.buys.units, 10**12)))  # fmt: skip
    assert_same(setting(1, rules), rich)


def test_a_plan_of_another_world_is_refused():
    with pytest.raises(ValueError, match="is another world"):
        PlanRunner(setting(1, PAPER)).run(plan_by("idle", 2, RULES["paper"]))


@pytest.mark.parametrize("num", [1, 7, 8, 9, 127, 128, 129, 300, 1_001])
def test_sums_are_added_in_the_order_of_numpy(num):
    values = np.random.default_rng(num).lognormal(size=num)
    assert sum_in_pairs(values, num) == values.sum()
