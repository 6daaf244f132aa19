"""The end of a meeting in the belief: the kernel's own probabilities type by type, cuts, and what tells nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from commerce.bankroll import BankrollConfig, SupplierMode
from commerce.economics import SESSION_ECONOMICS, ChainConfig, EconomicsConfig, build_chain, unit_economics
from oracle.bankroll.closing import Closing, close_meeting, closing_of
from oracle.bankroll.meeting import MeetingPlanners
from oracle.bankroll.supplier_memory import end_meeting, own_density, start_meeting
from oracle.posterior import seat_of
from oracle.prior import SCALE, column_groups
from terms import Accept, Offer, Reject, Unusable, play
from terms.game import Game
from terms.kernel import accept_prob, favourability, history_features, kernel_params, walk_prob
from terms.types import ReplyFault, Termination

CHAIN = ChainConfig(families=("taciturn",))
PERSISTENT = BankrollConfig(supplier_mode=SupplierMode.PERSISTENT, horizon=2)
ENDS = (Termination.COUNTERPART_ACCEPT, Termination.COUNTERPART_WALK, Termination.ROUND_LIMIT)


@pytest.fixture(scope="module")
def table():
    return MeetingPlanners(CHAIN)


@pytest.fixture(scope="module")
def scenarios():
    return [scenario for number in range(30) for scenario in build_chain(number, CHAIN, PERSISTENT).scenarios]


def watched(table, scenario, moves):
    """The belief at the last move, and the record of the whole talk."""
    seat, game = seat_of(Game(scenario).observe()), Game(scenario)
    tracker = start_meeting(table.laws(scenario.family), seat, None)
    for move in moves(seat):
        tracker.see(game.observe())
        game.step(move)
        if game.is_over:
            break
    return tracker, game.record("x")


def near_own(seat):
    """Offers that rise to the own reservation and stay there."""
    for share in (0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 0.97, 0.98, 0.99, *[1.0] * 20):
        yield Offer(seat.from_canonical(seat.own * share))


def kernel_prob(answer, r, urgency, group, tracker, offer):
    """What the rules themselves say of ``answer``, with prices in percent of R."""
    params = kernel_params(tracker.knowledge.config, *group, SCALE)
    gain, k = favourability(offer, r, 1, SCALE), tracker.round
    accept = accept_prob(gain, urgency, k, history_features(tracker.offers, 1, params), params)
    walk = walk_prob(gain, k, params)
    return {
        Termination.COUNTERPART_ACCEPT: accept,
        Termination.COUNTERPART_WALK: (1 - accept) * walk,
        Termination.ROUND_LIMIT: (1 - accept) * (1 - walk),
    }[answer]


@pytest.mark.parametrize("answer", ENDS)
def test_every_type_is_weighed_by_the_rules_own_probability(table, scenarios, answer):
    """On a belief of narrow cells the weights after the end over those before are the kernel's, up to one constant."""
    tracker, record = next(
        pair for pair in (watched(table, each, near_own) for each in scenarios) if pair[1].termination is answer
    )
    points = np.linspace(2.0, 98.0, 13)
    shape = (len(points) + 1, *tracker.weights.shape[1:])
    weights = np.random.default_rng(1).uniform(0.5, 1.5, shape)
    tracker = replace(tracker, low=points - 1e-9, high=points + 1e-9, weights=weights / weights.sum(), standing=None)
    closing = closing_of(record, tracker.seat, is_last_heard=True, tells_feasible=False)
    assert closing.offer == pytest.approx(tracker.seat.to_canonical(record.turns[-1].price))
    low, _, after = close_meeting(tracker, closing)
    nodes, groups = tracker.model.columns.urgency, column_groups(tracker.knowledge)
    expected = np.array([
        [[kernel_prob(answer, r, u, group, tracker, closing.offer) for u in nodes] for group in groups] for r in points
    ])  # fmt: skip
    expected = expected * tracker.weights[:-1]
    assert after[:-1] / after[:-1].sum() == pytest.approx(expected / expected.sum(), abs=1e-7)
    if answer is Termination.COUNTERPART_WALK:
        assert low[(after > 0).any(axis=(1, 2))].min() >= closing.offer - 1e-5


def test_what_is_no_answer_tells_nothing(scenarios):
    seat = seat_of(Game(scenarios[0]).observe())
    quoted = next(each for each in scenarios if Game(each).observe().standing_price is not None)
    for record in (
        play(scenarios[0], lambda observation: Reject()),
        play(quoted, lambda observation: Accept()),
        play(scenarios[0], lambda observation: Offer(observation.price_max + 1)),
        play(scenarios[0], lambda observation: Unusable(ReplyFault.UNREADABLE, "")),
    ):
        assert closing_of(record, seat, is_last_heard=True, tells_feasible=False) == Closing()
    low = seat.from_canonical(1.0)
    late = next(
        record
        for record in (play(each, lambda observation: Offer(low)) for each in scenarios)
        if record.termination is Termination.ROUND_LIMIT
    )
    assert closing_of(late, seat, is_last_heard=False, tells_feasible=False) == Closing()
    assert closing_of(late, seat, is_last_heard=True, tells_feasible=False).offer == pytest.approx(1.0)


