"""Intervals against hand-computed and published values, their coverage by simulation, and undefined as undefined."""

from __future__ import annotations

import math

import numpy as np
import pytest

from terms.estimates import UNDEFINED, Ratio, estimate_ratios, estimate_share

T_2, T_3 = 4.302652729749464, 3.182446305284263
"""Student's t at 0.975 with 2 and 3 degrees of freedom (any table: 4.303, 3.182)."""


def mean_of(values, clusters=None):
    values = np.asarray(values, dtype=float)
    clusters = np.arange(len(values)) if clusters is None else np.asarray(clusters)
    return estimate_ratios([Ratio(values, np.ones(len(values)))], clusters)


def share_of(hits, clusters=None):
    hits = np.asarray(hits, dtype=float)
    clusters = np.arange(len(hits)) if clusters is None else np.asarray(clusters)
    return estimate_share(hits, np.ones(len(hits)), clusters)


def test_mean_by_hand():
    # mean 2.5, s^2 = (2.25 + 0.25 + 0.25 + 2.25)/3 = 5/3, half width t sqrt(5/3 / 4)
    found = mean_of([1, 2, 3, 4])
    half = T_3 * math.sqrt(5 / 12)
    assert found == pytest.approx((2.5, 2.5 - half, 2.5 + half, 4), abs=1e-12)


def test_ratio_by_hand():
    # 3/4; residuals 1 - 0.75, 2 - 0.75, 0 - 1.5 over the total 4; variance 3/2 x (0.0625 + 1.5625 + 2.25)/16
    found = estimate_ratios([Ratio(np.array([1.0, 2.0, 0.0]), np.array([1.0, 1.0, 2.0]))], np.arange(3))
    half = T_2 * math.sqrt(1.5 * 3.875 / 16)
    assert found == pytest.approx((0.75, 0.75 - half, 0.75 + half, 3), abs=1e-12)


def test_contrast_by_hand():
    # means 2 (of 1, 3) and 5 (of 4, 6): 2 - 5; e = +-1/2 four times, variance 4/3 x (4 x 0.25)
    values, first = np.array([1.0, 3.0, 4.0, 6.0]), np.array([1.0, 1.0, 0.0, 0.0])
    found = estimate_ratios([Ratio(values * first, first), Ratio(values * (1 - first), 1 - first, -1.0)], np.arange(4))
    half = T_3 * math.sqrt(4 / 3)
    assert found == pytest.approx((-3.0, -3.0 - half, -3.0 + half, 4), abs=1e-12)


def test_episodes_outside_the_denominator_do_not_count():
    values = np.array([1.0, 2.0, 3.0, 4.0, 0.0, 0.0])
    inside = np.array([1.0, 1.0, 1.0, 1.0, 0.0, 0.0])
    assert estimate_ratios([Ratio(values, inside)], np.arange(6)) == pytest.approx(mean_of([1, 2, 3, 4]), abs=1e-15)


def test_a_numerator_over_a_zero_denominator_still_spreads():
    # 0.75/0.5; e = (0.5 - 1.5 x 0.5)/0.5 and 0.25/0.5, variance 2 x (0.25 + 0.25), t with 1 degree of freedom 12.706
    found = estimate_ratios([Ratio(np.array([0.5, 0.25]), np.array([0.5, 0.0]))], np.arange(2))
    assert found == pytest.approx((1.5, 1.5 - 12.706204736174698, 1.5 + 12.706204736174698, 1), abs=1e-9)


def test_repeating_every_scenario_does_not_narrow_the_interval():
    once, twice = mean_of([1, 2, 3, 4]), mean_of([1, 2, 3, 4] * 2, [0, 1, 2, 3] * 2)
    assert twice[:3] == pytest.approx(once[:3], abs=1e-12)
    assert twice.n == 8
    naive = mean_of([1, 2, 3, 4] * 2)
    assert naive.high - naive.low < twice.high - twice.low


