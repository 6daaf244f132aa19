"""A known supplier: the type replied to by hand, and that what is known of it makes a meeting worth more."""

from __future__ import annotations

import numpy as np
import pytest

from commerce.bankroll import BankrollConfig, SupplierMode
from commerce.economics import SESSION_ECONOMICS, ChainConfig, build_chain, unit_economics
from oracle.bankroll.known_supplier import KnownTypePlayer, identity
from oracle.bankroll.meeting import MeetingPlanners
from oracle.bankroll.near_certain import NearCertainPlayer, near_worst_type
from oracle.bankroll.supplier_memory import start_meeting
from oracle.planner import BeliefTracker
from oracle.posterior import seat_of
from terms import play
from terms.game import Game

RULES = BankrollConfig(supplier_mode=SupplierMode.PERSISTENT, horizon=6)
CHAIN = ChainConfig()
TABLE = MeetingPlanners(CHAIN)


def start(scenario, memory=None) -> BeliefTracker:
    return start_meeting(TABLE.laws(scenario.family), seat_of(Game(scenario).observe()), memory)


def test_the_type_replied_to_is_a_quantile_of_what_can_be():
    scenario = build_chain(0, CHAIN, RULES).scenarios[0]
    tracker = start(scenario)
    low, high = tracker.low, tracker.high
    weights = np.zeros_like(tracker.weights)
    tracker.seat = tracker.seat.__class__(tracker.seat.role, 60.0)
    tracker.low, tracker.high = low[:4] * 0 + [10, 20, 30, 70], low[:4] * 0 + [20, 30, 40, 80]
    tracker.weights = weights[:5]
    tracker.weights[:4, 0, 0] = [0.4, 0.2, 0.2, 0.2]
    del high
    for quantile, r in ((0.4, 20.0), (0.7, 30.0), (0.9, 40.0)):
        hidden, feasible = near_worst_type(tracker, quantile)
        assert (hidden.reservation_price, feasible) == pytest.approx((r, 0.8))


def test_certain_of_the_type_it_plays_like_the_one_who_knows_it():
    chain, found = build_chain(3, CHAIN, RULES), []
    for scenario in chain.scenarios:
        money, tracker = unit_economics(scenario, SESSION_ECONOMICS), start(scenario)
        r = tracker.seat.to_canonical(scenario.counterpart_type.reservation_price)
        tracker.low, tracker.high = np.array([r - 1e-6]), np.array([r + 1e-6])
        columns = tracker.model.columns
        node = int(np.abs(columns.urgency - scenario.counterpart_type.urgency).argmin())
        group = [one.stance for one in TABLE.laws(scenario.family).groups].index(scenario.counterpart_type.stance)
        tracker.weights = np.zeros((2, *tracker.weights.shape[1:]))
        tracker.weights[0, group, node] = 1.0
        known = play(scenario, KnownTypePlayer(scenario, money, 0, RULES, identity))
        sure = play(scenario, NearCertainPlayer(scenario, money, RULES, tracker, 0.9))
        found.append((sure.utility, known.utility))
    mine, best = np.array(found).sum(axis=0)
    assert mine == pytest.approx(best, rel=0.1)


def test_what_is_remembered_is_worth_money():
    gains = []
    for session in range(8):
        scenarios, memory = build_chain(session, CHAIN, RULES).scenarios, None
        for scenario in scenarios[:-1]:
            memory = TABLE.play(scenario, unit_economics(scenario, SESSION_ECONOMICS), memory).memory
        last = scenarios[-1]
        money = unit_economics(last, SESSION_ECONOMICS)
        told = TABLE.play_as_if_sure(last, money, memory, RULES, 0.9)
        stranger = TABLE.play(last, money, None)
        cost = RULES.round_cost_cents
        mine = money.profit_cents(told.price) - cost * told.rounds_played
        gains.append(mine - (money.profit_cents(stranger.price) - cost * len(stranger.rounds)))
    assert np.mean(gains) > 0
