"""Intervals against hand-computed and published values, their coverage by simulation, and undefined as undefined."""

from __future__ import annotations

import math

import numpy as np
import pytest

from terms.estimates import (
    UNDEFINED,
    Ratio,
    estimate_mean,
    estimate_means,
    estimate_quotient,
    estimate_ratios,
    estimate_share,
)
from terms.intervals import share_bounds

T_7 = 2.364624251592785
"""Student's t at 0.975 with 7 degrees of freedom (any table: 2.365)."""
EIGHT = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
"""Symmetric, so Hall's transformation changes nothing: mean 4.5, s^2 = 42 / 7 = 6, standard error sqrt(6 / 8)."""


def mean_of(values, clusters=None):
    values = np.asarray(values, dtype=float)
    clusters = np.arange(len(values)) if clusters is None else np.asarray(clusters)
    return estimate_ratios([Ratio(values, np.ones(len(values)))], clusters)


def share_of(hits, clusters=None):
    hits = np.asarray(hits, dtype=float)
    clusters = np.arange(len(hits)) if clusters is None else np.asarray(clusters)
    return estimate_share(hits, np.ones(len(hits)), clusters)


def test_mean_by_hand():
    half = T_7 * math.sqrt(6 / 8)
    assert mean_of(EIGHT) == pytest.approx((4.5, 4.5 - half, 4.5 + half, 8), abs=1e-12)
    assert mean_of(EIGHT) == estimate_mean(EIGHT)
    assert estimate_means(np.array([EIGHT, EIGHT]).T, np.arange(8)) == [mean_of(EIGHT)] * 2


def test_ratio_by_hand():
    # 36 / 72; residuals 1 - 0.5 x 9 = -3.5, ... 3.5 over the total 72: sum of squares 42 / 72^2, times 8 / 7
    found = estimate_ratios([Ratio(np.array(EIGHT), np.full(8, 9.0))], np.arange(8))
    half = T_7 * math.sqrt(8 / 7 * 42) / 72
    assert found == pytest.approx((0.5, 0.5 - half, 0.5 + half, 8), abs=1e-12)


def test_quotient_by_hand():
    # (36 / 8) / (72 / 8) with a denominator that does not vary is the ratio above.
    own, other = Ratio(np.array(EIGHT), np.ones(8)), Ratio(np.full(8, 9.0), np.ones(8))
    ratio = estimate_ratios([Ratio(np.array(EIGHT), np.full(8, 9.0))], np.arange(8))
    assert estimate_quotient(own, other, np.arange(8)) == pytest.approx(ratio, abs=1e-12)
    assert estimate_quotient(own, Ratio(np.zeros(8), np.ones(8)), np.arange(8)) == (None, None, None, 8)


def test_contrast_by_hand():
    # Means 4.5 and 4.5 of eight each: e = (x - 4.5) / 8 on either side, variance 16/15 x 2 x 42 / 64, t_15 = 2.131450
    values, first = np.array(EIGHT * 2), np.repeat([1.0, 0.0], 8)
    found = estimate_ratios([Ratio(values * first, first), Ratio(values * (1 - first), 1 - first, -1.0)], np.arange(16))
    half = 2.131449545559323 * math.sqrt(16 / 15 * 84 / 64)
    # Every value comes twice among the 16 influences: a fifteenth of one more square of 3.5 over 8.
    half = math.sqrt(half**2 + 2.131449545559323**2 * 16 / 15 * (3.5 / 8) ** 2 / 15)
    # The two sides mirror each other's sign, so the influences of one repeat those of the other.
    assert found == pytest.approx((0.0, -half, half, 16), abs=1e-12)


def test_episodes_outside_the_denominator_do_not_count():
    values, inside = np.array([*EIGHT, 0.0, 0.0]), np.array([1.0] * 8 + [0.0, 0.0])
    assert estimate_ratios([Ratio(values, inside)], np.arange(10)) == pytest.approx(mean_of(EIGHT), abs=1e-15)


def test_a_numerator_over_a_zero_denominator_still_spreads():
    # The last block has nothing below the line: it moves the ratio and counts among the eight that spread, not in n.
    values, weights = np.array(EIGHT), np.array([1.0] * 7 + [0.0])
    found = estimate_ratios([Ratio(values, weights)], np.arange(8))
    assert (found.estimate, found.n) == (pytest.approx(36 / 7), 7)
    assert found.low < 36 / 7 < found.high
    assert estimate_ratios([Ratio(values[:7], weights[:7])], np.arange(7)).low is None


def test_repeating_every_scenario_does_not_narrow_the_interval():
    once, twice = mean_of(EIGHT), mean_of(EIGHT * 2, list(range(8)) * 2)
    assert twice[:3] == pytest.approx(once[:3], abs=1e-12)
    assert twice.n == 16
    naive = mean_of(EIGHT * 2)
    assert naive.high - naive.low < twice.high - twice.low


