"""The scripted agents: the contract for each, and each one's rule by hand."""

from __future__ import annotations

import pytest

import terms
from terms import Accept, Offer, Reject
from terms.agents import SCRIPTED, build_scripted
from terms.agents.scripted import FixedConcession, Patient, RandomLegal, TimeDependent, TitForTat
from terms.episode import agent_name
from terms.types import Observation, Opener, Role, Turn
from tests.contracts.agent_contract import SUITE, AgentContract

FLAGS = {
    "accept-any": {"is_rational": False},
    "random": {"is_rational": False},  # accepts at a loss, which is legal
    # A price multiplied by 0.6 has no mirror image; the others treat the roles alike.
    "exploit": {"is_mirroring": False},
}


def contract_for(name):
    return type(
        f"Test{name.title().replace('-', '').replace('.', '')}",
        (AgentContract,),
        {"build": lambda self: build_scripted(name), "__module__": __name__, **FLAGS.get(name, {})},
    )


for _name in SCRIPTED:
    _contract = contract_for(_name)
    globals()[_contract.__name__] = _contract


def test_every_scripted_agent_is_under_contract():
    under = [value for key, value in globals().items() if key.startswith("Test") and issubclass(value, AgentContract)]
    assert {agent_name(contract().build()) for contract in under} == {agent_name(build_scripted(n)) for n in SCRIPTED}
    assert set(FLAGS) <= set(SCRIPTED)


def seen(*, role=Role.BUYER, own=80.0, standing=None, last=None, round_number=1, horizon=10, history=()):
    sign = 1 if role is Role.BUYER else -1
    return Observation(
        role=role,
        reservation_price=own,
        round=round_number,
        horizon=horizon,
        opener=Opener.COUNTERPART,
        legal_decisions=terms.protocol.legal_decisions(standing),
        last_own_offer=last,
        price_min=0.0,
        price_max=100.0,
        standing_price=standing,
        message="",
        cue=None,
        accept_utility=None if standing is None else sign * (own - standing),
        history=history,
    )


SELL = {"role": Role.SELLER, "own": 20.0}


@pytest.mark.parametrize(
    ("spec", "observation", "action"),
    [
        # Fixed concession: previous + rate (own - previous), from the own bound; the first rational price is taken.
        ("fixed-0.10", seen(), Offer(8.0)),
        ("fixed-0.10", seen(last=30.0, standing=81.0), Offer(35.0)),
        ("fixed-0.10", seen(standing=80.0), Accept()),
        ("fixed-0.30", seen(**SELL), Offer(76.0)),
        ("fixed-0.01", seen(**SELL, last=70.0, standing=19.0), Offer(69.5)),
        ("accept-any", seen(standing=99.0), Accept()),
        ("accept-any", seen(), Offer(0.0)),
        ("accept-any", seen(**SELL), Offer(100.0)),
        # Round 3 of 10: three tenths of the way from the bound to the reservation.
        ("never-accept", seen(round_number=3, standing=1.0), Offer(24.0)),
        ("never-accept", seen(**SELL, round_number=10), Offer(20.0)),
        # Time dependent: (k/K)^(1/speed).
        ("linear", seen(round_number=5), Offer(40.0)),
        ("boulware", seen(round_number=5), Offer(80 * 0.5**5)),
        ("conceder", seen(round_number=5), Offer(80 * 0.5 ** (1 / 3))),
        ("conceder", seen(**SELL, round_number=5), Offer(100 - 80 * 0.5 ** (1 / 3))),
        ("linear", seen(round_number=5, standing=40.0), Accept()),
        ("linear", seen(round_number=5, standing=40.5), Offer(40.0)),
        ("linear", seen(round_number=10, standing=80.0), Accept()),
        ("linear", seen(round_number=10, standing=80.5), Offer(80.0)),
        # Split the difference: middle of last offer (or bound) and standing price, never past the reservation.
        ("split-the-difference", seen(standing=70.0), Offer(35.0)),
        ("split-the-difference", seen(last=40.0, standing=70.0), Offer(55.0)),
        ("split-the-difference", seen(), Offer(40.0)),
        ("split-the-difference", seen(own=10.0, last=8.0, standing=70.0), Offer(10.0)),
        ("split-the-difference", seen(**SELL, last=30.0, standing=0.0), Offer(20.0)),
        ("split-the-difference", seen(round_number=10, last=40.0, standing=70.0), Accept()),
        # Patient: opens 35 from the reservation, then closes 15 % of the rest; takes what beats its next offer.
        ("patient", seen(), Offer(45.0)),
        ("patient", seen(own=20.0), Offer(0.0)),
        ("patient", seen(**SELL | {"own": 90.0}), Offer(100.0)),
        ("patient", seen(last=45.0, standing=60.0), Offer(45 + 0.15 * 35)),
        ("patient", seen(last=45.0, standing=50.25), Accept()),
        ("patient", seen(**SELL, last=55.0, standing=49.75), Accept()),
        ("patient", seen(last=45.0, standing=79.0, round_number=10), Accept()),
        ("patient", seen(last=45.0, standing=79.0, round_number=9), Offer(45 + 0.15 * 35)),
        ("patient:gap=0.5,rate=0.5", seen(), Offer(30.0)),
        ("patient:gap=0.5,rate=0.5", seen(last=30.0), Offer(55.0)),
        # Exploit: r_seller = 0.6 r_buyer, a rounding inside.
        ("exploit", seen(), Offer(0.6 * 80 * (1 + 1e-9))),
        ("exploit", seen(**SELL | {"own": 30.0}), Offer(30 / 0.6 * (1 - 1e-9))),
        ("exploit", seen(**SELL | {"own": 90.0}), Offer(100.0)),
        ("exploit", seen(standing=47.0), Accept()),
    ],
)
def test_rule_by_hand(spec, observation, action):
    found = build_scripted(spec).act(observation)
    assert type(found) is type(action)
    if isinstance(action, Offer):
        assert found.price == pytest.approx(action.price, abs=1e-12)


