"""What a suite is worth, slice by slice."""

import numpy as np
import pytest

import terms
from oracle.clairvoyant import clairvoyant_values
from oracle.interventions import Reference, run_reference
from oracle.prior import Grid
from oracle.tables import suite_values

SUITE = terms.fresh_suite(91, ["overlap", "no_deal"], ["taciturn", "adversarial"], n_per_cell=1)
COARSE = Reference(grid=Grid(2.0, 5))


@pytest.fixture(scope="module")
def rows():
    return {(row.slice, row.label, row.quantity): row for row in suite_values(SUITE, reference=COARSE)}


def test_means_are_those_of_the_parts(rows):
    values = clairvoyant_values(SUITE)
    earned = [record.utility for record in run_reference(SUITE, COARSE)]
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
    earned = np.array([record.utility for record in run_reference(feasible, COARSE)])
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
    earned = np.array([record.utility for record in run_reference(feasible, COARSE)]) / zopa
    most = clairvoyant_values(feasible) / zopa
    lower, upper = (rows["regime", "overlap", name] for name in ("se_lower", "se_upper"))
    assert lower.estimate == pytest.approx(earned.mean() - 2 * earned.std(ddof=1) / np.sqrt(len(zopa)))
    assert upper.estimate == pytest.approx(min(1, most.mean() + 2 * most.std(ddof=1) / np.sqrt(len(zopa))))
    assert lower.n == len(feasible)
    assert rows["regime", "no_deal", "se_upper"].estimate is None


def test_progress_counts_two_steps_an_episode():
    seen = []
    suite_values(SUITE[:3], reference=COARSE, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(6, 6)]


def test_an_empty_suite_is_refused():
    with pytest.raises(ValueError, match="scenarios is empty"):
        suite_values([])
