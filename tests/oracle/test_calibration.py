"""The posterior is calibrated, and a wrong one shows."""

import numpy as np
import pytest

import terms
from oracle.calibration import Calibration, calibrate
from oracle.interventions import Reference
from oracle.prior import Grid, Knowledge
from terms.agents.scripted import Patient

SUITE = terms.fresh_suite(77, ["overlap"], ["candid", "taciturn"], n_per_cell=20)
COARSE = Grid(2.0, 5)


def misses(found):
    return [not share.low <= 0.1 <= share.high for share in found.shares()]


def test_the_truth_falls_evenly_in_the_exact_posterior(rng):
    """Ten 95 % intervals: three misses have a probability near 1 %."""
    found = calibrate(SUITE, Patient(), reference=Reference(grid=COARSE), rng=rng)
    assert sum(misses(found)) < 3
    assert found.round.max() > 3
    assert sum(share.estimate for share in found.shares()) == pytest.approx(1)


def test_a_belief_in_too_little_noise_shows(rng):
    """Who takes the counterpart's prices for far more exact than they are reads too much into them."""
    noisy = {"families": {name: {"noise_share": 0.05} for name in ("candid", "taciturn")}}
    config = terms.GameConfig.model_validate(merged(terms.GameConfig().model_dump(mode="json"), noisy))
    suite = terms.fresh_suite(77, ["overlap"], ["candid", "taciturn"], n_per_cell=10, config=config)
    wrong = Reference(lambda scenario: Knowledge.of(["overlap"], [scenario.family]), grid=COARSE)
    assert sum(misses(calibrate(suite, Patient(), reference=wrong, rng=rng))) >= 3


def merged(base, changes):
    if not isinstance(changes, dict):
        return changes
    return {**base, **{key: merged(base.get(key), value) for key, value in changes.items()}}


def test_shares_by_hand():
    found = Calibration(np.array([0, 1, 2, 3]), np.ones(4, dtype=np.intp), np.array([0.0, 0.05, 0.55, 1.0]))
    assert [share.estimate for share in found.shares(2)] == [0.5, 0.5]
    assert [share.estimate for share in found.shares(4)] == [0.5, 0.0, 0.25, 0.25]


def test_an_empty_suite_is_refused(rng):
    with pytest.raises(ValueError, match="scenarios is empty"):
        calibrate([], Patient(), rng=rng)
