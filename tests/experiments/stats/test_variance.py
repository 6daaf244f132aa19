"""The split of variance by hand, and its intervals against the truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import terms
from experiments.episodes.folder import variance_object
from experiments.stats.variance import variance_parts


def test_balanced_by_hand():
    """Blocks (1, 3), (5, 7), (9, 11): within 6 / 3 = 2; means 2, 6, 10, MSB = 2 x 16; (32 - 2) / 2 = 15."""
    found = variance_parts({"x": [1, 3], "y": [5, 7], "z": [9, 11]})
    assert (found.between.estimate, found.within.estimate) == (pytest.approx(15), pytest.approx(2))
    assert found.share_between.estimate == pytest.approx(15 / 17)
    assert (found.between.n, found.num_repeats) == (3, 6)
    assert found.between.low is None  # three blocks say too little


def test_unbalanced_by_hand():
    """Blocks (0, 2, 4) and (8): within 8 / 2 = 4; MSB = 3 x 2.25 + 20.25 = 27; r0 = 4 - 10 / 4 = 1.5; 23 / 1.5."""
    found = variance_parts({"x": [0, 2, 4], "y": [8]})
    assert found.within.estimate == pytest.approx(4)
    assert found.between.estimate == pytest.approx(23 / 1.5)


def test_without_repeats_nothing_is_split():
    assert variance_parts({"x": [1.0], "y": [2.0]}).within == (None, None, None, 2)
    assert variance_parts({}).between == (None, None, None, 0)


def test_repeats_of_one_block_that_are_all_alike_have_no_interval():
    alike = variance_parts({"world": [5.0, 5.0, 5.0]}).within
    assert (alike.estimate, alike.low, alike.high, alike.n) == (0.0, None, None, 3)
    unlike = variance_parts({"world": [4.0, 5.0, 6.0]}).within
    assert unlike.estimate == 1.0
    assert unlike.low == pytest.approx(2 / 7.377759)  # chi-square of 2 degrees, 97.5 %: any table
    assert unlike.high == pytest.approx(2 / 0.050636, rel=1e-4)


def test_never_below_nothing():
    assert variance_parts({"x": [0, 10], "y": [0, 10]}).between.estimate == 0.0


@pytest.mark.slow
def test_intervals_hold_the_truth(rng):
    """24 blocks of five repeats, variance 1 between and 1 within; 2,000 draws."""
    hits = np.zeros(3)
    for _ in range(2_000):
        values = rng.normal(size=(24, 1)) + rng.normal(size=(24, 5))
        found = variance_parts({str(n): row for n, row in enumerate(values)})
        hits += [
            part.low is not None and part.low <= truth <= part.high
            for part, truth in zip(found[:3], (1, 1, 0.5), strict=True)
        ]
    assert (hits / 2_000 > 0.92).all(), hits / 2_000


def test_a_run_with_repeats_says_what_varies_between_and_within():
    """Two plays of each of two scenarios, utilities 1, 3 and 5, 7: within (2 + 2) / 2, MSB 2 x 8, (16 - 2) / 2."""
    template = terms.play(terms.fresh_suite(1, ["overlap"], ["candid"], 1)[0], terms.agents.build_scripted("patient"))
    records = [
        replace(template, scenario_id=name, utility=utility)
        for name, utility in (("a", 1.0), ("a", 3.0), ("b", 5.0), ("b", 7.0))
    ]
    found = variance_object(records)["mean_utility"]
    assert (found["within"]["estimate"], found["between"]["estimate"]) == (pytest.approx(2), pytest.approx(7))
    assert (found["num_repeats"], found["between"]["n"]) == (4, 2)
