"""Kaplan-Meier by hand and against counts, its interval, and the mean balance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commerce.bankroll import PeriodRecord, SessionEnd, SessionRecord
from experiments.sessions.summary import balance_curve, padded_path, survival_curve
from terms.intervals import share_bounds

HORIZON = 6


def period(number, cash, fault=None):
    return PeriodRecord(
        session=0, period=number, supplier=1, scenario_id="x", regime="overlap", is_feasible=True,
        termination="agent_accept", price=None, rounds=1, profit_cents=0, best_cents=None, cost_cents=0,
        cash_cents=cash, surplus_share=None, moves=(), fault=fault,
    )  # fmt: skip


def session(end, length, number=0):
    periods = [period(t, 1000 * t) for t in range(1, length + 1)]
    if end is SessionEnd.RUINED:
        periods[-1] = period(length, -50)
    if end is SessionEnd.LOST:
        periods.append(period(length + 1, 1000 * length, fault="provider"))
    return SessionRecord(number, end, 0, HORIZON, tuple(periods))


def test_by_hand():
    """Of 5: ruined in 2 and 4, lost after 3, two last. S: 1, 1, 4/5, 4/5, 4/5 * 2/3, same, same.

    At risk in period 4 are three: the lost one was censored after period 3.
    """
    sessions = [
        session(SessionEnd.RUINED, 2), session(SessionEnd.RUINED, 4), session(SessionEnd.LOST, 3),
        session(SessionEnd.FINISHED, 6), session(SessionEnd.FINISHED, 6),
    ]  # fmt: skip
    curve = survival_curve(sessions)
    assert [value.estimate for value in curve] == pytest.approx([1, 1, 0.8, 0.8, 8 / 15, 8 / 15, 8 / 15])
    assert [value.n for value in curve] == [5, 5, 5, 4, 3, 2, 2]
    variance = (8 / 15) ** 2 * (1 / (5 * 4) + 1 / (3 * 2))  # Greenwood
    low, high = share_bounds(8 / 15, 8 / 15 * 7 / 15 / variance)
    assert curve[-1][1:3] == pytest.approx((low, high))
    assert 0.08 < low < high < 0.95


@given(st.lists(st.one_of(st.just(None), st.integers(1, HORIZON)), min_size=1, max_size=12))
def test_without_censoring_it_is_the_share_still_there(ruins):
    sessions = [
        session(SessionEnd.FINISHED, HORIZON) if ruin is None else session(SessionEnd.RUINED, ruin) for ruin in ruins
    ]
    curve = survival_curve(sessions)
    for t in range(HORIZON + 1):
        share = np.mean([ruin is None or ruin > t for ruin in ruins])
        assert curve[t].estimate == pytest.approx(share)
        assert -1e-12 <= curve[t].low <= curve[t].estimate + 1e-12
        assert curve[t].estimate - 1e-12 <= curve[t].high <= 1 + 1e-12
    values = [value.estimate for value in curve]
    assert values == sorted(values, reverse=True)


def test_interval_covers():
    """True survival 0.7^t with 30 sessions: the interval after period 3 holds it in about 95 % of 600 batches."""
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(600):
        ruins = rng.geometric(0.3, 30)
        sessions = [
            session(SessionEnd.RUINED, int(t)) if t <= HORIZON else session(SessionEnd.FINISHED, HORIZON) for t in ruins
        ]
        value = survival_curve(sessions)[3]
        hits += value.low <= 0.7**3 <= value.high
    assert 0.92 < hits / 600 < 0.985


def test_without_a_ruin_the_band_is_that_of_the_number_of_sessions():
    curve = survival_curve([session(SessionEnd.FINISHED, HORIZON)] * 4)
    assert curve[-1][:3] == (1.0, pytest.approx(share_bounds(1.0, 4)[0]), 1.0)
    assert survival_curve([]) == ()


def test_all_ruined_has_the_interval_of_all_not_of_the_last():
    curve = survival_curve([session(SessionEnd.RUINED, length) for length in (1, 2, 3, 4)])
    assert curve[-1][:3] == (0.0, 0.0, pytest.approx(share_bounds(0.0, 4)[1]))


def test_a_curve_ends_where_nothing_more_was_seen():
    assert len(survival_curve([session(SessionEnd.LOST, 2)])) == 3
    assert [value.estimate for value in survival_curve([session(SessionEnd.RUINED, 2)])] == [1, 1, 0, 0, 0, 0, 0]


def test_the_ruined_keep_their_last_balance():
    ruined, finished = session(SessionEnd.RUINED, 2), session(SessionEnd.FINISHED, HORIZON)
    assert padded_path(ruined) == [0, 10, -0.5, -0.5, -0.5, -0.5, -0.5]
    curve = balance_curve([ruined, finished, session(SessionEnd.LOST, 3)])
    assert [value.estimate for value in curve] == pytest.approx([0, 10, 9.75, 14.75, 19.75, 24.75, 29.75])
    assert curve[0].n == 2
    assert balance_curve([session(SessionEnd.LOST, 3)]) == ()
