"""Intervals of means by hand, against their p-values, and their properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from terms.intervals import FEW, FEW_APART, mean_bounds, mean_p, share_bounds, spread_of

BLOCKS = st.lists(st.floats(-100, 100).map(lambda x: round(x, 3)), min_size=2, max_size=40).map(np.array)
SKEWED = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 19.0])
"""Mean 5; deviations -5, -4, -3, -2, -1, 0, 1, 14: squares sum to 252, cubes to 2,520 (-225 + 1 + 2,744)."""


def test_skewed_blocks_by_hand():
    """s^2 = 36, standard error sqrt(36 / 8); skewness (2520 / 8) / 31.5^1.5 = 1.78174; a = 0.62994."""
    found = spread_of(SKEWED)
    assert found.error == pytest.approx(math.sqrt(36 / 8))
    assert found.skew == pytest.approx(315 / 31.5**1.5 / math.sqrt(8))
    quantile, a = 2.364624251592785, float(found.skew)
    low, high = mean_bounds(5.0, found)
    # The lower bound is Student's, the upper one Hall's: at t = -8.67771 his h is -quantile.
    down = -8.677707365
    assert down + a * down**2 / 3 + a**2 * down**3 / 27 + a / 6 == pytest.approx(-quantile, abs=1e-6)
    assert (low, high) == (pytest.approx(5 - quantile * found.error), pytest.approx(5 - down * found.error))


def test_blocks_that_repeat_a_value_are_trusted_less():
    """0 five times of eight, then 1, 2, 5: mean 1, squares 5 + 0 + 1 + 16 = 22; four sevenths of 16 more."""
    found = spread_of(np.array([0.0, 0, 0, 0, 0, 1, 2, 5]))
    assert found.error == pytest.approx(math.sqrt((22 + 4 / 7 * 16) / 7 / 8))


@pytest.mark.parametrize(
    "values",
    [np.arange(FEW - 1.0), np.full(50, 0.1), np.array([0.0] * 40 + [1.0] * (FEW_APART - 1)), np.array([1.0])],
)
def test_too_few_to_say(values):
    found = spread_of(values)
    assert np.isnan(found.error)
    assert np.isnan(mean_bounds(1.0, found)).all()
    assert np.isnan(mean_p(1.0, found))


def test_fewer_blocks_are_enough_where_told():
    assert np.isfinite(spread_of(np.arange(4.0), few=4).error)


def test_rows_are_computed_alone():
    rows = np.stack([SKEWED, np.arange(8.0), np.zeros(8)])
    both = spread_of(rows)
    for place, row in enumerate(rows):
        one = spread_of(row)
        assert np.array_equal(both.error[place], one.error, equal_nan=True)
        assert np.array_equal(both.skew[place], one.skew, equal_nan=True)


@given(BLOCKS, st.floats(-3, 3), st.sampled_from([0.8, 0.95, 0.999]))
def test_the_interval_leaves_a_value_out_exactly_where_its_p_is_small(values, steps, level):
    spread = spread_of(values)
    if np.isfinite(spread.error):
        mean = float(values.mean())
        null = mean + steps * float(spread.error)
        low, high = mean_bounds(mean, spread, level)
        p = float(mean_p(mean - null, spread))
        assert low <= mean <= high
        assert low < high
        if abs(p - (1 - level)) > 1e-9:
            assert (p < 1 - level) == (null < low or null > high)


@given(BLOCKS)
def test_a_mirror_image_has_the_mirrored_interval(values):
    spread, mirrored = spread_of(values), spread_of(-values)
    if np.isfinite(spread.error):
        low, high = mean_bounds(1.0, spread)
        other = mean_bounds(-1.0, mirrored)
        assert (-other[1], -other[0]) == pytest.approx((low, high), rel=1e-6, abs=1e-9)


@given(st.integers(0, 40), st.integers(1, 40))
def test_a_share_lies_inside_its_interval(hits, n):
    low, high = share_bounds(min(hits, n) / n, n)
    assert 0 <= low <= min(hits, n) / n <= high <= 1
    assert low < high


@pytest.mark.parametrize("n", [1, 3, 7.5, 400])
def test_shares_of_nothing_and_of_all_have_their_closed_bounds(n):
    high = special.betaincinv(1.0, n, 0.975)
    assert share_bounds(0.0, n) == (0.0, pytest.approx(high, rel=1e-12))
    assert share_bounds(1.0, n) == (pytest.approx(1 - high, rel=1e-10), 1.0)
