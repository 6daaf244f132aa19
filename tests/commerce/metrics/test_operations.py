"""Assets, drawdown and fulfilment figures."""

from __future__ import annotations

import pytest

from commerce.metrics import tool_mix, year_metrics
from commerce.metrics.measure import Measure, difference, mean, share, weighted_mean
from commerce.metrics.operations import drawdown
from tests.commerce.builders import new_year, ok


def test_published_drawdown_example():
    """Example E16: totals 98,000 / 99,500 / 96,000 / 101,000; the opening 100,000 is not in the series."""
    found = drawdown([9_800_000, 9_950_000, 9_600_000, 10_100_000])
    assert found["peak_drawdown"].value == 3_500
    assert found["drawdown_over_maximum"].value == pytest.approx(3_500 / 101_000)
    assert found["drawdown_over_peak"].value == pytest.approx(3_500 / 99_500)


def test_a_large_late_fall_and_a_large_early_share():
    found = drawdown([100, 10, 1000, 800])
    assert found["peak_drawdown"].value == 2.0  # 200 fen
    assert found["drawdown_over_maximum"].value == pytest.approx(0.2)
    assert found["drawdown_over_peak"].value == pytest.approx(0.9)


def test_no_days_no_drawdown():
    assert all(measure == Measure(None, 0) for measure in drawdown([]).values())


def test_an_idle_year():
    year = new_year(num_days=20)
    while not year.is_over:
        ok(year, "wait_for_next_day")
    found = year_metrics(year)
    assert found["final_assets"].value == 100_000 - 13_000  # penalties from the 8th day on
    assert found["multiplier"].value == pytest.approx(0.87)
    assert found["profit_per_call"] == Measure(-13_000 / 20, 20)
    undefined = {name for name, measure in found.items() if measure.value is None}
    assert {"cse_plus", "bad_spend_pct", "controllable_return_rate", "on_time_ship_rate", "anchor_ratio"} <= undefined
    assert tool_mix(year.state)["calls"] == {"wait_for_next_day": 20}


def test_overdrawn_mornings_and_the_ones_the_wallet_could_cover():
    year = new_year(initial_fen=150_000)
    year.state.ledger.balances[1] += 250_000  # the wallet
    year.state.ledger.balances[6] -= 250_000
    for _ in range(14):
        ok(year, "wait_for_next_day")
    # the bank is at -500, -1500, ... from the 9th day on; the wallet of 2,500 covers the first three
    found = year_metrics(year)
    assert found["overdrawn_mornings"].value == 6
    assert found["coverable_mornings"].value == 3


def test_measures():
    assert share(1, 0, 5) == Measure(None, 5)
    assert mean([]) == Measure(None, 0)
    assert mean([1, 2]) == Measure(1.5, 2)
    assert weighted_mean([(1, 1), (4, 2)]) == Measure(3.0, 2)
    assert difference(Measure(3.0, 2), Measure(None, 1)) == Measure(None, 3)
