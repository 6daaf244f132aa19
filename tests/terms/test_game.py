"""The episode as a state machine: what stands, what ends it, what is shown, what is recorded."""

from __future__ import annotations

import json
import math
from dataclasses import FrozenInstanceError

import pytest

import terms
from terms import Accept, Belief, Game, GameConfig, Offer, Reject, Unusable
from terms.types import Decision, Family, Opener, Posture, ReplyFault, Role, Termination, ViolationKind
from tests.terms.builders import ALWAYS, NEVER, Script, make_scenario, scripted_noise

KINDS = ViolationKind


def kinds(record):
    return [violation.kind for violation in record.violations]


def test_counterpart_opens_with_a_standing_price():
    # 40 + 0.5 x (1 - 0.30 x 0.5) x 60 = 65.5
    game = Game(make_scenario())
    seen = game.observe()
    assert seen.standing_price == pytest.approx(65.5, abs=1e-12)
    assert seen.accept_utility == pytest.approx(14.5, abs=1e-12)
    assert seen.legal_decisions == (Decision.OFFER, Decision.ACCEPT, Decision.REJECT)
    assert (seen.round, seen.rounds_remaining, seen.last_own_offer, seen.history) == (1, 9, None, ())


def test_agent_opens_with_nothing_standing_and_hears_an_opening_next():
    game = Game(make_scenario(opener=Opener.AGENT))
    seen = game.observe()
    assert (seen.standing_price, seen.accept_utility, seen.cue, seen.message) == (None, None, None, "")
    assert seen.legal_decisions == (Decision.OFFER, Decision.REJECT)
    game.step(Offer(30.0))
    assert game.observe().standing_price == pytest.approx(65.5, abs=1e-12)
    # An opening has concession share 0; the second quote concedes 0.26 of 25.5 (0.12 + 0.28 x 0.5).
    game.step(Offer(30.0))
    assert game.observe().standing_price == pytest.approx(65.5 - 0.26 * 25.5, abs=1e-12)


def test_accept_with_nothing_standing_is_an_invalid_action():
    record = terms.play(make_scenario(opener=Opener.AGENT), Script(Accept()))
    assert record.termination is Termination.INVALID_ACTION
    assert kinds(record) == [KINDS.INVALID_ACTION]
    assert (record.price, record.fault, record.fault_detail) == (None, None, "Accept without a standing price")


@pytest.mark.parametrize("own", [65.5, 80.0])
def test_accepting_closes_at_the_standing_price(own):
    record = terms.play(make_scenario(own=own), Script(Accept("done")))
    assert record.termination is Termination.AGENT_ACCEPT
    assert record.price == pytest.approx(65.5, abs=1e-12)
    assert record.utility == pytest.approx(own - 65.5, abs=1e-12)
    assert record.turns[0].message == "done"
    assert (record.closing_cue, record.closing_message) == (None, "")


def test_accepting_exactly_at_the_own_limit_is_rational():
    standing = Game(make_scenario()).observe().standing_price
    at, below = make_scenario(own=standing), make_scenario(own=math.nextafter(standing, 0))
    assert kinds(terms.play(at, Script(Accept()))) == []
    loss = terms.play(below, Script(Accept()))
    assert kinds(loss) == [KINDS.IRRATIONAL_ACCEPT]
    assert loss.violations[0].value == standing
    assert loss.is_agreement  # an irrational deal is a deal
    assert loss.utility < 0


def test_the_counterpart_accepts_exactly_at_its_limit_and_not_below():
    noise = scripted_noise(accept=ALWAYS)
    at = terms.play(make_scenario(noise=noise), Script(40.0))
    assert (at.termination, at.price, at.utility) == (Termination.COUNTERPART_ACCEPT, 40.0, 40.0)
    assert at.closing_cue.posture is Posture.CONCEDE
    assert at.closing_message == "40.00 works for me. We have a deal."
    below = terms.play(make_scenario(noise=noise), Script(math.nextafter(40, 0)))
    assert below.termination is Termination.AGENT_REJECT


def test_the_counterpart_accepts_when_its_uniform_lies_below_the_probability():
    # Round 1 of 10, neutral candid: g = 6 x 0.2 + 0.5 - 2 (1 - sqrt(0.1)) = 0.332456, sigma = 0.582356.
    for draw, termination in ((0.5823, Termination.COUNTERPART_ACCEPT), (0.5824, Termination.AGENT_REJECT)):
        assert terms.play(make_scenario(noise=scripted_noise(accept=draw)), Script(60.0)).termination is termination


