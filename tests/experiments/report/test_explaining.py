"""What the oracle adds to a report: decompositions read back, reviews of the worst negotiations."""

import json

import pytest

from experiments.cli.decompose import decomposition_object
from experiments.engine.run import run_task
from experiments.episodes.suite_task import EPISODES
from experiments.report.explaining import (
    belief_facts,
    follow_run,
    posterior_check,
    read_waterfall,
    review_run,
    worst_episodes,
)
from experiments.report.reporting import report_on
from experiments.report.viewer import surplus_lost
from oracle.agents import BELIEF_AGENTS
from oracle.arms import run_arms
from oracle.decomposition import decompose_arms
from oracle.interventions import BayesOptimal
from oracle.prior import Grid
from terms.agents import build_scripted
from terms.metrics import belief_error_by_round, summarize
from tests.experiments.folders import TINY
from tests.experiments.report.pages import Page

COARSE = BayesOptimal(grid=Grid(2.0, 5))
PATIENT = build_scripted("patient")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return run_task(EPISODES, PATIENT, TINY, tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def report():
    return decompose_arms("patient", run_arms(PATIENT, TINY.build(), bayes_optimal=COARSE))


@pytest.fixture
def file(report, tmp_path):
    path = tmp_path / "parts.json"
    path.write_text(json.dumps(decomposition_object(report, TINY, 1.0)))
    return path


def test_a_decomposition_comes_back_as_it_was_written(file, report):
    waterfall = read_waterfall(file, {TINY.digest(): "tiny"})
    assert (waterfall.agent, waterfall.suite, waterfall.reference) == ("patient", "tiny", "oracle")
    assert next(iter(waterfall.slices)) == "all"
    for row in report.table():
        assert waterfall.slices[row.label][row.part] == tuple(row[3:])


def test_a_file_of_other_episodes_or_of_another_kind_is_refused(file, tmp_path):
    with pytest.raises(ValueError, match="whose episodes no run here has played"):
        read_waterfall(file, {"other": "tiny"})
    for content in ("", "[]", "{}", '{"rows": [{}]}'):
        (tmp_path / "bad.json").write_text(content)
        with pytest.raises(ValueError, match="is not what terms decompose --out writes"):
            read_waterfall(tmp_path / "bad.json", {})


def test_the_worst_come_first(run):
    lost = [surplus_lost(record) / (record.price_max - record.price_min) for record in run.records]
    found = [surplus_lost(record) / (record.price_max - record.price_min) for record in worst_episodes(run, 3)]
    assert found == sorted(lost, reverse=True)[:3]


def test_the_page_sets_beliefs_beside_the_posterior(run, tmp_path):
    told = []
    silent = follow_run(run, lambda: told.append(1))
    assert len(told) == len(run.records)
    assert belief_facts(silent.errors) is None  # a scripted agent states nothing
    speaking = run_task(EPISODES, BELIEF_AGENTS["faulty-belief"], TINY, tmp_path / "speaking")
    trace = follow_run(speaking)
    facts = belief_facts(trace.errors)
    assert facts.overall["be_type"]["stated"][:3] == summarize(speaking.records).overall["be_type"][:3]
    curve, again = facts.curves["be_r"]["stated"], belief_error_by_round(speaking.records, "be_r")
    assert [tuple(each) for each in curve] == [pytest.approx(tuple(each), abs=1e-12) for each in again]
    check = posterior_check("tiny", [silent.calibration, trace.calibration])
    assert check.num_moments == sum(each.rounds_played for one in (run, speaking) for each in one.records)
    assert check.shares[0].n == len(TINY.build())
    traces = {run.folder: silent, speaking.folder: trace}
    page = Page(report_on([run, speaking], tmp_path / "r.html", title="x", traces=traces).read_text())
    assert page.errors == []
    assert f"{check.num_moments} moments" in page.words


def test_the_page_shows_the_steps_and_the_reviews(run, file, tmp_path):
    told = []
    reviews = review_run(run, worst_episodes(run, 2), COARSE, lambda: told.append(1))
    assert len(told) == len(reviews) == 2
    for record in worst_episodes(run, 2):
        assert [move["round"] for move in reviews[record.scenario_id]] == [turn.round for turn in record.turns]
    path = report_on([run], tmp_path / "r.html", title="x", decompositions=[file], reviews={run.folder: reviews})
    text = path.read_text()
    page = Page(text)
    assert page.errors == []
    assert "Where it is lost" in text
    assert "2 of them, the worst of each run, are reviewed" in text
    payload = json.loads(text.split('id="viewer-data">')[1].split("</script>")[0])
    assert sum(bool(episode[-1]) for episode in payload["runs"][0]["episodes"]) == 2
    (first, *_), *_ = (episode[-1] for episode in payload["runs"][0]["episodes"] if episode[-1])
    assert payload["strings"][first[1]].startswith("would ")


def test_without_the_oracle_nothing_is_said(run, tmp_path):
    text = report_on([run], tmp_path / "r.html", title="x").read_text()
    assert "Where it is lost" not in text
    assert "reviewed by the oracle" not in text
