"""Memory of suppliers and meetings by the planner: laws of the own reservation, what stays known, stopping early."""

from __future__ import annotations

import numpy as np
import pytest

from commerce.bankroll import BankrollConfig, SupplierMode
from commerce.economics import SESSION_ECONOMICS, ChainConfig, Perspective, build_chain, unit_economics
from oracle.bankroll.closing import Closing
from oracle.bankroll.meeting import NO_CAUTION, Caution, MeetingPlanners, stop
from oracle.bankroll.supplier_bayes_optimal import SupplierBayesOptimal
from oracle.bankroll.supplier_memory import SupplierMemory, end_meeting, own_density, start_meeting
from oracle.posterior import seat_of, summary
from terms.game import Game
from terms.types import Termination

PERSISTENT = BankrollConfig(supplier_mode=SupplierMode.PERSISTENT, horizon=4)
CHAIN = ChainConfig(families=("taciturn",))


@pytest.fixture(scope="module")
def table():
    return MeetingPlanners(CHAIN)


@pytest.fixture(scope="module")
def sessions():
    return [build_chain(number, CHAIN, PERSISTENT).scenarios for number in range(12)]


def money(scenario):
    return unit_economics(scenario, SESSION_ECONOMICS)


@pytest.mark.parametrize("perspective", list(Perspective))
def test_density_of_the_own_reservation_is_that_of_the_chain(perspective):
    """Over 4,000 drawn periods with suppliers near one type: the law of r_A against the histogram, bin by bin."""
    chain = ChainConfig(perspective=perspective)
    iid = BankrollConfig(supplier_mode=SupplierMode.IID, horizon=4000)
    drawn = build_chain(0, chain, iid)
    width = chain.game.price_max - chain.game.price_min
    r, own, urgency = (
        np.array(column)
        for column in zip(
            *[
                (
                    seat_of(Game(scenario).observe()).to_canonical(scenario.counterpart_type.reservation_price),
                    seat_of(Game(scenario).observe()).own,
                    scenario.counterpart_type.urgency,
                )
                for scenario in drawn.scenarios
            ],
            strict=True,
        )
    )
    assert width == 100
    edges = np.linspace(0.0, 100.0, 11)
    middles = (edges[:-1] + edges[1:]) / 2
    expected, seen = np.zeros(10), np.zeros(10)
    fine = np.linspace(0.5, 99.5, 100)
    for supplier in np.flatnonzero((r > 30) & (r < 70))[:120]:
        point = SupplierMemory(r[[supplier]], r[[supplier]], np.ones((1, 1, 1)), 1)
        density = np.array([own_density(point, float(a), urgency[[supplier]], chain)[0, 0] for a in fine])
        density /= density.sum()
        expected += np.histogram(fine, edges, weights=density)[0]
        seen[np.searchsorted(edges, own[supplier]) - 1] += 1
    spread = np.sqrt(np.maximum(expected, 1.0))
    assert np.abs((seen - expected) / spread).max() < 4.0, (middles, expected, seen)


def test_a_stranger_is_believed_to_follow_the_chain(table):
    """The regime weights of the chain, not equal thirds: 23 % of meetings have no deal, 38.5 % of each other kind."""
    shares = []
    for number in range(60):
        scenario = build_chain(number, CHAIN, PERSISTENT).scenarios[0]
        start = start_meeting(table.laws(scenario.family), seat_of(Game(scenario).observe()), None)
        assert start.weights.sum() == pytest.approx(1.0)
        shares.append(float(start.weights[:-1].sum(axis=(1, 2)) @ (start.low >= start.seat.own)))
    assert np.mean(shares) == pytest.approx(0.23, abs=0.06)


