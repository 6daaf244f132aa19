"""What an agent may return, and exactly what becomes of it; what counts as a breach."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import terms
from terms import Accept, Belief, Offer, Reject, Unusable
from terms.protocol import coerce_action, is_price, legal_decisions, offer_violations, read_belief
from terms.types import Decision, ReplyFault, Termination, ViolationKind
from tests.terms.builders import Script, make_scenario

UNREADABLE, EMPTY = ReplyFault.UNREADABLE, ReplyFault.EMPTY
HUGE = 10**400
"""An integer that JSON can hold and no float can."""

NOT_PRICES = [
    None, "45", "$45", "", [45], {"amount": 45}, True, False, math.nan, math.inf, -math.inf, HUGE, -HUGE,
    10**5000, 4 + 5j, Decimal(45), np.float64("nan"), np.float32("inf"), np.bool_(True), np.array(45.0),
    np.array([45.0]),
]  # fmt: skip
PRICES = [
    (45, 45.0), (45.5, 45.5), (-5, -5.0), (-0.0, 0.0), (0, 0.0), (1e308, 1e308), (Fraction(1, 2), 0.5),
    (np.float64(45.5), 45.5), (np.float32(45.5), 45.5), (np.int64(45), 45.0), (np.uint8(45), 45.0),
]  # fmt: skip


@pytest.mark.parametrize("value", NOT_PRICES, ids=lambda value: type(value).__name__)
def test_no_move_is_invented_from_what_is_not_a_price(value):
    assert not is_price(value)
    for reply in (Offer(value), {"decision": "Offer", "price": value}, {"decision": "Offer", "price": value, "x": 45}):
        action = coerce_action(reply)
        assert isinstance(action, Unusable)
        assert action.fault is UNREADABLE
        assert action.detail.startswith(("price=", "price=a huge int"))
        assert action.detail.endswith("is not a finite number")
        assert len(action.detail) < 130


@pytest.mark.parametrize(("value", "price"), PRICES)
def test_every_finite_real_number_is_a_price(value, price):
    for reply in (Offer(value), {"decision": "Offer", "price": value}):
        record = terms.play(make_scenario(), Script(reply))
        assert record.turns[0].price == price
        assert type(record.turns[0].price) is float


@pytest.mark.parametrize(
    ("reply", "fault", "detail"),
    [
        (None, EMPTY, "the agent returned nothing"),
        ("accept", UNREADABLE, "the agent returned str, not an action"),
        ("", UNREADABLE, "the agent returned str, not an action"),
        ('{"decision": "Accept"}', UNREADABLE, "the agent returned str, not an action"),
        (True, UNREADABLE, "the agent returned bool, not an action"),
        (45, UNREADABLE, "the agent returned int, not an action"),
        (45.5, UNREADABLE, "the agent returned float, not an action"),
        (math.nan, UNREADABLE, "the agent returned float, not an action"),
        (np.float64(45), UNREADABLE, "the agent returned float64, not an action"),
        ([45], UNREADABLE, "the agent returned list, not an action"),
        (("Offer", 45), UNREADABLE, "the agent returned tuple, not an action"),
        (Decision.ACCEPT, UNREADABLE, "the agent returned Decision, not an action"),
        (Accept, UNREADABLE, "the agent returned type, not an action"),
        ({}, UNREADABLE, "decision=None is not one of Offer, Accept, Reject"),
        ({"price": 45}, UNREADABLE, "decision=None is not one of Offer, Accept, Reject"),
        ({"Decision": "Accept"}, UNREADABLE, "decision=None is not one of Offer, Accept, Reject"),
        ({"decision": "counter", "price": 45}, UNREADABLE, "decision='counter' is not one of Offer, Accept, Reject"),
        ({"decision": ["Accept"]}, UNREADABLE, "decision=['Accept'] is not one of Offer, Accept, Reject"),
        ({"decision": True}, UNREADABLE, "decision=True is not one of Offer, Accept, Reject"),
        ({"decision": "I accept"}, UNREADABLE, "decision='I accept' is not one of Offer, Accept, Reject"),
        ({"decision": "Offer"}, UNREADABLE, "price=None is not a finite number"),
        ({"decision": "Offer", "price": "45"}, UNREADABLE, "price='45' is not a finite number"),
        ({"decision": "Offer", "price": [45]}, UNREADABLE, "price=[45] is not a finite number"),
        ({"decision": "Offer", "price": True}, UNREADABLE, "price=True is not a finite number"),
        (json.loads('{"decision": "Offer", "price": 1e309}'), UNREADABLE, "price=inf is not a finite number"),
        (json.loads('{"decision": "Offer", "price": NaN}'), UNREADABLE, "price=nan is not a finite number"),
        (Unusable(ReplyFault.REFUSED, "policy"), ReplyFault.REFUSED, "policy"),
        (Unusable(ReplyFault.TRUNCATED, "length"), ReplyFault.TRUNCATED, "length"),
    ],
)
def test_an_unusable_reply_ends_the_episode_under_its_own_name(reply, fault, detail):
    record = terms.play(make_scenario(), lambda observation: reply)
    is_breach = fault is ReplyFault.UNREADABLE  # a reply that never came breaks no rule of the game
    end = Termination.INVALID_ACTION if is_breach else Termination.NO_REPLY
    assert (record.termination, record.fault, record.fault_detail) == (end, fault, detail)
    assert [violation.kind for violation in record.violations] == [ViolationKind.INVALID_ACTION] * is_breach
    assert (record.price, record.utility, record.rounds_played) == (None, 0.0, 1)
    assert record.turns[0].decision is None
    assert record.turns[0].price is None


def test_a_long_reply_is_cut_in_the_fault_detail():
    action = coerce_action({"decision": "x" * 10_000})
    assert len(action.detail) < 140
    assert "..." in action.detail


def test_a_provider_failure_is_no_breach_of_the_agent():
    record = terms.play(make_scenario(), lambda observation: Unusable(ReplyFault.PROVIDER, "timeout"))
    assert record.termination is Termination.PROVIDER_FAILURE
    assert record.violations == ()
    assert record.is_excluded


@pytest.mark.parametrize(
    ("reply", "action"),
    [
        ({"decision": "Accept"}, Accept()),
        ({"decision": " aCCept\n", "price": 99}, Accept()),
        ({"decision": "REJECT", "message": "bye"}, Reject("bye")),
        ({"decision": Decision.OFFER, "price": 45}, Offer(45)),
        ({"decision": "offer", "price": 45, "message": None}, Offer(45)),
        ({"decision": "offer", "price": 45, "message": ["no"], "extra": 1}, Offer(45)),
        ({"decision": "Offer", "price": 45, "belief": "none"}, Offer(45)),
    ],
)
def test_mappings_are_read(reply, action):
    assert coerce_action(reply) == action


NOTHING = Belief(None, None, None)


@pytest.mark.parametrize(
    ("raw", "belief"),
    [
        (None, None),
        ("high", None),
        ([50, 0.5], None),
        ({}, NOTHING),
        ({"r_hat": 50, "kappa_hat": 1, "stance_probs": [1, 0, 0]}, Belief(50.0, 1.0, (1.0, 0.0, 0.0))),
        ({"r_hat": "50", "kappa_hat": "0.5"}, NOTHING),
        ({"r_hat": math.nan, "kappa_hat": math.inf}, NOTHING),
        ({"r_hat": HUGE, "kappa_hat": HUGE}, NOTHING),
        ({"r_hat": True, "kappa_hat": True}, NOTHING),
        ({"kappa_hat": 1.01}, NOTHING),
        ({"kappa_hat": -0.01}, NOTHING),
        ({"kappa_hat": 0}, Belief(kappa_hat=0.0)),
        ({"r_hat": -500}, Belief(r_hat=-500.0)),
        ({"stance_probs": [2, 1, 1]}, Belief(stance_probs=(0.5, 0.25, 0.25))),
        (
            {"stance_probs": {"aggressive": 3, "neutral": 1, "conciliatory": 0}},
            Belief(stance_probs=(0.0, 0.25, 0.75)),
        ),
        ({"stance_probs": {"aggressive": 1, "neutral": 0}}, NOTHING),
        ({"stance_probs": [0, 0, 0]}, NOTHING),
        ({"stance_probs": [1, 0]}, NOTHING),
        ({"stance_probs": [1, 0, 0, 0]}, NOTHING),
        ({"stance_probs": [1, -0.5, 0.5]}, NOTHING),
        ({"stance_probs": [1, math.nan, 0]}, NOTHING),
        ({"stance_probs": [1, "0", 0]}, NOTHING),
        ({"stance_probs": "100"}, NOTHING),
        ({"stance_probs": [1e308, 1e308, 1e308]}, NOTHING),
        ({"stance_probs": [10**308, 10**308, 10**308]}, NOTHING),
        (Belief(50.0, 0.5, (0.2, 0.3, 0.5)), Belief(50.0, 0.5, (0.2, 0.3, 0.5))),
        (Belief(math.nan, 7.0, (1, 1, 2)), Belief(None, None, (0.25, 0.25, 0.5))),
        (Belief("50", None, 5), NOTHING),
    ],
)
def test_beliefs_keep_what_is_well_formed(raw, belief):
    assert read_belief(raw) == belief
    for reply in (Offer(45, belief=raw), {"decision": "Offer", "price": 45, "belief": raw}):
        assert coerce_action(reply).belief == belief


@given(st.lists(st.floats(0, 1e6), min_size=3, max_size=3).filter(lambda weights: sum(weights) > 1e-6))
@settings(deadline=None, max_examples=50)
def test_reading_a_belief_twice_changes_nothing(weights):
    once = read_belief({"stance_probs": weights})
    assert sum(once.stance_probs) == pytest.approx(1.0, abs=1e-12)
    assert read_belief(once) == once


def test_an_unusable_reply_keeps_the_belief_that_could_be_read():
    belief = {"r_hat": 50, "kappa_hat": 0.5, "stance_probs": [1, 0, 0]}
    record = terms.play(make_scenario(), lambda observation: {"decision": "what", "belief": belief})
    assert record.turns[0].belief == Belief(50.0, 0.5, (1.0, 0.0, 0.0))


def test_an_agents_exception_passes_through_with_a_note():
    class Broken:
        name = "broken"

        def act(self, observation):
            if observation.round == 1:
                return Offer(10.0)
            raise KeyError("price")

    with pytest.raises(KeyError, match="price") as caught:
        terms.play(make_scenario(scenario_id="made/7"), Broken())
    assert caught.value.__notes__ == ["raised by agent 'broken' in round 2 of made/7"]


def test_accept_needs_a_standing_price():
    assert legal_decisions(None) == (Decision.OFFER, Decision.REJECT)
    assert legal_decisions(0.0) == (Decision.OFFER, Decision.ACCEPT, Decision.REJECT)


LIMITS = {"reservation": 80.0, "previous": 30.0, "sign": 1, "price_min": 0.0, "price_max": 100.0}
SELLER = {"reservation": 20.0, "previous": 70.0, "sign": -1, "price_min": 0.0, "price_max": 100.0}
OUT, LOSS, BACK = ViolationKind.OUT_OF_BOUNDS, ViolationKind.IRRATIONAL_OFFER, ViolationKind.REVERSED_CONCESSION


@pytest.mark.parametrize(
    ("limits", "price", "kinds"),
    [
        (LIMITS, 80.0, []),
        (LIMITS, 30.0, []),
        (LIMITS, math.nextafter(80, 100), [LOSS]),
        (LIMITS, math.nextafter(30, 0), [BACK]),
        (LIMITS, -1.0, [OUT, BACK]),
        (LIMITS, 101.0, [OUT, LOSS]),
        (LIMITS | {"previous": None}, 0.0, []),
        (LIMITS | {"previous": None}, math.nextafter(0, -1), [OUT]),
        (LIMITS | {"reservation": 100.0}, 100.0, []),
        (LIMITS | {"reservation": 200.0}, math.nextafter(100, 200), [OUT]),
        (SELLER, 20.0, []),
        (SELLER, 70.0, []),
        (SELLER, math.nextafter(20, 0), [LOSS]),
        (SELLER, math.nextafter(70, 100), [BACK]),
    ],
)
def test_offers_exactly_at_a_limit_are_legal(limits, price, kinds):
    assert offer_violations(price, **limits) == kinds


def test_which_breaches_are_critical():
    assert {kind for kind in ViolationKind if not kind.is_critical} == {BACK, ViolationKind.TURN_BUDGET}
