"""The potential of many episodes against the readable belief, and the identities of shaped rewards."""

import numpy as np
import pytest

import terms
from oracle.batch_game import BatchGame, pool_of
from oracle.batch_values import BatchValues
from oracle.interventions import told_regime_and_family
from oracle.kernels.planning import state_value
from oracle.planner import BeliefTracker, FittedAgent
from oracle.posterior import seat_of
from oracle.shipped import values_for
from terms.types import Offer


def greedy_prices(game, rng, greed):
    at = game.episodes
    gain = greed - 0.03 * game.round + rng.uniform(-0.05, 0.05, len(greed))  # some go back
    return np.clip(at.own - at.sign * gain * (at.price_max - at.price_min), at.price_min, at.price_max)


@pytest.mark.parametrize("family", ["candid", "adversarial"])
def test_values_are_those_of_the_readable_belief(family):
    scenarios = terms.fresh_suite(1_000_000, ["overlap"], [family], 4)
    values = values_for(told_regime_and_family(scenarios[0]))
    planner = FittedAgent(values).planner()
    n, rng = len(scenarios), np.random.default_rng(0)
    game = BatchGame(pool_of(scenarios), n)
    batch, everyone = BatchValues(game, values), np.arange(n)
    game.begin(everyone, everyone)
    batch.begin(everyone)
    readable = [terms.Game(scenario) for scenario in scenarios]
    beliefs = [
        BeliefTracker.start(values.knowledge, planner.model, seat_of(each.observe()), values.grid) for each in readable
    ]
    greed = rng.uniform(0.1, 0.6, n)

    def compare():
        for each, belief, value in zip(readable, beliefs, batch.value, strict=True):
            if each.is_over:
                assert value == 0.0
                continue
            seen = each.observe()
            belief.see(seen)
            unit = (seen.price_max - seen.price_min) / 100
            expected = 0.0 if seen.standing_price is None else state_value(belief.state(), planner) * unit
            assert value == pytest.approx(expected, abs=1e-9)

    compare()
    while game.running.any():
        places, prices = np.flatnonzero(game.running), greedy_prices(game, rng, greed)
        game.step(np.zeros(n, dtype=np.int64), prices)
        batch.step(places)
        for i in places:
            readable[i].step(Offer(prices[i]))
        compare()


def test_shaped_rewards_telescope_to_the_utility():
    scenarios = terms.fresh_suite(1_000_001, ["overlap"], ["candid"], 10)
    n, rng = len(scenarios), np.random.default_rng(1)
    game = BatchGame(pool_of(scenarios), n)
    batch = BatchValues(game, values_for(told_regime_and_family(scenarios[0])))
    everyone = np.arange(n)
    game.begin(everyone, everyone)
    batch.begin(everyone)
    first, paid, greed = batch.value.copy(), np.zeros(n), rng.uniform(0.1, 0.6, n)
    while game.running.any():
        places, before = np.flatnonzero(game.running), batch.value.copy()
        game.step(np.zeros(n, dtype=np.int64), greedy_prices(game, rng, greed))
        batch.step(places)
        reward = np.where(game.running, 0.0, game.utility)[places]
        paid[places] += reward + batch.value[places] - before[places]
    np.testing.assert_allclose(paid, game.utility - first, atol=1e-9)
    opens = game.episodes.agent_opens == 0
    assert (first[opens] > 0).all()
    assert not first[~opens].any()


def test_a_place_is_used_again():
    scenarios = terms.fresh_suite(2, ["overlap"], ["candid"], 2)
    game = BatchGame(pool_of(scenarios), 3)
    batch = BatchValues(game, values_for(told_regime_and_family(scenarios[0])))
    game.begin(np.arange(3), np.array([0, 1, 2]))
    batch.begin(np.arange(3))
    before = batch.value.copy()
    game.step(np.full(3, 2), np.zeros(3))
    batch.step(np.arange(3))
    assert not batch.value.any()
    game.begin(np.array([2]), np.array([2]))
    batch.begin(np.array([2]))
    assert batch.value.tolist() == [0.0, 0.0, before[2]]
