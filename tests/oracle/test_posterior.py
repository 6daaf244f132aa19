from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from oracle import posterior
from oracle.model import build_model
from oracle.planner import BeliefTracker
from oracle.prior import Grid, Knowledge, Seat
from terms.config import GameConfig
from terms.cues import draw_cue
from terms.game import Game
from terms.kernel import (
    NO_HISTORY,
    STANCES,
    accept_prob,
    concession_rate,
    counter_offer,
    kernel_params,
    opening_price,
    opening_scale,
)
from terms.noise import CueDraw
from terms.suites import fresh_suite
from terms.types import Channel, Cue, Decision, Family, Offer, Posture, Role, Sentiment

COARSE = Grid(1.0, 7)


def _play(scenario, rng, *, grid=COARSE, knowledge=None):
    """Yield the belief at each of the agent's moves of an episode with random monotone offers."""
    game = Game(scenario)
    known = knowledge or Knowledge.of([scenario.regime], [scenario.family])
    belief = posterior.start(known, posterior.seat_of(game.observe()), grid)
    own, sign = scenario.agent_type.reservation_price, scenario.sign
    gap = rng.uniform(15, 40)
    while not game.is_over:
        belief = posterior.update(belief, game.observe())
        yield belief
        gap *= 1 - 0.3 * rng.random()
        game.step(Offer(min(100.0, max(0.0, own - sign * gap))))


def test_posterior_matches_rejection_sampling():
    """200,000 games from the prior; those whose prices and cue look alike have the posterior's type."""
    rng, n, own, first_offer = np.random.default_rng(4), 200_000, 60.0, 35.0
    config, family = GameConfig(), Family.CANDID
    params = [kernel_params(config, family, stance, 100.0) for stance in STANCES]
    kept = []
    for _ in range(n):
        eta, kappa, r = rng.choice(3, p=(0.3, 0.4, 0.3)), rng.beta(2, 2), own - rng.uniform(10, 40)
        each = params[eta]
        noise = 2 * rng.standard_normal()
        opened = opening_price(r, 100.0, rng.uniform(0.2, 0.8), opening_scale(kappa, each), noise, 1)
        if not 57.0 < opened < 63.0:
            continue
        if first_offer >= r and rng.random() < accept_prob((first_offer - r) / 100, kappa, 1, NO_HISTORY, each):
            continue
        price = counter_offer(
            opened, r, concession_rate(kappa, NO_HISTORY, each), each.noise_sd * rng.standard_normal(), 1
        )
        if abs(opened - price - 6.0) > 0.5:
            continue
        share = (opened - price) / (opened - r)
        cue = draw_cue(
            Decision.OFFER, share, np.sqrt(0.1), eta, channel=Channel.INFORMATIVE, config=config.cues,
            draw=CueDraw(rng.random(), rng.standard_normal()),
        )  # fmt: skip
        if cue == Cue(Sentiment.POSITIVE, Posture.CONCEDE):
            kept.append((r, kappa, eta))
    belief = posterior.start(Knowledge.of(["overlap"], [family]), Seat(Role.BUYER, own), Grid(0.5, 15))
    belief = posterior.respond(belief, None, 60.0, None)
    belief = posterior.respond(belief, first_offer, 54.0, Cue(Sentiment.POSITIVE, Posture.CONCEDE))
    types = np.array(kept)
    error = types.std(axis=0) / np.sqrt(len(types))
    assert len(types) > 400
    assert abs(types[:, 0].mean() - posterior.mean_reservation(belief)) < 4 * error[0] + 0.1
    assert abs(types[:, 1].mean() - posterior.summary(belief)["kappa_mean"]) < 4 * error[1] + 0.005
    shares = [np.mean(types[:, 2] == index) for index in range(3)]
    assert shares == pytest.approx(posterior.stance_probs(belief), abs=4 * 0.5 / np.sqrt(len(types)))


@pytest.mark.slow
@pytest.mark.parametrize("family", list(Family))
def test_posterior_is_calibrated(family):
    _check_calibration(family, 150)


def test_posterior_is_calibrated_quick():
    _check_calibration(Family.STRATEGIC, 12)


def _check_calibration(family, n_per_cell):
    """The randomised PIT of r is uniform in every round; among beliefs of 30 % aggressive, 30 % are."""
    rng = np.random.default_rng(7)
    transforms, claims, truths = {}, [], []
    for scenario in fresh_suite(11, ["overlap", "urgency_shift"], [family], n_per_cell):
        hidden = scenario.counterpart_type
        for belief in _play(scenario, rng):
            transforms.setdefault(belief.round, []).append(
                posterior.pit(belief, hidden.reservation_price, rng.random())
            )
            claims.append(posterior.stance_probs(belief))
            truths.append([hidden.stance is stance for stance in STANCES])
    for values in transforms.values():
        assert len(values) < 20 or kstest(values, "uniform").pvalue > 1e-4
    gap, spread = np.mean(np.array(claims) - np.array(truths), axis=0), 3.5 * 0.5 / np.sqrt(len(claims) / 8)
    assert np.abs(gap).max() < spread


def test_miscalibrated_belief_is_noticed():
    """The same check fails when the belief is told the wrong urgency law and family."""
    rng, values = np.random.default_rng(7), []
    for scenario in fresh_suite(11, ["overlap"], ["adversarial"], 60):
        wrong = Knowledge.of(["urgency_shift"], ["expressive"], GameConfig(show_cues=False))
        game = Game(scenario)
        belief = posterior.start(wrong, posterior.seat_of(game.observe()), COARSE)
        for k in range(1, 6):
            if game.is_over:
                break
            seen = game.observe()
            quote = None if seen.standing_price is None else belief.seat.to_canonical(seen.standing_price)
            offer = None if seen.last_own_offer is None else belief.seat.to_canonical(seen.last_own_offer)
            belief = posterior.respond(belief, offer, quote, None)
            if k == 5:
                values.append(posterior.pit(belief, scenario.counterpart_type.reservation_price, rng.random()))
            game.step(Offer(belief.seat.from_canonical(belief.seat.own - 38.0)))
    assert kstest(values, "uniform").pvalue < 1e-3


