"""Stated beliefs turned into full ones, and certainty."""

from dataclasses import replace

import numpy as np
import pytest

import terms
from oracle import posterior
from oracle.beliefs import Tracker, certain, known_type, reservation_quantile, tilt
from oracle.posterior import stated_belief
from oracle.prior import Grid, Knowledge
from terms.agents.scripted import Patient
from terms.types import Belief, Stance

GRID = Grid(1.0, 7)


def middle_of_an_episode(index=0, rounds=3):
    scenario = terms.fresh_suite(9, ["overlap"], ["candid"], 2)[index]
    tracker = Tracker(Knowledge.of(["overlap"], ["candid"]), GRID)
    game = terms.Game(scenario)
    for _ in range(rounds):
        observation = game.observe()
        belief = tracker.see(observation)
        game.step(Patient().act(observation))
        if game.is_over:
            break
    return scenario, belief


@pytest.mark.parametrize("index", range(8))
def test_stating_the_exact_means_is_holding_the_exact_posterior(index):
    _, belief = middle_of_an_episode(index)
    tilted = tilt(belief, stated_belief(belief))
    np.testing.assert_allclose(tilted.weights, belief.weights, atol=1e-8)
    assert tilt(belief, None) is belief


@pytest.mark.parametrize("index", range(8))
def test_a_tilted_belief_has_the_stated_means(index):
    _, belief = middle_of_an_episode(index)
    exact = stated_belief(belief)
    mean = belief.seat.to_canonical(exact.r_hat)
    unlikely = reservation_quantile(belief, 0.05, feasible_only=False)
    # What the posterior all but rules out cannot be believed: a mean two units away may lie past its last cell.
    wanted = Belief(belief.seat.from_canonical((mean + unlikely) / 2), 0.35, (0.2, 0.5, 0.3))
    found = stated_belief(tilt(belief, wanted))
    assert found.r_hat == pytest.approx(wanted.r_hat, abs=1e-5)
    assert found.kappa_hat == pytest.approx(wanted.kappa_hat, abs=1e-5)
    assert found.stance_probs == pytest.approx(wanted.stance_probs, abs=1e-5)
    assert tilt(belief, wanted).weights.sum() == pytest.approx(1, abs=1e-12)


def test_parts_not_stated_stay_as_they_are():
    _, belief = middle_of_an_episode()
    exact = stated_belief(belief)
    found = stated_belief(tilt(belief, Belief(kappa_hat=exact.kappa_hat)))
    assert found.r_hat == pytest.approx(exact.r_hat, abs=1e-6)


def test_an_impossible_mean_moves_the_belief_as_far_as_it_goes():
    _, belief = middle_of_an_episode()
    exact = belief.seat.to_canonical(stated_belief(belief).r_hat)
    means = []
    for canonical in (-500.0, 500.0):
        tilted = tilt(belief, Belief(r_hat=belief.seat.from_canonical(canonical)))
        assert tilted.weights.sum() == pytest.approx(1)
        means.append(belief.seat.to_canonical(stated_belief(tilted).r_hat))
    assert belief.low.min() <= means[0] < exact - 1 < exact + 1 < means[1] <= belief.standing


def test_a_stance_the_posterior_rules_out_cannot_be_held():
    _, belief = middle_of_an_episode()
    index = [group.stance is Stance.AGGRESSIVE for group in belief.groups].index(True)
    weights = belief.weights.copy()
    weights[:, index] = 0
    ruled_out = replace(belief, weights=weights / weights.sum())
    found = stated_belief(tilt(ruled_out, Belief(stance_probs=(0.0, 0.0, 1.0))))
    assert found.stance_probs == pytest.approx((0.0, 1.0, 0.0), abs=1e-9)


def test_certainty_is_recognised_and_names_the_type():
    scenario, belief = middle_of_an_episode()
    assert known_type(belief) is None
    told = known_type(certain(belief, scenario.counterpart_type))
    assert told.reservation_price == pytest.approx(scenario.counterpart_type.reservation_price, abs=1e-9)
    assert (told.urgency, told.stance) == (scenario.counterpart_type.urgency, scenario.counterpart_type.stance)


@pytest.mark.parametrize("index", range(6))
def test_quantiles_invert_the_distribution(index):
    """The mass below the q-quantile is q, counted cell by cell in a second way."""
    _, belief = middle_of_an_episode(index)
    high = np.maximum(belief.low, np.minimum(belief.high, belief.standing))
    mass = belief.weights[:-1].sum(axis=(1, 2))
    atom = float(belief.weights[-1].sum())
    for share in (0.05, 0.3, 0.5, 0.8):
        price = reservation_quantile(belief, share, feasible_only=False)
        inside = np.clip((price - belief.low) / np.maximum(high - belief.low, 1e-12), 0, 1)
        below = float(mass @ inside) + (atom if price >= belief.standing else 0.0)
        assert below == pytest.approx(share, abs=1e-6) or price == pytest.approx(belief.standing)
    assert reservation_quantile(belief, 1.0) <= belief.seat.own + 1e-9


def test_the_tracker_follows_the_posterior_and_ignores_repeats():
    scenario = terms.fresh_suite(9, ["overlap"], ["candid"], 1)[0]
    observation = terms.Game(scenario).observe()
    tracker = Tracker(Knowledge.of(["overlap"], ["candid"]), GRID)
    first = tracker.see(observation)
    assert tracker.see(observation) is first
    start = posterior.start(tracker.knowledge, posterior.seat_of(observation), GRID)
    np.testing.assert_array_equal(first.weights, posterior.update(start, observation).weights)
