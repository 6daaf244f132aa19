from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from oracle.small_games import SmallGame, continuation_value, dual_value, exact_value, greedy_value, random_game
from terms.kernel import sigmoid
from terms.types import Family


def _approximation(game, share, pull):
    """An arbitrary guess inside the proven interval: ``share`` of the expected gain, pulled towards accepting."""

    def guess(k, standing, earlier, belief):
        gain = float(belief @ np.maximum(game.own - np.array(game.reservations), 0.0))
        stop = max(game.own - standing, 0.0)
        return min(max(stop, share * (1 - pull * k / game.horizon) * gain), max(gain, stop))

    return guess


def _check(seeds, **sizes):
    widths = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        game = random_game(rng, **sizes)
        guess = _approximation(game, rng.uniform(0.3, 1.0), rng.uniform(0.0, 0.8))
        low, value, high = greedy_value(game, guess), exact_value(game), dual_value(game, guess)
        assert low <= value + 1e-9
        assert value <= high + 1e-9
        widths.append(high - low)
    return np.array(widths)


def test_bracket_contains_the_exact_value():
    widths = _check(range(40))
    assert (widths > 1e-6).any()


@pytest.mark.slow
def test_bracket_contains_the_exact_value_on_a_thousand_games():
    _check(range(1000))


@pytest.mark.slow
def test_bracket_contains_the_exact_value_of_longer_games():
    _check(range(2000, 2020), horizon=4, num_ticks=4, num_types=2)


@pytest.mark.parametrize("seed", range(6))
def test_bracket_closes_when_the_approximation_is_exact(seed):
    """With V itself as the guess the greedy policy earns V and the dual has no gap (strong duality)."""
    game = random_game(np.random.default_rng(seed))
    value = exact_value(game)
    exact = partial(continuation_value, game)
    assert greedy_value(game, exact) == pytest.approx(value, abs=1e-9)
    assert dual_value(game, exact) == pytest.approx(value, abs=1e-9)


def test_bracket_is_as_wide_as_the_errors_of_the_guess():
    """Errors of at most 0.1 at one inner round can move each side by at most 0.2."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        game = random_game(rng)

        def noisy(k, standing, earlier, belief, *, game=game):
            wave = np.sin(37 * standing + 11 * sum(earlier) + k)
            return continuation_value(game, k, standing, earlier, belief) + 0.1 * wave

        value = exact_value(game)
        assert value - 0.2 <= greedy_value(game, noisy) <= value + 1e-9
        assert value - 1e-9 <= dual_value(game, noisy) <= value + 0.2


def test_two_round_game_by_hand():
    """One type r = 40, own 60, ticks 45 and 55, standing 80: offer now or never; round 2 leaves a quote above 60.

    First offer, no history: P(accept p) = sigmoid(6 (p - 40)/100 + 0.5 - 2 (1 - sqrt(1/2))).
    """
    game = SmallGame(
        ticks=(45.0, 55.0, 80.0), own=60.0, reservations=(40.0,), urgencies=(0.5,), stances=(1,), prior=(1.0,),
        opening=80.0, horizon=2, num_noises=1, family=Family.TACITURN,
    )  # fmt: skip
    clock = 2 * (1 - np.sqrt(0.5))
    gains = [(60 - p) * sigmoid(6 * (p - 40) / 100 + 0.5 - clock) for p in (45.0, 55.0)]
    # lambda = 0.12 + 0.28/2 = 0.26 takes 80 to 69.6, up to the tick 80: accepting then would lose.
    assert exact_value(game) == pytest.approx(max(gains), abs=1e-12)
