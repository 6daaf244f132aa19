"""The oracle's own players by name."""

import pytest

import terms
from oracle.agents import BELIEF_AGENTS, ScenarioStarter
from oracle.clairvoyant import Clairvoyant
from oracle.interventions import run_condition
from oracle.player_registry import PLAYERS, build_player
from terms.agents.scripted import Patient
from terms.episode import agent_name

SCENARIO = terms.fresh_suite(95, ["no_deal"], ["taciturn"], 1)[0]


@pytest.mark.parametrize("name", PLAYERS)
def test_every_player_keeps_its_name(name):
    assert agent_name(build_player(name)) == name


@pytest.mark.parametrize("name", [*BELIEF_AGENTS, "clairvoyant", pytest.param("bayes", marks=pytest.mark.slow)])
def test_every_player_plays_once_it_is_built_for_a_scenario(name):
    assert terms.play(SCENARIO, build_player(name)).agent == name


def test_no_other_agent_is_handed_the_scenario():
    class Spy(Patient):
        __class__ = ScenarioStarter  # what it says of itself counts for nothing

        def for_scenario(self, scenario):
            raise AssertionError("a scenario holds the hidden type")

        start = for_scenario

    terms.play(SCENARIO, Spy())
    run_condition([SCENARIO], Spy(), "base")


def test_the_clairvoyant_is_told_the_type():
    player = build_player("clairvoyant").start(SCENARIO)
    assert isinstance(player, Clairvoyant)
    assert player.hidden == SCENARIO.counterpart_type


def test_an_unknown_name_lists_what_is_allowed():
    with pytest.raises(ValueError, match=r"allowed are bayes, .*did you mean 'faulty-belief'"):
        build_player("faulty-beliefs")
