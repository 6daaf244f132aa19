"""What a suite is worth, slice by slice."""

from types import SimpleNamespace

import numpy as np
import pytest

import terms
from oracle import tables
from oracle.bounds import Bracket, Mean, joint_allowance
from oracle.clairvoyant import clairvoyant_values
from oracle.interventions import BayesOptimal, run_bayes_optimal
from oracle.prior import Grid
from oracle.real_game import RealBracket
from oracle.tables import certificates, suite_values

SUITE = terms.fresh_suite(91, ["overlap", "no_deal"], ["taciturn", "adversarial"], n_per_cell=1)
COARSE = BayesOptimal(grid=Grid(2.0, 5))


@pytest.fixture(scope="module")
def rows():
    return {(row.slice, row.label, row.quantity): row for row in suite_values(SUITE, bayes_optimal=COARSE)}


def test_means_are_those_of_the_parts(rows):
    values = clairvoyant_values(SUITE)
    earned = [record.utility for record in run_bayes_optimal(SUITE, COARSE)]
    zopa = sum(max(scenario.zopa, 0) for scenario in SUITE)
    assert rows["overall", "all", "clairvoyant_value"].estimate == pytest.approx(values.mean())
    assert rows["overall", "all", "oracle_utility"].estimate == pytest.approx(sum(earned) / len(SUITE))
    assert rows["overall", "all", "oracle_share"].estimate == pytest.approx(sum(earned) / zopa)
    assert rows["overall", "all", "clairvoyant_value"].n == len(SUITE)


def test_infeasible_slices_have_no_share(rows):
    row = rows["regime", "no_deal", "clairvoyant_share"]
    assert (row.estimate, row.low, row.n) == (None, None, 0)
    assert rows["regime", "no_deal", "clairvoyant_value"].estimate == 0


def test_the_clairvoyant_is_worth_more(rows):
    for label in ("taciturn", "adversarial"):
        assert rows["family", label, "clairvoyant_share"].estimate > rows["family", label, "oracle_share"].estimate


def test_the_bounds_enclose_what_was_earned_with_two_standard_errors(rows):
    """Against the ratio's standard error worked out by hand (Cochran 1977, section 2.11)."""
    feasible = [scenario for scenario in SUITE if scenario.regime == "overlap"]
    earned = np.array([record.utility for record in run_bayes_optimal(feasible, COARSE)])
    zopa = np.array([scenario.zopa for scenario in feasible])
    share = earned.sum() / zopa.sum()
    error = np.sqrt(((earned - share * zopa) ** 2).sum() / (len(zopa) - 1) / len(zopa)) / zopa.mean()
    lower, upper, width = (rows["regime", "overlap", name] for name in ("lower", "upper", "width"))
    assert lower.estimate == pytest.approx(share - 2 * error)
    assert lower.estimate < upper.estimate <= 1
    assert width.estimate == pytest.approx(upper.estimate - lower.estimate)
    assert rows["regime", "no_deal", "width"].estimate is None


def test_the_bounds_of_surplus_efficiency_by_hand(rows):
    feasible = [scenario for scenario in SUITE if scenario.regime == "overlap"]
    zopa = np.array([scenario.zopa for scenario in feasible])
    earned = np.array([record.utility for record in run_bayes_optimal(feasible, COARSE)]) / zopa
    most = clairvoyant_values(feasible) / zopa
    lower, upper = (rows["regime", "overlap", name] for name in ("se_lower", "se_upper"))
    assert lower.estimate == pytest.approx(earned.mean() - 2 * earned.std(ddof=1) / np.sqrt(len(zopa)))
    assert upper.estimate == pytest.approx(min(1, most.mean() + 2 * most.std(ddof=1) / np.sqrt(len(zopa))))
    assert lower.n == len(feasible)
    assert rows["regime", "no_deal", "se_upper"].estimate is None


def test_progress_counts_two_steps_an_episode():
    seen = []
    suite_values(SUITE[:3], bayes_optimal=COARSE, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(6, 6)]


def test_an_empty_suite_is_refused():
    with pytest.raises(ValueError, match="scenarios is empty"):
        suite_values([])


@pytest.fixture
def asked(monkeypatch):
    """Brackets are tested elsewhere; here they are fixed ones, on ticks with a width 0.07 that is the sum of its parts.

    What was asked of them is kept.
    """
    kept = []

    def on_ticks(values, opener, *, num_dual, settings, seed, allowance, progress):
        kept.append(("ticks", values.knowledge, opener, seed, allowance))
        progress(3, 4)
        means = (Mean(0.82, 0.01, 9), Mean(0.83, 0.003, 8), Mean(0.03, 0.004, 7), Mean(0.01, 0.002, 6))
        return Bracket(0.80, 0.87, *means, 12.0)

    def real(values, opener, *, settings, seed, allowance, progress):
        kept.append(("real", values.knowledge, opener, seed, allowance))
        progress(4, 4)
        return RealBracket(Mean(0.84, 0.01, 5), Mean(0.97, 0.001, 4))

    monkeypatch.setattr(tables, "bracket", on_ticks)
    monkeypatch.setattr(tables, "real_bracket", real)
    monkeypatch.setattr(tables, "values_for", lambda knowledge: SimpleNamespace(knowledge=knowledge))
    return kept


def test_certificates_have_a_row_for_every_family_and_opener_and_what_is_known_of_the_regime(asked):
    """Two families and openers, told that the regime is overlap or not: four rows with four bounds, four with two."""
    steps = []
    found = certificates(SUITE, num_dual=5, progress=lambda *step: steps.append(step))
    assert len({seed for _, _, _, seed, _ in asked}) == 8
    assert {allowance for *_, allowance in asked} == {joint_allowance(24)}
    regimes = [(kind, len(knowledge.regimes)) for kind, knowledge, *_ in asked]
    assert sorted(regimes) == [("real", 1)] * 4 + [("real", 3)] * 4 + [("ticks", 1)] * 4
    assert steps[-1] == (32, 32)
    assert steps == sorted(steps, key=lambda step: step[0] / step[1])
    row = {each.quantity: each for each in found if each.label == "overlap taciturn agent_opens"}
    assert row["width"].estimate == pytest.approx(row["upper"].estimate - row["lower"].estimate)
    assert row["policy"].low == pytest.approx(0.82 - 1.959964 * 0.01)
    assert (row["real_lower"].estimate, row["real_upper"].estimate) == pytest.approx((0.82, 0.972))
    parts = [each.estimate for name, each in row.items() if "(" in name or "search" in name or "over" in name]
    assert sum(parts) == pytest.approx(0.07)
    assert {each.slice for each in found} == {"certificate"}
    untold = {each.quantity for each in found if each.label == "unknown regime taciturn agent_opens"}
    assert untold == {"real_lower", "real_upper", "real_width", "bayes", "told"}


def test_certificates_of_efficiency_are_of_the_game_itself(asked):
    found = certificates(SUITE, num_dual=5, objective="se")
    assert {kind for kind, *_ in asked} == {"real"}
    assert {knowledge.objective for _, knowledge, *_ in asked} == {"se"}
    assert {each.label for each in found} == {
        f"overlap {family} {opener}"
        for family in ("taciturn", "adversarial")
        for opener in ("agent_opens", "counterpart_opens")
    }