def test_the_clock_of_a_response_is_the_round_of_the_offer():
    # Round 2: rigid and fast count only from the third offer on: g = 1.2 + 0.5 - 2 (1 - sqrt(0.2)) = 0.594427.
    for draw, rounds in ((0.6443, 2), (0.6444, 3)):
        record = terms.play(make_scenario(noise=scripted_noise(accept=draw)), Script(30.0, 60.0))
        assert record.rounds_played == rounds


def test_features_use_the_offers_before_the_current_one():
    # Quote after the third offer: speed of (30 -> 50) only. lambda = 0.12 + 0.14 - 0.50 x 0.2 = 0.16.
    record = terms.play(make_scenario(), Script(30.0, 50.0, 50.0))
    second, third, fourth = (turn.counterpart_price for turn in record.turns[1:])
    assert second == pytest.approx(65.5 - 0.26 * 25.5, abs=1e-12)
    assert third == pytest.approx(second - 0.26 * (second - 40), abs=1e-12)
    assert fourth == pytest.approx(third - 0.16 * (third - 40), abs=1e-12)


@pytest.mark.parametrize(("uniform", "posture"), [(0.9115, Posture.HOLD), (0.9119, Posture.PRESSURE)])
def test_the_cue_of_a_quote_uses_the_clock_of_the_answer(uniform, posture):
    # Answer of round 1, share 0.26: logits 2 (0.26 - 0.10) = 0.32, 0.5, 2 (sqrt(0.1) - 0.80) - 0.26 = -1.22754;
    # weights 1.37713, 1.64872, 0.29301; P(Concede or Hold) = 3.02585 / 3.31886 = 0.91171.
    record = terms.play(make_scenario(noise=scripted_noise(posture=uniform)), Script(30.0))
    assert record.turns[1].cue.posture is posture


def test_price_noise_is_in_units_of_the_family():
    # One standard normal of the stochastic family moves a quote by 0.08 R = 8; the projection keeps it monotone.
    record = terms.play(make_scenario(family=Family.STOCHASTIC, noise=scripted_noise(price=-1.0)), Script(30.0))
    assert record.turns[1].counterpart_price == pytest.approx(65.5 - 0.26 * 25.5 - 8, abs=1e-12)
    record = terms.play(make_scenario(family=Family.STOCHASTIC, noise=scripted_noise(price=1.0)), Script(30.0))
    assert record.turns[1].counterpart_price == record.turns[0].counterpart_price


def test_the_counterpart_walks_only_after_the_grace_period_and_only_from_a_loss():
    noise = scripted_noise(walk=ALWAYS)
    losing = terms.play(make_scenario(noise=noise), Script(*[30.0] * 9))
    assert (losing.termination, losing.rounds_played) == (Termination.COUNTERPART_WALK, 5)
    assert (losing.price, losing.utility, losing.violations) == (None, 0.0, ())
    assert losing.closing_cue.posture is Posture.PRESSURE
    assert losing.closing_message == "We are too far apart. I am stopping here."
    winning = terms.play(make_scenario(noise=noise), Script(*[40.0] * 9))
    assert winning.termination is Termination.AGENT_REJECT


@pytest.mark.parametrize("opener", Opener)
def test_the_last_offer_gets_no_answer_as_released(opener):
    noise = scripted_noise(accept=ALWAYS)
    record = terms.play(make_scenario(noise=noise, opener=opener), Script(*[30.0] * 9, 60.0))
    assert (record.termination, record.rounds_played) == (Termination.ROUND_LIMIT, 10)
    assert kinds(record) == [KINDS.TURN_BUDGET]
    assert record.violations[0].round == 10


@pytest.mark.parametrize("opener", Opener)
@pytest.mark.parametrize(
    ("draws", "offer", "termination"),
    [
        ({"accept": ALWAYS}, 60.0, Termination.COUNTERPART_ACCEPT),
        ({"walk": ALWAYS}, 39.0, Termination.COUNTERPART_WALK),
        ({}, 60.0, Termination.ROUND_LIMIT),
    ],
)
def test_the_last_offer_is_answered_when_the_config_says_so(opener, draws, offer, termination):
    early = scripted_noise().responses[:9]
    noise = scripted_noise(**draws)
    noise = noise._replace(responses=(*early, noise.responses[9]))
    config = GameConfig(final_offer_answered=True)
    record = terms.play(make_scenario(noise=noise, opener=opener, config=config), Script(*[30.0] * 9, offer))
    assert (record.termination, record.rounds_played) == (termination, 10)


