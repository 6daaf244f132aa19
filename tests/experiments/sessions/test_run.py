"""Sessions in a folder: resumed to the same bytes, verified without an agent, lost ones excluded and tried again."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from commerce.bankroll import BankrollConfig, SessionEnd, SupplierMode
from commerce.economics import ChainConfig, Perspective, build_chain, unit_economics
from experiments.engine.folder import RunError
from experiments.engine.run import LOGS, load_run, run_task
from experiments.engine.verify import verify_run
from experiments.episodes.folder import SUMMARY
from experiments.sessions.folder import PERIODS_LOG, PERIODS_TABLE, is_sessions
from experiments.sessions.play import SessionJob
from experiments.sessions.records import episode_of, period_from_row, period_row
from experiments.sessions.session_task import SESSIONS
from experiments.sessions.spec import Arm, SessionsSpec
from experiments.storage.files import RunLockedError, exclusive_lock
from experiments.storage.journal import HEADER
from terms import Offer, Unusable
from terms.agents import build_scripted
from terms.types import ReplyFault
from tests.experiments.folders import rewrite_log, rows_of, run_cli, start_cli, wait_for

RECALL, PATIENT = build_scripted("recall"), build_scripted("patient")
SMALL = SessionsSpec(bankroll=BankrollConfig(num_sessions=3, horizon=12, pool_size=3), with_memoryless=True)
RESULTS = (HEADER, PERIODS_TABLE, SUMMARY)


def result_bytes(folder, names=RESULTS):
    return {name: (Path(folder) / name).read_bytes() for name in names}


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    folder = tmp_path_factory.mktemp("calm")
    run_task(SESSIONS, RECALL, SMALL, folder)
    return folder


def test_the_log_says_what_was_played(calm):
    run = load_run(SESSIONS, calm)
    assert run.is_complete
    assert len(run.sessions) == len(run.memoryless) == 3
    for session in run.sessions:
        chain = build_chain(session.session, SMALL.chain, SMALL.bankroll)
        cash = 10_000
        for period, scenario, supplier in zip(session.periods, chain.scenarios, chain.who, strict=False):
            record = episode_of(scenario, period)
            economics = unit_economics(scenario, SMALL.economics)
            assert (period.scenario_id, period.supplier) == (scenario.scenario_id, supplier.number)
            assert period.profit_cents == economics.profit_cents(record.price)
            assert period.rounds == len(period.moves) == record.rounds_played
            cash += period.profit_cents - 800 - 100 * period.rounds
            assert period.cash_cents == cash
    assert is_sessions(calm)
    assert verify_run(SESSIONS, calm) == []


@pytest.mark.parametrize("workers", [1, 2])
def test_results_do_not_depend_on_workers(calm, tmp_path, workers):
    run_task(SESSIONS, RECALL, SMALL, tmp_path, workers=workers)
    assert result_bytes(tmp_path) == result_bytes(calm)


def test_a_finished_run_is_not_played_again(calm, tmp_path):
    run_task(SESSIONS, RECALL, SMALL, tmp_path)
    log = (tmp_path / PERIODS_LOG).read_bytes()
    again = run_task(SESSIONS, RECALL, SMALL, tmp_path)
    assert again.resumed == 72
    assert (tmp_path / PERIODS_LOG).read_bytes() == log


@pytest.mark.parametrize("cut", [1, 7, 20, 41, 66])
def test_resumed_after_any_period_the_files_are_the_same(calm, tmp_path, cut):
    """Cut the log in the middle of a session, with a torn line behind it, and go on: every byte as undisturbed."""
    lines = (calm / PERIODS_LOG).read_bytes().splitlines(keepends=True)
    (tmp_path / HEADER).write_bytes((calm / HEADER).read_bytes())
    (tmp_path / PERIODS_LOG).write_bytes(b"".join(lines[:cut]) + lines[cut][:40])
    run = run_task(SESSIONS, RECALL, SMALL, tmp_path)
    assert (run.torn, run.resumed) == (40, cut)
    assert result_bytes(tmp_path, (*RESULTS, PERIODS_LOG)) == result_bytes(calm, (*RESULTS, PERIODS_LOG))


SLOW = ("bankroll", "--agent", "python:tests.experiments.agents:Slow", "--sessions", "2", "--periods", "10")


def logged(folder):
    path = Path(folder) / PERIODS_LOG
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return [json.loads(line)["data"]["period"]["scenario_id"] for line in lines]


@pytest.mark.parametrize("wanted", [3, pytest.param(14, marks=pytest.mark.slow)])
def test_killed_in_the_middle_of_a_session(tmp_path, wanted):
    code, _, err = run_cli(*SLOW, "--out", tmp_path / "calm")
    assert code == 0, err
    process = start_cli(*SLOW, "--out", tmp_path / "run", pause=0.01)
    wait_for(lambda: len(logged(tmp_path / "run")) >= wanted)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    kept = logged(tmp_path / "run")
    assert wanted <= len(kept) < 20
    code, out, err = run_cli(*SLOW, "--out", tmp_path / "run")
    assert (code, f"{len(kept)} periods were already in" in err) == (0, True), out + err
    assert result_bytes(tmp_path / "run", (*RESULTS, PERIODS_LOG)) == result_bytes(
        tmp_path / "calm", (*RESULTS, PERIODS_LOG)
    )
    assert verify_run(SESSIONS, tmp_path / "run") == []


@dataclass(frozen=True)
class Down:
    """Patient, but its provider fails in the talk with reservation price ``at`` while the file ``outage`` exists."""

    at: float
    outage: str
    name: str = "down"

    def act(self, observation):
        if observation.reservation_price == self.at and Path(self.outage).exists():
            return Unusable(ReplyFault.PROVIDER, "503")
        return PATIENT.act(observation)


def test_a_lost_period_excludes_its_session_until_it_is_played(tmp_path):
    spec = SMALL.model_copy(update={"with_memoryless": False})
    at = build_chain(1, spec.chain, spec.bankroll).scenarios[4].agent_type.reservation_price
    agent, outage = Down(at, str(tmp_path / "outage")), tmp_path / "outage"
    run_task(SESSIONS, agent, spec, tmp_path / "calm")
    outage.touch()
    run = run_task(SESSIONS, agent, spec, tmp_path / "run")
    lost = run.sessions[1]
    assert [session.end for session in run.sessions] == [SessionEnd.FINISHED, SessionEnd.LOST, SessionEnd.FINISHED]
    assert lost.time_to_ruin is None, "the provider ruins nobody"
    assert len(lost.periods) == 5
    assert lost.periods[-1].cash_cents == lost.periods[-2].cash_cents, "a lost period moves no money"
    summary = json.loads((tmp_path / "run" / SUMMARY).read_text())
    assert summary["sessions"] == {"finished": 2, "ruined": 0, "lost": 1, "open": 0}
    assert summary["metrics"]["terminal_balance"]["n"] == 2
    assert verify_run(SESSIONS, tmp_path / "run") == []
    outage.unlink()
    run_task(SESSIONS, agent, spec, tmp_path / "run")
    assert result_bytes(tmp_path / "run") == result_bytes(tmp_path / "calm")
    assert verify_run(SESSIONS, tmp_path / "run") == []


def wasteful(observation):
    """Offer nothing anybody takes, to the last round."""
    return Offer(observation.price_min)


def test_ruin_ends_a_session_and_later_periods_are_not_played(tmp_path):
    spec = SessionsSpec(bankroll=BankrollConfig(num_sessions=2, horizon=50))
    run = run_task(SESSIONS, wasteful, spec, tmp_path)
    for session in run.sessions:
        assert session.end is SessionEnd.RUINED
        assert session.periods[-1].cash_cents < 0 <= session.periods[-2].cash_cents
        assert all(period.price is None and period.profit_cents in (0, 238) for period in session.periods)
    summary = json.loads((tmp_path / SUMMARY).read_text())
    assert summary["metrics"]["survival_rate"]["estimate"] == 0
    assert summary["metrics"]["median_time_to_ruin"]["estimate"] is not None
    assert verify_run(SESSIONS, tmp_path) == []


def reckless(observation):
    """Accept anything, else name a price that cannot be carried out."""
    return Unusable(ReplyFault.REFUSED) if observation.standing_price is None else {"decision": "Accept"}


def test_an_agents_own_fault_is_its_result(tmp_path):
    run = run_task(SESSIONS, reckless, SessionsSpec(bankroll=BankrollConfig(num_sessions=2, horizon=6)), tmp_path)
    faults = [period.fault for session in run.sessions for period in session.periods]
    assert {"refused", None} == set(faults)
    assert all(session.is_scored for session in run.sessions)
    assert "ended without a usable reply" in json.loads((tmp_path / SUMMARY).read_text())["invalidity"]
    assert verify_run(SESSIONS, tmp_path) == []


class TestMemory:
    def test_an_agent_without_memory_earns_no_premium(self, tmp_path):
        run_task(SESSIONS, PATIENT, SMALL, tmp_path)
        metrics = json.loads((tmp_path / SUMMARY).read_text())["metrics"]
        assert metrics["memory_premium"]["estimate"] == 0
        assert metrics["memoryless_terminal_balance"] == metrics["terminal_balance"]

    @pytest.mark.parametrize("mode", [SupplierMode.POOL, SupplierMode.PERSISTENT])
    @pytest.mark.parametrize("perspective", list(Perspective))
    def test_recall_earns_one_where_suppliers_come_back(self, tmp_path, mode, perspective):
        rules = BankrollConfig(num_sessions=12, horizon=30, supplier_mode=mode)
        spec = SessionsSpec(chain=ChainConfig(seed=5, perspective=perspective), bankroll=rules, with_memoryless=True)
        run_task(SESSIONS, RECALL, spec, tmp_path)
        premium = json.loads((tmp_path / SUMMARY).read_text())["metrics"]["memory_premium"]
        assert premium["low"] > 20
        assert premium["n"] == 12

    def test_nobody_is_remembered_among_strangers(self, tmp_path):
        rules = BankrollConfig(num_sessions=2, horizon=20, supplier_mode=SupplierMode.IID)
        run_task(SESSIONS, RECALL, SessionsSpec(bankroll=rules, with_memoryless=True), tmp_path)
        assert json.loads((tmp_path / SUMMARY).read_text())["metrics"]["memory_premium"]["estimate"] == 0

    def test_what_an_agent_is_told(self):
        seen = []

        def watch(observation):
            seen.append(observation.side_info)
            return {"decision": "Reject"}

        spec = SessionsSpec(bankroll=BankrollConfig(horizon=4, supplier_mode=SupplierMode.PERSISTENT))
        rows_of(SessionJob(spec, Arm.MEMORY, 0), watch)
        assert set(seen[0]) == {"economics", "bankroll"}
        last = seen[-1]["bankroll"]
        assert (last["period"], last["periods"], last["counterpart"]) == (4, 4, "supplier 1")
        assert last["cash"] == pytest.approx(100 - 3 * 9 + 2.38 * sum("profit 2.38" in line for line in last["ledger"]))
        assert last["ledger"][0].startswith("period 1 with supplier 1: no deal in 1 rounds, profit ")
        assert len(last["met_before"]) == 3
        assert "your reservation" in last["met_before"][0]
        json.dumps(seen[-1], allow_nan=False)
        seen.clear()
        rows_of(SessionJob(spec, Arm.MEMORYLESS, 0), watch)
        assert set(seen[-1]["bankroll"]) == {
            "period", "periods", "cash", "ruined_below", "cost_per_period", "cost_per_round",
        }  # fmt: skip

    def test_strangers_have_no_names(self):
        seen = []

        def watch(observation):
            seen.append(observation.side_info["bankroll"])
            return {"decision": "Reject"}

        spec = SessionsSpec(bankroll=BankrollConfig(horizon=3, supplier_mode=SupplierMode.IID))
        rows_of(SessionJob(spec, Arm.MEMORY, 0), watch)
        assert "counterpart" not in seen[-1]
        assert seen[-1]["ledger"][0].startswith("period 1: no deal")

    def test_the_hook_gets_its_own_meetings_and_nothing_hidden(self):
        met = []

        class Watcher:
            name = "watcher"

            def for_meeting(self, seed, past):
                met.append(past)
                return PATIENT

            def act(self, observation):
                raise AssertionError("for_meeting says who plays")

        chain = build_chain(0, SMALL.chain, SMALL.bankroll)
        rows = rows_of(SessionJob(SMALL, Arm.MEMORY, 0), Watcher())
        profits = [row["period"]["profit_cents"] / 100 for row in rows]
        for index, past in enumerate(met):
            same = [t for t in range(index) if chain.who[t] == chain.who[index]]
            assert [m.reservation_price for m in past] == [
                chain.scenarios[t].agent_type.reservation_price for t in same
            ]
            assert [m.profit for m in past] == [profits[t] for t in same]  # without a deal as well
            assert all(not hasattr(meeting, "counterpart_type") for meeting in past)
        met.clear()
        rows_of(SessionJob(SMALL, Arm.MEMORYLESS, 0), Watcher())
        assert set(met) == {()}


def changed(index, change):
    """Return what changes one row of a log."""
    return lambda rows: [change(row) if place == index else row for place, row in enumerate(rows)]


class TestVerify:
    @pytest.fixture
    def folder(self, calm, tmp_path):
        for name in (*RESULTS, PERIODS_LOG, LOGS):
            (tmp_path / name).write_bytes((calm / name).read_bytes())
        return tmp_path

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            (lambda period: period | {"cash_cents": period["cash_cents"] + 1}, "another cash_cents"),
            (lambda period: period | {"profit_cents": period["profit_cents"] + 1}, "another profit_cents"),
            (lambda period: period | {"rounds": period["rounds"] + 1}, "another rounds"),
            (lambda period: period | {"supplier": 9}, "another supplier"),
            (lambda period: period | {"moves": period["moves"][:-1]}, "cannot be replayed"),
            (lambda period: period | {"scenario_id": "x"}, "is not that of the period"),
        ],
    )
    def test_one_altered_value_is_found_even_with_a_right_checksum(self, folder, change, says):
        rewrite_log(folder / PERIODS_LOG, changed(4, lambda row: row | {"period": change(row["period"])}))
        findings = verify_run(SESSIONS, folder)
        assert says in findings[0]

    def test_an_altered_digit_breaks_the_checksum(self, folder):
        log = (folder / PERIODS_LOG).read_bytes()
        (folder / PERIODS_LOG).write_bytes(log.replace(b'"rounds":', b'"roundz":', 1))
        assert "checksum" in verify_run(SESSIONS, folder)[0]

    @pytest.mark.parametrize("name", [PERIODS_TABLE, SUMMARY])
    def test_results_must_be_what_the_log_gives(self, folder, name):
        data = bytearray((folder / name).read_bytes())
        data[len(data) // 2] ^= 1
        (folder / name).write_bytes(bytes(data))
        assert verify_run(SESSIONS, folder) == [f"{name} is not what the log gives"]
        (folder / name).unlink()
        assert verify_run(SESSIONS, folder) == [f"{name} is missing; run the same command again"]

    @pytest.mark.parametrize(
        ("forge", "says"),
        [
            (lambda row: row | {"arm": "foo"}, "arm: Input should be 'memory' or 'memoryless'"),
            (lambda row: {"arm": "memory"}, "period: Field required"),
            (lambda row: row | {"period": 5}, "period: Input should be a valid dictionary"),
            (lambda row: row | {"more": 5}, "unknown key 'more'"),
            (
                lambda row: row | {"period": row["period"] | {"session": -1}},
                "session=-1 is not played; allowed are 0 to",
            ),
            (
                lambda row: row | {"period": row["period"] | {"session": 3}},
                "session=3 is not played; allowed are 0 to 2",
            ),
            (
                lambda row: row | {"period": row["period"] | {"session": "x"}},
                "session: Input should be a valid integer",
            ),
            (lambda row: row | {"period": row["period"] | {"moves": 5}}, "moves: Input should be a valid array"),
            (lambda row: row | {"period": row["period"] | {"bogus": 5}}, "unknown fields bogus"),
            (lambda row: row | {"period": {"session": 0}}, "period: Field required"),
            (lambda row: row | {"receipts": [{"bogus": 1}]}, "a receipt has bogus, needed are round, verdict"),
            (lambda row: row | {"receipts": 1}, "receipts: Input should be a valid list"),
            (lambda row: [1, 2], "it holds no object"),
        ],
    )
    def test_a_row_that_nobody_writes_is_named_by_its_line(self, folder, forge, says):
        rewrite_log(folder / PERIODS_LOG, changed(4, forge))
        (finding,) = verify_run(SESSIONS, folder)
        assert f"{PERIODS_LOG}, line 5: " in finding
        assert says in finding

    def test_a_row_of_an_arm_that_was_not_asked_for(self, tmp_path):
        run_task(SESSIONS, PATIENT, SessionsSpec(bankroll=BankrollConfig(num_sessions=1, horizon=2)), tmp_path)
        rewrite_log(tmp_path / PERIODS_LOG, lambda rows: [*rows, rows[0] | {"arm": "memoryless"}])
        assert "line 3: arm='memoryless' is not played; allowed are memory" in verify_run(SESSIONS, tmp_path)[0]

    @pytest.mark.parametrize("moves", [[{}], [{"decision": "Offer"}], [{"decision": "Offer", "price": "x"}]])
    def test_moves_that_are_none_are_findings(self, folder, moves):
        rewrite_log(folder / PERIODS_LOG, changed(0, lambda row: row | {"period": row["period"] | {"moves": moves}}))
        assert "the logged moves" in verify_run(SESSIONS, folder)[0]

    def test_a_period_where_none_belongs(self, folder):
        rewrite_log(folder / PERIODS_LOG, lambda rows: [*rows, rows[0]])
        assert "period 1 of session 0 where none belongs" in verify_run(SESSIONS, folder)[0]

    def test_an_unfinished_run_says_so(self, folder):
        lines = (folder / PERIODS_LOG).read_bytes().splitlines(keepends=True)
        (folder / PERIODS_LOG).write_bytes(b"".join(lines[:30]) + b"{")
        findings = verify_run(SESSIONS, folder)
        assert any("1 bytes of an unfinished line" in finding for finding in findings)
        assert "periods.jsonl: not every session has ended; run the same command again" in findings


def test_another_run_in_the_folder_is_refused(calm, tmp_path):
    run_task(SESSIONS, PATIENT, SessionsSpec(bankroll=BankrollConfig(num_sessions=1, horizon=2)), tmp_path)
    with pytest.raises(RunError, match=r"holds another run .*agent: 'patient' there, 'recall' now"):
        run_task(SESSIONS, RECALL, SessionsSpec(bankroll=BankrollConfig(num_sessions=1, horizon=2)), tmp_path)
    with exclusive_lock(tmp_path), pytest.raises(RunLockedError):
        run_task(SESSIONS, PATIENT, SessionsSpec(bankroll=BankrollConfig(num_sessions=1, horizon=2)), tmp_path)


def test_rows_keep_every_field(calm):
    rng = np.random.default_rng(0)
    periods = [period for session in load_run(SESSIONS, calm).sessions for period in session.periods]
    for index in rng.integers(len(periods), size=10):
        assert period_from_row(json.loads(json.dumps(period_row(periods[index])))) == periods[index]


def test_the_digest_knows_the_chain_and_the_money():
    base = SMALL.digest()
    changed = [
        {"chain": ChainConfig(seed=1)},
        {"economics": SMALL.economics.model_copy(update={"margin_share": 0.07})},
        {"bankroll": SMALL.bankroll.model_copy(update={"pool_size": 4})},
    ]
    assert len({base, *(SMALL.model_copy(update=change).digest() for change in changed)}) == 4


def test_a_damaged_header_is_a_finding_and_not_a_crash(calm, tmp_path):
    (tmp_path / HEADER).write_bytes((calm / HEADER).read_bytes()[:-20] + b"\n")
    assert not is_sessions(tmp_path)
    assert verify_run(SESSIONS, tmp_path)


def test_a_stated_belief_is_carried_to_the_next_meeting():
    seen = []

    def thinker(observation):
        seen.append(observation.side_info["bankroll"]["met_before"])
        belief = {"r_hat": 41.5, "kappa_hat": 0.25, "stance_probs": {"conciliatory": 1, "neutral": 1, "aggressive": 2}}
        return {"decision": "Reject", "belief": belief}

    spec = SessionsSpec(bankroll=BankrollConfig(horizon=2, supplier_mode=SupplierMode.PERSISTENT))
    rows = rows_of(SessionJob(spec, Arm.MEMORY, 0), thinker)
    assert seen[0] == []
    said = "you believed r_hat 41.50, kappa_hat 0.25, conciliatory 0.25, neutral 0.25, aggressive 0.50"
    assert seen[1][0].endswith(said)
    seen.clear()
    rows_of(SessionJob(spec, Arm.MEMORY, 0, (period_from_row(rows[0]["period"]),)), thinker)
    assert seen[0][0].endswith(said), "also after a stop"
