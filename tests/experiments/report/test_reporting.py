from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.comparing.wording import MARKS, pair_row
from experiments.engine.run import run_task
from experiments.episodes.config import SUITE, SuiteSpec
from experiments.episodes.suite_task import EPISODES
from experiments.report.reporting import report_on, report_run, suite_comparison, suite_labels
from experiments.stats.paired import compare
from terms import PUBLISHED_FLAW
from terms.agents import build_scripted
from tests.experiments.folders import TINY


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return [run_task(EPISODES, build_scripted(name), TINY, folder / name) for name in ("patient", "random")]


def test_two_suites_of_one_name_have_two_labels(runs, tmp_path):
    other = run_task(
        EPISODES, build_scripted("patient"), TINY.model_copy(update={"families": TINY.families[:1]}), tmp_path
    )
    assert set(suite_labels(runs).values()) == {"12 fresh episodes, seed 3"}
    labels = suite_labels([*runs, other])
    assert len(set(labels.values())) == len(labels) == 2
    assert labels[other.header.digests[SUITE]] == f"12 fresh episodes, seed 3 ({other.header.digests[SUITE][:6]})"


def test_a_run_is_described_with_what_it_depends_on(runs):
    described = report_run(runs[0], "tiny")
    assert (described.agent, described.suite) == ("patient", "tiny")
    assert described.episodes == runs[0].records
    assert described.notices == ()
    assert described.config["suite digest"] == runs[0].header.digests[SUITE][:16]
    assert described.config["data digest"] == "none"
    assert described.config["terms-commerce"] == runs[0].header.versions["terms-commerce"]


def test_what_must_be_said_is_said(tmp_path, runs):
    published = SuiteSpec.parse("published", regimes=["overlap"], families=["candid"], n_per_cell=1)
    assert report_run(run_task(EPISODES, build_scripted("patient"), published, tmp_path), "x").notices == (
        PUBLISHED_FLAW,
    )
    unfinished = replace(runs[0], records=runs[0].records[:5])
    assert report_run(unfinished, "x").notices == ("patient: 5 of 12 episodes were played",)


def test_the_better_agent_is_ranked_first_whatever_the_order(runs):
    for order in (runs, runs[::-1]):
        assert suite_comparison("tiny", order).ranking == ("patient", "random")


def test_the_report_says_what_the_comparison_says(runs):
    found = suite_comparison("tiny", runs)
    (row,) = compare({run.header.agent: run.records for run in runs}).differences
    assert found.differences == [pair_row(row)]
    assert row.verdict.value in found.differences[0]
    assert [cells[2:] for cells in found.matrix] == [("", MARKS[row.verdict]), (f"{row.needed.estimate:,}", "")]


def test_an_interval_that_is_undefined_says_so(runs):
    one = [replace(run, records=run.records[:1]) for run in runs]
    (row,) = suite_comparison("tiny", one).differences
    assert "[too few to say]" in row[1]
    assert "not enough to say" in row


def test_a_run_named_twice_is_refused(runs, tmp_path):
    with pytest.raises(ValueError, match="agent='patient' on 12 fresh episodes, seed 3 twice; name each run once"):
        report_on([*runs, runs[0]], tmp_path / "report.html", title="twice")
    assert not (tmp_path / "report.html").exists()


def test_one_page_holds_agents_of_several_suites(runs, tmp_path):
    other = run_task(EPISODES, build_scripted("conceder"), TINY.model_copy(update={"seed": 9}), tmp_path / "other")
    folder = tmp_path / "with space é"
    folder.mkdir()
    path = report_on([*runs, other], folder / "report.html", title="A <title>")
    page = path.read_text(encoding="utf-8")
    assert "A &lt;title&gt;" in page
    assert "<title>A <title>" not in page
    for name in ("patient", "random", "conceder"):
        assert name in page