@given(st.integers(0, 10_000), st.sampled_from(list(Family)), st.sampled_from(list(Role)))
@settings(max_examples=15, deadline=None)
def test_compiled_tracker_equals_the_readable_posterior(seed, family, role):
    rng = np.random.default_rng(seed)
    cells = fresh_suite(seed, None, [family], 1)
    scenario = [each for each in cells if each.agent_role is role][int(rng.integers(6))]
    knowledge = Knowledge.of(None, [family])
    game, model = Game(scenario), build_model(knowledge, COARSE)
    seat = posterior.seat_of(game.observe())
    tracker = BeliefTracker.start(knowledge, model, seat, COARSE)
    belief = posterior.start(knowledge, seat, COARSE)
    gap = rng.uniform(5, 45)
    while not game.is_over:
        tracker.see(game.observe())
        belief = posterior.update(belief, game.observe())
        assert np.abs(tracker.weights - belief.weights).max() < 1e-9
        gap *= 1 - 0.5 * rng.random()
        own = scenario.agent_type.reservation_price
        game.step(Offer(min(100.0, max(0.0, own - scenario.sign * gap))))
    assert tracker.stated_belief().r_hat == pytest.approx(posterior.stated_belief(belief).r_hat)


def test_seller_is_the_mirror_of_the_buyer():
    knowledge = Knowledge.of(["overlap"], ["expressive"])
    cue = Cue(Sentiment.NEUTRAL, Posture.HOLD)
    buyer = posterior.start(knowledge, Seat(Role.BUYER, 62.0), COARSE)
    seller = posterior.start(knowledge, Seat(Role.SELLER, 38.0), COARSE)
    for offer, price in ((None, 70.0), (30.0, 66.5), (36.0, 66.5), (41.0, 60.0)):
        buyer, seller = posterior.respond(buyer, offer, price, cue), posterior.respond(seller, offer, price, cue)
    told, mirrored = posterior.summary(buyer), posterior.summary(seller)
    assert mirrored["r_mean"] == pytest.approx(100 - told["r_mean"])
    assert mirrored["r_interval"] == pytest.approx([100 - end for end in reversed(told["r_interval"])])
    assert mirrored["stance_probs"] == pytest.approx(told["stance_probs"])


def test_held_quote_at_the_reservation_keeps_the_atom_and_a_move_kills_it():
    belief = posterior.start(Knowledge.of(["overlap"], ["stochastic"]), Seat(Role.BUYER, 60.0), COARSE)
    for offer, price in ((None, 62.0), (20.0, 40.0), (20.0, 40.0)):
        belief = posterior.respond(belief, offer, price, None)
    atom = belief.weights[-1].sum()
    assert 0.05 < atom < 1
    assert posterior.respond(belief, 20.0, 40.0, None).weights[-1].sum() > atom
    moved = posterior.respond(belief, 20.0, 38.0, None)
    assert moved.weights[:-1][belief.low >= 38.0].sum() == 0


def test_beliefs_survive_twenty_standard_deviations():
    belief = posterior.start(Knowledge.of(["overlap"], ["taciturn"]), Seat(Role.BUYER, 60.0), COARSE)
    belief = posterior.respond(belief, None, 95.0, None)
    belief = posterior.respond(belief, 20.0, 50.1, None)
    assert belief.weights.sum() == pytest.approx(1.0)
    assert np.isfinite(belief.log_evidence)
    assert belief.log_evidence < -100


def test_impossible_observation_and_skipped_round_are_named():
    belief = posterior.start(Knowledge.of(["overlap"], ["taciturn"]), Seat(Role.BUYER, 60.0), COARSE)
    with pytest.raises(ValueError, match="round 1 is impossible"):
        posterior.respond(belief, None, 10.0, None)
    scenario = fresh_suite(1, ["overlap"], ["taciturn"], 1)[0]
    game = Game(scenario)
    game.step(Offer(20.0 if scenario.sign > 0 else 80.0))
    with pytest.raises(ValueError, match="of round 2; the belief waits for round 1"):
        posterior.update(belief, game.observe())


def test_feasibility_is_inferred_when_the_regime_is_unknown():
    rng, claims, truths = np.random.default_rng(3), [], []
    for scenario in fresh_suite(2, None, ["taciturn"], 10):
        for belief in _play(scenario, rng, knowledge=Knowledge.of(None, ["taciturn"])):
            claims.append(posterior.feasible_prob(belief))
            truths.append(scenario.zopa > 0)
    claimed, true = np.array(claims), np.array(truths)
    assert np.mean(claimed[true]) > np.mean(claimed[~true]) + 0.2
    assert abs(claimed.mean() - true.mean()) < 0.12


def test_summary_is_json_in_the_units_of_the_episode():
    belief = posterior.start(Knowledge.of(), Seat(Role.SELLER, 1500.0, 1000.0, 2000.0))
    told = json.loads(json.dumps(posterior.summary(belief)))
    assert set(told["stance_probs"]) == {"conciliatory", "neutral", "aggressive"}
    assert told["r_interval"][0] < told["r_mean"] < told["r_interval"][1]
    assert 1000 <= told["r_interval"][0] <= told["r_interval"][1] <= 2000
    assert sum(told["stance_probs"].values()) == pytest.approx(1.0)
    assert 0 < told["feasible_prob"] < 1
