"""Yuan and fen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commerce.money import pro_rata, round_fen, to_fen, to_yuan


@given(st.integers(0, 10**13))
def test_fen_survive_the_way_through_yuan(fen):
    assert to_fen(to_yuan(fen)) == fen


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_not_finite_is_not_money(value):
    with pytest.raises((ValueError, OverflowError)):
        to_fen(value)


def test_halves_round_to_even():
    assert round_fen(np.array([0.5, 1.5, 2.5])).tolist() == [0, 2, 2]


@given(st.integers(0, 10**9), st.lists(st.integers(0, 20), min_size=1, max_size=6))
def test_shares_taken_one_after_the_other_add_up(total, parts):
    left, whole = total, sum(parts)
    given_out = 0
    for part in parts:
        share = int(pro_rata(np.array([left]), np.array([part]), np.array([whole]))[0])
        assert 0 <= share <= left
        left, whole, given_out = left - share, whole - part, given_out + share
    assert given_out == total


@given(st.integers(0, 2**62), st.integers(1, 2**31), st.data())
def test_shares_do_not_overflow(total, whole, data):
    part = data.draw(st.integers(0, whole))
    share = int(pro_rata(np.array([total]), np.array([part]), np.array([whole]))[0])
    assert share == total * part // whole  # Python's integers have no limit