def test_the_income_of_no_deal_tells_whether_there_was_one_to_make(table, scenarios):
    """Left at once: the session pays 2.38 where no deal was possible and nothing where one was."""
    told, unsure = [], 0
    blind = MeetingPlanners(CHAIN, EconomicsConfig(infeasible_outside_cents=0, feasible_outside_cents=0))
    for scenario in scenarios[:12]:
        record, own = play(scenario, lambda observation: Reject()), seat_of(Game(scenario).observe()).own
        memory = table.remember(record, scenario, None)
        if scenario.zopa > 0:
            assert memory.high.max() <= own
        else:
            assert memory.low.min() >= own
        unaware = blind.remember(record, scenario, None)
        unsure += unaware.low.min() < own < unaware.high.max()
        told.append(scenario.zopa > 0)
    assert len(set(told)) == 2
    assert unsure >= 5
    deals = (play(scenario, lambda observation: Offer(observation.reservation_price)) for scenario in scenarios)
    deal = next(record for record in deals if record.price is not None)
    seat = seat_of(Game(scenarios[0]).observe())
    assert closing_of(deal, seat, is_last_heard=True, tells_feasible=True).is_feasible is None


def test_where_nothing_was_said_the_own_reservation_is_remembered(table, scenarios):
    """Two meetings in silence: the belief is p_0(t) f(a_1 | t) f(a_2 | t), and no meeting counts."""
    first, second = scenarios[:2]
    laws = table.laws(first.family)
    seats = [seat_of(Game(scenario).observe()) for scenario in (first, second)]
    once = end_meeting(start_meeting(laws, seats[0], None), Closing(), 0)
    twice = start_meeting(laws, seats[1], once)
    expected = once.weights * own_density(once, seats[1].own, laws.model.columns.urgency, CHAIN)[:, None, :]
    assert twice.weights[:-1] == pytest.approx(expected / expected.sum())
    assert np.abs(twice.weights[:-1] - once.weights).max() > 1e-5
    assert once.meetings == 0


def test_a_contradiction_by_rounding_is_passed_over(table, scenarios):
    seat = seat_of(Game(scenarios[0]).observe())
    tracker = start_meeting(table.laws(scenarios[0].family), seat, None)
    tracker.see(Game(scenarios[0]).observe())
    for closing in (Closing(-5.0, Termination.COUNTERPART_ACCEPT), Closing(105.0, Termination.COUNTERPART_WALK)):
        assert close_meeting(tracker, closing)[2].sum() == pytest.approx(1.0)
        assert end_meeting(tracker, closing, 1).weights == pytest.approx(end_meeting(tracker, Closing(), 1).weights)


@pytest.mark.slow
def test_remembered_beliefs_are_calibrated(table):
    """After a talk that rises to the own reservation, r lies in each fifth of its remembered law equally often.

    1,500 drawn suppliers. The statistic is chi-square with 4 degrees of freedom, beyond 18.47 once in a thousand;
    without the end of the talk it is 79.
    """
    ranks = []
    rng = np.random.default_rng(0)
    for number in range(1500):
        scenario = build_chain(number, CHAIN, PERSISTENT).scenarios[0]
        seat = seat_of(Game(scenario).observe())
        record = play(scenario, _Moves(list(near_own(seat))))
        memory = table.remember(record, scenario, None)
        r = seat.to_canonical(scenario.counterpart_type.reservation_price)
        mass = memory.weights.sum(axis=(1, 2))
        width = np.maximum(memory.high - memory.low, 1e-300)
        ranks.append(mass @ np.where(width > 1e-5, np.clip((r - memory.low) / width, 0, 1), _point(memory, r, rng)))
    counts = np.histogram(ranks, np.linspace(0, 1 + 1e-9, 6))[0]
    assert np.square(counts - 300).sum() / 300 < 18.47


def _point(memory, r, rng):
    """A reservation that was seen is an atom: its rank is drawn inside it."""
    middle = (memory.low + memory.high) / 2
    return np.where(np.abs(middle - r) < 1e-5, rng.random(), middle < r)


class _Moves:
    name = "moves"

    def __init__(self, moves):
        self._moves = iter(moves)

    def act(self, observation):
        return next(self._moves)


def test_economics_of_a_session_tell(table):
    assert SESSION_ECONOMICS.outside_cents(True, 50.0) != SESSION_ECONOMICS.outside_cents(False, 50.0)
    assert table.economics == SESSION_ECONOMICS
    scenario = build_chain(0, CHAIN, PERSISTENT).scenarios[0]
    assert "outside" not in str(unit_economics(scenario, SESSION_ECONOMICS).to_json_object())