@pytest.mark.parametrize("answered", [False, True])
@pytest.mark.parametrize("opener", Opener)
@pytest.mark.parametrize("move", [Offer(60.0), Accept(), Reject()])
def test_horizon_one(answered, opener, move):
    config = GameConfig(horizon=1, final_offer_answered=answered)
    scenario = make_scenario(config=config, opener=opener, noise=scripted_noise(1, accept=ALWAYS))
    expected = {
        Offer: Termination.COUNTERPART_ACCEPT if answered else Termination.ROUND_LIMIT,
        Accept: Termination.AGENT_ACCEPT if opener is Opener.COUNTERPART else Termination.INVALID_ACTION,
        Reject: Termination.AGENT_REJECT,
    }
    record = terms.play(scenario, Script(move))
    assert (record.termination, record.rounds_played) == (expected[type(move)], 1)


def test_a_zopa_of_width_zero_is_not_feasible_and_deals_at_its_only_price():
    scenario = make_scenario(own=50.0, other=50.0, noise=scripted_noise(accept=ALWAYS))
    record = terms.play(scenario, Script(50.0))
    assert (record.zopa, record.is_feasible, record.price, record.utility) == (0.0, False, 50.0, 0.0)
    assert record.violations == ()
    assert terms.metrics.summarize([record]).overall["se_plus"].estimate is None
    # A counterpart whose reservation is the bound can open nowhere else.
    edge = make_scenario(own=100.0, other=100.0)
    assert Game(edge).observe().standing_price == 100.0


@pytest.mark.parametrize(
    ("price", "violations"),
    [(-1.0, [KINDS.OUT_OF_BOUNDS]), (100.5, [KINDS.OUT_OF_BOUNDS, KINDS.IRRATIONAL_OFFER])],
)
def test_an_offer_outside_the_bounds_ends_the_episode_and_is_not_clamped(price, violations):
    record = terms.play(make_scenario(noise=scripted_noise(accept=ALWAYS)), Script(price))
    assert record.termination is Termination.INVALID_ACTION
    assert kinds(record) == violations
    assert record.turns[0].price == price
    assert record.fault_detail == f"price={price} lies outside [0.0, 100.0]"
    assert record.price is None


def test_irrational_and_reversed_offers_are_recorded_and_played_on():
    record = terms.play(make_scenario(), Script(81.0, 70.0))
    assert [(v.kind, v.round, v.value) for v in record.violations] == [
        (KINDS.IRRATIONAL_OFFER, 1, 81.0),
        (KINDS.REVERSED_CONCESSION, 2, 70.0),
    ]
    assert record.rounds_played == 3


@pytest.mark.parametrize("last", [Accept(), Reject(), Offer(-1.0), Unusable(ReplyFault.EMPTY), Offer(60.0)])
def test_no_move_after_the_end(last):
    game = Game(make_scenario(noise=scripted_noise(accept=ALWAYS)))
    with pytest.raises(ValueError, match="still open in round 1"):
        game.record("nobody")
    game.step(last)
    before = game.record("nobody")
    for move in (Offer(60.0), Accept(), Reject(), Unusable(ReplyFault.EMPTY)):
        with pytest.raises(ValueError, match=f"the episode ended with {before.termination}"):
            game.step(move)
    assert game.record("nobody") == before


def test_the_observation_hides_what_the_settings_hide():
    config = GameConfig(show_cues=False, show_messages=False, history_window=2)
    open_game, closed = (Script(10.0, 20.0, 30.0, 40.0) for _ in range(2))
    terms.play(make_scenario(), open_game)
    record = terms.play(make_scenario(config=config), closed)
    shown, hidden = open_game.seen[3], closed.seen[3]
    assert len(shown.history) == 3
    assert shown.cue is not None
    assert shown.message
    assert all(turn.cue and turn.counterpart_message for turn in shown.history)
    assert [turn.round for turn in hidden.history] == [2, 3]
    assert (hidden.cue, hidden.message) == (None, "")
    assert all(turn.cue is None and turn.counterpart_message == "" for turn in hidden.history)
    assert record.turns[0].cue is not None  # the record keeps everything
    for key in ("show_cues", "show_messages"):
        one = Game(make_scenario(config=GameConfig(**{key: False})))
        one.step(Offer(10.0))
        turn = one.observe().history[0]
        assert (turn.cue is None) == (key == "show_cues")
        assert (turn.counterpart_message == "") == (key == "show_messages")
        assert turn.price == 10.0
    blind = Script(10.0, 20.0)
    terms.play(make_scenario(config=GameConfig(history_window=0)), blind)
    assert blind.seen[1].history == ()


