"""The planner with a belief: legal whatever it meets, and each planted fault where it was planted."""

import numpy as np
import pytest

import terms
from oracle.agents import BELIEF_AGENTS, BeliefAgent
from oracle.clairvoyant import revealed_type
from terms.types import Termination, ViolationKind

SUITE = terms.fresh_suite(31, n_per_cell=1)[::4]


def play_all(agent, suite=SUITE, told=False):
    return [
        terms.play(
            scenario,
            agent.for_scenario(scenario),
            side_info={"revealed_type": revealed_type(scenario.counterpart_type)} if told else None,
        )
        for scenario in suite
    ]


def mean_share(records):
    feasible = [record for record in records if record.is_feasible]
    return float(np.mean([record.utility / record.zopa for record in feasible]))


@pytest.mark.parametrize("name", ["ramp", "faulty-belief", "faulty-planning"])
def test_they_never_breach_the_protocol(name):
    for told in (False, True):
        kinds = {
            violation.kind for record in play_all(BELIEF_AGENTS[name], told=told) for violation in record.violations
        }
        assert kinds <= {ViolationKind.TURN_BUDGET}


def test_no_deal_is_recognised():
    records = play_all(BELIEF_AGENTS["ramp"])
    assert {record.termination for record in records if not record.is_feasible} == {Termination.AGENT_REJECT}


def test_each_fault_costs_and_the_whole_agent_does_well():
    # 144 episodes: SE+ of one player has a standard error near 0.02, on 48 it was 0.045 and decided nothing.
    suite = terms.fresh_suite(32, ["overlap"], n_per_cell=6)
    shares = {name: mean_share(play_all(agent, suite)) for name, agent in BELIEF_AGENTS.items()}
    # Section 1.9 of the game: two tuned parameters reach SE+ 0.81, the best published model 0.694.
    assert shares["ramp"] > 0.78
    assert all(share < shares["ramp"] - 0.1 for name, share in shares.items() if name != "ramp")


def test_told_the_type_belief_faults_vanish_and_planning_faults_stay():
    suite = terms.fresh_suite(32, ["overlap"], n_per_cell=1)[::2]
    told = {name: mean_share(play_all(BELIEF_AGENTS[name], suite, told=True)) for name in BELIEF_AGENTS}
    assert told["faulty-belief"] == told["ramp"]
    assert told["ramp"] > 0.95
    assert told["faulty-planning"] < 0.7


def test_execution_faults_come_at_the_stated_rate():
    records = play_all(BeliefAgent("always", fault_rate=1.0))
    # Unreadable and truncated replies are none; an offer out of bounds is an illegal one.
    assert {record.termination for record in records} == {Termination.NO_REPLY, Termination.INVALID_ACTION}
    assert {record.rounds_played for record in records} == {1}


def test_an_agent_told_nothing_still_plays():
    record = terms.play(SUITE[0], BELIEF_AGENTS["ramp"])
    assert not record.violations


def test_misuse_is_refused():
    with pytest.raises(ValueError, match=r"fault_rate=1.5"):
        BeliefAgent(fault_rate=1.5)
    with pytest.raises(ValueError, match="call for_episode"):
        BeliefAgent().act(terms.Game(SUITE[0]).observe())
