"""Metrics of sessions by hand; lost sessions; comparisons of identical agents at session level."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from commerce.bankroll import BankrollConfig, PeriodRecord, SessionEnd, SessionRecord
from commerce.economics import ChainConfig
from experiments.engine.header import make_header
from experiments.sessions.folder import session_record
from experiments.sessions.play import SessionJob
from experiments.sessions.records import period_from_row
from experiments.sessions.session_task import SESSIONS
from experiments.sessions.spec import Arm, SessionsSpec
from experiments.sessions.summary import (
    PAIRED_ON_SESSIONS,
    SESSION_METRICS,
    lower_tail,
    memory_premium,
    session_values,
    sessions_summary,
    summarize_sessions,
    survival_curve,
)
from experiments.stats.paired import compare_outcomes
from terms.agents.scripted import FixedConcession, RandomLegal
from terms.estimates import estimate_mean
from tests.experiments.folders import rows_of


def session(number: int, cash: list[int], end: SessionEnd = SessionEnd.FINISHED, horizon: int = 4) -> SessionRecord:
    periods = tuple(
        PeriodRecord(
            session=number, period=t, supplier=1, scenario_id=f"{number}/{t}", regime="overlap", is_feasible=True,
            termination="agent_accept", price=40.0, rounds=t, profit_cents=1_000, best_cents=2_000,
            cost_cents=800 + 100 * t, cash_cents=value, surplus_share=0.4, moves=(),
        )
        for t, value in enumerate(cash, 1)
    )  # fmt: skip
    return SessionRecord(number, end, 10_000, horizon, periods)


FOUR = [
    session(0, [11_000, 12_000, 13_000, 14_000]),
    session(1, [9_000, 8_000, 9_000, 10_000]),
    session(2, [5_000, -200], SessionEnd.RUINED),
    session(3, [12_000, 6_000, 7_000, 8_000]),
]


def test_every_metric_by_hand():
    found = summarize_sessions(FOUR)
    value = {name: estimate.estimate for name, estimate in found.items()}
    assert value["terminal_balance"] == pytest.approx((140 + 100 - 2 + 80) / 4)
    assert value["mean_period_profit"] == pytest.approx((40 + 0 - 102 - 20) / 4 / 4)
    assert value["survival_rate"] == pytest.approx(3 / 4)
    assert value["periods_survived"] == pytest.approx((4 + 4 + 2 + 4) / 4)
    assert value["median_time_to_ruin"] is None, "fewer than half are ruined"
    assert value["max_drawdown"] == pytest.approx((0 + 20 + 102 + 60) / 4)
    assert value["lower_tail_mean"] == pytest.approx(-2)  # the worst of four
    assert value["se_plus"] == pytest.approx(0.4)
    assert value["regret_rate"] == pytest.approx(0.5)
    assert value["rounds"] == pytest.approx((10 * 3 + 3) / 14)
    assert found["terminal_balance"].n == 4
    assert found["se_plus"].n == 14
    assert found["terminal_balance"][1:3] == (None, None), "four sessions say too little"


def test_intervals_of_few_sessions_are_wide_or_not_there():
    found = summarize_sessions(FOUR)
    assert found["periods_survived"][:3] == (3.5, None, None)
    twelve = summarize_sessions([replace(each, session=n) for n, each in enumerate(FOUR * 3)])["periods_survived"]
    assert (twelve.estimate, twelve.high) == (3.5, 4.0), "cut at the horizon"
    assert 2.5 < twelve.low < 3.5
    assert found["lower_tail_mean"] == (-2.0, None, None, 4)
    whole = summarize_sessions([session(n, [11_000] * 4) for n in range(80)])
    assert whole["periods_survived"] == (4.0, None, None, 80), "no spread was seen, which is not to say there is none"
    assert whole["lower_tail_mean"] == (110.0, None, None, 80)


def test_the_lower_tail_by_hand():
    """1 to 400: the worst 100 have mean 50.5; its interval is that of 101 + 4 min(x - 101, 0) over all."""
    found = lower_tail([float(n) for n in range(1, 401)])
    assert found == pytest.approx(estimate_mean([101 + 4 * min(n - 101, 0) for n in range(1, 401)]))
    assert found.estimate == pytest.approx(50.5)
    assert lower_tail([1.0, 5.0, 9.0, 7.0]) == (1.0, None, None, 4)


@pytest.mark.parametrize("n", [24])
def test_intervals_of_few_sessions_cover(n):
    """500 batches of sessions in which ruin comes with 5 % a period and lots are skewed; 0.95 is stated."""
    rng, hits = np.random.default_rng(n), {"periods_survived": [], "regret_rate": []}
    true = {"periods_survived": sum(0.95**t for t in range(20)), "regret_rate": 0.5}
    for _ in range(500):
        sessions = [skewed(number, rng) for number in range(n)]
        found = summarize_sessions(sessions)
        for name, value in true.items():
            if found[name].low is not None:
                hits[name].append(found[name].low <= value <= found[name].high)
    assert all(len(held) > 400 and np.mean(held) >= 0.92 for held in hits.values()), {
        name: (len(held), float(np.mean(held))) for name, held in hits.items()
    }


def skewed(number: int, rng: np.random.Generator) -> SessionRecord:
    length = int(min(rng.geometric(0.05), 20))
    end = SessionEnd.RUINED if length < 20 else SessionEnd.FINISHED
    drawn = session(number, [5_000] * length, end, horizon=20)
    best, shares = rng.integers(1, 51, length) * 100, rng.beta(2, 2, length) + rng.normal(0, 0.1)
    amounts = zip(drawn.periods, best.tolist(), (best * shares).round().tolist(), strict=True)
    return replace(drawn, periods=tuple(replace(p, best_cents=b, profit_cents=int(c)) for p, b, c in amounts))


def test_survival_is_that_of_the_curve_when_a_session_was_lost():
    """Lost after three periods, when one of five at risk was ruined: 4/5 as in the curve, not 3/4."""
    lost = session(4, [9_000] * 3, SessionEnd.LOST)
    found = summarize_sessions([*FOUR, lost])["survival_rate"]
    curve = survival_curve([*FOUR, lost])
    assert found.estimate == curve[-1].estimate == pytest.approx(4 / 5)
    assert found[1:3] == curve[-1][1:3]
    assert found.n == 4
    assert summarize_sessions([lost])["survival_rate"] == (None, None, None, 0)


def test_every_metric_says_what_it_is_and_over_how_many_sessions():
    summary = sessions_summary(make_header("bankroll", "a", SessionsSpec(), SESSIONS.digests(SessionsSpec())), FOUR, ())
    assert [metric.name for metric in SESSION_METRICS] == list(summary["metrics"])
    assert {metric.better for metric in SESSION_METRICS} == {"higher", "lower", "neither"}
    assert {metric.unit for metric in SESSION_METRICS} == {"dollars", "share", "periods", "rounds"}
    found = {name: (entry["n"], entry["sessions"]) for name, entry in summary["metrics"].items()}
    assert (found["terminal_balance"], found["regret_rate"]) == ((4, 4), (14, 4))
    assert (found["walkaway_correctness"], found["memory_premium"]) == ((0, 0), (0, 0))
    assert PAIRED_ON_SESSIONS == {
        "terminal_balance": "higher", "mean_period_profit": "higher", "periods_survived": "higher",
        "max_drawdown": "lower",
    }  # fmt: skip


def test_the_published_mean_period_profit_is_the_balance_over_the_horizon():
    """GLM 5.1: (442.77 - 100) / 50 = 6.855; GPT-4o mini, half of it ruined: (21.41 - 100) / 50 = -1.572."""
    whole = session(0, [0] * 49 + [44_277], horizon=50)
    assert session_values(whole)["mean_period_profit"] == pytest.approx(6.855, abs=1e-3)
    cut = session(0, [2_141], SessionEnd.RUINED, horizon=50)
    assert session_values(cut)["mean_period_profit"] == pytest.approx(-1.572, abs=1e-3)


def test_the_median_time_to_ruin_where_half_are_ruined():
    ruined = [session(n, [5_000] * (10 + n) + [-1], SessionEnd.RUINED, horizon=50) for n in range(6)]
    whole = [session(n, [5_000] * 50, horizon=50) for n in range(6, 10)]
    found = summarize_sessions([*ruined, *whole])["median_time_to_ruin"]
    assert found.estimate == 15  # the fifth of ten: ruined in period 11 + 4
    assert found.low == 11  # the first; the tenth survived, so nothing bounds the median from above
    assert found.high is None
    assert summarize_sessions([*ruined, *whole])["periods_survived"].estimate == pytest.approx((6 * 13.5 + 4 * 50) / 10)


def test_lost_and_open_sessions_are_left_out():
    lost = session(4, [100], SessionEnd.LOST)
    unfinished = session(5, [100], SessionEnd.OPEN)
    assert summarize_sessions([*FOUR, lost, unfinished]) == summarize_sessions(FOUR)


def test_nothing_scored_is_undefined():
    found = summarize_sessions([session(0, [], SessionEnd.OPEN)])
    assert all(estimate.estimate is None and estimate.n == 0 for estimate in found.values())


def test_the_memory_premium_is_paired_by_session():
    without = [session(0, [13_000] * 4), session(1, [9_500] * 4), session(2, [0] * 4, SessionEnd.LOST)]
    found = memory_premium(FOUR, without)
    assert found.estimate == pytest.approx((10 + 5) / 2)
    assert found.n == 2
    assert memory_premium(FOUR, []).estimate is None


def played(agent, spec, numbers, arm=Arm.MEMORY):
    return [
        session_record(n, [period_from_row(row["period"]) for row in rows_of(SessionJob(spec, arm, n), agent)], spec)
        for n in numbers
    ]


BLOCKS, SIZE = 100, 8
SHORT = SessionsSpec(chain=ChainConfig(seed=9), bankroll=BankrollConfig(num_sessions=BLOCKS * SIZE, horizon=6))


@pytest.fixture(scope="module")
def draws_of_two():
    """Terminal balances by session of one random agent with two seeds of its own, on the same chains."""
    pairs = [played(RandomLegal(seed=seed, name=f"random-{seed}"), SHORT, range(BLOCKS * SIZE)) for seed in (1, 2)]
    return [np.array([session_values(each)["terminal_balance"] for each in one]) for one in pairs]


def test_comparing_an_agent_with_itself_is_significant_about_one_time_in_twenty(draws_of_two):
    """A/A: 100 comparisons of 8 sessions; with a true rate of 5 % more than 12 happen once in 700."""
    first, second = (values.reshape(BLOCKS, SIZE) for values in draws_of_two)
    found = [
        compare_outcomes(
            {name: {str(n): [float(v)] for n, v in enumerate(side)} for name, side in (("a", a), ("b", b))},
            "terminal_balance",
            PAIRED_ON_SESSIONS["terminal_balance"],
        ).differences[0]
        for a, b in zip(first, second, strict=True)
    ]
    assert sum(each.is_significant for each in found) <= 12
    assert min(each.p for each in found) > 1e-5
    assert np.mean([each.p < 0.5 for each in found]) == pytest.approx(0.5, abs=0.2), "p-values are spread evenly"


def test_a_true_difference_is_found_in_few_sessions():
    spec = SHORT.model_copy(update={"bankroll": BankrollConfig(num_sessions=12, horizon=20)})
    values = {
        f"fixed-{rate:.2f}": {
            str(each.session): [session_values(each)["terminal_balance"]]
            for each in played(FixedConcession(rate), spec, range(12))
        }
        for rate in (0.30, 0.01)
    }
    found = compare_outcomes(values, "terminal_balance", "higher")
    assert found.differences[0].is_significant
    assert found.differences[0].n == 12, "the block is the session"
    assert found.groups == (("fixed-0.30",), ("fixed-0.01",))


def test_where_less_is_better_the_ranking_turns():
    drawn = {"a": [5.0, 6.0, 5.5, 5.2, 5.9, 5.4, 5.1, 5.6], "b": [1.0, 2.1, 1.4, 1.7, 1.1, 1.9, 1.3, 1.6]}
    values = {name: {str(place): [value] for place, value in enumerate(column)} for name, column in drawn.items()}
    for better, first in (("higher", "a"), ("lower", "b")):
        found = compare_outcomes(values, "max_drawdown", better)
        assert found.groups[0] == (first,)
    with pytest.raises(ValueError, match="at least 2"):
        compare_outcomes({"a": {}}, "max_drawdown", "lower")
