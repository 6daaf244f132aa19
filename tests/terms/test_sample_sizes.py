"""Numbers needed by hand, with intervals that hold the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import nct
from scipy.stats import t as student

from terms.intervals import FEW, mean_p, spread_of
from terms.sample_sizes import NO_NUMBER, deviation_bounds, needed_episodes, needed_for_difference, needed_for_width

#: Mean 0, standard deviation 1.
UNIT = np.array([-1.0, -1.0, 1.0, 1.0] * 2) * math.sqrt(7 / 8)


def test_for_a_named_difference_by_hand():
    """Spread 1 and difference 0.5: (2.8016 / 0.5)^2 + 1.92 + 1 = 34.3, so 35."""
    assert needed_for_difference(UNIT, 0.5).estimate == 35
    assert needed_for_difference(UNIT, -0.5).estimate == 35
    assert needed_for_difference(UNIT, 100.0).estimate == FEW  # fewer say too little, whatever they show


def test_for_the_difference_found_its_interval_inverts_the_noncentral_t():
    """Mean 1 and deviation 1 of eight: t = 2.828; the effects d with P(t' <= t) = 0.975 and 0.025, by scipy.stats."""
    found = needed_for_difference(UNIT + 1.0)
    assert found.estimate == math.ceil((2.801585 / 1) ** 2 + 2.9207)
    for number, tail in ((found.high, 0.975), (found.low, 0.025)):
        effects = np.linspace(0.01, 3, 30_000)
        d = effects[np.argmin(abs(nct.cdf(math.sqrt(8), 7, effects * math.sqrt(8)) - tail))]
        assert number == pytest.approx(max(FEW, (2.801585 / d) ** 2 + 2.92), rel=0.01, abs=1)
    assert needed_for_difference(UNIT).high is None  # no number is surely enough where 0 is possible


def test_unknown():
    assert needed_for_difference(np.full(20, 0.3)) == NO_NUMBER
    assert needed_for_difference(np.arange(5.0), 1.0) == NO_NUMBER
    assert needed_for_width(np.full(20, 0.3), 1.0) == NO_NUMBER
    assert needed_episodes(np.array([]), np.array([], dtype=int), 1.0) == NO_NUMBER
    with pytest.raises(ValueError, match="half_width=0"):
        needed_for_width(UNIT, 0)
    with pytest.raises(ValueError, match=r"difference=0"):
        needed_for_difference(UNIT, 0.0)


def test_for_a_width_by_hand():
    # Deviation 1.1547 like 0, 0, 2, 2: t_22 x 0.24077 = 0.49933 <= 0.5, t_21 x 0.24618 = 0.51197 > 0.5: 23 scenarios.
    values = UNIT * 1.1547005
    assert needed_for_width(values, 0.5).estimate == 23
    # Two episodes in each: twice as many episodes, as repeats tell nothing new.
    assert needed_episodes(np.repeat(values, 2), np.repeat(np.arange(8), 2), 0.5).estimate == 46


@given(st.integers(0, 10_000), st.integers(8, 20), st.floats(0.2, 0.6))
def test_the_number_gives_the_width_and_one_less_does_not(seed, number, half_width):
    values = np.random.default_rng(seed).normal(size=number)
    found, spread = needed_for_width(values, half_width), values.std(ddof=1)
    assert found.low <= found.estimate <= found.high
    assert student.ppf(0.975, found.estimate - 1) * spread / np.sqrt(found.estimate) <= half_width * (1 + 1e-9)
    if found.estimate > FEW:
        less = found.estimate - 1
        assert student.ppf(0.975, less - 1) * spread / np.sqrt(less) > half_width * (1 - 1e-9)


def test_deviation_against_the_published_interval(rng):
    """Of normal values it holds the deviation about 95 % of the time; 1,000 trials have a standard error of 0.007."""
    found = [deviation_bounds(rng.normal(size=24)) for _ in range(1_000)]
    assert 0.93 <= np.mean([low <= 1 <= high for low, high in found]) <= 0.98


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.3, 0.5, 1.0])
def test_it_gives_the_power_it_promises(rng, delta):
    """80 % power for the product's own test, on normal differences of deviation 1; 20,000 trials, error 0.003."""
    n = needed_for_difference(UNIT, delta).estimate
    samples = rng.normal(delta, 1.0, (20_000, n))
    power = (mean_p(samples.mean(axis=1), spread_of(samples)) < 0.05).mean()
    assert 0.76 < power < 0.84


@pytest.mark.slow
def test_the_interval_of_the_number_holds_the_truth(rng):
    """A true effect of 0.335 takes 73; from 24 scenarios the estimate alone runs from 18 to thousands."""
    found = [needed_for_difference(rng.normal(0.335, 1.0, 24)) for _ in range(4_000)]
    truth = math.ceil((2.801585 / 0.335) ** 2 + 2.9207)
    assert truth == 73
    held = [each.low <= truth and (each.high is None or truth <= each.high) for each in found]
    assert 0.93 <= np.mean(held) <= 0.985


def test_more_power_takes_more_blocks():
    """(1.960 + 1.282)^2 / 0.25 + 1.960^2 / 2 + 1 = 44.95: an effect of a half is seen with 90 % power from 45 on."""
    blocks = np.array([0.0, 2.0] * 50) + 1.0
    spread = float(blocks.std(ddof=1))
    assert needed_for_difference(blocks, spread / 2, power=0.9).estimate == 45
    assert needed_for_difference(blocks, spread / 2).estimate == 35
    with pytest.raises(ValueError, match=r"power=0\.4"):
        needed_for_difference(blocks, power=0.4)
