"""Three conditions on one episode and the same draws, for any kind of agent."""

from dataclasses import replace

import pytest

import terms
from oracle import posterior
from oracle.agents import BELIEF_AGENTS, BeliefAgent
from oracle.interventions import (
    BayesOptimal,
    Condition,
    PlannerSwap,
    is_execution_fault,
    play_condition,
    run_bayes_optimal,
    run_condition,
    told_family,
    told_regime_and_family,
)
from oracle.prior import Grid
from terms.agents.scripted import FixedConcession, Patient, TimeDependent
from terms.scenario import Product
from terms.types import Accept, Belief, Decision, Offer, Reject, ReplyFault, Termination, Unusable

SUITE = terms.fresh_suite(41, ["overlap", "no_deal"], n_per_cell=1)
COARSE = BayesOptimal(grid=Grid(2.0, 5))


@pytest.mark.parametrize("agent", [Patient(), FixedConcession(0.1), TimeDependent(0.3)], ids=lambda agent: agent.name)
def test_agents_that_ignore_side_information_play_the_same_episode_three_times(agent):
    base, told, revealed = (run_condition(SUITE[::3], agent, each, bayes_optimal=COARSE) for each in Condition)
    assert base == told == revealed
    assert [trial.played for trial in base] == [terms.play(scenario, agent) for scenario in SUITE[::3]]


def test_side_information_is_recomputed_after_every_observation():
    scenario, seen = SUITE[0], []

    def spy(observation):
        seen.append(observation)
        return Patient().act(observation)

    play_condition(scenario, spy, Condition.ORACLE_POSTERIOR, bayes_optimal=COARSE)
    assert len(seen) > 1
    belief = posterior.start(told_regime_and_family(scenario), posterior.seat_of(seen[0]), Grid())  # not the planner's
    for observation in seen:
        belief = posterior.update(belief, observation)
        assert observation.side_info["posterior"] == posterior.summary(belief)
        assert observation.to_json_object()["side_info"]["posterior"]["r_mean"] == posterior.summary(belief)["r_mean"]


def test_the_type_is_revealed_as_it_is():
    scenario, seen = SUITE[1], []

    def spy(observation):
        seen.append(observation.side_info["revealed_type"])
        return {"decision": "Reject"}

    trial = play_condition(scenario, spy, Condition.REVEALED_TYPE, bayes_optimal=COARSE)
    hidden = scenario.counterpart_type
    assert seen == [
        {
            "reservation_price": hidden.reservation_price,
            "urgency": hidden.urgency,
            "stance": hidden.stance.value,
        }
    ]
    assert trial.played.termination is Termination.AGENT_REJECT


def test_base_tells_nothing():
    def check(observation):
        assert not observation.side_info
        return Patient().act(observation)

    play_condition(SUITE[2], check, Condition.BASE, bayes_optimal=COARSE)


def test_a_faulty_reply_ends_the_episode_as_played_and_not_as_repaired():
    scenario = SUITE[0]

    def silent(observation):
        return (
            None
            if observation.round == 2
            else Offer(observation.price_min if scenario.sign > 0 else observation.price_max)
        )

    trial = play_condition(scenario, silent, Condition.BASE, bayes_optimal=COARSE)
    assert trial.played.termination is Termination.NO_REPLY
    assert trial.played.fault is ReplyFault.EMPTY
    assert trial.played.rounds_played == 2
    assert trial.repaired.termination is not Termination.NO_REPLY
    assert trial.repaired.turns[:1] == trial.played.turns[:1]
    assert trial.played == terms.play(scenario, silent)


def test_an_agent_that_never_executes_is_repaired_into_the_reference():
    mute = BeliefAgent("mute", fault_rate=1.0)
    trials = run_condition(SUITE[:6], mute, "base", bayes_optimal=COARSE)
    bayes_optimal = run_bayes_optimal(SUITE[:6], COARSE)
    assert [trial.repaired.utility for trial in trials] == [record.utility for record in bayes_optimal]
    assert {trial.played.utility for trial in trials} == {0.0}


def test_a_provider_failure_is_excluded_on_both_lines():
    trial = play_condition(
        SUITE[0], lambda observation: Unusable(ReplyFault.PROVIDER), Condition.BASE, bayes_optimal=COARSE
    )
    assert trial.played.is_excluded
    assert trial.repaired is trial.played


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        (Offer(-1.0), True),
        (Offer(50.0), False),
        (Accept(), True),
        (Reject(), False),
        (Unusable(ReplyFault.TRUNCATED), True),
        (Unusable(ReplyFault.PROVIDER), False),
    ],
)
def test_what_counts_as_a_fault_of_execution(action, expected):
    agent_opens = next(scenario for scenario in SUITE if scenario.opener == "agent_opens")
    assert is_execution_fault(action, terms.Game(agent_opens).observe()) is expected


