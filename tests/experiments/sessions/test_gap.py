"""The gap of real sessions: the identity on what was played, agents that fail in one way, exclusion, the command."""

from __future__ import annotations

import json

import pytest

from commerce.bankroll import BankrollConfig
from commerce.economics import SESSION_ECONOMICS, ChainConfig
from experiments.engine.folder import RunError
from experiments.engine.run import load_run, run_task
from experiments.players.player import as_player
from experiments.sessions.folder import GAP
from experiments.sessions.gap import play_session, sessions_gap
from experiments.sessions.session_task import SESSIONS
from experiments.sessions.spec import SessionsSpec
from oracle.bankroll.meeting import MeetingPlanners
from oracle.bankroll.menu import MenuSettings, sample_outcomes
from oracle.bankroll.worth import session_worth
from oracle.interventions import Condition
from oracle.parts import SUMMANDS
from oracle.player_registry import build_player
from terms import Offer, Unusable
from terms.agents import build_scripted
from terms.types import ReplyFault
from tests.experiments.folders import run_cli

RULES = BankrollConfig(num_sessions=2, horizon=6, pool_size=2, initial_cents=3000)
CHAIN = ChainConfig(families=("taciturn",))
SPEC = SessionsSpec(chain=CHAIN, bankroll=RULES)


@pytest.fixture(scope="module")
def worth():
    outcomes = sample_outcomes(CHAIN, SESSION_ECONOMICS, RULES, MenuSettings(num_suppliers=12, num_judged=1))
    return session_worth(outcomes, RULES, num_groups=3)


def gap_of(agent, worth, folder):
    run = run_task(SESSIONS, agent, SPEC, folder)
    return run, sessions_gap(run, agent, worth)


def test_an_agent_that_heeds_nothing_it_is_told_loses_control_alone(worth, tmp_path):
    run, gap = gap_of(build_scripted("fixed-0.30"), worth, tmp_path)
    parts = gap.arms.parts()
    for name in ("execution", "inference", "uncertainty"):
        assert (parts[name] == 0).all()
    assert parts["played"].tolist() == [session.terminal_cents / 100 for session in run.sessions]
    assert sum(parts[name] for name in SUMMANDS) == pytest.approx(parts["gap"])
    assert parts["control"].sum() > 0


def test_spoilt_replies_are_execution(worth, tmp_path):
    _, gap = gap_of(build_player("faulty-execution"), worth, tmp_path)
    parts = gap.arms.parts()
    assert sum(parts[name] for name in SUMMANDS) == pytest.approx(parts["gap"])
    assert parts["execution"].sum() > 0


def test_being_told_the_type_is_used(worth, tmp_path):
    """A planner that plays the best reply to a revealed type: told it, its balance changes, on the same chains."""
    agent = build_player("ramp")
    run, gap = gap_of(agent, worth, tmp_path)
    assert (gap.arms.balances["revealed"] != gap.arms.balances["posterior"]).any()
    table = MeetingPlanners(CHAIN)
    again = play_session(as_player(agent), SPEC, 1, Condition.REVEALED_TYPE, table)
    assert again == gap.arms.balances["revealed"][1]
    assert play_session(as_player(agent), SPEC, 0, Condition.BASE, table) == run.sessions[0].terminal_cents / 100


def lost_late(observation):
    if observation.side_info["bankroll"]["period"] == 4 and "revealed_type" in observation.side_info:
        return Unusable(ReplyFault.PROVIDER, "down")
    return Offer(observation.reservation_price)


def test_a_session_the_provider_lost_in_one_arm_is_excluded(worth, tmp_path):
    run = run_task(SESSIONS, lost_late, SPEC, tmp_path)
    assert all(session.is_scored for session in run.sessions)
    with pytest.raises(ValueError, match="none of 2 sessions"):
        sessions_gap(run, lost_late, worth)


def lost_at_once(observation):
    return Unusable(ReplyFault.PROVIDER, "down")


def test_sessions_without_a_result_are_refused(worth, tmp_path):
    run = run_task(SESSIONS, lost_at_once, SPEC, tmp_path)
    with pytest.raises(ValueError, match="none of 0 sessions"):
        sessions_gap(run, lost_at_once, worth)


def test_unfinished_sessions_are_refused(worth, tmp_path):
    run_task(SESSIONS, build_scripted("patient"), SPEC, tmp_path)
    log = tmp_path / "periods.jsonl"
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines[:-1]))
    with pytest.raises(RunError, match="have not ended"):
        sessions_gap(load_run(SESSIONS, tmp_path), build_scripted("patient"), worth)


def test_the_command_writes_and_prints_the_gap(tmp_path, monkeypatch):
    monkeypatch.setattr("oracle.bankroll.worth.load_outcomes.__defaults__", (MenuSettings(12, 1),))
    monkeypatch.setenv("TERMS_CACHE_DIR", str(tmp_path / "cache"))
    from experiments.cli.bankroll import print_gap, split_sessions
    from experiments.players.player import as_player

    agent = build_scripted("fixed-0.30")
    run = run_task(SESSIONS, agent, SPEC, tmp_path / "run")
    found = split_sessions(run, as_player(agent))
    written = json.loads((tmp_path / "run" / GAP).read_text())
    assert written == json.loads(json.dumps(found)) | {"checksum": written["checksum"]}
    assert found["required_sessions"]["execution"]["estimate"] is None  # nothing was repaired in any session
    print_gap(found)


def test_the_option_is_known():
    code, stdout, _ = run_cli("bankroll", "--help")
    assert code == 0
    assert "--gap" in stdout
