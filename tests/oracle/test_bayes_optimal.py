"""Fitted values behind the planner interface: the same moves as the planner agent, and values in price units."""

import numpy as np
import pytest

import terms
from oracle.bayes_optimal import ToldFittedAgent, fitted_bayes_optimal, fitted_valuer
from oracle.beliefs import Tracker
from oracle.clairvoyant import Clairvoyant, revealed_type
from oracle.decomposition import decompose
from oracle.fitted import FittedValues, TrainingSettings, empty_nets
from oracle.interventions import run_bayes_optimal
from oracle.planner import FittedAgent
from oracle.prior import Grid, Knowledge
from terms.agents.scripted import Patient
from terms.types import Accept, Offer, Reject

GRID = Grid(1.0, 5)
pytestmark = pytest.mark.slow  # compiles the planner


@pytest.fixture(scope="module")
def values():
    """Values of a player that sees no future: nothing to train, and every part of the bridge in use."""
    hidden = TrainingSettings().hidden
    knowledge = Knowledge.of(["overlap"], ["taciturn"])
    return FittedValues(knowledge, GRID, empty_nets(knowledge.config.horizon, hidden), np.full(11, np.nan), 0.0)


def test_the_reference_plays_as_the_planner_agent_does(values):
    suite = terms.fresh_suite(81, ["overlap"], ["taciturn"], 3)
    reference = fitted_bayes_optimal(lambda told: values, grid=GRID)
    played = [record.utility for record in run_bayes_optimal(suite, reference)]
    assert played == pytest.approx([terms.play(scenario, FittedAgent(values)).utility for scenario in suite], abs=1e-9)


def test_values_are_in_the_units_of_the_episode(values):
    wide = terms.GameConfig(price_max=300.0)
    narrow, tripled = (
        next(
            s for s in terms.fresh_suite(82, ["overlap"], ["taciturn"], 1, config=c) if s.opener == "counterpart_opens"
        )
        for c in (terms.GameConfig(), wide)
    )
    found = []
    for scenario in (narrow, tripled):
        observation = terms.Game(scenario).observe()
        belief = Tracker(values.knowledge, GRID).see(observation)
        actions = [Accept(), Reject(), Offer(observation.standing_price), Offer(1e6)]
        found.append(fitted_valuer(values)(belief, observation, actions))
        assert found[-1][0] == observation.accept_utility
        assert found[-1][1] == found[-1][3] == 0
    np.testing.assert_allclose(found[1], 3 * found[0], rtol=1e-6)


def test_another_grid_is_refused(values):
    scenario = terms.fresh_suite(83, ["overlap"], ["taciturn"], 1)[0]
    with pytest.raises(ValueError, match="values were fitted on"):
        run_bayes_optimal([scenario], fitted_bayes_optimal(lambda told: values, grid=Grid(2.0, 5)))


def test_the_default_reference_of_a_decomposition_is_the_one_that_comes_with_the_package():
    suite = terms.fresh_suite(84, ["no_deal"], ["taciturn"], 1)  # known to hold no deal: its values need no file
    report = decompose(Patient(), suite=suite)
    assert report.row("reference").estimate == 0.0
    assert report.row("gap").estimate == pytest.approx(-report.row("played").estimate)


def test_told_the_type_the_honest_agent_plays_the_best_reply(values):
    scenario = terms.fresh_suite(85, ["overlap"], ["taciturn"], 1)[0]
    agent = ToldFittedAgent(FittedAgent(values), scenario.family, scenario.config)
    told = {"revealed_type": revealed_type(scenario.counterpart_type)}
    assert (
        terms.play(scenario, agent, side_info=told).turns
        == terms.play(scenario, Clairvoyant.for_scenario(scenario)).turns
    )
    assert terms.play(scenario, agent).turns == terms.play(scenario, FittedAgent(values)).turns