def test_repeats_widen_a_share():
    hits = [1, 0, 1, 1, 0, 0, 1, 0] * 3
    clusters = list(range(8)) * 3
    once, naive, honest = share_of(hits[:8]), share_of(hits), share_of(hits, clusters)
    assert honest.estimate == naive.estimate == 0.5
    assert honest.high - honest.low > naive.high - naive.low
    # Fully repeated outcomes: design effect 3 x 8/7, so the effective number is 24 / (3 x 8/7) = 7.
    half = 1.959963984540054 * math.sqrt(0.25 / 7 + 3.841458820694124 / (4 * 49)) / (1 + 3.841458820694124 / 7)
    assert honest.high - 0.5 == pytest.approx(half, abs=1e-12)
    assert honest.high - honest.low > once.high - once.low  # 7 scenarios' worth against 8 free episodes


def test_independent_repeats_do_not_narrow_below_the_plain_interval():
    # Opposite outcomes within each scenario: the raw design effect is below 1 and is not used.
    assert share_of([1, 0] * 6, np.repeat(range(6), 2)) == share_of([1, 0] * 6)


def test_all_equal_repeats_count_each_scenario_once():
    assert share_of([1] * 12, list(range(4)) * 3)[:3] == share_of([1] * 4)[:3]
    assert share_of([0] * 12, [0] * 12)[:3] == share_of([0])[:3]


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        # Newcombe (1998), Statistics in Medicine 17:857-872, Table I, method 3 (Wilson score).
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_against_published_intervals(hits, n, low, high):
    found = share_of([1] * hits + [0] * (n - hits))
    assert (found.estimate, found.n) == (hits / n, n)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


def test_wilson_ends_are_exact():
    assert share_of([0] * 10).low == 0.0
    assert share_of([1] * 10).high == 1.0
    # 1/(1 + z^2/n) is the other end at a share of 1.
    assert share_of([1] * 10).low == pytest.approx(1 / (1 + 3.841458820694124 / 10), abs=1e-12)


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


def test_one_scenario_has_a_value_and_no_interval():
    assert mean_of([5]) == (5.0, None, None, 1)
    assert mean_of([4, 6], [7, 7]) == (5.0, None, None, 2)
    assert share_of([1]).low is not None  # Wilson's interval needs no spread


def test_coverage_of_the_mean_under_repeats(rng):
    """3 repeats of 15 scenarios, half of the variance between scenarios: 95 % within 1.5 points over 2,000 draws."""
    clusters, covered, naive = np.repeat(np.arange(15), 3), 0, 0
    for _ in range(2_000):
        values = rng.standard_normal(15)[clusters] + rng.standard_normal(45)
        found, plain = mean_of(values, clusters), mean_of(values)
        covered += found.low <= 0 <= found.high
        naive += plain.low <= 0 <= plain.high
    assert abs(covered / 2_000 - 0.95) < 0.015
    assert naive / 2_000 < 0.90  # ignoring repeats would not cover


@pytest.mark.parametrize(("share", "n"), [(0.5, 40), (0.1, 60), (0.02, 100)])
def test_coverage_of_a_share(rng, share, n):
    covered = 0
    for _ in range(1_000):
        found = share_of(rng.random(n) < share)
        covered += found.low <= share <= found.high
    assert abs(covered / 1_000 - 0.95) < 0.03  # Wilson's actual level moves around 0.95 with the lattice


def test_coverage_of_a_contrast(rng):
    first = np.repeat([1.0, 0.0], 20)
    covered = 0
    for _ in range(1_000):
        values = rng.standard_normal(40) * np.where(first == 1, 1.0, 3.0)
        ratios = [Ratio(values * first, first), Ratio(values * (1 - first), 1 - first, -1.0)]
        found = estimate_ratios(ratios, np.arange(40))
        covered += found.low <= 0 <= found.high
    assert abs(covered / 1_000 - 0.95) < 0.025
