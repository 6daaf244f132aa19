"""One negotiation told move by move: costs where the faults are, exact accounting, refusal of what does not fit."""

import json
from dataclasses import replace

import numpy as np
import pytest

import terms
from oracle.agents import BELIEF_AGENTS
from oracle.beliefs import Tracker
from oracle.clairvoyant import Clairvoyant, assess_actions
from oracle.explain import explain
from oracle.interventions import BayesOptimal, informed, told_regime_and_family
from oracle.prior import Grid
from oracle.valuation import representative_types
from terms.agents.scripted import AcceptAny, Patient
from terms.types import Accept, Offer, Reject, ReplyFault, Unusable

SUITE = terms.fresh_suite(61, ["overlap"], ["taciturn", "adversarial"], n_per_cell=1)
COARSE = BayesOptimal(grid=Grid(1.0, 7))


def play_and_explain(scenario, agent, bayes_optimal=COARSE):
    record = terms.play(scenario, informed(agent))
    return record, explain(scenario, record, bayes_optimal=bayes_optimal)


@pytest.mark.parametrize("scenario", SUITE[1::3], ids=lambda scenario: scenario.scenario_id)
def test_hindsight_costs_and_noise_account_for_every_unit(scenario):
    record, found = play_and_explain(scenario, Patient())
    total = sum(move.hindsight_cost for move in found.moves)
    assert found.clairvoyant_value - total + found.noise == pytest.approx(record.utility, abs=1e-9)
    assert min(move.hindsight_cost for move in found.moves) >= -1e-9
    assert [move.round for move in found.moves] == [turn.round for turn in record.turns]


def test_the_reference_itself_loses_nothing():
    for scenario in SUITE[1:3]:
        bayes_optimal = BayesOptimal()  # the agent's own grid, or their beliefs would differ
        _, found = play_and_explain(scenario, BELIEF_AGENTS["ramp"], bayes_optimal)
        assert found.source == "none"
        assert found.costliest_round is None
        assert sum(found.costs.values()) == pytest.approx(0, abs=0.05)


@pytest.mark.parametrize(("name", "source"), [("faulty-belief", "inference"), ("faulty-planning", "control")])
def test_the_loss_is_traced_to_the_planted_fault(name, source):
    for scenario in SUITE[:4]:
        _, found = play_and_explain(scenario, BELIEF_AGENTS[name])
        assert found.source == source
        assert found.costs[source] > 3
        assert found.costs["execution"] == 0


def test_an_unreadable_reply_is_a_cost_of_execution():
    scenario = SUITE[0]

    def garbled(observation):
        return (
            "?"
            if observation.round == 2
            else Offer(observation.price_min if scenario.sign > 0 else observation.price_max)
        )

    record, found = play_and_explain(scenario, garbled)
    assert record.fault is ReplyFault.UNREADABLE
    last = found.moves[-1]
    assert (last.decision, last.planning_cost) == (None, 0.0)
    assert last.execution_cost == last.cost > 5
    assert found.source == "execution"


def test_the_clairvoyant_has_no_hindsight_cost():
    scenario = SUITE[1]
    record = terms.play(scenario, Clairvoyant.for_scenario(scenario))
    found = explain(scenario, record, bayes_optimal=COARSE)
    assert sum(move.hindsight_cost for move in found.moves) == pytest.approx(0, abs=1e-6)


def test_a_deal_at_a_loss_in_an_infeasible_episode_costs_that_loss():
    scenario = next(
        item for item in terms.fresh_suite(62, ["no_deal"], ["taciturn"], 1) if item.opener == "counterpart_opens"
    )
    record, found = play_and_explain(scenario, AcceptAny())
    assert found.clairvoyant_value == 0
    assert record.utility < 0
    assert found.moves[0].hindsight_cost == pytest.approx(-record.utility)


def test_provider_failures_are_not_reviewed():
    scenario = SUITE[0]
    record = terms.play(scenario, lambda observation: Unusable(ReplyFault.PROVIDER))
    assert explain(scenario, record, bayes_optimal=COARSE).moves == ()


def test_values_of_actions_by_hand():
    scenario = next(item for item in SUITE if item.opener == "counterpart_opens")
    observation = terms.Game(scenario).observe()
    known = (scenario.config, scenario.family, scenario.counterpart_type, observation)
    worth = assess_actions(*known, [Reject(), Accept(), Offer(1e9), Unusable(ReplyFault.EMPTY)])
    assert worth.values.tolist() == [0.0, observation.accept_utility, 0.0, 0.0]
    r = scenario.counterpart_type.reservation_price
    at_reservation = assess_actions(*known, [Offer(r)])
    assert 0.7 * scenario.zopa < at_reservation.values[0] <= at_reservation.best <= scenario.zopa


def test_representative_types_have_the_posterior_mean():
    scenario = SUITE[0]
    belief = Tracker(told_regime_and_family(scenario), Grid(0.25, 21)).see(terms.Game(scenario).observe())
    types = [hidden for _, hidden in representative_types(belief, 200)]
    mean = belief.seat.from_canonical(
        float(belief.weights[:-1].sum(axis=(1, 2)) @ ((belief.low + np.minimum(belief.high, 100)) / 2))
    )
    if belief.standing is None:
        assert np.mean([hidden.reservation_price for hidden in types]) == pytest.approx(mean, abs=0.5)
    assert len(types) == 200


def test_the_record_must_fit_the_scenario():
    record = terms.play(SUITE[0], Patient())
    with pytest.raises(ValueError, match="record is of"):
        explain(SUITE[1], record)
    bent = replace(record, turns=(replace(record.turns[0], counterpart_price=1.0), *record.turns[1:]))
    with pytest.raises(ValueError, match="does not follow from its moves"):
        explain(SUITE[0], bent, bayes_optimal=COARSE)


def test_json_is_strict():
    _, found = play_and_explain(SUITE[2], BELIEF_AGENTS["faulty-belief"])
    text = json.dumps(found.to_json_object(), allow_nan=False)
    assert json.loads(text)["moves"][0]["reference_decision"] == "Offer"