def test_memory_comes_ever_nearer_to_the_supplier(table, sessions):
    errors = np.zeros((len(sessions), 4))
    for row, scenarios in enumerate(sessions):
        memory = None
        for meeting, scenario in enumerate(scenarios):
            memory = table.play(scenario, money(scenario), memory).memory
            mass = memory.weights.sum(axis=(1, 2))
            assert mass.sum() == pytest.approx(1.0)
            assert memory.meetings <= meeting + 1  # a talk in which the other side says nothing teaches nothing
            r = scenario.counterpart_type.reservation_price
            errors[row, meeting] = abs(mass @ (memory.low + memory.high) / 2 - r)
            assert mass[(memory.low <= r + 1e-4) & (memory.high >= r - 1e-4)].sum() > 0
    assert errors.mean(axis=0)[3] < 0.65 * errors.mean(axis=0)[0]


def test_a_deal_at_an_offer_rules_out_what_lies_above_it(table, sessions):
    scenario = sessions[0][0]
    tracker = start_meeting(table.laws(scenario.family), seat_of(Game(scenario).observe()), None)
    accepted = float(np.median(tracker.low))
    memory = end_meeting(tracker, Closing(accepted, Termination.COUNTERPART_ACCEPT), 1)
    assert memory.high.max() <= accepted + 1e-5


def test_stopping_a_recorded_path_is_playing_with_caution(table, sessions):
    """One path tells what every caution would have earned; played at the table it must end the same way."""
    stopped_early = 0
    for scenarios in sessions:
        scenario = scenarios[0]
        path = table.play(scenario, money(scenario), None)
        assert stop(path, NO_CAUTION) == (path.price, len(path.rounds))
        for caution in (Caution(2.0, 0.0), Caution(0.0, 3.0), Caution(8.0, 6.0)):
            played = table.play(scenario, money(scenario), None, caution)
            assert stop(path, caution) == (played.price, len(played.rounds))
            stopped_early += len(played.rounds) < len(path.rounds)
    assert stopped_early > 5


def test_watching_a_talk_teaches_what_having_it_did(table, sessions):
    """Replaying the planner's own moves leads to its own memory; it never trades past the reservation."""
    for scenarios in sessions[:4]:
        scenario = scenarios[0]
        mine = table.play(scenario, money(scenario), None)
        watched = table.remember(_record(table, scenario), scenario, None)
        assert watched.weights == pytest.approx(mine.memory.weights)
        assert watched.low == pytest.approx(mine.memory.low)
        assert mine.price is None or mine.price <= scenario.agent_type.reservation_price + 1e-9


def _record(table, scenario):
    """The planner's talk as a record, by an agent that does what the recorded views say."""
    from oracle.bankroll.meeting import _decide
    from terms import play

    laws, planner = table._family(scenario.family)
    tracker = start_meeting(laws, seat_of(Game(scenario).observe()), None)
    margin = money(scenario).margin_floor_cents / scenario.price_range

    def act(observation):
        tracker.see(observation)
        return _decide(tracker, planner, margin)[1]

    return play(scenario, act)


def test_the_reference_shows_what_is_remembered(table, sessions):
    """The posterior shown at the start of a meeting is narrower once the supplier was met, and holds the truth."""
    widths = []
    for scenarios in sessions[:6]:
        memory = table.play(scenarios[0], money(scenarios[0]), None).memory
        scenario = scenarios[1]
        shown = []
        for known in (None, memory):
            reference = SupplierBayesOptimal(table=table, memory=known)
            shown.append(summary(reference.tracker(scenario).see(Game(scenario).observe())))
        low, high = shown[1]["r_interval"]
        widths.append((shown[0]["r_interval"][1] - shown[0]["r_interval"][0], high - low))
        assert low - 1.0 <= scenario.counterpart_type.reservation_price <= high + 1.0
    before, after = np.array(widths).mean(axis=0)
    assert after < before / 3


def test_a_reference_needs_its_table(sessions):
    with pytest.raises(ValueError, match="needs the table"):
        SupplierBayesOptimal().tracker(sessions[0][0])
