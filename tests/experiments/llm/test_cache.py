"""The reply cache: free re-runs, many writers, damage."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from experiments.fault_server import FaultServer
from experiments.llm.cache import FILE_NAME, DamagedCacheError, ReplyCache, UnusableCacheError
from experiments.llm.calls import CallLog, Recalled, read_calls
from experiments.llm.errors import ServerFault
from experiments.llm.meter import Meter
from experiments.llm.records import Applied, Completion, Usage

REPLY = Completion(text="x", finish_reason="stop", usage=Usage(cost_microusd=5), applied=Applied(provider="p"))


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
from experiments.llm.cache import ReplyCache
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
        cache.put("k", REPLY)
        cache.put("k", REPLY.model_copy(update={"text": "y"}))
        assert cache.get("k") == REPLY
        assert cache.get("other") is None


def fill(folder):
    with ReplyCache(folder) as cache:
        for number in range(200):
            cache.put(hashlib.sha256(str(number).encode()).hexdigest(), REPLY)


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
            cache.put("a", REPLY)
        assert cache.get("a") is None