def test_the_planner_on_an_exact_belief_is_the_reference():
    bayes_optimal = BayesOptimal()
    for scenario in SUITE[:8]:
        agent = BELIEF_AGENTS["faulty-planning"].for_scenario(scenario)
        swapped = terms.play(scenario, PlannerSwap(agent, scenario, bayes_optimal))
        assert swapped.utility == pytest.approx(run_bayes_optimal([scenario], bayes_optimal)[0].utility, abs=1e-6)


def test_an_agent_without_a_stated_belief_is_taken_to_hold_the_prior():
    scenario = SUITE[0]
    record = terms.play(scenario, PlannerSwap(Patient(), scenario, COARSE))
    means = [turn.belief.r_hat for turn in record.turns if turn.decision is Decision.OFFER]
    start = posterior.start(
        told_regime_and_family(scenario), posterior.seat_of(terms.Game(scenario).observe()), COARSE.grid
    )
    assert means[0] == pytest.approx(posterior.stated_belief(start).r_hat, abs=1e-4)


def test_a_silent_reply_keeps_the_belief_stated_last():
    scenario, own = SUITE[0], SUITE[0].agent_type.reservation_price
    hopeful = Belief(r_hat=own - scenario.sign * 35.0)

    def forgetful(observation):
        return Reject(belief=hopeful if observation.round == 1 else None)

    record = terms.play(scenario, PlannerSwap(forgetful, scenario, COARSE))
    always = terms.play(scenario, PlannerSwap(lambda observation: Reject(belief=hopeful), scenario, COARSE))
    assert record.turns == always.turns


def test_the_planner_does_not_stand_in_for_a_lost_provider():
    record = terms.play(SUITE[0], PlannerSwap(lambda observation: Unusable(ReplyFault.PROVIDER), SUITE[0], COARSE))
    assert record.is_excluded


def test_the_reference_may_be_told_less():
    scenario = next(scenario for scenario in SUITE if scenario.regime == "no_deal")
    unsure = BayesOptimal(told_family, grid=Grid(2.0, 5)).tracker(scenario).see(terms.Game(scenario).observe())
    sure = COARSE.tracker(scenario).see(terms.Game(scenario).observe())
    assert posterior.feasible_prob(sure) == pytest.approx(0, abs=1e-9)
    assert 0.001 < posterior.feasible_prob(unsure) < 0.999


@pytest.mark.parametrize("role", ["buyer", "seller"])
def test_the_posterior_of_a_catalogue_item_knows_its_frame(role):
    """Bounds 10 to 110, reservations between 30 and 70: a buyer's canonical frame is 20 to 60, a seller's 40 to 80."""
    kettle = Product("kettle", "kitchen", 50.0, 30.0, 70.0)
    scenario = next(each for each in SUITE if each.agent_role == role and each.regime == "overlap")
    own, hidden = (
        replace(each, reservation_price=30 + 0.4 * each.reservation_price)
        for each in (scenario.agent_type, scenario.counterpart_type)
    )
    grounded = replace(
        scenario, product=kettle, price_min=10.0, price_max=110.0, agent_type=own, counterpart_type=hidden
    )
    told = told_regime_and_family(grounded)
    assert told.frame == pytest.approx((20.0, 40.0) if role == "buyer" else (40.0, 40.0))
    small = posterior.start(told, posterior.seat_of(terms.Game(grounded).observe()), Grid(0.8, 5))
    wide = posterior.start(
        told_regime_and_family(scenario), posterior.seat_of(terms.Game(scenario).observe()), Grid(2.0, 5)
    )
    summary, expected = posterior.summary(small), posterior.summary(wide)
    assert summary["r_mean"] == pytest.approx(30 + 0.4 * expected["r_mean"])
    assert summary["kappa_mean"] == pytest.approx(expected["kappa_mean"])
    assert run_condition([grounded], Patient(), "oracle_posterior", bayes_optimal=COARSE)[0].played.rounds_played > 0


def test_errors_of_the_agent_name_the_condition():
    def broken(observation):
        raise KeyError("price")

    with pytest.raises(KeyError) as caught:
        play_condition(SUITE[0], broken, Condition.BASE, bayes_optimal=COARSE)
    assert "base" in caught.value.__notes__[0]
    with pytest.raises(ValueError, match="'told' is not a valid Condition"):
        run_condition(SUITE[:1], Patient(), "told")
