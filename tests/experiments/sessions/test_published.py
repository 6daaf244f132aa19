"""Bankroll sessions beside the published ones: the arithmetic of the files, and where our agents come out."""

from __future__ import annotations

import json

import numpy as np
import pytest

from commerce.bankroll import BankrollConfig
from commerce.economics import ChainConfig
from experiments.episodes.money_fit import TERMINAL_BALANCES
from experiments.sessions.folder import session_record
from experiments.sessions.play import SessionJob
from experiments.sessions.records import period_from_row
from experiments.sessions.spec import Arm, SessionsSpec
from experiments.sessions.summary import summarize_sessions
from terms.agents import build_scripted
from tests.conftest import SHARED
from tests.experiments.folders import rows_of

SPEC = SessionsSpec(bankroll=BankrollConfig(num_sessions=24))


@pytest.mark.shared
def test_constants_are_those_of_the_published_file():
    published = json.loads((SHARED / "data/published/terms_bankroll.json").read_text())
    rules = BankrollConfig()
    assert (rules.horizon, rules.initial_cents, rules.ruin_cents) == (
        published["horizon"],
        100 * published["starting_capital_usd"],
        100 * published["bankruptcy_threshold_usd"],
    )
    rows = {row["agent"]: row["overall"] for row in published["rows"]}
    assert {agent: round(row["terminal_balance_mean_usd"], 2) for agent, row in rows.items()} == TERMINAL_BALANCES
    for row in rows.values():
        gained = (row["terminal_balance_mean_usd"] - 100) / 50
        assert row["mean_period_profit_usd"] == pytest.approx(gained), "the balance of a ruined session is not clipped"
    survivors = [row for row in rows.values() if row["n_ruined"] == 0]
    infeasible = min(row["total_walkaways"] for row in survivors) / 200
    assert infeasible == pytest.approx(ChainConfig().regime_weights[2], abs=0.005)


def summary_of(name):
    agent = build_scripted(name)
    return summarize_sessions(
        [
            session_record(
                n, [period_from_row(row["period"]) for row in rows_of(SessionJob(SPEC, Arm.MEMORY, n), agent)], SPEC
            )
            for n in range(SPEC.bankroll.num_sessions)
        ]
    )


def test_baselines_come_out_between_the_weakest_and_the_best_published_model():
    found = {name: summary_of(name) for name in ("fixed-0.30", "fixed-0.10", "fixed-0.01")}
    balances = [each["terminal_balance"].estimate for each in found.values()]
    assert balances == sorted(balances, reverse=True), "in the order of their regret"
    assert min(TERMINAL_BALANCES.values()) < balances[-1] < balances[0] < max(TERMINAL_BALANCES.values())
    assert found["fixed-0.01"]["survival_rate"].estimate < found["fixed-0.30"]["survival_rate"].estimate


def test_a_deal_is_worth_about_25_dollars_to_a_good_agent():
    """Published: (6.86 + 8 + r R - 0.23 o) / 0.77 with about five rounds, so about 25 dollars."""
    found = summary_of("patient")
    assert found["deal_profit"].estimate == pytest.approx(25, abs=4)
    assert found["terminal_balance"].estimate > 380, "among the five models that survive every session"


def test_about_23_percent_of_periods_have_no_feasible_deal():
    chains = [SessionJob(SPEC, Arm.MEMORY, n) for n in range(24)]
    agent = build_scripted("recall")
    flags = [row["period"]["is_feasible"] for job in chains for row in rows_of(job, agent)]
    # Periods of a supplier go together, so the standard error is that of 24 sessions, about 0.03.
    assert np.mean(flags) == pytest.approx(0.77, abs=0.1)
