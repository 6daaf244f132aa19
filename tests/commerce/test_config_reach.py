"""Every field of the rules reaches something: changing it changes what a busy year answers or what it ends as."""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import replace
from functools import cache

import pytest

from commerce.config import PAPER, PriceBand, Rules
from commerce.lint import lint_economy
from commerce.replay import result_digest
from commerce.state import state_digest
from commerce.types import Personality
from commerce.world import generate_world
from commerce.year import Year
from tests.commerce.builders import default_world, stock_up, world_with
from tests.commerce.fuzzing import Fuzzer

CHANGES = {
    "num_days": 30, "open_minute": 470, "close_minute": 1000, "initial_fen": 10**8 + 1,
    "setup_fen": 1, "max_open_stores": 2, "commission": 0.03, "settlement_days": 10, "ship_within_days": 1,
    "salvage_share": 0.2, "idle_penalty_fen": 5, "idle_grace_days": 0, "bankruptcy_mornings": 2, "vip_fee_fen": 5,
    "max_memos": 1, "max_price_fen": 100, "freight_fen": (1, 1, 1, 1), "storage_fen": (1, 1, 1, 1),
    "storage_steps": ((0, 2.0),), "speed_cost": (2.0, 1.1, 0.5), "speed_returns": (0.7, 0.9, 1.4),
    "platform_share": 0.2, "weekend_factor": 2.0, "sub_cap_floor": 0.9, "sub_cap_numerator": 2.5,
    "discount_min": 0.2, "discount_max": 0.4, "full_discount": 0.1, "join_ahead_days": 5, "announce_ahead_days": 2,
    "reputation_new": 0.9, "reputation_base": 0.4, "reputation_rise": 0.5, "reputation_middle": 100.0,
    "reputation_width": 50.0, "reputation_return_weight": 5.0, "reputation_cancel_weight": 0.1,
    "reputation_penalty_max": 0.1, "reputation_bounds": (0.3, 1.0), "reputation_memory": 0.1, "return_cap": 0.1,
    "defect_return_min": 0.9, "defect_return_factor": 6.0, "return_knees": ((1.0, 2.0), (2.0, 3.0)),
    "return_lag": (1, 2), "lead_days": (1, 2), "short_delivery": (0.1, 0.2), "upfront_floor_factor": 1.1,
    "opening_bound_factor": 3.0, "return_wording": "from_numbers", "promotion_base": "reference_or_trailing",
    "response_bound": 0.95, "price_band": PriceBand(low=0.95, high=1.05), "commission_on_returns": "reversed",
    "kernel_types": "drawn", "fraud_price_scale": "as_honest", "honest_floors": "as_fraudulent",
    "counter_below_bid": "take_bid",
    "history_includes_current": False, "round_limit": 1, "calendar": "shifted",
    "choke_ratio": 1.05, "capacity_unit": "value", "category_breadth": 1.5,
    "fee_consent": "words",
    "negotiation_draws": "by_day", "unpaid_bids": "refused",
}  # fmt: skip
LABELS = {"name", "version"}  # of a rule set: no rule
NEEDS_ANOTHER = {
    "trailing_days": (2, {"promotion_base": "reference_or_trailing"}),
    "ending": ("drawn", {"sure_share": 0.05, "end_hazard": 1.0}),
    "sure_share": (0.05, {"ending": "drawn"}),
    "end_hazard": (1.0, {"ending": "drawn", "sure_share": 0.05}),
}


def scripted_year(rules: Rules) -> Year:
    """A beauty store with stock, and an honest supplier that can be talked to."""
    world = world_with([("Skincare & Beauty", 100.0, "Small", 0.15)])
    honest = replace(world.suppliers[0], category=world.category_index["Skincare & Beauty"], fraud=None,
                     personality=Personality.STRATEGIC)  # fmt: skip
    year = Year(replace(world, suppliers=(honest,)), rules)
    year.call("open_store", {"store_type": "beauty", "store_name": "S"})
    stock_up(year, 0, 300, 3000)
    return year


WAIT, SHIP = ("wait_for_next_day", {}), ("ship_orders", {"action": "ship"})
BIDS = [
    ("chatbox", {"uids": [default_world().suppliers[0].email],
                 "actions": [{"action": "offer", "sku_id": "p0", "price": price, "quantity": 1}]})
    for price in (20.0, 24.0, 28.0, 29.0, 29.9, 30.5, 31.0, 33.0)
]  # fmt: skip
SCRIPT = [
    ("check_store_status", {}),
    ("publish_to_store", {"store_id": "store_001",
                          "plan": [{"product_id": "p0", "quantity": 290, "retail_price": 100.0}]}),
    ("join_promotion", {"store_id": "store_001", "event_name": "New Year Kickoff Sale", "discount_rate": 0.2}),
    ("chatbox", {"uids": [default_world().suppliers[0].email], "content": "Yes, we pay the membership fee."}),
    *BIDS, *[WAIT, SHIP] * 12,
    ("close_store", {"store_id": "store_001", "liquidate": True}), *[WAIT] * 12,
]  # fmt: skip


@cache
def fingerprint(rules_json: str) -> str:
    """Everything a busy year answers, how it ends, and what the lint says."""
    rules = Rules.model_validate_json(rules_json)
    world = default_world() if rules.calendar == "published" else generate_world(rules=rules)
    parts = [lint_economy(world, rules).findings]
    for seed, initial in ((1, rules.initial_fen), (2, 900_000)):
        year = Year(world, rules.model_copy(update={"initial_fen": initial}))
        fuzzer = Fuzzer(year, random.Random(seed))
        if seed == 1:
            fuzzer.open_shop()
        parts += [result_digest(year.call(*fuzzer.call())) for _ in range(1200)]
        parts.append(state_digest(year.state))
    parts += [
        result_digest(year.call(tool, arguments)) for year in [scripted_year(rules)] for tool, arguments in SCRIPT
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def changed(**changes: object) -> str:
    return fingerprint(PAPER.model_copy(update={"initial_fen": 10**8, **changes}).model_dump_json())


def test_every_field_is_listed():
    assert set(CHANGES) | set(NEEDS_ANOTHER) | LABELS == set(Rules.model_fields)


@pytest.mark.slow
@pytest.mark.parametrize("field", CHANGES)
def test_a_changed_field_changes_something(field):
    assert changed(**{field: CHANGES[field]}) != changed()


@pytest.mark.slow
def test_fields_that_need_another():
    for field, (value, others) in NEEDS_ANOTHER.items():
        assert changed(**{field: value}, **others) != changed(**others)
