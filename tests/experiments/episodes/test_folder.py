from __future__ import annotations

import pytest

from experiments.engine.folder import RunError, open_header, read_header
from experiments.engine.header import make_header
from experiments.engine.run import load_run, run_task
from experiments.engine.verify import verify_run
from experiments.episodes.config import SuiteSpec
from experiments.episodes.folder import LOG, PARQUET, SUMMARY, suite_summary
from experiments.episodes.records import episode_row
from experiments.episodes.suite_task import EPISODES
from experiments.storage.journal import HEADER, JournalWriter, encode_line
from terms import play
from terms.agents import build_scripted
from terms.strict_json import strict_loads
from tests.experiments.agents import AlwaysDown
from tests.experiments.folders import TINY, rewrite_log

PATIENT = build_scripted("patient")
HEADER_OF_TINY = make_header("episodes", "patient", TINY, EPISODES.digests(TINY))


def log(folder, *records):
    with JournalWriter(folder / LOG) as journal:
        journal.append(*({"record": episode_row(record), "repeat": 0} for record in records))


def test_a_new_folder_gets_its_header_first(tmp_path):
    open_header(tmp_path, HEADER_OF_TINY)
    assert [path.name for path in tmp_path.iterdir()] == [HEADER]
    assert read_header(tmp_path, "episodes", SuiteSpec) == HEADER_OF_TINY
    open_header(tmp_path, HEADER_OF_TINY)


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"not json\n", encode_line({}), encode_line({"agent": "x"}), encode_line({}) * 2],
    ids=["empty", "no newline", "no json", "no fields", "few fields", "two lines"],
)
def test_a_header_that_cannot_be_read_names_its_file(tmp_path, content):
    (tmp_path / HEADER).write_bytes(content)
    with pytest.raises(ValueError, match=HEADER):
        read_header(tmp_path, "episodes", SuiteSpec)


def test_a_header_with_an_unknown_key_is_refused(tmp_path):
    row = HEADER_OF_TINY.model_dump(mode="json") | {"temperature": 0}
    (tmp_path / HEADER).write_bytes(encode_line(row))
    with pytest.raises(RunError, match="temperature"):
        read_header(tmp_path, "episodes", SuiteSpec)


def test_records_come_back_in_the_order_of_the_suite(tmp_path):
    open_header(tmp_path, HEADER_OF_TINY)
    records = [play(scenario, PATIENT) for scenario in TINY.build()]
    log(tmp_path, *reversed(records))
    run = load_run(EPISODES, tmp_path)
    assert list(run.records) == records
    assert run.is_complete


def test_an_unfinished_run_is_not_complete(tmp_path):
    open_header(tmp_path, HEADER_OF_TINY)
    log(tmp_path, play(TINY.build()[3], PATIENT))
    run = load_run(EPISODES, tmp_path)
    assert (len(run.records), run.is_complete, run.torn) == (1, False, 0)


@pytest.mark.parametrize("order", [("lost", "played"), ("lost", "lost", "played")])
def test_a_trial_lost_to_the_provider_gives_way_to_one_that_was_played(tmp_path, order):
    open_header(tmp_path, HEADER_OF_TINY)
    scenario = TINY.build()[0]
    records = {"lost": play(scenario, AlwaysDown()), "played": play(scenario, PATIENT)}
    log(tmp_path, *(records[name] for name in order))
    assert load_run(EPISODES, tmp_path).records == (records["played"],)


def test_an_episode_that_was_played_is_not_there_again(tmp_path):
    open_header(tmp_path, HEADER_OF_TINY)
    record = play(TINY.build()[0], PATIENT)
    log(tmp_path, record, record)
    with pytest.raises(RunError, match=r"line 2: .* was played before and is there again"):
        load_run(EPISODES, tmp_path)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({}, "there is no record"),
        ({"record": 5}, "there is no record"),
        ([1], "it holds no object"),
        ({"record": {}}, "Field required"),
        ({"record": {}, "more": 1}, "unknown fields more"),
    ],
)
def test_a_row_that_is_no_episode_is_named_by_its_line(tmp_path, row, says):
    run_task(EPISODES, PATIENT, TINY, tmp_path)
    rewrite_log(tmp_path / LOG, lambda rows: [*rows, row])
    (finding,) = verify_run(EPISODES, tmp_path)
    assert f"{LOG}, line 13: " in finding
    assert says in finding


def test_the_results_on_disk_are_those_of_the_records(tmp_path):
    run = run_task(EPISODES, PATIENT, TINY, tmp_path)
    summary = strict_loads((tmp_path / SUMMARY).read_bytes())
    assert summary == suite_summary(run.header, run.records)
    assert summary["agent"] == "patient"
    assert summary["metrics"]["num_episodes"] == 12
    assert (tmp_path / PARQUET).read_bytes()[:4] == b"PAR1"
