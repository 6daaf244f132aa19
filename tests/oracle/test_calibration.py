"""The posterior is calibrated, and a wrong one shows."""

import pytest

import terms
from oracle.calibration import Calibration, Observed, calibrate
from oracle.interventions import BayesOptimal
from oracle.prior import Grid, Knowledge
from terms.agents.scripted import Patient

SUITE = terms.fresh_suite(77, ["overlap"], ["candid", "taciturn"], n_per_cell=20)
COARSE = Grid(2.0, 5)


def misses(found):
    return [not share.low <= 0.1 <= share.high for share in found.shares()]


def test_the_truth_falls_evenly_in_the_exact_posterior(rng):
    """Ten 95 % intervals: three misses have a probability near 1 %."""
    found = calibrate(SUITE, Patient(), bayes_optimal=BayesOptimal(grid=COARSE), rng=rng)
    assert sum(misses(found)) < 3
    assert found.round.max() > 3
    assert sum(share.estimate for share in found.shares()) == pytest.approx(1)


def test_a_belief_in_too_little_noise_shows(rng):
    """Who takes the counterpart's prices for far more exact than they are reads too much into them."""
    noisy = {"families": {name: {"noise_share": 0.05} for name in ("candid", "taciturn")}}
    config = terms.GameConfig.model_validate(merged(terms.GameConfig().model_dump(mode="json"), noisy))
    suite = terms.fresh_suite(77, ["overlap"], ["candid", "taciturn"], n_per_cell=10, config=config)
    wrong = BayesOptimal(lambda scenario: Knowledge.of(["overlap"], [scenario.family]), grid=COARSE)
    assert sum(misses(calibrate(suite, Patient(), bayes_optimal=wrong, rng=rng))) >= 3


def merged(base, changes):
    if not isinstance(changes, dict):
        return changes
    return {**base, **{key: merged(base.get(key), value) for key, value in changes.items()}}


def test_the_posterior_is_right_about_the_items_of_a_catalogue(rng, tmp_path):
    items = ("name,category,reference_price,low_price,high_price", "Kettle,home,45,30,64", "Tray,home,20,12,31")
    (tmp_path / "items.csv").write_text("\n".join([*items, "Fan,home,70,50,80"]))
    suite = terms.catalog_suite(tmp_path / "items.csv", ["overlap", "no_deal"], ["candid"], 15, seed=3)
    assert len({scenario.frame.low for scenario in suite}) == 3
    found = calibrate(suite, Patient(), bayes_optimal=BayesOptimal(grid=COARSE), rng=rng)
    assert sum(misses(found)) < 3
    with pytest.raises(ValueError, match="impossible under the agent's prior"):
        calibrate(suite, Patient(), bayes_optimal=BayesOptimal(without_the_item, grid=COARSE), rng=rng)


def without_the_item(scenario):
    """Return what an agent would believe that took the whole category's range for the item's."""
    return Knowledge.of(["overlap", "no_deal"], [scenario.family], scenario.config)


def by_hand(*transforms):
    rows = [Observed(place, 1, value, (0.05, 0.35, 0.6), place % 3) for place, value in enumerate(transforms)]
    return Calibration.of(rows)


def test_shares_by_hand():
    found = by_hand(0.0, 0.05, 0.55, 1.0)
    assert [share.estimate for share in found.shares(2)] == [0.5, 0.5]
    assert [share.estimate for share in found.shares(4)] == [0.5, 0.0, 0.25, 0.25]


def test_frequencies_by_hand():
    """Four moments give a stance 0.05, 0.35 and 0.6 each; the true ones are 0, 1, 2, 0: half, a quarter, a quarter."""
    found = by_hand(0.1, 0.2, 0.3, 0.4).frequencies()
    stated = [each.stated.estimate for each in found]
    assert [stated[0], stated[3], stated[6]] == pytest.approx([0.05, 0.35, 0.6])
    assert [found[0].true.estimate, found[3].true.estimate, found[6].true.estimate] == [0.5, 0.25, 0.25]
    assert found[1].stated.estimate is None


def test_pooled_runs_share_their_scenarios():
    one, other = by_hand(0.0, 0.9), by_hand(0.1, 0.2)
    shares = Calibration.pooled([one, other]).shares(2)
    assert [share.estimate for share in shares] == [0.75, 0.25]
    assert shares[0].n == 2


def test_stances_come_true_as_often_as_the_posterior_says(rng):
    """Ten bins of about 60 scenarios: at most two intervals may miss."""
    found = calibrate(SUITE, Patient(), bayes_optimal=BayesOptimal(grid=COARSE), rng=rng).frequencies()
    missed = [
        each
        for each in found
        if each.true.n > 20
        and each.true.low is not None
        and not each.true.low - 0.02 <= each.stated.estimate <= each.true.high + 0.02
    ]
    assert len(missed) < 3
    assert sum(each.true.n > 20 for each in found) > 4


def test_an_empty_suite_is_refused(rng):
    with pytest.raises(ValueError, match="scenarios is empty"):
        calibrate([], Patient(), rng=rng)
