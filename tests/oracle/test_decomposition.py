"""The decomposition: identities in every episode and slice, scripted agents, planted faults, bad input."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import terms
from oracle.agents import BELIEF_AGENTS
from oracle.arms import FEW_PARTS, Arms, run_arms
from oracle.decomposition import decompose, decompose_arms
from oracle.diagnosis import DOCUMENTED_EPISODES
from oracle.gaps import Decomposition, PartRow
from oracle.interventions import BayesOptimal
from oracle.prior import Grid
from terms.agents.scripted import Patient, RandomLegal
from terms.types import Offer, ReplyFault, Unusable

COARSE = BayesOptimal(grid=Grid(2.0, 5))
SUITE = terms.fresh_suite(51, ["overlap", "no_deal"], ["candid", "adversarial"], n_per_cell=1)
ORDERED = ("execution", "inference", "uncertainty", "control")


@pytest.fixture(scope="module")
def reports():
    agents = [Patient(), RandomLegal(), BELIEF_AGENTS["faulty-belief"], BELIEF_AGENTS["faulty-execution"]]
    return {
        agent.name: (
            decompose(agent, suite=SUITE, bayes_optimal=COARSE),
            decompose(agent, suite=SUITE, reference="clairvoyant", bayes_optimal=COARSE),
        )
        for agent in agents
    }


def assert_identities(arms, reference):
    parts = arms.parts(reference)
    gap = parts["reference"] - parts["played"]
    np.testing.assert_allclose(sum(parts[name] for name in ORDERED), gap, atol=1e-12, rtol=0)
    np.testing.assert_allclose(parts["gap"], gap, atol=1e-12, rtol=0)
    np.testing.assert_allclose(
        parts["uncertainty_own"] + parts["uncertainty_unavoidable"], parts["uncertainty"], atol=1e-12, rtol=0
    )
    if arms.swapped is not None:
        shared = sum(parts[f"order_free_{name}"] for name in ("belief", "type", "planning"))
        np.testing.assert_allclose(shared, arms.clairvoyant - arms.base, atol=1e-12, rtol=0)


utilities = st.lists(st.floats(-60, 60), min_size=len(SUITE), max_size=len(SUITE)).map(np.array)


@settings(max_examples=60, deadline=None)
@given(st.lists(utilities, min_size=7, max_size=7), st.sampled_from(["oracle", "clairvoyant"]))
def test_parts_sum_to_the_gap_whatever_the_arms(columns, reference):
    arms = Arms(SUITE, *columns)
    assert_identities(arms, reference)
    report = decompose_arms("any", arms, reference)
    for row in report.table():
        if row.part == "gap":
            parts = [report.row(part, row.slice, row.label).estimate for part in ORDERED]
            assert sum(parts) == pytest.approx(row.estimate, abs=1e-12)


def test_parts_sum_to_the_gap_on_real_arms(reports):
    for pair in reports.values():
        for report in pair:
            assert_identities(report.arms, report.reference)


def test_scripted_agents_lose_nothing_to_inference_or_uncertainty(reports):
    for report in (*reports["patient"], *reports["random"]):
        for part in ("inference", "uncertainty", "execution"):
            for row in report.table():
                if row.part == part:
                    assert (row.estimate, row.low, row.high) == (0.0, None, None)  # alike in all, so no spread seen


def test_planted_faults_show_in_their_own_part():
    suite = terms.fresh_suite(52, ["overlap"], n_per_cell=1)
    assert len(suite) == DOCUMENTED_EPISODES
    names = ("faulty-belief", "faulty-execution")
    belief, execution = (decompose(BELIEF_AGENTS[name], suite=suite, bayes_optimal=COARSE) for name in names)
    assert belief.row("inference").estimate > 1
    assert belief.row("execution").estimate == 0
    assert execution.row("execution").estimate > 1
    assert execution.row("inference").estimate == 0
    for report in (belief, execution):
        assert report.row("control_residual").estimate == pytest.approx(0, abs=1e-9)


def test_rows_cover_every_slice_with_their_n(reports):
    report = reports["patient"][0]
    labels = {(row.slice, row.label): row.n for row in report.table()}
    assert labels == {
        ("overall", "all"): 16,
        ("regime", "overlap"): 8,
        ("regime", "no_deal"): 8,
        ("family", "candid"): 8,
        ("family", "adversarial"): 8,
    }
    assert {row.slice for row in report.table("family")} == {"family"}
    for row in report.table():
        assert row.low is None or row.low <= row.estimate <= row.high
    assert report.row("played").low is not None
    assert report.row("gap").low is None  # a difference, of too few scenarios


def test_differences_have_intervals_from_enough_scenarios_on(reports):
    arms = reports["patient"][0].arms
    for repeats, is_enough in ((FEW_PARTS // 16 - 1, False), (FEW_PARTS // 16, True)):
        scenarios = [replace(item, scenario_id=f"{item.scenario_id}/{k}") for k in range(repeats) for item in SUITE]
        many = Arms(tuple(scenarios), *(np.tile(column, repeats) for column in _columns(arms)))
        assert (decompose_arms("patient", many).row("gap").low is not None) == is_enough


def test_slices_average_to_the_whole(reports):
    report = reports["faulty-belief"][0]
    for part in ORDERED:
        halves = [report.row(part, "regime", label).estimate for label in ("overlap", "no_deal")]
        assert np.mean(halves) == pytest.approx(report.row(part).estimate, abs=1e-12)


def test_the_same_episodes_give_the_same_intervals(reports):
    report = reports["patient"][0]
    assert decompose_arms("patient", report.arms).rows == report.rows


def test_required_episodes_shrink_with_the_width(reports):
    report = reports["patient"][0]
    wide, narrow = report.required(1.0)["gap"], report.required(0.5)["gap"]
    assert wide.low < wide.estimate < wide.high
    assert narrow.estimate == pytest.approx(4 * wide.estimate, abs=12)  # rounding, and t instead of z, times four


def test_without_the_swapped_arm_the_order_free_split_is_left_out():
    arms = run_arms(Patient(), SUITE[:2], bayes_optimal=COARSE, is_order_free=False)
    assert not any(name.startswith("order_free") for name in arms.parts("oracle"))


def test_a_provider_failure_removes_the_scenario_from_every_arm():
    lost = SUITE[0]

    def flaky(observation):
        if observation.reservation_price == lost.agent_type.reservation_price and observation.side_info:
            return Unusable(ReplyFault.PROVIDER)  # fails in one condition only
        return Offer(observation.reservation_price)

    report = decompose(flaky, suite=SUITE[:3], bayes_optimal=COARSE)
    assert report.arms.excluded == (lost.scenario_id,)
    assert report.row("gap").n == 2
    assert report.to_json_object()["num_excluded"] == 1
    with pytest.raises(ValueError, match="failed on all 1 scenarios"):
        decompose(flaky, suite=SUITE[:1], bayes_optimal=COARSE)


def test_progress_is_told():
    seen = []
    run_arms(Patient(), SUITE[:3], bayes_optimal=COARSE, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_json_has_null_where_undefined(reports):
    short = Arms(SUITE[:1], *(column[:1] for column in _columns(reports["patient"][0].arms)))
    rows = decompose_arms("patient", short).to_json_object()["rows"]
    assert {(row["low"], row["high"]) for row in rows} == {(None, None)}


def _columns(arms):
    names = ("played", "base", "posterior", "revealed", "oracle", "clairvoyant", "swapped")
    return [object.__getattribute__(arms, name) for name in names]


def test_waterfall_ends_at_the_reference(reports):
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    report = reports["faulty-belief"][0]
    _, ax = pyplot.subplots()
    assert report.plot(ax) is ax
    ends = [bar.get_x() + bar.get_width() for bar in ax.patches]
    assert ends[-1] == pytest.approx(report.row("reference").estimate)
    assert report.plot(kind="regime", label="overlap").get_title() == "faulty-belief: overlap, n = 8"
    pyplot.close("all")


def test_bad_requests_are_refused(reports):
    report = reports["patient"][0]
    with pytest.raises(ValueError, match="allowed are oracle, clairvoyant"):
        decompose_arms("x", report.arms, "omniscient")
    with pytest.raises(ValueError, match="allowed are family, overall, regime"):
        report.table("role")
    with pytest.raises(ValueError, match="parts are played, reference"):
        report.row("noise")
    with pytest.raises(ValueError, match="suite is empty"):
        decompose(Patient(), suite=[])
    with pytest.raises(ValueError, match=r"played has shape \(2,\); there are 1 scenarios"):
        Arms(SUITE[:1], *(np.zeros(2) for _ in range(6)))


def test_it_shows_itself_as_a_table_whose_text_is_no_markup():
    rows = (PartRow("overall", "all", "gap", 1.23456, None, None, 3),)
    html = Decomposition("<b>x", "clairvoyant", None, rows)._repr_html_()
    assert "<td>1.235</td><td>-</td><td>-</td><td>3</td>" in html
    assert "<b>" not in html
    assert "&lt;b&gt;x" in html


def test_its_rows_go_to_pandas_where_that_is_installed(monkeypatch):
    rows = (PartRow("overall", "all", "gap", 1.0, None, None, 3),)
    frames = SimpleNamespace(DataFrame=lambda data, columns: [dict(zip(columns, row, strict=True)) for row in data])
    monkeypatch.setitem(sys.modules, "pandas", frames)
    assert Decomposition("x", "clairvoyant", None, rows).to_frame() == [rows[0]._asdict()]
