"""Fitted best responses: exact on a tiny game, a floor on held-out scenarios of the negotiation."""

from itertools import permutations, product

import numpy as np
import pytest

import terms
from experiments.matches.best_response import (
    KeyedMove,
    PlayedTalk,
    Response,
    exploitability_floor,
    fit_response,
    solve_talks,
)
from terms.agents.scripted import AcceptAny, FixedConcession, Patient

ENDED = {"pp": 1, "bp": 1, "bb": 2, "pbp": 1, "pbb": 2}
"""Kuhn poker: betting histories that end, and the stake."""
BETS_UNIFORM = dict.fromkeys(product(range(3), ("", "p", "b", "pb")), 0.5)
BETS_TILTED = {key: (0.0, 0.5, 1.0)[key[0]] for key in BETS_UNIFORM}
OPEN_SPIEL = {("uniform", 0): 0.5, ("uniform", 1): 0.41666666666666663}
"""OpenSpiel 2.0.2, ``kuhn_poker``: `BestResponsePolicy(...).value` at the root (`python -m tests.bench.responses`)."""


def payoff(cards, history, seat):
    """Return what ``seat`` wins when the betting has ended."""
    winner = {"bp": 0, "pbp": 1}.get(history, int(cards[1] > cards[0]))  # a fold wins for who bet
    return ENDED[history] * (1 if winner == seat else -1)


def kuhn(bets, seat):
    """Return the table of Kuhn poker against an opponent that bets by these chances."""

    def play(choose, number):
        rng = np.random.default_rng([seat, number])
        cards, history, moves = rng.permutation(3)[:2], "", []
        while history not in ENDED:
            mover = len(history) % 2
            key = (int(cards[mover]), history)
            if mover == seat:
                moves.append(KeyedMove(key, (0, 1), choose(key, (0, 1))))
                history += "pb"[moves[-1].action]
            else:
                history += "pb"[int(rng.random() < bets[key])]
        return PlayedTalk(tuple(moves), payoff(cards, history, seat))

    return play


def exact(bets, seat, choose):
    """Return the exact mean payoff of a policy by walking the whole tree."""

    def walk(cards, history):
        if history in ENDED:
            return payoff(cards, history, seat)
        mover = len(history) % 2
        key = (cards[mover], history)
        if mover == seat:
            return walk(cards, history + "pb"[choose(key, (0, 1))])
        return (1 - bets[key]) * walk(cards, history + "p") + bets[key] * walk(cards, history + "b")

    return float(np.mean([walk(cards, "") for cards in permutations(range(3), 2)]))


def brute_force(bets, seat):
    """Return the best of all deterministic policies."""
    keys = [key for key in BETS_UNIFORM if len(key[1]) % 2 == seat]
    policies = product((0, 1), repeat=len(keys))
    return max(exact(bets, seat, Response(dict(zip(keys, each, strict=True))).choose) for each in policies)


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(("name", "bets"), [("uniform", BETS_UNIFORM), ("tilted", BETS_TILTED)])
def test_it_is_the_best_response_of_a_tiny_game(name, bets, seat):
    found = fit_response(kuhn(bets, seat), 2000, rng=np.random.default_rng(1))
    best = brute_force(bets, seat)
    assert exact(bets, seat, found.choose) == pytest.approx(best, abs=1e-12)
    if (name, seat) in OPEN_SPIEL:
        assert best == pytest.approx(OPEN_SPIEL[name, seat], abs=1e-12)


def test_it_is_fitted_from_logs_too():
    table, rng = kuhn(BETS_UNIFORM, 0), np.random.default_rng(0)
    logs = [table(lambda key, allowed: int(rng.integers(2)), number) for number in range(4000)]
    assert exact(BETS_UNIFORM, 0, solve_talks(logs).choose) == pytest.approx(0.5, abs=1e-12)


SCENARIOS = terms.fresh_suite(1_000_010, ["overlap"], ["candid"], 10)
HELD_OUT = terms.fresh_suite(2_000_010, ["overlap"], ["candid"], 10)


def test_who_accepts_anything_can_be_taken_for_all_it_has():
    found = exploitability_floor(AcceptAny(), SCENARIOS, HELD_OUT, rng=np.random.default_rng(0), num_plays=300)
    assert found.floor.low > 0.5
    assert found.floor.n == len(HELD_OUT)
    assert found.responses["first"].estimate > found.own["first"].estimate


def test_a_floor_has_an_interval_and_is_higher_for_who_gives_way_faster():
    fast, slow = (
        exploitability_floor(agent, SCENARIOS, HELD_OUT, rng=np.random.default_rng(0), num_plays=400)
        for agent in (FixedConcession(0.5), Patient())
    )
    assert fast.floor.low > 0
    assert fast.responses["second"].estimate > slow.responses["second"].estimate


def test_what_gives_no_bound_is_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="share scenarios"):
        exploitability_floor(AcceptAny(), SCENARIOS, SCENARIOS, rng=rng)
    with pytest.raises(ValueError, match="without a zopa"):
        exploitability_floor(AcceptAny(), terms.fresh_suite(1, ["no_deal"], ["candid"], 1), HELD_OUT, rng=rng)
    with pytest.raises(ValueError, match="num_plays=0"):
        fit_response(kuhn(BETS_UNIFORM, 0), 0, rng=rng)
