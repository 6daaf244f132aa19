"""The call log: what it costs is read back from it, whatever happened to the process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments.fault_server import FaultServer
from experiments.llm.calls import Attempt, CallLog, Ended, Reserved, read_calls, spending_of
from experiments.llm.meter import Meter
from experiments.llm.records import Applied, Completion, Usage
from experiments.llm.spending import FREE, UNKNOWN, Spending, settlement
from experiments.storage.journal import DamagedJournalError

ROOT = Path(__file__).resolve().parents[3]
USAGE = Usage(prompt_tokens=10, completion_tokens=2, cost_microusd=60)
REPLY = Completion(
    text="offer",
    finish_reason="stop",
    reasoning_text="because",
    usage=USAGE,
    applied=Applied(provider="p", refused=("seed",)),
    latency_s=0.25,
    attempts=2,
    notices=("n",),
    call_id="a",
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "calls.jsonl"


def test_a_logged_call_is_found_by_its_id_and_request_and_by_nothing_less(path):
    attempt = Attempt("1", "a", 1, "digest", "m")
    with CallLog(path) as log:
        log.reserved(attempt, 100)
        log.ended(attempt, settlement(60, USAGE), 0.25, REPLY)
        assert log.find("a", "digest") is None  # a call is not found by the run that makes it
    with CallLog(path) as log:
        assert log.find("a", "digest") == REPLY.model_copy(update={"from_cache": True, "attempts": 0})
        assert log.find("a", "other") is None
        assert log.find("b", "digest") is None
        assert log.start == Spending(
            settled_microusd=60, num_settled=1, largest_microusd=60, prompt_tokens=10, completion_tokens=2
        )


def test_failures_are_logged_with_their_reason_and_asked_again(path, connect, ask, server):
    server.script(["bad_request", "ok"])
    with CallLog(path) as log, pytest.raises(Exception, match="messages"):
        ask(connect(log=log))
    assert "BadRequest (status 400): " in read_calls(path)[-1].error
    with CallLog(path) as log:
        assert ask(connect(log=log)).text == "pong"


def test_a_reservation_without_an_end_is_unknown_money(path):
    with CallLog(path) as log:
        log.reserved(Attempt("1", "a", 0, "d", "m"), 70)
    assert CallLog(path).start == Spending(num_unknown=1, unknown_held_microusd=70, num_without_tokens=1)
    with CallLog(path) as log:  # the same attempt is made again and ends; the first stays unknown
        attempt = Attempt("2", "a", 0, "d", "m")
        log.reserved(attempt, 70)
        log.ended(attempt, FREE, 0.1, ValueError("x"))
    spent = CallLog(path).start
    assert (spent.num_unknown, spent.num_free, spent.num_reserved) == (1, 1, 0)


def test_a_torn_last_line_is_cut_and_an_altered_one_raises(path):
    with CallLog(path) as log:
        for number in range(3):
            log.reserved(Attempt(str(number), "a", 0, "d", "m"), 1)
    whole = path.read_bytes()
    path.write_bytes(whole[:-10] + b"\0\0\0")
    assert CallLog(path).start.num_unknown == 2
    path.write_bytes(whole.replace(b'"held_microusd":1', b'"held_microusd":9', 1))
    with pytest.raises(DamagedJournalError, match=r"calls\.jsonl, line 1"):
        CallLog(path)


def test_log_and_meter_agree_after_any_endings(path):
    meter = Meter()
    with CallLog(path) as log:
        for number, ended in enumerate([settlement(5, USAGE), settlement(None, USAGE), UNKNOWN, FREE] * 3):
            attempt, held = Attempt(str(number), "a", 0, "d", "m"), meter.reserve(number)
            log.reserved(attempt, held)
            log.ended(attempt, ended, 0.0, REPLY if ended.usage else ValueError("x"))
            meter.settle(held, ended)
    assert spending_of(read_calls(path)) == meter.spending


def test_two_calls_of_one_name_at_once_are_two_attempts(path):
    with CallLog(path) as log:
        first, second = (Attempt(name, "same", 0, "d", "m") for name in "xy")
        log.reserved(first, 10)
        log.reserved(second, 20)
        log.ended(first, FREE, 0.0, ValueError("x"))
        log.ended(second, settlement(60, USAGE), 0.0, REPLY)
    assert (CallLog(path).start.num_free, CallLog(path).start.settled_microusd) == (1, 60)


def test_any_call_id_makes_a_header(server, connect, ask):
    for call_id in ("café/漢字\n#x", "y" * 5000):
        assert ask(connect(), call_id=call_id).call_id == call_id
        assert server.requests[-1]["headers"]["x-client-request-id"].endswith("#0")


RUN = """
import json, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from experiments.llm.calls import CallLog
from experiments.llm.client import ChatClient
from experiments.llm.meter import Meter
from experiments.llm.settings import ModelSettings

url, folder = sys.argv[1], Path(sys.argv[2])
with CallLog(folder / "calls.jsonl") as log:
    meter = Meter(start=log.start)
    client = ChatClient(ModelSettings(model="bot", base_url=url), meter=meter, log=log)
    def call(number):
        return client.complete([{"role": "user", "content": str(number)}], call_id=str(number)).text
    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(call, range(60)))
(folder / "result.json").write_text(json.dumps({"texts": texts, "spending": meter.spending.model_dump()}))
"""


def start_run(server, folder):
    command = [sys.executable, "-c", RUN, server.url, str(folder)]
    return subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})


def test_killed_in_mid_call_and_resumed_nothing_is_paid_twice_and_no_cent_is_lost(tmp_path):
    with FaultServer(latency_s=0.05) as server:
        run = start_run(server, tmp_path)
        deadline = time.monotonic() + 30
        while server.stats["requests"] < 25 and time.monotonic() < deadline:
            time.sleep(0.005)
        run.send_signal(signal.SIGKILL)
        run.wait()
        cut = read_calls(tmp_path / "calls.jsonl")
        answered = {row.call_id for row in cut if isinstance(row, Ended)}
        lost = {row.call_id for row in cut if isinstance(row, Reserved)} - answered
        assert answered
        assert 1 <= len(lost) <= 8

        assert start_run(server, tmp_path).wait(timeout=60) == 0
        result = json.loads((tmp_path / "result.json").read_text())
        spent = Spending(**result["spending"])
        bills = server.ledger
        assert result["texts"] == ["pong"] * 60
        assert spent == spending_of(read_calls(tmp_path / "calls.jsonl"))
        asked_again = [bill for bill in bills if sum(other.request_id == bill.request_id for other in bills) > 1]
        assert {bill.request_id.partition("#")[0] for bill in asked_again} <= lost
        lost_money = sum(bill.microusd for bill in bills) - spent.settled_microusd
        assert spent.num_unknown == len(lost)
        # What the first run lost is what the server billed twice: one of each pair is settled, the other unknown.
        assert lost_money == sum(bill.microusd for bill in asked_again) // 2

        assert start_run(server, tmp_path).wait(timeout=60) == 0  # a third run asks nothing and pays nothing
        assert len(server.ledger) == len(bills)
        assert Spending(**json.loads((tmp_path / "result.json").read_text())["spending"]) == spent
