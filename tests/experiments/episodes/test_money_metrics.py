"""Commerce metrics by hand, and the three baselines beside the published regret rates."""

from __future__ import annotations

import json

import numpy as np
import pytest

from commerce.economics import EconomicsConfig
from experiments.episodes.money_fit import REGRET_RATES
from experiments.episodes.money_metrics import (
    MONEY_METRIC_BY_NAME,
    MoneyColumns,
    MoneyRow,
    lot_label,
    money_object,
    money_rows,
    regret_rate,
    summarize_money,
)
from terms import FixedConcession, fresh_suite, play, published_suite
from tests.conftest import SHARED


def row(name: str, profit: int, best: int | None, *, deal: bool = True, lot: int = 10, margin: float | None = None):
    return MoneyRow(name, "merchant", lot, deal, profit, best, margin if deal else None)


#: Two deals, one failed feasible talk, one correct and one wrong end where no deal was possible.
HAND = [
    row("a", 6_000, 10_000, margin=0.2),
    row("b", 1_000, 2_000, margin=0.4, lot=3),
    row("c", -300, 8_000, deal=False),
    row("d", 238, None, deal=False),
    row("e", -500, None, margin=-0.1),
]


def test_every_metric_by_hand():
    found = {name: estimate.estimate for name, estimate in summarize_money(HAND).items()}
    assert found["total_profit"] == pytest.approx(64.38)  # 60 + 10 - 3 + 2.38 - 5
    assert found["mean_profit"] == pytest.approx(64.38 / 5)
    cents = np.array([6000, 1000, -300, 238, -500]) / 100
    assert found["profit_se"] == pytest.approx(cents.std(ddof=1) / 5**0.5)
    assert found["gross_margin"] == pytest.approx((0.2 + 0.4 - 0.1) / 3)
    assert found["negative_profit_rate"] == pytest.approx(2 / 5)
    assert found["money_losing_deal_rate"] == pytest.approx(1 / 3)
    assert found["walkaway_rate"] == pytest.approx(2 / 5)
    assert found["walkaway_correctness"] == pytest.approx(1 / 2)
    assert found["money_left"] == pytest.approx((40 + 10 + 83) / 3)
    assert found["total_money_left"] == pytest.approx(133)
    assert found["best_profit"] == pytest.approx(200)
    assert found["regret_rate"] == pytest.approx(1 - 67 / 200)
    assert set(found) == set(MONEY_METRIC_BY_NAME)


def test_denominators_and_intervals():
    found = summarize_money(HAND)
    assert {name: estimate.n for name, estimate in found.items()} == {
        "total_profit": 5, "mean_profit": 5, "profit_se": 5, "gross_margin": 3, "negative_profit_rate": 5,
        "money_losing_deal_rate": 3, "walkaway_rate": 5, "walkaway_correctness": 2, "money_left": 3,
        "total_money_left": 3, "best_profit": 3, "regret_rate": 3,
    }  # fmt: skip
    for name, (value, low, high, _) in found.items():
        is_share = name.endswith(("_rate", "_correctness")) and name != "regret_rate"
        assert low <= value <= high if is_share else (low, high) == (None, None), name  # five say too little of a mean


def test_a_regret_rate_is_a_ratio_of_sums_so_a_big_lot_weighs_more():
    even = summarize_money([row("a", 0, 100), row("b", 9_000, 9_000)])["regret_rate"].estimate
    assert even == pytest.approx(100 / 9_100)


def test_undefined_stays_undefined():
    found = summarize_money([row("d", 238, None, deal=False)])
    assert {name for name, estimate in found.items() if estimate.estimate is None} == {
        "profit_se", "gross_margin", "money_losing_deal_rate", "money_left", "total_money_left", "best_profit",
        "regret_rate",
    }  # fmt: skip
    assert all(estimate.estimate is None and estimate.n == 0 for estimate in summarize_money([]).values())
    json.dumps(money_object([]), allow_nan=False)


