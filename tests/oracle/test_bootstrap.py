"""Bootstrap intervals: paired columns, clusters, coverage, and the number of episodes a half-width takes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from oracle.bootstrap import bootstrap_means, required_episodes


def test_mean_and_interval_of_a_normal_sample():
    rng = np.random.default_rng(1)
    values = rng.normal(3.0, 2.0, (400, 1))
    (found,) = bootstrap_means(values, np.arange(400), rng=rng, num_resamples=20_000)
    half = 1.96 * values.std(ddof=0) / np.sqrt(400)  # the bootstrap's own standard error
    assert found.estimate == pytest.approx(values.mean())
    assert found.high - found.low == pytest.approx(2 * half, rel=0.04)
    assert found.n == 400


def test_repeats_of_a_scenario_do_not_narrow_the_interval():
    values = np.random.default_rng(2).normal(size=(60, 1))
    alone = bootstrap_means(values, np.arange(60), rng=np.random.default_rng(3))[0]
    repeated = bootstrap_means(np.repeat(values, 5, axis=0), np.repeat(np.arange(60), 5), rng=np.random.default_rng(3))[
        0
    ]
    assert (repeated.low, repeated.high) == pytest.approx((alone.low, alone.high))
    assert repeated.n == 300


def test_columns_share_their_draws():
    """Two parts that sum to a constant have mirrored intervals; independent draws would not."""
    first = np.random.default_rng(4).normal(size=50)
    rows = bootstrap_means(np.column_stack([first, 10 - first]), np.arange(50), rng=np.random.default_rng(5))
    assert rows[0].low == pytest.approx(10 - rows[1].high)


def test_the_generator_decides_and_nothing_else():
    values, clusters = np.random.default_rng(6).normal(size=(30, 2)), np.arange(30)
    once, again, other = (bootstrap_means(values, clusters, rng=np.random.default_rng(s)) for s in (7, 7, 8))
    assert once == again
    assert once != other


def test_one_scenario_has_no_interval_and_none_is_undefined():
    assert bootstrap_means(np.ones((3, 1)), np.zeros(3, int), rng=np.random.default_rng(0))[0] == (1.0, None, None, 3)
    empty = bootstrap_means(np.empty((0, 2)), np.empty(0, int), rng=np.random.default_rng(0))
    assert empty == [(None, None, None, 0)] * 2


def test_intervals_cover_the_truth():
    rng = np.random.default_rng(9)
    hits = 0
    for _ in range(300):
        effects = np.repeat(rng.normal(size=40), 3)
        values = (effects + rng.normal(size=120))[:, None]
        (found,) = bootstrap_means(values, np.repeat(np.arange(40), 3), rng=rng, num_resamples=400)
        hits += found.low <= 0 <= found.high
    assert 0.90 <= hits / 300 <= 0.985  # nominal 0.95; 300 trials have a standard error of 0.013


def test_few_scenarios_have_students_interval():
    """By hand: 0, 0, 2, 2 has mean 1, sd 1.1547, standard error 0.57735; t with 3 degrees of freedom is 3.18245."""
    (found,) = bootstrap_means(np.array([[0.0], [0.0], [2.0], [2.0]]), np.arange(4), rng=np.random.default_rng(0))
    assert (found.low, found.high) == pytest.approx((1 - 3.18245 * 0.57735, 1 + 3.18245 * 0.57735), rel=1e-5)
    # Scenarios of unequal size: sums 0 and 6 of 1 and 3 episodes, mean 1.5; influences -1.5 / 2 and 1.5 / 2.
    (found,) = bootstrap_means(np.array([[0.0], [2.0], [2.0], [2.0]]), np.array([0, 1, 1, 1]), rng=None)
    assert found.high - found.estimate == pytest.approx(12.7062 * 0.75, rel=1e-5)


@pytest.mark.parametrize("number", [2, 4, 10, 29])
def test_few_scenarios_cover_the_truth(number):
    rng = np.random.default_rng(number)
    hits = 0
    for _ in range(1000):
        (found,) = bootstrap_means(rng.normal(size=(number, 1)), np.arange(number), rng=rng)
        hits += found.low <= 0 <= found.high
    assert 0.925 <= hits / 1000 <= 0.975  # exact 0.95; 1000 trials have a standard error of 0.007


def test_required_episodes_by_hand():
    # Four scenarios with values 0, 0, 2, 2: sd 1.1547. t_22 * 1.1547 / sqrt(23) = 2.07387 * 0.24077 = 0.49933 <= 0.5,
    # t_21 * 1.1547 / sqrt(22) = 2.07961 * 0.24618 = 0.51197 > 0.5: 23 scenarios of one episode, where z alone says 21.
    assert required_episodes(np.array([0.0, 0.0, 2.0, 2.0]), np.arange(4), 0.5) == 23
    # Two episodes in each: twice as many episodes, as repeats tell nothing new.
    assert required_episodes(np.repeat([0.0, 0.0, 2.0, 2.0], 2), np.repeat(np.arange(4), 2), 0.5) == 46
    assert required_episodes(np.array([1.0]), np.zeros(1, int), 0.5) is None
    assert required_episodes(np.full(5, 0.1), np.arange(5), 0.5) is None  # no spread seen is none known
    with pytest.raises(ValueError, match="half_width=0"):
        required_episodes(np.ones(3), np.arange(3), 0)


@given(st.integers(0, 10_000), st.integers(3, 12), st.floats(0.2, 5))
def test_required_episodes_give_the_width_and_one_less_does_not(seed, number, half_width):
    values = np.random.default_rng(seed).normal(size=number)
    needed, spread = required_episodes(values, np.arange(number), half_width), values.std(ddof=1)
    assert student.ppf(0.975, needed - 1) * spread / np.sqrt(needed) <= half_width * (1 + 1e-9)
    if needed > 2:
        assert student.ppf(0.975, needed - 2) * spread / np.sqrt(needed - 1) > half_width * (1 - 1e-9)