def test_history_shows_six_rounds_and_the_last_own_offer():
    agent = Script(*range(10, 19))
    terms.play(make_scenario(), agent)
    assert [turn.round for turn in agent.seen[9].history] == [4, 5, 6, 7, 8, 9]
    assert agent.seen[9].last_own_offer == 18.0


def test_the_observation_is_json_of_the_documented_shape():
    game = Game(make_scenario(role=Role.SELLER, own=40.0, other=80.0))
    game.step(Offer(90.0, "hello", Belief(80.0)))
    shown = game.observe({"posterior": [0.5, 0.5]}).to_json_object()
    assert json.loads(json.dumps(shown, allow_nan=False)) == shown
    assert list(shown) == [
        "private_context", "protocol_state", "constraints", "observation", "history", "side_info",
    ]  # fmt: skip
    assert shown["private_context"] == {"role": "seller", "reservation_price": 40.0}
    assert shown["protocol_state"] == {
        "round": 2,
        "rounds_remaining": 8,
        "legal_decisions": ["Offer", "Accept", "Reject"],
        "opener": "counterpart_opens",
        "accept_available": True,
        "last_own_offer": 90.0,
    }
    assert shown["constraints"] == {
        "price_min": 0.0,
        "price_max": 100.0,
        "concession_direction": "offers never increase",
    }
    assert shown["observation"]["utility_of_accepting"] == shown["observation"]["counterpart_price"] - 40.0
    assert set(shown["observation"]) == {
        "counterpart_price", "counterpart_message", "sentiment", "posture", "utility_of_accepting",
    }  # fmt: skip
    assert [row["own_price"] for row in shown["history"]] == [90.0]
    assert shown["side_info"] == {"posterior": [0.5, 0.5]}
    assert Game(make_scenario()).observe().to_json_object()["constraints"]["concession_direction"] == (
        "offers never decrease"
    )


def test_nothing_the_agent_may_not_know_is_shown():
    scenario = make_scenario(other=41.234567, urgencies=(0.5, 0.7654321), noise=scripted_noise(accept=0.123456789))
    game = Game(scenario)
    game.step(Offer(10.0))
    text = json.dumps(game.observe().to_json_object())
    for secret in ("41.23", "0.765", "conciliatory", "0.1234", "candid", "zopa", "urgency"):
        assert secret not in text


def test_records_and_observations_cannot_be_changed():
    record = terms.play(make_scenario(), Script())
    with pytest.raises(FrozenInstanceError):
        record.utility = 100.0
    with pytest.raises(FrozenInstanceError):
        Game(make_scenario()).observe().reservation_price = 0.0


def test_every_way_to_end_is_reached():
    noise_accept, noise_walk = scripted_noise(accept=ALWAYS, walk=NEVER), scripted_noise(walk=ALWAYS)
    ends = {
        terms.play(make_scenario(noise=noise), Script(*moves)).termination
        for noise, moves in [
            (None, [Accept()]),
            (None, [Reject()]),
            (None, [Offer(-1.0)]),
            (None, [10.0] * 10),
            (noise_accept, [60.0]),
            (noise_walk, [10.0] * 10),
            (None, [Unusable(ReplyFault.PROVIDER)]),
            (None, [Unusable(ReplyFault.EMPTY)]),
        ]
    }
    assert ends == set(Termination) - {Termination.COUNTERPART_FAULT}  # the kernel makes none, see test_two_seats


def test_replay_refuses_moves_that_are_not_the_episode():
    with pytest.raises(ValueError, match="the moves end in round 2 of made/0 while the talk is open"):
        terms.replay(make_scenario(), [Offer(10.0)])
    with pytest.raises(ValueError, match="no further move is possible"):
        terms.replay(make_scenario(), [Accept(), Accept()])
    with pytest.raises(ValueError, match="the moves end in round 1"):
        terms.replay(make_scenario(), [])
