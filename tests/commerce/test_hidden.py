"""What an agent is told holds no hidden field and no hidden word, over a whole busy stretch of a year."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from commerce.config import FAIR, PAPER
from commerce.merchants import build_merchant
from commerce.types import Fraud, Personality
from commerce.world import generate_world
from commerce.year import Year

HIDDEN_FIELDS = {
    "fraud", "personality", "is_honest", "floor", "floor_fen", "reservation", "urgency", "stance", "family",
    "delivered", "defective", "arrival_day", "retirement_orders", "return_rate", "elasticity", "response",
    "cost_floor_ratio", "wholesale_ratio", "capacity", "seed", "extra",
}  # fmt: skip
HIDDEN_WORDS = {*Fraud, *Personality, "good", "bad"}


def parts(value: Any) -> Iterator[tuple[str, Any]]:
    """Every key and every leaf of a result."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield "key", key
            yield from parts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from parts(part)
    else:
        yield "leaf", value


@pytest.mark.parametrize("rules", [PAPER, FAIR], ids=["paper", "fair"])
def test_nothing_hidden_is_told(rules):
    rules = rules.model_copy(update={"num_days": 45})
    world = generate_world(9, rules)
    year = Year(world, rules)
    keys: set[str] = set()
    words: set[str] = set()

    def call(tool, arguments):
        result = year.call(tool, arguments)
        for kind, value in parts(result.to_json_object()):
            if kind == "key":
                keys.add(value)
            elif isinstance(value, str):
                words.add(value)
        return result

    build_merchant("rule-based", world, rules)(call)
    assert len(keys) > 100
    assert not keys & HIDDEN_FIELDS
    assert not words & HIDDEN_WORDS
