"""Stated beliefs beside the exact posterior: by hand, exact for the stance, and telling the right agent apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import terms
from oracle.belief_errors import ERROR_PARTS, trace_beliefs
from oracle.interventions import BayesOptimal, informed
from oracle.player_registry import build_player
from oracle.posterior import stated_belief
from oracle.prior import Grid
from oracle.retrace import retrace
from terms.agents.scripted import Patient
from terms.kernel import STANCES
from terms.types import Accept, Belief, Offer, ReplyFault, Termination, Unusable

SUITE = terms.fresh_suite(5, ["overlap"], ["candid"], 2)
COARSE = BayesOptimal(grid=Grid(1.0, 7))
FIXED = Belief(50.0, 0.5, (0.2, 0.3, 0.5))


def traced(agent, suite=SUITE, bayes_optimal=COARSE):
    records = [terms.play(scenario, informed(agent)) for scenario in suite]
    return trace_beliefs(suite, records, bayes_optimal=bayes_optimal, rng=np.random.default_rng(0))


def stating(belief):
    patient = Patient()

    def act(observation):
        return replace(patient.act(observation), belief=belief)

    return act


def test_errors_by_hand():
    errors = traced(stating(FIXED)).errors
    scenario, row = SUITE[int(errors.episode[3])], 3
    hidden = scenario.counterpart_type
    assert errors.stated["be_r"][row] == pytest.approx(abs(50.0 - hidden.reservation_price) / 100)
    assert errors.stated["be_kappa"][row] == pytest.approx(abs(0.5 - hidden.urgency))
    record = terms.play(scenario, stating(FIXED))
    exact = stated_belief(list(retrace(scenario, record, COARSE))[int(errors.round[row]) - 1].belief)
    assert errors.exact["be_r"][row] == pytest.approx(abs(exact.r_hat - hidden.reservation_price) / 100)
    assert errors.distance["be_kappa"][row] == pytest.approx(abs(0.5 - exact.kappa_hat))
    squares = [(one - other) ** 2 for one, other in zip(FIXED.stance_probs, exact.stance_probs, strict=True)]
    assert errors.distance["brier_eta"][row] == pytest.approx(sum(squares))
    parts = [errors.distance[part][row] for part in ERROR_PARTS[1:]]
    assert errors.distance["be_type"][row] == pytest.approx(sum(parts) / 3)


def test_for_the_stance_the_excess_is_the_distance_on_average():
    """Over truths drawn from the posterior the Brier score splits exactly: 3 stances weighed by their probability."""
    scenario = SUITE[0]
    record = terms.play(scenario, stating(FIXED))
    probs = stated_belief(next(iter(retrace(scenario, record, COARSE))).belief).stance_probs
    excess, distance = 0.0, 0.0
    for stance, prob in zip(STANCES, probs, strict=True):
        truth = replace(scenario.counterpart_type, stance=stance)
        told = replace(record, counterpart_type=truth)
        errors = trace_beliefs([scenario], [told], bayes_optimal=COARSE, rng=np.random.default_rng(0)).errors
        excess += prob * (errors.stated["brier_eta"][0] - errors.exact["brier_eta"][0])
        distance = errors.distance["brier_eta"][0]
    assert excess == pytest.approx(distance)


def test_the_exact_agent_has_no_excess_and_the_wrong_one_has():
    same = traced(build_player("ramp"), bayes_optimal=BayesOptimal()).errors.overall()
    assert (same.excess.estimate, same.distance.estimate) == pytest.approx((0.0, 0.0), abs=1e-9)
    wrong = traced(build_player("faulty-belief"), bayes_optimal=BayesOptimal()).errors
    assert wrong.overall().excess.low > 0
    assert wrong.overall().stated.n == len(SUITE)
    first = wrong.curves()
    assert first.stated[0].estimate - first.exact[0].estimate == pytest.approx(first.excess[0].estimate)
    assert len(first.stated) == 10


def test_a_part_that_is_not_stated_has_no_error():
    errors = traced(stating(Belief(50.0, None, None))).errors
    assert errors.overall("be_r").stated.estimate is not None
    assert errors.overall("be_kappa").distance.estimate is None
    assert errors.overall("be_type").exact.estimate is None
    assert traced(Patient()).errors.overall().stated.estimate is None


def test_trials_lost_to_the_provider_are_left_out_and_faults_are_not():
    def lost(observation):
        return Unusable(ReplyFault.PROVIDER, "HTTP 503")

    def blank(observation):
        return Unusable(ReplyFault.EMPTY, "", FIXED)

    told = []
    records = [terms.play(SUITE[0], lost), terms.play(SUITE[1], blank)]
    found = trace_beliefs(
        SUITE, records, bayes_optimal=COARSE, rng=np.random.default_rng(0), tell=lambda: told.append(1)
    )
    assert set(found.calibration.episode) == {1}
    assert len(told) == 1
    with pytest.raises(ValueError, match="no scored episode"):
        trace_beliefs(SUITE, records[:1], bayes_optimal=COARSE, rng=np.random.default_rng(0))


def test_strangers_are_refused():
    record = terms.play(SUITE[0], Patient())
    with pytest.raises(ValueError, match="is of none of the 1 scenarios"):
        trace_beliefs(SUITE[1:2], [record], rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="part='be', allowed are be_type"):
        traced(stating(FIXED)).errors.overall("be")
    forged = replace(record, turns=(*record.turns[:-1], replace(record.turns[-1], counterpart_price=1.0)))
    with pytest.raises(ValueError, match="does not follow from its moves"):
        list(retrace(SUITE[0], forged, COARSE))
    with pytest.raises(ValueError, match="the moves end with"):
        list(retrace(SUITE[0], replace(record, termination=Termination.COUNTERPART_WALK), COARSE))


def test_moments_follow_the_record():
    def act(observation):
        return Accept() if observation.round == 3 else Offer(observation.reservation_price - 30 * SUITE[0].sign)

    record = terms.play(SUITE[0], act)
    moments = list(retrace(SUITE[0], record, COARSE))
    assert [moment.turn for moment in moments] == list(record.turns)
    assert [moment.belief.round for moment in moments] == [turn.round for turn in record.turns]
