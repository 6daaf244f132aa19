"""Two rule sets of one model: closed, validated, and different in the named fields only."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from commerce.config import FAIR, PAPER, PriceBand, Rules, rules_named

DIFFERENCES = {
    "name", "return_wording", "promotion_base", "response_bound", "price_band", "commission_on_returns",
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
    with pytest.raises(ValueError, match="choose one of paper, fair"):
        rules_named("unfair")
    with pytest.raises(ValueError, match=r"rules='fair' of version 1 .* have version 2"):
        rules_named("fair", 1)
