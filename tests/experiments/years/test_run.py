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

from commerce.replay import DivergedError
from experiments.engine.folder import RunError
from experiments.modes import check_folder
from experiments.storage.journal import HEADER
from experiments.years.run import run_year
from experiments.years.seats import MerchantSeat
from experiments.years.spec import YearSpec
from experiments.years.transcript import OUTCOME, TRANSCRIPT, Outcome, read_transcript
from experiments.years.year_mode import RESULT, STORE_CALLS
from tests.experiments.folders import findings_in, rewrite_log

SPEC = YearSpec(num_days=30)
FILES = (HEADER, TRANSCRIPT, STORE_CALLS, RESULT, OUTCOME)
PLAY = """
import sys
from experiments.years.run import run_year
from experiments.years.spec import YearSpec
run_year(sys.argv[1], YearSpec(num_days=int(sys.argv[2])), "rule-based")
"""


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FILES}


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("year")
    run_year(folder, SPEC, "rule-based")
    return folder


def test_a_year_verifies(whole):
    assert check_folder(whole) == ([], [])


def test_running_again_changes_nothing(whole):
    before = contents(whole)
    run_year(whole, SPEC, "rule-based")
    assert contents(whole) == before


@pytest.mark.parametrize("kept", [0, 1, 1000, 20_001, -1])
def test_a_torn_journal_is_finished_to_the_same_bytes(whole, tmp_path, kept):
    data = contents(whole)
    (tmp_path / HEADER).write_bytes(data[HEADER])
    (tmp_path / TRANSCRIPT).write_bytes(data[TRANSCRIPT][:kept])
    run_year(tmp_path, SPEC, "rule-based")
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
    run_year(tmp_path / "whole", SPEC.model_copy(update={"num_days": 180}), "rule-based")
    kill_and_finish(tmp_path / "killed", 180, [rng.uniform(0.3, 2.5) for _ in range(50)])
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        (RESULT, b'"value":', b'"value":1', "result.json is not what the log gives"),
        (STORE_CALLS, b"market_search", b"market_searcg", "store_calls.jsonl is not what the log gives"),
        (TRANSCRIPT, b"market_search", b"market_searcg", "checksum"),
        (OUTCOME, b"finished", b"bankrupt", "outcome.json is not what the log gives"),
    ],
)
def test_one_altered_byte_is_found(whole, tmp_path, file, old, new, says):
    for name, data in contents(whole).items():
        (tmp_path / name).write_bytes(data.replace(old, new, 1) if name == file else data)
    assert any(says in finding for finding in findings_in(tmp_path))


def test_missing_and_foreign_folders_are_named(whole, tmp_path):
    assert "is not a run folder" in findings_in(tmp_path)[0]
    with pytest.raises(RunError, match="num_days: 30 there, 31 now"):
        run_year(whole, SPEC.model_copy(update={"num_days": 31}), "rule-based")


def test_a_year_without_a_result_says_what_to_do(whole, tmp_path):
    for name in (HEADER, TRANSCRIPT):
        (tmp_path / name).write_bytes((whole / name).read_bytes())
    missing = (STORE_CALLS, RESULT, OUTCOME, "logs.json")
    assert findings_in(tmp_path) == [f"{name} is missing; run the same command again" for name in missing]


def test_a_year_that_goes_on_says_so(whole, tmp_path):
    cut_short(whole, tmp_path)
    assert findings_in(tmp_path) == ["transcript.jsonl: the year has not ended; run the same command again"]


def cut_short(whole, folder) -> None:
    """Leave a copy of a year without its last line, the end."""
    (folder / HEADER).write_bytes((whole / HEADER).read_bytes())
    lines = (whole / TRANSCRIPT).read_bytes().splitlines(keepends=True)
    (folder / TRANSCRIPT).write_bytes(b"".join(lines[:-1]))


def idle(call) -> None:
    while not call("wait_for_next_day", {}).is_over:
        pass


def test_another_merchant_cannot_go_on(whole, tmp_path):
    cut_short(whole, tmp_path)
    with pytest.raises(DivergedError, match="call 0"):
        run_year(tmp_path, SPEC, MerchantSeat("rule-based", idle))
    with pytest.raises(DivergedError, match=r"call 0: the journal says .* nothing"):
        run_year(tmp_path, SPEC, MerchantSeat("rule-based", lambda call: None))


def test_a_merchant_answered_something_else_is_noticed(whole, tmp_path):
    """The year itself changed, as a new version may: the transcript's digest of an answer is not met again."""
    cut_short(whole, tmp_path)
    rewrite_log(tmp_path / TRANSCRIPT, lambda rows: [*rows[:3], rows[3] | {"result": "0" * 16}, *rows[4:]])
    with pytest.raises(DivergedError, match="line 4 of the transcript"):
        run_year(tmp_path, SPEC, "rule-based")


def test_a_merchant_that_leaves_is_scored_as_stopped(tmp_path):
    played = run_year(tmp_path, SPEC, MerchantSeat("rule-based", lambda call: call("withdraw", {"amount": 1})))
    assert (played.outcome.outcome, played.result["end"]) == (Outcome.AGENT_STOPPED, "stopped")
    assert [line.tool for line in read_transcript(tmp_path).lines] == ["withdraw"]
    assert check_folder(tmp_path) == ([], [])