def test_repeats_of_a_scenario_do_not_shrink_the_interval():
    once = summarize_money([row(str(i), 100 * i, 5_000) for i in range(80)])
    twice = summarize_money([row(str(i), 100 * i, 5_000) for i in range(80) for _ in range(2)])
    for name in ("mean_profit", "regret_rate", "profit_se"):
        assert twice[name].estimate == pytest.approx(once[name].estimate)
        width, again = (each[name].high - each[name].low for each in (once, twice))
        assert again == pytest.approx(width, rel=0.02)


def test_the_regret_interval_covers_as_often_as_it_says():
    """Lots and shares drawn anew 300 times: the true ratio of means lies inside about 95 % of the intervals."""
    rng, hits = np.random.default_rng(1), 0
    for _ in range(300):
        best = rng.integers(1, 51, 60) * 1_000.0
        profit = best * rng.beta(2, 2, 60)
        found = regret_rate(profit, best, np.ones(60), np.arange(60))
        hits += found.low <= 0.5 <= found.high
    assert 0.90 <= hits / 300 <= 0.985


def test_slices_hold_everything_once():
    found = money_object(HAND)
    assert set(found["lot_sizes"]) == {"01-10"}
    assert found["perspectives"]["merchant"] == found["overall"]
    assert [lot_label(n) for n in (1, 10, 11, 41, 50, 51)] == ["01-10", "01-10", "11-20", "41-50", "41-50", "51+"]


def regrets(suite, rate):
    by_id = {scenario.scenario_id: scenario for scenario in suite}
    rows = money_rows([play(scenario, FixedConcession(rate)) for scenario in suite], by_id, EconomicsConfig())
    return MoneyColumns.of(rows), summarize_money(rows)["regret_rate"].estimate


@pytest.mark.parametrize("rate", [0.30, 0.10, 0.01])
@pytest.mark.parametrize(
    "suite",
    [fresh_suite(0, n_per_cell=25), fresh_suite(0, n_per_cell=2), published_suite()],
    ids=["1800 fresh", "144 fresh", "1800 released"],
)
def test_baselines_come_within_five_hundredths_of_the_published_regret(suite, rate):
    columns, regret = regrets(suite, rate)
    assert regret == pytest.approx(REGRET_RATES[f"fixed-{rate:.2f}"], abs=0.05)
    assert columns.deal[columns.feasible == 0].sum() == 0, "walk-away is always right, as published"


@pytest.mark.shared
def test_published_figures_are_those_of_the_published_files():
    published = json.loads((SHARED / "data/published/terms_commerce.json").read_text())
    rows = {entry["agent"]: entry["overall"] for entry in published["sources"]["synthetic"]}
    names = {"fixed-0.30": "Fixed 0.30", "fixed-0.10": "Fixed 0.10", "fixed-0.01": "Fixed 0.01"}
    for agent, regret in REGRET_RATES.items():
        entry = rows[names.get(agent, agent)]
        assert entry["regret_rate"] == pytest.approx(regret, abs=5e-4)
        left, best = entry["total_money_left_on_table_usd"], entry["total_best_feasible_profit_usd"]
        assert entry["regret_rate"] == pytest.approx(left / best), "regret is money left over the best feasible profit"
        assert entry["avg_money_left_on_table_usd"] == pytest.approx(left / 96), "taken over the feasible episodes"


@pytest.mark.parametrize("rate", [0.30, 0.10, 0.01])
def test_the_layout_of_144_episodes_comes_within_five_hundredths_on_average(rate):
    """One such layout has a standard error of about 0.03 (lots and geometry), so eight of them are averaged."""
    found = [regrets(fresh_suite(seed, n_per_cell=2), rate)[1] for seed in range(8)]
    assert np.mean(found) == pytest.approx(REGRET_RATES[f"fixed-{rate:.2f}"], abs=0.05)
    assert 0.01 < np.std(found, ddof=1) < 0.06
