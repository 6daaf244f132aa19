from __future__ import annotations

import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from experiments.engine.run import run_task
from experiments.engine.verify import verify_run
from experiments.episodes.config import SuiteSpec
from experiments.episodes.folder import LOG, PARQUET, SUMMARY
from experiments.episodes.suite_task import EPISODES
from experiments.storage.journal import HEADER
from terms import kernel
from terms.agents import build_scripted
from tests.experiments.folders import TINY, rewrite_log

SHARES = st.floats(0, 1, exclude_max=True)
PATIENT = build_scripted("patient")
MANY = settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def untouched(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "untouched"
    run_task(EPISODES, PATIENT, TINY, folder)
    return folder


@pytest.fixture
def folder(untouched, tmp_path):
    return shutil.copytree(untouched, tmp_path / "run")


def test_an_untouched_run_is_right(untouched):
    assert verify_run(EPISODES, untouched) == []


@pytest.mark.parametrize("agent", ["random", "accept-any", "never-accept", "fixed-0.30", "tit-for-tat"])
def test_any_agent_can_be_replayed(tmp_path, agent):
    run_task(EPISODES, build_scripted(agent), TINY, tmp_path)
    assert verify_run(EPISODES, tmp_path) == []


@pytest.mark.parametrize("name", [HEADER, LOG, PARQUET, SUMMARY])
@MANY
@given(share=SHARES, mask=st.integers(1, 255))
def test_a_changed_byte_anywhere_is_found(untouched, tmp_path, name, share, mask):
    data = bytearray((untouched / name).read_bytes())
    data[int(share * len(data))] ^= mask
    assert changed_findings(untouched, tmp_path, name, bytes(data))


@pytest.mark.parametrize("name", [HEADER, LOG, SUMMARY])
@MANY
@given(share=SHARES, step=st.integers(1, 9))
def test_a_changed_digit_anywhere_is_found(untouched, tmp_path, name, share, step):
    data = bytearray((untouched / name).read_bytes())
    digits = [position for position, byte in enumerate(data) if 48 <= byte <= 57]
    position = digits[int(share * len(digits))]
    data[position] = 48 + (data[position] - 48 + step) % 10
    assert changed_findings(untouched, tmp_path, name, bytes(data))


def changed_findings(untouched, tmp_path, name, data):
    """Verify a copy of the run with one file replaced."""
    copy = tmp_path / "changed"
    shutil.copytree(untouched, copy, dirs_exist_ok=True)
    (copy / name).write_bytes(data)
    return verify_run(EPISODES, copy)


def rewrite(folder, change):
    """Change the logged records as a forger who knows the checksum would."""

    def changed(rows):
        for row in rows:
            change(row["record"])
        return rows

    rewrite_log(folder / LOG, changed)


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [("utility", 99.0, "utility"), ("price", 1.0, "price"), ("termination", "agent_reject", "termination")],
)
def test_a_forged_result_with_a_right_checksum_is_found_by_the_replay(folder, field, value, named):
    rewrite(folder, lambda record: record.update({field: value}))
    findings = verify_run(EPISODES, folder)
    assert any("replaying the logged moves gives another" in text and named in text for text in findings)


def test_forged_moves_are_found(folder):
    def haggle_less(record):
        for turn in record["turns"]:
            if turn["price"] is not None:
                turn["price"] += 0.25

    rewrite(folder, haggle_less)
    assert any("replay" in text for text in verify_run(EPISODES, folder))


def test_moves_that_stop_too_early_are_found(folder):
    rewrite(folder, lambda record: record.update(turns=record["turns"][:0]))
    assert any("cannot be replayed: the moves end in round 1" in text for text in verify_run(EPISODES, folder))


def test_an_unfinished_run_is_said(folder):
    lines = (folder / LOG).read_bytes().splitlines(keepends=True)
    (folder / LOG).write_bytes(b"".join(lines[:7]))
    assert verify_run(EPISODES, folder) == ["episodes.jsonl: 7 of 12 episodes are there; run the same command again"]


def test_a_torn_line_is_said(folder):
    data = (folder / LOG).read_bytes()
    (folder / LOG).write_bytes(data + b'{"checksum"')
    assert verify_run(EPISODES, folder) == [
        "episodes.jsonl ends in 11 bytes of an unfinished line; run the same command again"
    ]


def test_a_log_without_any_episode_is_said(folder):
    (folder / LOG).unlink()
    assert verify_run(EPISODES, folder) == ["episodes.jsonl: 0 of 12 episodes are there; run the same command again"]


@pytest.mark.parametrize("name", [PARQUET, SUMMARY])
def test_missing_results_are_said(folder, name):
    (folder / name).unlink()
    assert verify_run(EPISODES, folder) == [f"{name} is missing; run the same command again"]
    run_task(EPISODES, PATIENT, TINY, folder)
    assert verify_run(EPISODES, folder) == []


def test_results_with_another_number_of_episodes_are_found(folder, tmp_path):
    run_task(EPISODES, PATIENT, TINY.model_copy(update={"sample": 11}), tmp_path / "other")
    shutil.copy(tmp_path / "other" / SUMMARY, folder / SUMMARY)
    assert verify_run(EPISODES, folder) == ["summary.json is not what the log gives"]


def test_a_log_of_another_suite_is_found(folder, tmp_path):
    run_task(EPISODES, PATIENT, TINY.model_copy(update={"seed": 4}), tmp_path / "other")
    shutil.copy(tmp_path / "other" / LOG, folder / LOG)
    (finding,) = verify_run(EPISODES, folder)
    assert "line 1: the checksum does not match" in finding


def test_no_run_at_all_is_said(tmp_path):
    (finding,) = verify_run(EPISODES, tmp_path)
    assert "is not a run folder: it has no run.json" in finding


def test_a_changed_kernel_is_found(untouched, monkeypatch):
    rate = kernel.concession_rate
    monkeypatch.setattr(kernel, "concession_rate", lambda *args: rate(*args) * 1.0001)
    assert any("replaying the logged moves gives another turns" in text for text in verify_run(EPISODES, untouched))


def test_a_changed_world_is_found(untouched, monkeypatch):
    monkeypatch.setattr(SuiteSpec, "digest", lambda self: "0" * 64)
    assert verify_run(EPISODES, untouched) == [
        "what the settings give now is not what was played (digest of suite differs)"
    ]


def test_a_changed_catalogue_is_found_even_where_no_price_changed(tmp_path):
    catalog = tmp_path / "items.csv"
    row = "name,reference_price,low_price,high_price,details\nKettle,45,30,64,{}\n"
    catalog.write_text(row.format("used"))
    spec = SuiteSpec.parse(f"catalog:{catalog}", n_per_cell=1, sample=4)
    run_task(EPISODES, PATIENT, spec, tmp_path / "run")
    assert verify_run(EPISODES, tmp_path / "run") == []
    catalog.write_text(row.format("new"))
    assert verify_run(EPISODES, tmp_path / "run") == [
        "what the settings give now is not what was played (digest of data differs)"
    ]
