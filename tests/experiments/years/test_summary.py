"""Summaries over years, by hand."""

from __future__ import annotations

import pytest

from commerce.metrics import Measure
from experiments.years.summary import summarize_years, summary_to_json, years_summary

YEARS = [
    {"final_assets": Measure(value, 1), "is_bankrupt": Measure(0.0, 1), "anchor_ratio": Measure(ratio, 9)}
    for value, ratio in ((10.0, 1.0), (14.0, None), (18.0, 2.0))
]


def test_means_and_intervals():
    """Three worlds say too little of a mean; of eight, 1 to 8: mean 4.5, half width 2.3646 x sqrt(6 / 8)."""
    found = summary_to_json(summarize_years(YEARS, ["a", "b", "c"]))
    assert found["final_assets"] == pytest.approx({"estimate": 14, "low": None, "high": None, "n": 3})
    assert (found["anchor_ratio"]["estimate"], found["anchor_ratio"]["n"]) == (1.5, 2)
    assert (found["is_bankrupt"]["low"], found["is_bankrupt"]["estimate"]) == (0.0, 0.0)
    assert found["is_bankrupt"]["high"] == pytest.approx(1 - 0.025 ** (1 / 3))  # exact, 0 of 3
    eight = summarize_years([{"final_assets": Measure(float(n), 1)} for n in range(1, 9)], list("abcdefgh"))
    assert eight["final_assets"].high == pytest.approx(4.5 + 2.364624 * (6 / 8) ** 0.5)


def test_what_holds_with_few_years_has_an_interval():
    """CSE+ of 0.1, 0.2, 0.3: mean 0.2, half width 4.302653 x 0.1 / sqrt(3); final assets of seven have none."""
    found = summarize_years([{"cse_plus": Measure(n / 10, 1)} for n in (1, 2, 3)], list("abc"))["cse_plus"]
    assert (found.low, found.high) == pytest.approx((0.2 - 0.248414, 0.2 + 0.248414), abs=1e-5)
    assert summarize_years([{"cse_plus": Measure(n / 10, 1)} for n in (1, 2)], list("ab"))["cse_plus"].low is None
    seven = summarize_years([{"final_assets": Measure(float(n), 1)} for n in range(7)], list("abcdefg"))
    assert seven["final_assets"].low is None


def test_profit_per_call_is_gained_over_all_calls():
    """251.47 x 1,700 + 284.00 x 1,720 = 915,979 yuan in 3,420 calls: 267.83, where the mean of the ratios is 267.74."""
    years = [{"profit_per_call": Measure(251.47, 1700)}, {"profit_per_call": Measure(284.00, 1720)}]
    found = summarize_years(years, ["a", "b"])["profit_per_call"]
    assert found.estimate == pytest.approx(267.83, abs=5e-3)
    assert found.n == 2


def test_a_bankrupt_year_of_few_calls_weighs_little():
    """-100,000 yuan in 100 calls and 1,000,000 in 3,000: 900,000 / 3,100 = 290.32, not (-1,000 + 333.33) / 2."""
    years = [{"profit_per_call": Measure(-1000.0, 100)}, {"profit_per_call": Measure(1_000_000 / 3000, 3000)}]
    assert summarize_years(years, ["a", "b"])["profit_per_call"].estimate == pytest.approx(290.3226, abs=1e-4)


def test_z_values_are_pooled_and_not_averaged():
    """Stouffer: five worlds with z = 1 give 5 / sqrt(5) = 2.2361, p = 0.02535; five years of one world say z = 1."""
    years = [{"anchor_z": Measure(1.0, 7), "anchor_p": Measure(0.3173, 7)}] * 5
    apart, alike = summarize_years(years, list("abcde")), summarize_years(years, ["a"] * 5)
    assert apart["anchor_z"] == (pytest.approx(2.23607, abs=1e-5), None, None, 5)
    assert apart["anchor_p"] == (pytest.approx(0.02535, abs=1e-5), None, None, 5)
    assert (alike["anchor_z"].estimate, alike["anchor_p"].estimate) == (1.0, pytest.approx(0.31731, abs=1e-5))
    assert summarize_years([{"anchor_z": Measure(None, 0), "anchor_p": Measure(None, 0)}], ["a"])["anchor_p"].n == 0


def test_repeats_of_one_world_are_one():
    assert summary_to_json(summarize_years(YEARS, ["a", "a", "a"]))["final_assets"]["low"] is None


def test_nothing():
    assert summarize_years([], []) == {}
    undefined = summarize_years([{"x": Measure(None, 0)}], ["a"])["x"]
    assert undefined == (None, None, None, 0)


def test_runs_in_one_world_have_their_own_interval_and_variance():
    """Values 1 to 5: mean 3, variance 2.5, its interval 10 / 11.143 to 10 / 0.4844 (chi-square with 4 degrees)."""
    results = [
        {
            "agent": "a",
            "spec": {},
            "world_digest": "w",
            "end": "x",
            "metrics": {"final_assets": {"value": float(v), "n": 1}},
        }
        for v in range(1, 6)
    ]
    found = years_summary(results)
    assert found["final_assets"]["estimate"] == 3
    assert found["final_assets"]["n"] == 5
    within = found["variance"]["final_assets"]["within"]
    assert within["estimate"] == pytest.approx(2.5)
    assert (within["low"], within["high"]) == pytest.approx((10 / 11.1433, 10 / 0.484419), rel=1e-4)
    assert found["variance"]["final_assets"]["between"]["estimate"] is None
    assert "variance" not in years_summary(results[:1])
