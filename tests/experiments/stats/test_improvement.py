"""The probability of improvement by hand and against counting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.stats.improvement import improvement
from terms.intervals import share_bounds

SCORES = st.lists(st.lists(st.integers(0, 4).map(float), min_size=1, max_size=3), min_size=1, max_size=10)


def test_by_hand():
    """In s: 3 beats 2, 1 does not: 1/2. In t: 5 ties 5: 1/2; in u: 1. Paired (1/2 + 1/2 + 1) / 3 = 2/3."""
    paired, unpaired = improvement(
        {"s": [3, 1], "t": [5], "u": [9]}, {"s": [2], "t": [5], "u": [0], "v": [7]}, "higher"
    )
    assert paired == (pytest.approx(2 / 3), *share_bounds(2 / 3, 3), 3)
    # All pairs: 3, 1, 5, 9 against 2, 5, 0: wins 2, 1, 2.5, 3 of three each.
    assert unpaired == (pytest.approx(8.5 / 12), None, None, 3)


def test_nothing_shared_is_undefined():
    assert improvement({"s": [1.0]}, {"t": [1.0]}, "higher")[0] == (None, None, None, 0)


@given(SCORES, SCORES)
def test_one_wins_what_the_other_loses(ours, theirs):
    a = {str(place): values for place, values in enumerate(ours)}
    b = {str(place): values for place, values in enumerate(theirs)}
    for first, second in zip(improvement(a, b, "higher"), improvement(b, a, "higher"), strict=True):
        assert first.estimate == pytest.approx(1 - second.estimate)
    assert improvement(a, b, "lower")[0].estimate == pytest.approx(improvement(b, a, "higher")[0].estimate)


@pytest.mark.slow
def test_intervals_cover(rng):
    """Blocks of a common luck, two agents 0.5 apart, noise 1 each: P = Phi(0.5 / sqrt 2) paired, Phi(0.25) unpaired."""
    from scipy.stats import norm

    hits = np.zeros(2)
    for _ in range(2_000):
        luck = rng.normal(size=24)
        a, b = (
            dict(zip(map(str, range(24)), (shift + luck + rng.normal(size=24))[:, None], strict=True))
            for shift in (0.5, 0.0)
        )
        found = improvement(a, b, "higher")
        hits += [
            each.low <= truth <= each.high for each, truth in zip(found, norm.cdf([0.5 / 2**0.5, 0.25]), strict=True)
        ]
    assert ((hits / 2_000 >= 0.93) & (hits / 2_000 <= 0.985)).all()
