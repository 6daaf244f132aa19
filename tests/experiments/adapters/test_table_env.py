"""The table of two learners passes PettingZoo's own tests and is the game of two seats."""

from __future__ import annotations

import warnings

import pytest
from pettingzoo.test import api_test, seed_test

import terms
from experiments.adapters.table_env import SEATS, NegotiationTable
from experiments.training.seat_view import Ticks
from terms.agents import build_scripted
from terms.two_seats import OpenMatch, play_match
from terms.types import Accept, Offer, Opener, Reject
from tests.terms.builders import make_scenario


class Says:
    """Makes the moves it is given."""

    def __init__(self, name, moves):
        self.name, self.moves = name, list(moves)

    def act(self, observation):
        return self.moves.pop(0)


def test_pettingzoos_own_tests_have_nothing_to_say():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the framework warns of its own defaults
        api_test(NegotiationTable(), num_cycles=200)
        seed_test(NegotiationTable, num_cycles=50)


@pytest.mark.parametrize("opener", list(Opener))
@pytest.mark.parametrize("answered", [True, False])
def test_a_table_is_the_match_of_its_moves(opener, answered):
    config = terms.GameConfig(horizon=4, final_offer_answered=answered)
    for seed in range(8):
        scenario = make_scenario(opener=opener, config=config)
        env, ticks = NegotiationTable(training=False, reward="money"), Ticks(51)
        env.reset(options={"scenario": scenario})
        said = {seat: [] for seat in SEATS}
        number = 45
        while env.agents and not any(env.terminations.values()):
            mover = env.agent_selection
            seen = env._talk.observe()
            number -= 2 + seed % 3
            action = 0 if number < 15 and seen.can_accept and seed % 2 else max(number, 2)
            gain = ticks.gain(action)
            price = seen.reservation_price - seen.role.sign * gain * (seen.price_max - seen.price_min)
            said[mover].append(Accept() if action == 0 else Offer(min(seen.price_max, max(seen.price_min, price))))
            env.step(action)

        match = play_match(scenario, Says("first", said["first"]), Says("second", said["second"]))
        assert (env.infos["first"]["record"], env.infos["second"]["record"]) == tuple(match)
        assert env.rewards == {"first": match.first.utility, "second": match.second.utility}


def test_a_match_played_from_outside_equals_one_played_by_agents():
    for scenario in terms.fresh_suite(6, ["overlap"], ["candid"], 3):
        agents = {"first": build_scripted("linear"), "second": build_scripted("conceder")}
        talk = OpenMatch(scenario)
        while talk.mover is not None:
            talk.step(agents[talk.mover].act(talk.observe()))
        assert talk.match(("linear", "conceder")) == play_match(scenario, agents["first"], agents["second"])
        with pytest.raises(ValueError, match="the talk has ended"):
            talk.step(Reject())


def test_an_open_match_has_no_record():
    talk = OpenMatch(make_scenario(opener=Opener.COUNTERPART))
    with pytest.raises(ValueError, match="still open in round 1"):
        talk.match()
    talk.step(Offer(900.0))
    assert talk.mover is None
    assert talk.match().second.fault_detail.startswith("price=900.0 lies outside")


def test_bad_settings_are_named():
    with pytest.raises(ValueError, match="split='test' is not for training"):
        NegotiationTable(split="test")
    with pytest.raises(ValueError, match=r"must be a terms\.Scenario"):
        NegotiationTable().reset(options={"scenario": 3})
    with pytest.raises(ValueError, match="belongs to the test split"):
        NegotiationTable().reset(options={"scenario": terms.published_suite(["overlap"], ["candid"], 1)[0]})
