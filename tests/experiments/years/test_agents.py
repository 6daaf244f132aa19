"""Years of agents on disk: over real HTTP against a scripted shop, killed, resumed, out of money, and verified."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from commerce.config import PAPER
from commerce.merchants import build_merchant
from experiments.engine.folder import RunError
from experiments.engine.run import LOGS
from experiments.fault_server import FaultPlan, FaultServer
from experiments.llm.calls import MODEL_CALLS, Attempt, Ended, Reserved, read_calls
from experiments.llm.client import ChatClient
from experiments.llm.pacing import Timing
from experiments.llm.records import ToolCall
from experiments.llm.settings import ModelSettings
from experiments.llm.spending import Meter
from experiments.modes import check_folder
from experiments.storage.journal import HEADER
from experiments.storekeeper.seat import StorekeeperSeat
from experiments.storekeeper.settings import StorekeeperSettings
from experiments.years.batch import YearPlace, run_agent_years
from experiments.years.run import run_year
from experiments.years.seats import MerchantSeat, PlainSeat
from experiments.years.spec import YearSpec
from experiments.years.transcript import OUTCOME, TRANSCRIPT, Outcome, TurnRecord, read_transcript
from experiments.years.year_mode import RESULT, STORE_CALLS, read_store_calls
from tests.experiments.folders import findings_in, rewrite_log
from tests.experiments.storekeeper.helpers import world

DAYS = 8
HORIZON = 100
"""Days the merchant reckons with; in its last thirty it buys nothing."""
DERIVED = (STORE_CALLS, RESULT)
EVERY_KIND = [
    "rate_limit_bare", "server_error_500", "drop_after", "half_json", "error_body", "choices_empty", "slow",
    "prose_only", "refusal", "truncated", "content_filter",
    "call_cut_off", "call_whole_but_cut_off", "calls_wrong_type", "call_object", "call_twice", "html",
    "no_usage", "tokens_cached_beside", "cost_nan",
]  # fmt: skip
"""Twenty faults, so that 5 % of each leave no answer without one. None makes the store see another call."""
ODD_CALLS = ["call_malformed", "call_fenced", "call_nan", "call_infinite", "call_deep", "call_list", "call_text",
             "call_unknown_key", "call_unknown_tool", "call_without_name"]  # fmt: skip
"""The store sees and refuses these."""
MADE: list[ChatClient] = []


@pytest.fixture(autouse=True)
def close_clients():
    yield
    while MADE:
        MADE.pop().close()


def client_of(model, budget=None) -> ChatClient:
    MADE.append(ChatClient(model, meter=Meter(budget), timing=Timing(sleep=lambda _: None)))
    return MADE[-1]


def seat_at(server, days=DAYS, *, budget=None, **chosen) -> StorekeeperSeat:
    model = ModelSettings(
        model=f"shop/rule-based/{max(days, HORIZON)}", base_url=server.url, max_retries=30, max_output_tokens=500
    )
    chosen = {"max_turns": 20_000, "max_idle_turns": 50, "context_tokens": 24_000, "evict_at": 20_000,
              "evict_to": 9_000, **chosen}  # fmt: skip
    return StorekeeperSeat("shop", model, StorekeeperSettings(**chosen), client_of(model, budget))


def spec_of(seat, days=DAYS, **more) -> YearSpec:
    return YearSpec(num_days=days, **more)


def without_spec(folder: Path) -> dict:
    result = json.loads((folder / RESULT).read_bytes())
    return {name: value for name, value in result.items() if name not in ("agent", "spec")}


@pytest.fixture(scope="module")
def merchant_year(tmp_path_factory) -> Path:
    """The year of the merchant itself, in this process and without any model."""
    folder = tmp_path_factory.mktemp("merchant")
    rules = PAPER.model_copy(update={"num_days": HORIZON})
    seat = MerchantSeat("rule-based", build_merchant("rule-based", world(), rules))
    run_year(folder, YearSpec(num_days=DAYS), seat)
    assert json.loads((folder / RESULT).read_bytes())["tools"]["calls"]["chatbox"] > 10
    return folder


@pytest.fixture(scope="module")
def server():
    with FaultServer() as running:
        yield running


@pytest.fixture(scope="module")
def whole(server, tmp_path_factory) -> Path:
    """The year of the scripted model without faults."""
    folder = tmp_path_factory.mktemp("whole")
    seat = seat_at(server)
    assert run_year(folder, spec_of(seat), seat).outcome.outcome is Outcome.FINISHED
    return folder


class TestWhole:
    def test_it_is_the_year_of_the_merchant_to_the_byte(self, whole, merchant_year):
        assert read_store_calls(whole) == read_store_calls(merchant_year)
        assert without_spec(whole) == without_spec(merchant_year)

    def test_turns_left_the_context_on_the_way(self, whole):
        turns = read_transcript(whole).turns
        assert sum(turn.sent.eviction is not None for turn in turns) >= 3
        assert max(turn.said.usage.prompt_tokens for turn in turns) < 24_000

    def test_the_expected_tokens_are_close_to_the_servers(self, whole):
        turns = read_transcript(whole).turns[5:]
        errors = [abs(turn.sent.tokens / turn.said.usage.prompt_tokens - 1) for turn in turns]
        assert sum(errors) / len(errors) < 0.02

    def test_cost_is_that_of_the_servers_ledger(self, whole, server):
        outcome = read_transcript(whole).outcome
        key = read_transcript(whole).turns[0].sent.call_id.rsplit("/", 2)[0]
        bills = [bill.microusd for bill in server.ledger if bill.request_id.startswith(key)]
        turns = read_transcript(whole).turns
        assert outcome.spending.settled_microusd == sum(bills) == sum(turn.said.microusd for turn in turns)
        assert read_transcript(whole).days[-1].known_microusd == sum(bills)

    def test_it_verifies_and_is_not_played_again(self, whole, server):
        assert check_folder(whole) == ([], [])
        before = {path.name: path.read_bytes() for path in whole.iterdir()}
        asked = server.stats["requests"]
        seat = seat_at(server)
        run_year(whole, spec_of(seat), seat)
        assert server.stats["requests"] == asked
        assert {path.name: path.read_bytes() for path in whole.iterdir()} == before

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            (lambda rows: rows[5]["told"][0].update(clock="09:99"), "transcript"),
            (lambda rows: rows[5]["sent"].update(digest="0" * 32), "turn 4"),
            (lambda rows: rows[5]["said"]["tool_calls"][0].update(name="withdraw"), "transcript"),
            (lambda rows: rows[9]["said"]["usage"].update(prompt_tokens=9_000), "turn"),
            (lambda rows: rows[0].update(agent="other"), "opening"),
            (lambda rows: rows.pop(7), "transcript"),
        ],
    )
    def test_one_altered_line_is_found(self, whole, tmp_path, change, says):
        for name in (HEADER, TRANSCRIPT, MODEL_CALLS, OUTCOME, LOGS, *DERIVED):
            (tmp_path / name).write_bytes((whole / name).read_bytes())

        def forge(rows):
            change(rows)
            return rows

        rewrite_log(tmp_path / TRANSCRIPT, forge)
        assert says in findings_in(tmp_path)[0]

    @pytest.mark.parametrize("name", [OUTCOME, *DERIVED])
    def test_one_altered_number_in_what_follows_is_found(self, whole, tmp_path, name):
        for one in (HEADER, TRANSCRIPT, MODEL_CALLS, OUTCOME, LOGS, *DERIVED):
            (tmp_path / one).write_bytes((whole / one).read_bytes())
        data = (tmp_path / name).read_bytes()
        place = next(place for place in range(len(data) // 2, len(data)) if data[place : place + 1].isdigit())
        (tmp_path / name).write_bytes(
            data[:place] + (b"1" if data[place : place + 1] != b"1" else b"2") + data[place + 1 :]
        )
        (finding,) = findings_in(tmp_path)
        assert name in finding


class TestOutcomes:
    def test_a_provider_that_fails_leaves_no_score_and_the_year_goes_on_later(self, server, whole, tmp_path):
        seat = seat_at(server)
        server.script(["ok"] * 20 + ["no_credit"])
        lost = run_year(tmp_path, spec_of(seat), seat).outcome
        assert (lost.outcome, lost.is_scored, lost.turns) == (Outcome.PROVIDER_FAULT, False, 20)
        assert "Insufficient credits" in lost.detail
        assert not (tmp_path / RESULT).exists()
        assert check_folder(tmp_path) == ([], [])
        assert run_year(tmp_path, spec_of(seat), seat).outcome.outcome is Outcome.FINISHED
        assert (tmp_path / TRANSCRIPT).read_bytes() == (whole / TRANSCRIPT).read_bytes()

    def test_a_ceiling_stops_before_a_call_and_a_higher_one_goes_on(self, server, whole, tmp_path):
        poor = seat_at(server, budget=500_000)
        stopped = run_year(tmp_path, spec_of(poor), poor).outcome
        assert (stopped.outcome, stopped.is_scored) == (Outcome.BUDGET, False)
        assert stopped.spending.settled_microusd <= 500_000
        rich = seat_at(server)
        assert run_year(tmp_path, spec_of(rich), rich).outcome.outcome is Outcome.FINISHED
        for name in (TRANSCRIPT, *DERIVED, OUTCOME):
            assert (tmp_path / name).read_bytes() == (whole / name).read_bytes()

    def test_a_context_that_overflows_is_the_agents_own_fault_and_scored(self, server, tmp_path):
        seat = seat_at(server)
        server.script(["ok", "context_overflow"])
        fault = run_year(tmp_path, spec_of(seat), seat).outcome
        assert (fault.outcome, fault.is_scored) == (Outcome.AGENT_FAULT, True)
        assert (fault.turns, fault.end) == (1, "stopped")
        assert without_spec(tmp_path)["end"] == "stopped"
        assert check_folder(tmp_path) == ([], [])

    @pytest.mark.parametrize(
        ("model", "outcome"),
        [("bot/fault:prose_only", Outcome.AGENT_STOPPED), ("bot/fault:empty", Outcome.AGENT_STOPPED)],
    )
    def test_a_model_that_never_acts_is_stopped_and_scored(self, server, tmp_path, model, outcome):
        idle = ModelSettings(model=model, base_url=server.url)
        seat = StorekeeperSeat("idle", idle, client=client_of(idle))
        ended = run_year(tmp_path, spec_of(seat), seat).outcome
        assert (ended.outcome, ended.turns, ended.is_scored) == (outcome, 3, True)
        assert check_folder(tmp_path) == ([], [])

    def test_bankruptcy_is_an_outcome_of_its_own(self, tmp_path):
        """Day 8 on costs 1,000 yuan a day without a store: 100,000 are gone on day 107, ten mornings later it ends."""

        class Idler:
            name = "idler"

            def play(self, session):
                from experiments.years.transcript import Said

                while not session.is_over:
                    batch = [ToolCall(id=str(n), name="wait_for_next_day", arguments="{}") for n in range(50)]
                    session.act(Said(tool_calls=tuple(batch)))

        seat = PlainSeat("idler", Idler())
        spec = YearSpec(num_days=200)
        ended = run_year(tmp_path, spec, seat).outcome
        assert (ended.outcome, ended.end, ended.is_scored) == (Outcome.BANKRUPT, "bankruptcy", True)
        assert check_folder(tmp_path) == ([], [])
        assert read_transcript(tmp_path).turns[0].sent is None

    def test_another_year_in_the_folder_is_refused(self, whole, server):
        other = seat_at(server, memory="ledger")
        with pytest.raises(RunError, match=r"settings.storekeeper.memory"):
            run_year(whole, spec_of(other), other)


def test_every_fault_of_twenty_kinds_changes_nothing_but_the_way(merchant_year, tmp_path):
    with FaultServer(FaultPlan(dict.fromkeys(EVERY_KIND, 0.05), seed=11), slow_s=0.01) as server:
        seat = seat_at(server)
        ended = run_year(tmp_path, spec_of(seat), seat).outcome
        assert ended.outcome is Outcome.FINISHED
        assert read_store_calls(tmp_path) == read_store_calls(merchant_year)
        assert without_spec(tmp_path) == without_spec(merchant_year)
        met = {bill.fault for bill in server.ledger}
        assert len(met & set(EVERY_KIND)) >= 18
        reconcile(tmp_path, server.ledger)
    assert check_folder(tmp_path) == ([], [])


def test_calls_that_the_store_refuses_change_nothing_but_their_count(merchant_year, tmp_path):
    with FaultServer(FaultPlan(dict.fromkeys(ODD_CALLS, 0.05), seed=1)) as server:
        seat = seat_at(server)
        assert run_year(tmp_path, spec_of(seat), seat).outcome.outcome is Outcome.FINISHED
        met = {bill.fault for bill in server.ledger} - {None}
    assert met == set(ODD_CALLS)
    assert without_spec(tmp_path)["days"] == without_spec(merchant_year)["days"]
    codes = {told.code for turn in read_transcript(tmp_path).turns for told in turn.told} - {None}
    assert {"malformed_arguments", "invalid_arguments", "unknown_tool"} <= codes
    assert check_folder(tmp_path) == ([], [])


def reconcile(folder, ledger, *, was_killed=False) -> None:
    """Hold the money of a year against the server's ledger, attempt by attempt.

    What settled is what was billed for that very attempt; what is unknown is counted and in no sum. No bill came
    without a reservation before it; without kills there is one for each.
    """
    bills: dict[str, list[int]] = {}
    for bill in ledger:
        bills.setdefault(bill.request_id, []).append(bill.microusd)
    rows = read_calls(folder / MODEL_CALLS)
    reserved = Counter(
        Attempt("", row.call_id, row.attempt, "", "").request_id for row in rows if isinstance(row, Reserved)
    )
    ended = [row for row in rows if isinstance(row, Ended)]
    for row in ended:
        if row.state == "settled":
            bills[Attempt("", row.call_id, row.attempt, "", "").request_id].remove(row.microusd)
    own = {name: amounts for name, amounts in bills.items() if name in reserved}
    billed = Counter(bill.request_id for bill in ledger if bill.request_id in reserved)
    assert all(billed[name] <= number for name, number in reserved.items())
    spending = read_transcript(folder).outcome.spending
    left = sum(len(amounts) for amounts in own.values())
    if was_killed:
        assert left <= spending.num_unknown + spending.num_free
    else:
        assert billed == reserved
        assert left == spending.num_unknown + spending.num_free
    assert spending.settled_microusd == sum(row.microusd for row in ended if row.state == "settled")


@pytest.mark.slow
def test_sixteen_years_at_once_with_faults(tmp_path):
    kinds = [
        "rate_limit_bare",
        "server_error_500",
        "choices_empty",
        "empty",
        "truncated",
        "call_cut_off",
        "call_twice",
        "slow",
    ]
    with FaultServer(FaultPlan(dict.fromkeys(kinds, 0.05), seed=2), slow_s=0.05) as server:
        seat = seat_at(server)
        jobs = [YearPlace(tmp_path / str(world), spec_of(seat, world_seed=world)) for world in range(16)]
        played = list(run_agent_years(jobs, seat, workers=16))
        assert [one.outcome.outcome for one in played] == [Outcome.FINISHED] * 16
        assert server.stats["most_in_flight"] > 4
        for job in jobs:
            reconcile(job.folder, server.ledger)
    rules = PAPER.model_copy(update={"num_days": HORIZON})
    for job in jobs:
        spec = YearSpec(num_days=DAYS, world_seed=job.spec.world_seed)
        seat = MerchantSeat("rule-based", build_merchant("rule-based", spec.build_world(), rules))
        run_year(job.folder / "merchant", spec, seat)
        assert read_store_calls(job.folder) == read_store_calls(job.folder / "merchant")


PLAY = """
import sys
from tests.experiments.years.test_agents import play_at
play_at(*sys.argv[1:])
"""


def play_at(url, folder, days) -> None:
    """Play a year against a server at ``url``; run in a process of its own, which may be killed."""

    class At:
        pass

    at = At()
    at.url = url
    seat = seat_at(at, int(days))
    run_year(folder, spec_of(seat, int(days)), seat)


def kill_and_finish(server, folder, days, delays) -> int:
    """Kill the process that plays after each delay, then let it finish; returns how many were killed in play."""
    command = [sys.executable, "-c", PLAY, server.url, str(folder), str(days)]
    killed = 0
    for delay in delays:
        process = subprocess.Popen(command, env=dict(os.environ), stderr=subprocess.DEVNULL)
        asked, deadline = server.stats["requests"], time.monotonic() + 60
        while server.stats["requests"] == asked and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(delay)
        killed += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
    subprocess.run(command, check=True)
    return killed


def assert_no_answer_was_paid_twice(folder) -> None:
    stored = [row.call_id for row in read_calls(folder / MODEL_CALLS) if isinstance(row, Ended) and row.completion]
    assert len(stored) == len(set(stored))


def test_a_killed_year_is_finished_to_the_same_bytes(server, whole, tmp_path):
    folder = tmp_path / "killed"
    assert kill_and_finish(server, folder, DAYS, [0.0, 0.08]) == 2
    for name in (TRANSCRIPT, *DERIVED):
        assert (folder / name).read_bytes() == (whole / name).read_bytes()
    assert_no_answer_was_paid_twice(folder)
    assert check_folder(folder) == ([], [])


@pytest.mark.parametrize("kept", [0, 1, 5_000, 150_001, -1])
def test_a_torn_transcript_is_finished_to_the_same_bytes_and_costs_nothing_again(server, whole, tmp_path, kept):
    for name in (HEADER, MODEL_CALLS):
        (tmp_path / name).write_bytes((whole / name).read_bytes())
    (tmp_path / TRANSCRIPT).write_bytes((whole / TRANSCRIPT).read_bytes()[:kept])
    asked = server.stats["requests"]
    seat = seat_at(server)
    run_year(tmp_path, spec_of(seat), seat)
    assert server.stats["requests"] == asked
    for name in (TRANSCRIPT, *DERIVED, OUTCOME):
        assert (tmp_path / name).read_bytes() == (whole / name).read_bytes()


def test_years_at_once_are_those_played_alone(server, tmp_path):
    seat = seat_at(server, 2)
    jobs = [YearPlace(tmp_path / str(world), spec_of(seat, 2, world_seed=world)) for world in (1, 2)]
    played = list(run_agent_years(jobs, seat, workers=2))
    assert [one.outcome.outcome for one in played] == [Outcome.FINISHED] * 2
    for job in jobs:
        alone = tmp_path / f"alone-{job.folder.name}"
        run_year(alone, job.spec, seat_at(server, 2))
        for name in (TRANSCRIPT, *DERIVED):
            assert (alone / name).read_bytes() == (job.folder / name).read_bytes()


def test_memories_play_the_same_draws(server, tmp_path):
    """The scripted model pays no heed to its memory, so its year is the same under each; what it is sent is not.

    Where dearer offers are refused its year is another one.
    """
    results, digests = [], set()
    for memory in ("plain", "summary", "ledger", "reflection", "price-limits"):
        seat = seat_at(server, 6, memory=memory, reflect_days=3)
        run_year(tmp_path / memory, spec_of(seat, 6), seat)
        results.append(without_spec(tmp_path / memory))
        digests.add(read_transcript(tmp_path / memory).turns[-1].sent.digest)
        assert check_folder(tmp_path / memory) == ([], [])
    assert all(result == results[0] for result in results[:4])
    assert len(digests) == 5


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_whole_year_with_faults_and_twenty_kills(tmp_path):
    days, rng = 365, random.Random(5)
    run_year(tmp_path / "merchant", YearSpec(num_days=days), "rule-based")
    with FaultServer(FaultPlan(dict.fromkeys(EVERY_KIND, 0.05), seed=3), slow_s=0.01) as server:
        folder = tmp_path / "killed"
        killed = kill_and_finish(server, folder, days, [rng.uniform(0.1, 12) for _ in range(20)])
        assert killed >= 15
        assert read_store_calls(folder) == read_store_calls(tmp_path / "merchant")
        assert without_spec(folder) == without_spec(tmp_path / "merchant")
        assert_no_answer_was_paid_twice(folder)
        reconcile(folder, server.ledger, was_killed=True)
    assert any(isinstance(line, TurnRecord) for line in read_transcript(folder).lines)
    assert check_folder(folder) == ([], [])


def test_ctrl_c_keeps_what_is_done_and_the_same_command_goes_on(tmp_path):
    with FaultServer(latency_s=0.02) as slow:
        command = [sys.executable, "-c", "from experiments.cli import main; main()", "year", "--agent",
                   "openai:shop/idle/40", "--base-url", slow.url, "--days", "40", "--out", str(tmp_path)]  # fmt: skip
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        deadline = time.monotonic() + 60
        while slow.stats["requests"] < 10 and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "interrupted; everything finished is kept" in told
        (folder,) = tmp_path.iterdir()
        done = read_transcript(folder)
        assert 1 <= len(done.turns) < 40
        assert done.outcome is None
        subprocess.run(command, check=True, capture_output=True)
        assert slow.stats["requests"] == 40
    assert read_transcript(folder).outcome.outcome is Outcome.FINISHED
