"""Kendall's tau against scipy and by hand, and its interval."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from experiments.stats.order_agreement import kendall_tau, order_agreement


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=8))
def test_it_is_scipys(pairs):
    one, other = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    expected = kendalltau(one, other).statistic
    found = kendall_tau(one, other)
    assert (found is None) == bool(np.isnan(expected))
    if found is not None:
        assert found == pytest.approx(expected)


def test_an_order_agrees_with_itself_and_not_with_its_mirror():
    rng = np.random.default_rng(0)
    scores = {name: (place + rng.normal(0, 0.5, 200)).tolist() for place, name in enumerate("abcde")}
    mirrored = {name: [-value for value in values] for name, values in scores.items()}
    same = order_agreement(scores, scores, rng=rng, num_resamples=200)
    assert (same.estimate, same.low, same.high, same.n) == (1.0, 1.0, 1.0, 200)
    assert order_agreement(scores, mirrored, rng=rng, num_resamples=200).high == -1.0


def test_an_order_that_is_chance_has_a_wide_interval():
    rng = np.random.default_rng(1)
    one, other = ({name: rng.normal(0, 1, 30).tolist() for name in "abcdef"} for _ in range(2))
    found = order_agreement(one, other, rng=rng, num_resamples=500)
    assert found.high - found.low > 0.5


def test_scores_that_do_not_belong_together_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="the same two or more"):
        order_agreement({"a": [1.0]}, {"b": [1.0]}, rng=rng)
    with pytest.raises(ValueError, match="a score in every block"):
        order_agreement({"a": [1.0], "b": [1.0, 2.0]}, {"a": [1.0], "b": [1.0]}, rng=rng)