def turn(price):
    return Turn(1, price, None, "", None, None, "", None)


@pytest.mark.parametrize(
    ("observation", "price"),
    [
        (seen(standing=70.0), 45.0),
        (seen(standing=66.0, last=45.0, history=(turn(80.0), turn(70.0))), 49.0),  # it moved 4: so do we
        (seen(standing=70.0, last=45.0, history=(turn(None),)), 45.0),  # an opening is no concession
        (seen(standing=90.0, last=79.0, history=(turn(99.0),)), 80.0),  # not past the reservation
        (seen(**SELL, standing=15.0, last=50.0, history=(turn(10.0),)), 45.0),
    ],
)
def test_tit_for_tat_by_hand(observation, price):
    assert TitForTat().act(observation).price == pytest.approx(price, abs=1e-12)


def test_random_draws_every_legal_decision_and_only_those():
    agent = RandomLegal().for_episode(1)
    opening = [agent.act(seen()) for _ in range(60)]
    assert {type(action) for action in opening} == {Offer, Reject}
    later = [agent.act(seen(standing=50.0, last=30.0)) for _ in range(60)]
    assert {type(action) for action in later} == {Offer, Accept, Reject}
    prices = [action.price for action in later if isinstance(action, Offer)]
    assert all(30.0 <= price <= 80.0 for price in prices)
    assert len(set(prices)) == len(prices)


def test_random_needs_an_episode_and_its_seed_matters():
    with pytest.raises(ValueError, match="for_episode"):
        RandomLegal().act(seen())
    one, other = (terms.play(SUITE[0], build_scripted(f"random:seed={seed}")) for seed in (1, 2))
    assert one.turns != other.turns


def test_published_baselines_are_named_as_published():
    assert [FixedConcession(rate).name for rate in (0.01, 0.1, 0.3)] == ["fixed-0.01", "fixed-0.10", "fixed-0.30"]
    for name in SCRIPTED:
        assert agent_name(build_scripted(name)) == name


def test_two_settings_of_one_agent_do_not_share_a_name():
    assert agent_name(build_scripted("patient:gap=0.2")) == "patient:gap=0.2"
    assert agent_name(build_scripted("fixed-0.10:rate=0.25")) == "fixed-0.25"
    assert build_scripted("patient:gap=0.2,rate=0.3") == Patient(0.2, 0.3, "patient:gap=0.2,rate=0.3")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("patiens", "agent='patiens', allowed are fixed-0.01.*did you mean 'patient'"),
        ("", "agent='', allowed are"),
        ("patient:gab=0.2", "option='gab' of Patient, allowed are gap, rate"),
        ("patient:gap=much", "option gap='much' of Patient is not a number"),
        ("patient:gap=1.5", r"gap=1.5; it must lie in \[0, 1\]"),
        ("patient:rate=nan", r"rate=nan; it must lie in \[0, 1\]"),
        ("fixed-0.10:rate=-1", r"rate=-1.0; it must lie in \[0, 1\]"),
        ("boulware:speed=0", "speed=0.0; it must be positive"),
        ("accept-any:x=1", "option='x' of AcceptAny, allowed are none"),
        ("random:seed=1.5", "option seed='1.5' of RandomLegal is not a number"),
    ],
)
def test_wrong_names_and_settings_are_refused(spec, said):
    with pytest.raises(ValueError, match=said):
        build_scripted(spec)


def test_a_plain_function_is_an_agent():
    def walk_out(observation):
        return Reject()

    assert terms.play(SUITE[0], walk_out).agent == "walk_out"
    assert TimeDependent().name == "linear"
