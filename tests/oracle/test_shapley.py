"""Shapley values against a game worked by hand, and their defining properties."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.shapley import shapley_values, whole_shapley_values

PLAYERS = ("belief", "type", "planning")
GROUPS = [frozenset(name for j, name in enumerate(PLAYERS) if bits >> j & 1) for bits in range(8)]


def worth_of(values):
    return {group: np.array([value]) for group, value in zip(GROUPS, values, strict=True)}


def by_orders(worth):
    """Mean over all orders of what each adds: the definition, in full."""
    parts = dict.fromkeys(PLAYERS, 0.0)
    for order in permutations(PLAYERS):
        group = frozenset()
        for name in order:
            parts[name] += float(worth[group | {name}][0] - worth[group][0]) / 6
            group |= {name}
    return parts


def test_the_glove_game():
    # Two left gloves (belief, type), one right (planning): 1/6, 1/6, 4/6 (Shapley and Shubik 1969).
    worth = {group: np.array([float("planning" in group and len(group) > 1)]) for group in GROUPS}
    parts = shapley_values(PLAYERS, worth)
    assert parts["belief"] == pytest.approx([1 / 6])
    assert parts["type"] == pytest.approx([1 / 6])
    assert parts["planning"] == pytest.approx([4 / 6])


@given(st.lists(st.floats(-50, 50), min_size=8, max_size=8))
def test_equal_to_the_mean_over_orders_and_efficient(values):
    worth = worth_of(values)
    parts = shapley_values(PLAYERS, worth)
    expected = by_orders(worth)
    for name in PLAYERS:
        assert float(parts[name][0]) == pytest.approx(expected[name], abs=1e-12)
    total = sum(float(part[0]) for part in parts.values())
    assert total == pytest.approx(values[7] - values[0], abs=1e-12)


def test_a_player_that_adds_nothing_gets_exactly_nothing():
    worth = worth_of([1.0, 1.0, 3.0, 3.0, 4.5, 4.5, 7.25, 7.25])  # the first bit never matters
    assert shapley_values(PLAYERS, worth)["belief"].tolist() == [0.0]


def test_a_missing_coalition_is_named():
    worth = worth_of(range(8))
    del worth[frozenset({"type"})]
    with pytest.raises(ValueError, match=r"worth lacks the coalitions \[\['type'\]\]"):
        shapley_values(PLAYERS, worth)


@given(st.lists(st.integers(-(10**12), 10**12), min_size=8, max_size=8))
def test_whole_parts_keep_the_sum_and_are_within_one(values):
    worth = dict(zip(GROUPS, values, strict=True))
    parts = whole_shapley_values(PLAYERS, worth)
    exact = {name: Fraction(0) for name in PLAYERS}
    for order in permutations(PLAYERS):
        group = frozenset()
        for name in order:
            exact[name] += Fraction(worth[group | {name}] - worth[group], 6)
            group |= {name}
    assert sum(parts.values()) == values[7] - values[0]
    assert all(abs(parts[name] - exact[name]) < 1 for name in PLAYERS)
    assert all(parts[name] == exact[name] for name in PLAYERS if exact[name].denominator == 1)


def test_the_largest_remainder_gets_the_missing_one():
    """The glove game for one fen: 1/6, 1/6 and 4/6 of it."""
    worth = {group: int("planning" in group and len(group) > 1) for group in GROUPS}
    assert whole_shapley_values(PLAYERS, worth) == {"belief": 0, "type": 0, "planning": 1}
