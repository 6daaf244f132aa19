"""Two rule sets of one model: closed, validated, and different in the named fields only."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from commerce.config import FAIR, FIRST_FAIR, PAPER, PriceBand, Rules, rules_named

DIFFERENCES = {
    "name", "version", "choke_ratio", "capacity_unit", "category_breadth",
    "return_wording", "promotion_base", "response_bound", "price_band", "commission_on_returns",
    "kernel_types", "fraud_price_scale", "honest_floors", "counter_below_bid", "history_includes_current",
    "round_limit", "negotiation_draws", "unpaid_bids", "calendar",
}  # fmt: skip


def test_the_rule_sets_differ_in_the_named_fields_only():
    assert {name for name in Rules.model_fields if getattr(PAPER, name) != getattr(FAIR, name)} == DIFFERENCES


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"comission": 0.02}, "comission"),
        ({"commission": 1.5}, "commission"),
        ({"commission": float("nan")}, "commission"),
        ({"open_minute": 1200}, "open_minute=1200"),
        ({"return_lag": (5, 3)}, "return_lag=(5, 3)"),
        ({"return_lag": (3, 9)}, "settlement_days=9"),
        ({"round_limit": 0}, "round_limit"),
        ({"choke_ratio": 1.0}, "choke_ratio"),
        ({"choke_ratio": 1.2, "price_band": {"low": 0.5, "high": 1.3}}, "price_band.high=1.3"),
        ({"category_breadth": 0}, "category_breadth"),
    ],
)
def test_bad_settings_name_the_field(changes, names):
    with pytest.raises(ValidationError, match=names.replace("(", r"\(").replace(")", r"\)")):
        Rules.model_validate(changes)


def test_a_price_band_is_ordered():
    with pytest.raises(ValidationError, match="low=2"):
        PriceBand(low=2, high=1)


def test_rules_by_name():
    assert rules_named("fair") is FAIR
    with pytest.raises(ValueError, match="choose one of paper, fair, fair-1"):
        rules_named("unfair")
    with pytest.raises(ValueError, match=r"rules='fair' of version 1 .* have version 3"):
        rules_named("fair", 1)


def test_the_first_fair_differs_from_the_second_in_the_economy_only():
    changed = {name for name in Rules.model_fields if getattr(FIRST_FAIR, name) != getattr(FAIR, name)}
    assert changed == {"name", "version", "choke_ratio", "capacity_unit", "category_breadth", "price_band"}
    assert rules_named("fair-1") is FIRST_FAIR
