"""What was asked and answered is read back whatever happened to the process; the cache makes a second run free."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from experiments.fault_server import FaultServer
from experiments.llm.calls import (
    FILE_NAME,
    Attempt,
    CallLog,
    DamagedCacheError,
    Ended,
    Recalled,
    ReplyCache,
    Reserved,
    UnusableCacheError,
    read_calls,
    spending_of,
)
from experiments.llm.errors import ServerFault
from experiments.llm.records import Applied, Completion, Usage
from experiments.llm.spending import FREE, UNKNOWN, Meter, Spending, settlement
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
from experiments.llm.spending import Meter
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


KEPT = Completion(text="x", finish_reason="stop", usage=Usage(cost_microusd=5), applied=Applied(provider="p"))


def test_a_second_run_is_free_and_the_same(server, connect, ask, tmp_path):
    first = ask(connect(cache=ReplyCache(tmp_path)))
    meter, log = Meter(), CallLog(tmp_path / "calls.jsonl")
    second = ask(connect(cache=ReplyCache(tmp_path), meter=meter, log=log), call_id="other")
    assert server.stats["requests"] == 1
    assert meter.spending.num_settled == 0
    assert second == first.model_copy(update={"call_id": "other", "from_cache": True, "attempts": 0})
    assert isinstance(read_calls(tmp_path / "calls.jsonl")[0], Recalled)


@pytest.mark.parametrize(
    "change",
    [
        {"model": "b"},
        {"temperature": 0.5},
        {"seed": 1},
        {"effort": "low"},
        {"max_output_tokens": 5},
        {"dialect": "openrouter"},
    ],
)
def test_another_request_is_another_entry(change, server, connect, ask, tmp_path):
    ask(connect(cache=ReplyCache(tmp_path)))
    assert not ask(connect(cache=ReplyCache(tmp_path), **change)).from_cache
    assert server.stats["requests"] == 2


def test_another_server_is_another_entry(connect, ask, tmp_path):
    with FaultServer() as other:
        ask(connect(cache=ReplyCache(tmp_path)))
        assert not ask(connect(cache=ReplyCache(tmp_path), base_url=other.url)).from_cache


def test_what_shapes_no_reply_shares_the_entry(connect, ask, tmp_path):
    ask(connect(cache=ReplyCache(tmp_path)))
    assert ask(connect(cache=ReplyCache(tmp_path), concurrency=2, max_retries=0, timeout_s=5)).from_cache


def test_a_fall_back_is_kept_under_what_was_asked(server, connect, ask, tmp_path):
    schema = {"type": "object"}
    ask(connect("bot/fault:reject_response_format", cache=ReplyCache(tmp_path)), schema=schema)
    again = ask(connect("bot/fault:reject_response_format", cache=ReplyCache(tmp_path)), schema=schema)
    assert again.from_cache
    assert again.applied.refused == ("response_format",)
    assert server.stats["requests"] == 3


def test_failures_are_not_kept(server, connect, ask, tmp_path):
    client = connect("bot/fault:server_error_500", cache=ReplyCache(tmp_path), max_retries=0)
    for _ in range(2):
        with pytest.raises(ServerFault):
            ask(client)
    assert server.stats["requests"] == 2


WRITER = """
import sys
from pathlib import Path
from concurrent.futures import ThreadPoolExecutor
from experiments.llm.calls import ReplyCache
from experiments.llm.records import Completion
name, folder = sys.argv[1], Path(sys.argv[2])
cache = ReplyCache(folder)
def put(number):
    cache.put(f"{name}-{number}", Completion(text=f"{name}-{number}", finish_reason="stop"))
    cache.put(f"shared-{number}", Completion(text="same", finish_reason="stop"))
with ThreadPoolExecutor(16) as pool:
    list(pool.map(put, range(100)))
"""


def test_sixteen_threads_in_each_of_three_processes(tmp_path):
    root = Path(__file__).resolve().parents[3]
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, name, str(tmp_path)], cwd=root, env={"PYTHONPATH": str(root)})
        for name in "abc"
    ]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0, 0]
    with ReplyCache(tmp_path) as cache, ThreadPoolExecutor(16) as pool:
        keys = [f"{name}-{number}" for name in "abc" for number in range(100)]
        assert [reply.text for reply in pool.map(cache.get, keys)] == keys
        assert cache.get("shared-99").text == "same"


def test_the_first_of_two_replies_stays(tmp_path):
    with ReplyCache(tmp_path) as cache:
        cache.put("k", KEPT)
        cache.put("k", KEPT.model_copy(update={"text": "y"}))
        assert cache.get("k") == KEPT
        assert cache.get("other") is None


def fill(folder):
    with ReplyCache(folder) as cache:
        for number in range(200):
            cache.put(hashlib.sha256(str(number).encode()).hexdigest(), KEPT)


@pytest.mark.parametrize("damage", ["not a database", "half", "zeros", "altered"])
def test_damage_is_said_clearly(damage, tmp_path):
    fill(tmp_path)
    path = tmp_path / FILE_NAME
    data = path.read_bytes()
    middle = len(data) // 2
    path.write_bytes(
        {
            "not a database": b"x" * 5000,
            "half": data[:middle],
            "zeros": data[:4096] + bytes(len(data) - 4096),
            "altered": data.replace(b'"finish_reason"', b'"finish-reason"'),
        }[damage]
    )

    def read_all():
        with ReplyCache(tmp_path) as cache:
            for number in range(200):
                cache.get(hashlib.sha256(str(number).encode()).hexdigest())

    with pytest.raises(DamagedCacheError, match=rf"{FILE_NAME} is damaged .*delete it"):
        read_all()
    path.unlink()
    read_all()


def test_an_empty_file_is_an_empty_cache(tmp_path):
    (tmp_path / FILE_NAME).touch()
    with ReplyCache(tmp_path) as cache:
        assert cache.get("k") is None


def test_a_cache_that_cannot_be_written_is_no_damage(tmp_path):
    (tmp_path / "taken" / FILE_NAME).mkdir(parents=True)
    with pytest.raises(UnusableCacheError, match=r"taken/replies.sqlite cannot be used \(unable to open"):
        ReplyCache(tmp_path / "taken")
    with ReplyCache(tmp_path / "kept") as cache:
        cache._db.execute("PRAGMA query_only = ON")
        with pytest.raises(UnusableCacheError, match="readonly"):
            cache.put("a", KEPT)
        assert cache.get("a") is None
