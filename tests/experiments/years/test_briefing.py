"""What an agent is told: every number comes from the rules, the tools or the limits, and nothing hidden is in it."""

from __future__ import annotations

import json
import re

import pytest

from commerce.config import FAIR, PAPER, Rules
from commerce.setting import Setting
from commerce.tools import TOOLS
from experiments.llm.settings import ModelSettings
from experiments.storekeeper.seat import StorekeeperSeat
from experiments.storekeeper.settings import Memory, StorekeeperSettings
from experiments.years.briefing import briefing, make_opening
from experiments.years.limits import Limits
from tests.commerce.builders import default_world
from tests.commerce.test_config_reach import CHANGES

NOT_TOLD = {
    # names of choices, or hidden laws of the world that a merchant has to find out
    "name", "version", "speed_returns", "platform_share", "weekend_factor", "sub_cap_floor", "sub_cap_numerator",
    "return_cap", "defect_return_min", "defect_return_factor", "return_knees", "short_delivery",
    "upfront_floor_factor", "opening_bound_factor", "return_wording", "promotion_base", "trailing_days",
    "response_bound", "kernel_types", "fraud_price_scale", "honest_floors", "counter_below_bid",
    "history_includes_current", "negotiation_draws", "calendar", "sure_share", "end_hazard",
    *(name for name in Rules.model_fields if name.startswith("reputation_")),
}  # fmt: skip


def told(rules=PAPER, limits=None, extra=None) -> str:
    return "\n".join(
        message["content"] for message in briefing(Setting(default_world(), rules), limits or Limits(), extra)
    )


@pytest.mark.parametrize("name", [name for name in CHANGES if name not in NOT_TOLD])
def test_a_changed_rule_changes_the_prompt(name):
    assert told(PAPER.model_copy(update={name: CHANGES[name]})) != told()


def test_what_is_not_told_is_listed():
    changes = CHANGES | {
        "trailing_days": 3,
        "name": "other",
        "version": 9,
        "ending": "told",
        "sure_share": 0.5,
        "end_hazard": 0.5,
    }
    assert set(Rules.model_fields) == set(changes)
    for name in NOT_TOLD:
        assert told(PAPER.model_copy(update={name: changes[name]})) == told(), name


def test_a_drawn_end_is_told_as_a_chance():
    rules = PAPER.model_copy(update={"ending": "drawn"})
    assert "after 273 days each morning is the last with a chance of 2 %, and after 365 days" in told(rules)
    assert "on 2027-01-01" in told()
    assert "2027-01-01" not in told(rules)
    for name, value in {"sure_share": 0.5, "end_hazard": 0.5}.items():
        assert told(rules.model_copy(update={name: value})) != told(rules)


@pytest.mark.parametrize("limits", [Limits(max_turns=12), Limits(max_idle_turns=4)])
def test_a_changed_limit_changes_the_prompt(limits):
    assert told(limits=limits) != told()


def test_running_costs_are_those_of_the_world():
    costs = {kind.operations_fen / 100 for kind in default_world().store_types}
    assert all(f"{cost:g} yuan" in told() for cost in costs)


def test_amounts_by_hand():
    """100,000 yuan, 2 % commission, 9 days, ten mornings: the published rules in words."""
    sentences = (
        "100,000 yuan in the bank", "less 2 % commission", "9 days after shipping", "10 mornings in a row",
        "after 365 days, on 2027-01-01", "At most 4 stores", "up to 20 notes", "at most 4,000 turns",
        "After day 7, every day without an open store costs 1,000 yuan",
    )  # fmt: skip
    for words in sentences:
        assert words in told(), words
    assert "A talk has 10 rounds" in told(FAIR)
    assert "A talk has" not in told(PAPER)


def test_nothing_hidden_is_told():
    world = default_world()
    text = told() + told(FAIR)
    for secret in ("qty_bait", "quality_downgrade", "Adversarial", "elasticity", world.suppliers[0].email):
        assert secret not in text
    frauds = sum(not supplier.is_honest for supplier in world.suppliers)
    assert not re.search(rf"\b({frauds}|{len(world.suppliers) - frauds})\b", text)


def test_the_opening_holds_the_tools_with_their_minutes():
    opening = make_opening("x", Setting(default_world(), PAPER))
    by_name = {tool["function"]["name"]: tool["function"]["description"] for tool in opening.tools}
    assert list(by_name) == list(TOOLS)
    assert all(f"{tool.minutes} minutes" in by_name[tool.name] for tool in TOOLS.values() if tool.minutes is not None)


def model_told(**chosen) -> str:
    seat = StorekeeperSeat("m", ModelSettings(model="m", max_output_tokens=4_000), StorekeeperSettings(**chosen))
    return json.dumps(seat.opening(Setting(default_world(), PAPER)).messages)


@pytest.mark.parametrize(
    "chosen",
    [{"context_tokens": 124_000}, {"evict_at": 119_000}, {"evict_to": 50_000}, {"keep_groups": 3}]
    + [{"memory": memory} for memory in Memory if memory is not Memory.PLAIN]
    + [{"tool_mode": "json"}],
)
def test_a_changed_context_changes_the_prompt_of_a_model(chosen):
    assert model_told(**chosen) != model_told()


@pytest.mark.parametrize(
    ("memory", "name", "value"),
    [
        ("reflection", "reflect_days", 9),
        ("reflection", "keep_reflections", 5),
        ("price-limits", "price_limit_pct", 105.0),
    ],
)
def test_numbers_of_a_memory_are_told_with_it(memory, name, value):
    assert model_told(memory=memory, **{name: value}) != model_told(memory=memory)


def test_the_threshold_told_leaves_room_for_the_answer():
    assert "reaches 120,000" in model_told()
    assert "reaches 96,000" in model_told(context_tokens=100_000, evict_at=99_000)


def test_what_is_told_to_be_left_is_what_the_loop_leaves():
    chosen = {"context_tokens": 100_000, "evict_at": 99_000, "evict_to": 90_000}
    assert StorekeeperSettings(**chosen).budget(4_000).to == 48_000
    assert "until about 48,000 are left" in model_told(**chosen)
