"""The bankroll step against the published arithmetic, and what must hold on every path of cash."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from commerce.bankroll import (
    BankrollConfig,
    PeriodRecord,
    SessionEnd,
    SessionRecord,
    Settled,
    operating_cost_cents,
    settle,
)

RULES = BankrollConfig()


def period_of(number: int, cash: int, **changes: object) -> PeriodRecord:
    facts = {
        "session": 0, "period": number, "supplier": 1, "scenario_id": f"s/{number}", "regime": "overlap",
        "is_feasible": True, "termination": "agent_accept", "price": 40.0, "rounds": 3, "profit_cents": 0,
        "best_cents": 2000, "cost_cents": 1100, "cash_cents": cash, "surplus_share": 0.5, "moves": (),
    }  # fmt: skip
    return PeriodRecord(**{**facts, **changes})


def test_a_period_that_fails_at_once_costs_nine_dollars_and_each_further_round_one():
    assert settle(10_000, 0, 1, RULES) == Settled(9_100, False)
    assert settle(10_000, 0, 4, RULES) == Settled(8_800, False)
    assert operating_cost_cents(4, RULES) - operating_cost_cents(3, RULES) == 100


def test_a_deal_by_hand():
    assert settle(9_100, 2_500, 5, RULES) == Settled(9_100 + 2_500 - 800 - 500, False)


@pytest.mark.parametrize(("cash", "is_ruin"), [(901, False), (900, False), (899, True)])
def test_exactly_at_the_threshold_is_not_ruin(cash, is_ruin):
    assert settle(cash, 0, 1, RULES) == Settled(cash - 900, is_ruin)


def test_another_threshold():
    rules = BankrollConfig(ruin_cents=5_000)
    assert not settle(5_900, 0, 1, rules).ruined
    assert settle(5_899, 0, 1, rules).ruined


@given(st.lists(st.tuples(st.integers(-5_000, 5_000), st.integers(1, 10)), max_size=30))
def test_cash_is_what_came_in_less_what_went_out(steps):
    cash = RULES.initial_cents
    for profit, rounds in steps:
        cash = settle(cash, profit, rounds, RULES).cash_cents
    assert cash == 10_000 + sum(profit for profit, _ in steps) - sum(800 + 100 * rounds for _, rounds in steps)


def session_of(cash: list[int], end: SessionEnd = SessionEnd.FINISHED) -> SessionRecord:
    periods = tuple(period_of(number, value) for number, value in enumerate(cash, 1))
    return SessionRecord(0, end, 10_000, 50, periods)


def test_a_session_by_hand():
    session = session_of([12_000, 9_000, 11_000, 4_000, 8_000])
    assert session.cash_path_cents == (10_000, 12_000, 9_000, 11_000, 4_000, 8_000)
    assert session.terminal_cents == 8_000
    assert session.max_drawdown_cents == 8_000  # from 12,000 to 4,000
    assert session.time_to_ruin is None


def test_a_ruined_session_keeps_the_cash_it_was_ruined_with():
    session = session_of([500, -400], SessionEnd.RUINED)
    assert (session.terminal_cents, session.time_to_ruin, session.max_drawdown_cents) == (-400, 2, 10_400)
    assert session.is_scored


def test_a_session_without_periods():
    session = session_of([], SessionEnd.OPEN)
    assert (session.terminal_cents, session.max_drawdown_cents, session.is_scored) == (10_000, 0, False)


@given(st.lists(st.integers(-20_000, 20_000), max_size=20))
def test_drawdown_is_the_largest_fall(cash):
    path = [10_000, *cash]
    falls = [path[s] - path[t] for s in range(len(path)) for t in range(s, len(path))]
    assert session_of(cash).max_drawdown_cents == max(falls)


def test_a_period_that_the_provider_lost_is_known_as_such():
    assert period_of(1, 0, fault="provider").is_lost
    assert not period_of(1, 0, fault="refused").is_lost


def test_a_session_cannot_begin_ruined():
    BankrollConfig(initial_cents=0)
    with pytest.raises(ValidationError, match="initial_cents=-1 is below ruin_cents=0"):
        BankrollConfig(initial_cents=-1)


@pytest.mark.parametrize(
    "change",
    [
        {"horizon": 0}, {"num_sessions": 0}, {"period_cost_cents": -1}, {"pool": 3}, {"initial_cents": 10**12 + 1},
        {"ruin_cents": -(10**12) - 1}, {"period_cost_cents": 10**13}, {"round_cost_cents": 10**300},
    ],
)  # fmt: skip
def test_wrong_settings_are_refused(change):
    with pytest.raises(ValidationError, match=next(iter(change))):
        BankrollConfig(**change)
