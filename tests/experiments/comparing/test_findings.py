"""The findings of the first paper: each number against one worked out by hand or by another way."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import binom, spearmanr

from experiments.comparing.findings import FEWEST, find_all, rank_correlation, sign_p, signed_rank_p
from experiments.comparing.suite_geometry import geometry_rows, quantile_estimate, relative_zopas
from experiments.engine.run import load_run, run_task
from experiments.episodes.config import SuiteSpec
from experiments.episodes.suite_task import EPISODES
from experiments.fault_server import FaultServer
from terms import fresh_suite
from terms.agents import build_scripted
from terms.metrics import summarize

AGENTS = ("patient", "conceder", "fixed-0.30", "fixed-0.01")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("findings")
    suites = [SuiteSpec.parse("fresh", seed=seed, n_per_cell=1) for seed in (1, 2)]
    return [
        run_task(EPISODES, build_scripted(name), suite, folder / f"{name}-{suite.seed}")
        for suite in suites
        for name in AGENTS
    ]


@pytest.fixture(scope="module")
def found(runs):
    return {one.name: one for one in find_all(runs)}


def rows_of(finding):
    return {(row.whose, row.what): row for row in finding.rows}


def test_penalties_are_the_metrics_of_the_runs_and_their_mean_over_agents(runs, found):
    rows = rows_of(found["penalties"])
    for run in runs:
        value = summarize(run.records).overall["alpha_cue"]
        assert rows[f"{run.header.agent} on {run.header.spec.label}", "alpha_cue"].value == value
    over = rows["over agents on fresh-1-n1", "alpha_inf"]
    values = [summarize(run.records).overall["alpha_inf"].estimate for run in runs[:4]]
    assert over.value.estimate == pytest.approx(np.mean(values))
    assert (over.value.n, over.p) == (4, signed_rank_p(values))


@pytest.mark.parametrize(
    ("values", "p"),
    [([1.0, 2.0, 3.0, 4.0, 5.0], 2 / 2**5), ([1.0, -1.0], 1.0), ([0.0, 1.0, 1.0, 1.0], 2 / 2**3), ([0.0], None)],
)
def test_the_sign_test_counts_what_is_not_zero(values, p):
    assert sign_p(values) == (None if p is None else pytest.approx(p))


def test_wilcoxon_of_five_alike_signs_is_one_of_sixteen_orders():
    assert signed_rank_p([1.0, 2.0, 3.0, 4.0, 5.0]) == pytest.approx(2 / 2**5)
    assert signed_rank_p([0.0, 0.0]) is None


def test_a_shift_is_the_difference_of_two_unpaired_shares_and_its_mean(runs, found):
    rows = rows_of(found["shifts"])
    what = "fresh-2-n1 less fresh-1-n1"
    shifts = []
    for one, other in zip(runs[:4], runs[4:], strict=True):
        first, second = (summarize(run.records).overall["se_plus"] for run in (one, other))
        row = rows[one.header.agent, what].value
        assert row.estimate == pytest.approx(second.estimate - first.estimate)
        # Variances of independent estimates add, so the interval is wider than each but not than both.
        widths = [value.high - value.low for value in (first, second)]
        assert max(widths) * 0.8 < row.high - row.low < sum(widths)
        shifts.append(row.estimate)
    assert rows["over agents", what].value.estimate == pytest.approx(np.mean(shifts))
    assert rows["rank correlation", what].value.n == 4


def test_rank_correlation_has_the_interval_of_bonett_and_wright(rng):
    first = rng.normal(size=30)
    second = first + rng.normal(size=30)
    value, p = rank_correlation(first, second)
    known = spearmanr(first, second)
    assert (value.estimate, p) == (pytest.approx(known.statistic), pytest.approx(known.pvalue))
    half = 1.959964 * np.sqrt((1 + value.estimate**2 / 2) / 27)
    assert np.arctanh([value.low, value.high]) == pytest.approx(np.arctanh(value.estimate) + np.array([-half, half]))
    assert rank_correlation(first, np.ones(30))[0].estimate is None
    assert rank_correlation(first[:3], second[:3])[0].estimate is None
    assert rank_correlation(first, first)[0] == (pytest.approx(1.0), None, None, 30)


def test_a_quantile_lies_between_order_statistics(rng):
    values = rng.normal(size=100)
    ranked = np.sort(values)
    median = quantile_estimate(values, 0.5)
    assert (median.low, median.high) == (ranked[39], ranked[60])  # the textbook's 40th and 61st of 100
    covered = binom.cdf(60, 100, 0.5) - binom.cdf(39, 100, 0.5)
    assert covered >= 0.95
    assert quantile_estimate(values[:5], 0.95).low is None


def test_the_geometry_of_a_suite_is_that_of_its_scenarios():
    suites = {"one": fresh_suite(seed=1, n_per_cell=2), "two": fresh_suite(seed=2, n_per_cell=2)}
    rows = {(name, what): (value, p) for name, what, value, p in geometry_rows(suites)}
    shares = [each.zopa / (each.price_max - each.price_min) for each in suites["one"] if each.zopa > 0]
    assert list(relative_zopas(suites["one"])) == pytest.approx(shares)
    assert rows["one", "zopa / R"][0].estimate == pytest.approx(np.mean(shares))
    assert rows["one", "feasible"][0].estimate == pytest.approx(len(shares) / len(suites["one"]))
    assert rows["one", "zopa / R"][1] is None
    assert 0 < rows["two", "zopa / R"][1] <= 1


def test_style_lies_between_agents_whose_openings_differ(found):
    rows = rows_of(found["style"])
    share = rows["opening_anchor on fresh-1-n1", "share between agents"].value
    assert share.estimate > 0.9
    assert share.n == len(AGENTS) >= FEWEST


def test_cells_are_a_metric_of_one_regime_and_family(runs, found):
    rows = rows_of(found["cells"])
    run = runs[0]
    some = [record for record in run.records if (record.regime, record.family) == ("overlap", "candid")]
    assert rows["patient on fresh-1-n1, overlap", "candid"].value == summarize(some).overall["se_plus"]
    assert ("patient on fresh-1-n1, no_deal", "candid") not in rows, "SE+ is undefined where no deal is possible"


def test_what_is_not_there_says_what_it_needs(runs):
    found = {one.name: one for one in find_all(runs[:1])}
    assert {name for name, one in found.items() if not one.rows} == {
        "posterior",
        "style",
        "shifts",
        "ablations",
        "cost",
    }
    assert "--decomposition" in found["posterior"].needs


def test_ablations_voices_and_cost_of_a_model(terms, tmp_path):
    suite = ("--seed", 3, "--episodes-per-cell", 2, "--regime", "overlap", "--family", "candid")
    with FaultServer() as server:
        for name, words in (("base", ()), ("blind", ("--model", "show_cues=false")), ("said", ("--voice", "openai:x"))):
            asked = ("--agent", "openai:bot", "--base-url", server.url, *suite, "--out", name, *words)
            assert terms("diagnose", *asked)[0] == 0
    closed = {"estimate": 0.5, "low": 0.4, "high": 0.6, "n": 9}
    stored = {"agent": "bot", "suite": "s", "closed_by_posterior": closed}
    (tmp_path / "split.json").write_text(json.dumps(stored))
    code, printed, _ = terms("findings", "base", "blind", "said", "--decomposition", "split.json", "--json")
    assert code == 0
    found = {one["name"]: one["rows"] for one in json.loads(printed)}
    assert [row["whose"] for row in found["ablations"]] == ["openai:bot: show_cues=False", "openai:bot: voice=x"]
    assert [row["n"] for row in found["ablations"]] == [8, 8]
    assert found["posterior"][0]["estimate"] == 0.5
    base = load_run(EPISODES, "base")
    spent = json.loads(terms("cost", "base", "--json")[1])["spending"]["settled_microusd"] / 1e6
    (dollar,) = (row for row in found["cost"] if (row["whose"].split()[0], row["what"]) == ("openai:bot", "a dollar"))
    assert dollar["estimate"] == pytest.approx(sum(record.utility for record in base.records) / spent)
    assert {row["what"] for row in found["cost"]} == {"a dollar", "a second"}
    assert terms("findings", "base", "--metric", "nothing")[0] == 2
    assert "ablations: nothing to say; needs" in terms("findings", "base")[1]
