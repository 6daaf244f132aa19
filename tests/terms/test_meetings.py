"""What is remembered of a talk, and the scripted agent that uses it."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import terms
from terms.agents import build_scripted
from terms.agents.recall import Recall
from terms.episode import as_starter
from terms.meetings import Meeting, meeting_of
from terms.types import Offer, Reject, Role, Termination
from tests.terms.test_agents import seen

SUITE = terms.fresh_suite(17, n_per_cell=2)
PATIENT = build_scripted("patient")


def met(*prices: float, role: Role = Role.BUYER, deal: float | None = None) -> Meeting:
    turns = tuple(terms.types.Turn(k, price, None, "", None, None, "", None) for k, price in enumerate(prices, 1))
    return Meeting(role, 80.0, 0.0, 100.0, turns, Termination.ROUND_LIMIT, deal, None)


def test_nothing_hidden_is_remembered():
    names = {field.name for field in fields(Meeting)}
    assert names == {
        "role", "reservation_price", "price_min", "price_max", "turns", "termination", "price", "closing_cue",
        "profit",
    }  # fmt: skip


@given(st.integers(0, len(SUITE) - 1), st.sampled_from(["patient", "conceder", "never-accept", "fixed-0.30"]))
def test_every_shown_limit_bounds_the_counterparts_reservation(index, name):
    record = terms.play(SUITE[index], build_scripted(name))
    hidden = record.counterpart_type.reservation_price
    meeting = meeting_of(record)
    assert all(record.sign * (price - hidden) >= -1e-9 for price in meeting.shown_limits)
    assert (record.price is None) or record.price in meeting.shown_limits
    assert meeting.turns == record.turns


def test_a_stranger_is_met_like_any_other():
    recall = Recall()
    assert recall.for_meeting(0, ()) is recall
    assert recall.for_meeting(0, (met(),)) is recall, "who named no price is still a stranger"
    for scenario in SUITE:
        alone, patient = terms.play(scenario, recall), terms.play(scenario, PATIENT)
        assert (alone.turns, alone.price) == (patient.turns, patient.price)


@pytest.mark.parametrize(
    ("role", "own", "past", "round_number", "price"),
    [
        (Role.BUYER, 80.0, [met(60.0, 50.0)], 1, 46.0),  # 4 beyond the best price it showed
        (Role.BUYER, 80.0, [met(60.0, 50.0)], 2, 48.0),
        (Role.BUYER, 80.0, [met(60.0, 50.0)], 3, 50.0),
        (Role.BUYER, 80.0, [met(60.0), met(70.0, deal=40.0)], 5, 40.0),  # a deal shows as much as a price
        (Role.SELLER, 20.0, [met(30.0, 45.0, role=Role.SELLER)], 1, 49.0),
    ],
)
def test_it_asks_for_what_the_counterpart_has_shown(role, own, past, round_number, price):
    agent = Recall().for_meeting(0, past)
    action = agent.act(seen(role=role, own=own, round_number=round_number))
    assert action == Offer(pytest.approx(price))


def test_it_leaves_at_once_where_no_deal_can_be_hoped_for():
    agent = Recall().for_meeting(0, [met(60.0)])
    assert agent.act(seen(own=49.9)) == Reject()
    assert isinstance(agent.act(seen(own=50.1)), Offer), "within ten the bound may still give way"


def test_the_hook_is_used_where_episodes_belong_together_and_nowhere_else():
    recall, past = Recall(), (met(60.0, 50.0),)
    assert as_starter(recall).start(SUITE[0]).agent is recall
    assert as_starter(recall).start(SUITE[0], past).agent == replace(recall, _bound=50.0)
    assert as_starter(PATIENT).start(SUITE[0], past).agent is PATIENT


@pytest.mark.parametrize("setting", ["probe", "hopeless"])
def test_wrong_settings_are_refused(setting):
    with pytest.raises(ValueError, match=f"{setting}=1.5; it must lie in"):
        build_scripted(f"recall:{setting}=1.5")
