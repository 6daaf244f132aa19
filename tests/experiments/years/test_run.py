"""Stored years: killed and resumed to the same bytes, verified without the merchant, damage found."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from commerce.merchants.simple import IdleMerchant
from commerce.replay import DivergedError
from experiments.engine.folder import RunError
from experiments.storage.journal import encode_lines, read_journal
from experiments.years.run import HEADER, RESULT, STORE_CALLS, read_spec, run_year
from experiments.years.seats import MerchantSeat
from experiments.years.spec import YearSpec
from experiments.years.transcript import OUTCOME, TRANSCRIPT, Outcome, read_transcript
from experiments.years.verify import verify_year

SPEC = YearSpec(merchant="rule-based", num_days=30)
FILES = (HEADER, TRANSCRIPT, STORE_CALLS, RESULT, OUTCOME)
PLAY = """
import sys
from experiments.years.run import run_year
from experiments.years.spec import YearSpec
run_year(sys.argv[1], YearSpec(merchant="rule-based", num_days=int(sys.argv[2])))
"""


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FILES}


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("year")
    run_year(folder, SPEC)
    return folder


def test_a_year_verifies(whole):
    assert verify_year(whole) == []


def test_running_again_changes_nothing(whole):
    before = contents(whole)
    run_year(whole, SPEC)
    assert contents(whole) == before


@pytest.mark.parametrize("kept", [0, 1, 1000, 20_001, -1])
def test_a_torn_journal_is_finished_to_the_same_bytes(whole, tmp_path, kept):
    data = contents(whole)
    (tmp_path / HEADER).write_bytes(data[HEADER])
    (tmp_path / TRANSCRIPT).write_bytes(data[TRANSCRIPT][:kept])
    run_year(tmp_path, SPEC)
    assert contents(tmp_path) == data


def kill_and_finish(folder: Path, num_days: int, delays: list[float]) -> None:
    command = [sys.executable, "-c", PLAY, str(folder), str(num_days)]
    for delay in delays:
        process = subprocess.Popen(command, env=dict(os.environ), stderr=subprocess.DEVNULL)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
    subprocess.run(command, check=True)


def test_a_killed_year_is_finished_to_the_same_bytes(whole, tmp_path):
    kill_and_finish(tmp_path / "year", SPEC.num_days, [0.9, 1.3])
    assert contents(tmp_path / "year") == contents(whole)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_fifty_kills(tmp_path):
    rng = random.Random(0)
    run_year(tmp_path / "whole", SPEC.model_copy(update={"num_days": 180}))
    kill_and_finish(tmp_path / "killed", 180, [rng.uniform(0.3, 2.5) for _ in range(50)])
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        (RESULT, b'"value":', b'"value":1', "result.json is not what the transcript gives"),
        (STORE_CALLS, b"market_search", b"market_searcg", "store_calls.jsonl is not what the transcript gives"),
        (TRANSCRIPT, b"market_search", b"market_searcg", "checksum"),
        (OUTCOME, b"finished", b"bankrupt", "the transcript says finished"),
    ],
)
def test_one_altered_byte_is_found(whole, tmp_path, file, old, new, says):
    for name, data in contents(whole).items():
        (tmp_path / name).write_bytes(data.replace(old, new, 1) if name == file else data)
    (finding,) = verify_year(tmp_path)
    assert says in finding


def test_missing_and_foreign_folders_are_named(whole, tmp_path):
    assert "not the folder of a year" in verify_year(tmp_path)[0]
    with pytest.raises(RunError, match="num_days: 30 there, 31 now"):
        run_year(whole, SPEC.model_copy(update={"num_days": 31}))
    with pytest.raises(ValueError, match="world_digest"):
        SPEC.model_copy(update={"world_digest": "0" * 64}).build_world()


def test_a_year_without_a_result_says_what_to_do(whole, tmp_path):
    for name in (HEADER, TRANSCRIPT):
        (tmp_path / name).write_bytes((whole / name).read_bytes())
    assert verify_year(tmp_path) == [f"{OUTCOME} is missing; run the same command again"]


def test_another_merchant_cannot_go_on(whole, tmp_path):
    for name in (HEADER, TRANSCRIPT):
        (tmp_path / name).write_bytes((whole / name).read_bytes())
    spec = read_spec(whole)
    with pytest.raises(DivergedError, match="call 0"):
        run_year(tmp_path, spec, MerchantSeat("rule-based", IdleMerchant()))
    with pytest.raises(DivergedError, match=r"call 0: the journal says .* nothing"):
        run_year(tmp_path, spec, MerchantSeat("rule-based", lambda call: None))


def test_a_merchant_answered_something_else_is_noticed(whole, tmp_path):
    """The year itself changed, as a new version may: the transcript's digest of an answer is not met again."""
    (tmp_path / HEADER).write_bytes((whole / HEADER).read_bytes())
    rows = read_journal(whole / TRANSCRIPT).rows
    rows[3]["result"] = "0" * 16
    (tmp_path / TRANSCRIPT).write_bytes(encode_lines(rows))
    with pytest.raises(DivergedError, match="line 4 of the transcript"):
        run_year(tmp_path, SPEC)


def test_a_merchant_that_leaves_is_scored_as_stopped(tmp_path):
    played = run_year(tmp_path, SPEC, MerchantSeat("rule-based", lambda call: call("withdraw", {"amount": 1})))
    assert (played.outcome.outcome, played.result["end"]) == (Outcome.AGENT_STOPPED, "stopped")
    assert [line.tool for line in read_transcript(tmp_path).lines] == ["withdraw"]
    assert verify_year(tmp_path) == []