def test_repeats_widen_a_share():
    hits = [1, 0, 1, 1, 0, 0, 1, 0] * 3
    clusters = list(range(8)) * 3
    once, naive, honest = share_of(hits[:8]), share_of(hits), share_of(hits, clusters)
    assert honest.estimate == naive.estimate == 0.5
    assert honest.high - honest.low > naive.high - naive.low
    # Fully repeated outcomes: design effect 3 x 8/7, so the effective number is 24 / (3 x 8/7) = 7.
    assert (honest.low, honest.high) == pytest.approx(share_bounds(0.5, 7.0), abs=1e-12)
    assert honest.high - honest.low > once.high - once.low  # 7 scenarios' worth against 8 free episodes


def test_independent_repeats_do_not_narrow_below_the_plain_interval():
    # Opposite outcomes within each scenario: the raw design effect is below 1 and is not used.
    assert share_of([1, 0] * 8, np.repeat(range(8), 2)) == share_of([1, 0] * 8)
    # With fewer than eight scenarios there is too little to estimate it from, and each counts once.
    assert share_of([1, 0] * 6, np.repeat(range(6), 2))[1:3] == share_bounds(0.5, 6.0)


def test_all_equal_repeats_count_each_scenario_once():
    assert share_of([1] * 12, list(range(4)) * 3)[:3] == share_of([1] * 4)[:3]
    assert share_of([0] * 12, [0] * 12)[:3] == share_of([0])[:3]


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        # Newcombe (1998), Statistics in Medicine 17:857-872, Table I, method 5 (Clopper and Pearson).
        (81, 263, 0.2527, 0.3676),
        (15, 148, 0.0578, 0.1617),
        (0, 20, 0.0000, 0.1684),
        (1, 29, 0.0009, 0.1776),
    ],
)
def test_shares_against_published_intervals(hits, n, low, high):
    found = share_of([1] * hits + [0] * (n - hits))
    assert (found.estimate, found.n) == (hits / n, n)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


def test_the_ends_of_a_share_are_exact():
    assert share_of([0] * 10).low == 0.0
    assert share_of([1] * 10).high == 1.0
    # All of n: p^n = 0.025 at the other end.
    assert share_of([1] * 10).low == pytest.approx(0.025**0.1, abs=1e-12)


def test_undefined_is_not_zero():
    empty = np.array([])
    none = np.zeros(3)
    assert estimate_share(empty, empty, empty.astype(int)) == UNDEFINED == (None, None, None, 0)
    assert estimate_share(none, none, np.arange(3)) == UNDEFINED
    assert estimate_ratios([], np.arange(0)) == UNDEFINED
    assert estimate_ratios([Ratio(none, none)], np.arange(3)) == UNDEFINED
    half_empty = [Ratio(np.ones(3), np.ones(3)), Ratio(none, none, -1.0)]
    assert estimate_ratios(half_empty, np.arange(3)) == (None, None, None, 3)
    cancelling = Ratio(np.ones(2), np.array([1.0, -1.0]))
    assert estimate_ratios([cancelling], np.arange(2)).estimate is None


def test_few_scenarios_have_a_value_and_no_interval():
    assert mean_of([5]) == (5.0, None, None, 1)
    assert mean_of([4, 6], [7, 7]) == (5.0, None, None, 2)
    assert mean_of(EIGHT[:7]) == (4.0, None, None, 7)
    assert share_of([1]).low is not None  # an exact interval needs no spread


@pytest.mark.parametrize("values", [[0.1] * 50, [0.0] * 50, [0.1] * 48 + [0.9, 0.8]])
def test_scenarios_that_are_nearly_all_alike_have_no_interval(values):
    """An interval of no width would claim what was not seen; sums of 0.1 also leave rounding that is no spread."""
    assert mean_of(values)[1:3] == (None, None)
    ratio = Ratio(np.array(values) * 3, np.full(len(values), 3.0))
    assert estimate_ratios([ratio], np.arange(len(values)))[1:3] == (None, None)


def test_coverage_of_the_mean_under_repeats(rng):
    """3 repeats of 15 scenarios, half of the variance between scenarios: the tables are in tests.bench.coverage."""
    clusters, covered, naive = np.repeat(np.arange(15), 3), 0, 0
    for _ in range(1_000):
        values = rng.standard_normal(15)[clusters] + rng.standard_normal(45)
        found, plain = mean_of(values, clusters), mean_of(values)
        covered += found.low <= 0 <= found.high
        naive += plain.low <= 0 <= plain.high
    assert 0.93 <= covered / 1_000 <= 0.98
    assert naive / 1_000 < 0.91  # ignoring repeats would not cover
