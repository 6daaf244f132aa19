"""Credit of every move: sums that telescope, the readable twin, and games small enough to be solved exactly."""

from dataclasses import replace

import numpy as np
import pytest

import terms
from oracle.bayes_optimal import fitted_bayes_optimal
from oracle.explain import explain
from oracle.move_credit import CreditTracker, credit_record
from oracle.small_games import continuation_value, exact_value, random_game
from terms.types import Accept, Belief, Offer, Reject, Termination

SUITE = terms.fresh_suite(1_000_000, ["overlap", "no_deal"], ["candid", "adversarial"], 1)


class Wanderer:
    """Offers that rise and go back, a stated belief, and now and then no legal move."""

    name = "wanderer"

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def act(self, seen):
        belief = Belief(float(self.rng.uniform(seen.price_min, seen.price_max)), float(self.rng.uniform()))
        if seen.can_accept and self.rng.random() < 0.15:
            return Accept(belief=belief)
        if self.rng.random() < 0.03:
            return Reject(belief=belief) if self.rng.random() < 0.5 else "no move at all"
        side = 1 if seen.role.sign > 0 else -1
        gain = self.rng.uniform(0.0, 0.6) * (seen.price_max - seen.price_min)
        price = seen.reservation_price - side * gain
        return Offer(min(seen.price_max, max(seen.price_min, price)), belief=belief)


@pytest.mark.parametrize("scenario", SUITE, ids=lambda scenario: scenario.scenario_id)
def test_turn_rewards_telescope_to_the_utility(scenario):
    for seed in range(3):
        record = terms.play(scenario, Wanderer(seed))
        found = credit_record(scenario, record)
        assert len(found) == len(record.turns)
        assert abs(sum(move.turn_reward for move in found) - (record.utility - found[0].value)) < 1e-9
        worth = found[0].value + sum(move.advantage + move.noise for move in found)
        assert abs(worth - record.utility) < 1e-9
        for move in found:
            parts = (move.belief_regret or 0.0) + move.planning_regret + move.execution_regret
            assert parts == pytest.approx(move.regret, abs=1e-9)


def test_it_is_what_the_readable_belief_says():
    """`explain` values the same moves with the same reference on the readable posterior."""
    bayes_optimal = fitted_bayes_optimal()
    for scenario in SUITE[:3]:
        record = terms.play(scenario, Wanderer(7))
        told = explain(scenario, record, bayes_optimal=bayes_optimal)
        for move, review in zip(credit_record(scenario, record, with_hindsight=True), told.moves, strict=True):
            assert move.round == review.round
            here = (move.value, move.move_value, move.turn_reward, move.belief_regret, move.hindsight_regret)
            there = (
                review.reference_value, review.value, review.turn_reward, review.belief_cost, review.hindsight_cost,
            )  # fmt: skip
            assert here == pytest.approx(there, abs=1e-6)
            assert move.planning_regret == pytest.approx(review.planning_cost, abs=1e-6)
            assert move.execution_regret == pytest.approx(review.execution_cost, abs=1e-6)


def test_the_reference_has_no_regret():
    bayes_optimal = fitted_bayes_optimal()
    scenario = SUITE[1]
    plan, tracker = bayes_optimal.plan(scenario), bayes_optimal.tracker(scenario)
    record = terms.play(scenario, lambda seen: plan(tracker.see(seen), seen))
    assert max(abs(move.regret) for move in credit_record(scenario, record)) < 1e-6


def test_a_record_of_another_scenario_is_refused():
    record = terms.play(SUITE[0], Wanderer(1))
    with pytest.raises(ValueError, match="record is of"):
        credit_record(SUITE[1], record)
    with pytest.raises(ValueError, match="the record says"):
        credit_record(SUITE[0], replace(record, termination=Termination.ROUND_LIMIT))


def test_a_talk_that_has_only_begun_has_a_value():
    game = terms.Game(SUITE[0])
    assert CreditTracker(SUITE[0], game.observe()).value > 0


# Small games: every move of every reachable history, in any order where the game goes back.


def moves_at(game, k, standing, earlier, weights, later):
    """Return what each move is worth times the mass of ``weights``; ``later`` says what a next history adds."""
    mass = float(weights.sum())
    worth = {"accept": mass * (game.own - standing), "leave": 0.0}
    if k < game.horizon:
        law = game.quote_law(standing, earlier)
        for offer in game.offers(earlier):
            accepts, survives = game.survival(offer, earlier, k)
            worth[offer] = float(weights @ accepts) * (game.own - offer)
            for price, likelihood in law.items():
                after = weights * survives * likelihood
                if after.sum() > 0:
                    worth[offer] += later(k + 1, price, (*earlier, offer), after)
    return worth


def compare_shaped(game, potential):
    """Return the number of histories at which shaped and unshaped optima were found to agree, and the worst error."""
    seen, worst = 0, 0.0

    def solve(k, standing, earlier, weights):
        """Return the optimum without and with turn rewards."""
        nonlocal seen, worst
        below = {}

        def plain(*history):
            below[history[:3]] = solve(*history)
            return below[history[:3]][0]

        def shaped(*history):
            return below[history[:3]][1] + potential(game, *history)

        unpaid, paid = (moves_at(game, k, standing, earlier, weights, later) for later in (plain, shaped))
        here = potential(game, k, standing, earlier, weights)
        paid = {move: worth - here for move, worth in paid.items()}
        best = max(unpaid.values()), max(paid.values())
        chosen = [
            {move for move, worth in moves.items() if worth > most - 1e-9}
            for moves, most in zip((unpaid, paid), best, strict=True)
        ]
        assert chosen[0] == chosen[1]
        worst = max(worst, abs(best[0] - here - best[1]))
        seen += 1
        return best

    solve(1, game.opening, (), np.array(game.prior))
    return seen, worst


def any_potential(game, k, standing, earlier, weights):
    return float(weights.sum()) * 20 * np.sin(37 * standing + 11 * sum(earlier) + k)


def check_shaping(seeds, **sizes):
    histories = 0
    for seed in seeds:
        game = random_game(np.random.default_rng(seed), **sizes)
        game = replace(game, goes_back=seed % 2 == 1)
        for potential in (any_potential, continuation_value):
            seen, worst = compare_shaped(game, potential)
            assert worst < 1e-9
            histories += seen
    assert histories > 10 * len(seeds)


def test_shaped_and_unshaped_optima_agree():
    check_shaping(range(12), horizon=4)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_shaped_and_unshaped_optima_agree_on_a_thousand_games(part):
    check_shaping(range(50 * part, 50 * part + 50), horizon=4)


def test_offers_that_go_back_are_worth_what_they_are():
    """A right to go back is never worth less than none, now and then more, and turn rewards value it exactly."""
    more = []
    for seed in range(16, 24):
        rising = random_game(np.random.default_rng(seed), horizon=4, num_types=2)
        game = replace(rising, goes_back=True)
        more.append(exact_value(game) - exact_value(rising))
        if more[-1] > 1e-9:
            _, worst = compare_shaped(game, continuation_value)
            assert worst < 1e-9
    assert min(more) > -1e-12
    assert max(more) > 0.01
