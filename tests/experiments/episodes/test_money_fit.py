"""Constants of the money against the published figures: which are met, which are excluded."""

from __future__ import annotations

import json

import numpy as np
import pytest

from commerce.economics import PUBLISHED_2, EconomicsConfig, unit_economics
from experiments.episodes.money_fit import (
    FIXED_AGENTS,
    NUM_TESTED,
    PUBLISHED_SWEEP,
    SEVEN,
    chi_square,
    fit_economics,
    play_sweeps,
    sweep_statistics,
)
from experiments.episodes.money_metrics import money_row, summarize_money
from terms import play
from terms.agents import build_scripted


def test_the_distance_by_hand():
    """Two independent statistics of spread 1 and 2, two spreads and one away: 4 + 1."""
    found = np.array([[1.0, 2.0], [1.0, -2.0], [-1.0, 2.0], [-1.0, -2.0]]) * np.sqrt(3 / 4)
    distance, p = chi_square(found, np.array([2.0, 2.0]))
    assert distance == pytest.approx(4 + 1)
    assert p == 0.0
    assert chi_square(found, np.array([0.0, 0.0]))[1] == 1.0


def test_statistics_of_a_sweep_are_those_of_the_metrics():
    (sweep,) = play_sweeps(1)
    config = EconomicsConfig()
    found = dict(zip(PUBLISHED_SWEEP, sweep_statistics(sweep, config), strict=True))
    assert (len(sweep), len(SEVEN), len(found) - NUM_TESTED) == (144, 7, 2)
    agent = build_scripted(FIXED_AGENTS[0])
    records = [(one.scenario, play(one.scenario, agent)) for one in sweep]
    rows = [money_row(scenario, record.price, unit_economics(scenario, config)) for scenario, record in records]
    overall, bought = summarize_money(rows), summarize_money([row for row in rows if row.perspective == "merchant"])
    assert found["regret, fixed-0.30"] == pytest.approx(overall["regret_rate"].estimate)
    assert found["best profit of a feasible episode"] * 96 == pytest.approx(overall["best_profit"].estimate)
    assert found["standard error of profit, fixed-0.30"] == pytest.approx(overall["profit_se"].estimate)
    assert found["merchant margin, fixed-0.30"] == pytest.approx(bought["gross_margin"].estimate)
    assert found["merchant regret, fixed-0.30"] == pytest.approx(bought["regret_rate"].estimate)


@pytest.mark.slow
def test_the_first_constants_miss_the_dollars_and_the_second_fit_them():
    """chi2(7) of the first about 32 (p 0), of the second about 6.4 (p 0.49); of all 20 about 22 (p 0.3)."""
    sweeps = play_sweeps(400)
    first, second = fit_economics(sweeps, EconomicsConfig()), fit_economics(sweeps, PUBLISHED_2)
    assert first.seven[0] == pytest.approx(33, abs=5)
    assert first.seven[1] < 0.005
    assert second.seven[0] == pytest.approx(6.7, abs=1.5)
    assert second.seven[1] > 0.3
    assert second.every[0] == pytest.approx(22, abs=4)
    assert second.every[1] > 0.2
    z = {row.name: row.z for row in first.rows}
    assert z["best profit of a feasible episode"] > 3.5
    assert max(abs(row.z) for row in second.rows) < 2


@pytest.mark.shared
def test_the_figures_are_those_of_the_site(shared_dir):
    file = json.loads((shared_dir / "data/published/terms_commerce.json").read_text(encoding="utf-8"))
    rows = {row["agent"].lower().replace(" ", "-"): row for row in file["sources"]["synthetic"]}
    for agent in FIXED_AGENTS:
        overall, parts = rows[agent]["overall"], rows[agent]["perspectives"]
        assert PUBLISHED_SWEEP[f"regret, {agent}"] == overall["regret_rate"]
        assert PUBLISHED_SWEEP[f"standard error of profit, {agent}"] == overall["profit_sem_usd"]
        assert overall["total_best_feasible_profit_usd"] / 96 == pytest.approx(
            PUBLISHED_SWEEP["best profit of a feasible episode"], rel=1e-12
        )
        for side, part in parts.items():
            assert PUBLISHED_SWEEP[f"{side} margin, {agent}"] == part["avg_margin_rate"]
            assert PUBLISHED_SWEEP[f"{side} regret, {agent}"] == part["regret_rate"]
            feasible = part["total_best_feasible_profit_usd"] - part["total_money_left_on_table_usd"]
            income = (part["total_profit_usd"] - feasible) / 24
            assert income == pytest.approx(PUBLISHED_SWEEP[f"{side} income without a possible deal"], rel=1e-6)
