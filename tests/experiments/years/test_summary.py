"""Summaries over years, by hand."""

from __future__ import annotations

import pytest

from commerce.metrics import Measure
from experiments.years.summary import summarize_years, summary_to_json

YEARS = [
    {"final_assets": Measure(value, 1), "is_bankrupt": Measure(0.0, 1), "anchor_ratio": Measure(ratio, 9)}
    for value, ratio in ((10.0, 1.0), (14.0, None), (18.0, 2.0))
]


def test_means_and_intervals():
    """Mean 14, sample deviation 4, n = 3: half width 4.303 x 4 / sqrt(3) = 9.937 (Student's t, 2 degrees)."""
    found = summary_to_json(summarize_years(YEARS, ["a", "b", "c"]))
    assert found["final_assets"] == pytest.approx({"estimate": 14, "low": 4.063, "high": 23.937, "n": 3}, abs=1e-3)
    assert (found["anchor_ratio"]["estimate"], found["anchor_ratio"]["n"]) == (1.5, 2)
    assert (found["is_bankrupt"]["low"], found["is_bankrupt"]["estimate"]) == (0.0, 0.0)
    assert found["is_bankrupt"]["high"] == pytest.approx(0.5615, abs=1e-4)  # Wilson, 0 of 3


def test_repeats_of_one_world_are_one():
    assert summary_to_json(summarize_years(YEARS, ["a", "a", "a"]))["final_assets"]["low"] is None


def test_nothing():
    assert summarize_years([], []) == {}
    undefined = summarize_years([{"x": Measure(None, 0)}], ["a"])["x"]
    assert undefined == (None, None, None, 0)
