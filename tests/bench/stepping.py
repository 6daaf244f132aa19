"""Steps a second of the game as an environment: ``python -m tests.bench.stepping [N]``.

The readable game, the single environment and the compiled batch, without and with exact credit, in one run, because
machines drift. OpenSpiel's
``bargaining`` is played beside them where it is installed (the environment of ``make bench``).
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from itertools import count

import numpy as np

from experiments.adapters.negotiation_batch_env import NegotiationBatchEnv
from experiments.adapters.negotiation_env import CreditForm, NegotiationEnv
from oracle.batch_game import BatchGame, draw_pool
from terms.cells import suite_cells
from terms.game import Game
from terms.suites import fresh_scenario
from terms.types import Offer

SECONDS = 2.0


def rate(step: Callable[[], int]) -> float:
    """Return what ``step`` counts, a second of processor time."""
    step()
    start, done = time.process_time(), 0
    while (spent := time.process_time() - start) < SECONDS:
        done += step()
    return done / spent


def readable() -> Callable[[], int]:
    """Moves of the readable game alone."""
    cells = suite_cells(["overlap"], None)
    scenarios = [fresh_scenario(seed, cell, 0) for seed in range(20) for cell in cells]

    def play() -> int:
        moves = 0
        for scenario in scenarios:
            game, step = Game(scenario), scenario.sign * 0.02 * scenario.price_range
            price = scenario.price_min if scenario.sign > 0 else scenario.price_max
            while not game.is_over:
                price += step
                game.step(Offer(price))
                moves += 1
        return moves

    return play


CELL = {"regimes": ["overlap"], "families": ["candid"]}


def single(credit: CreditForm = "terminal") -> Callable[[], int]:
    """Steps of the single environment, resets included."""
    env = NegotiationEnv(**CELL, credit=credit)
    rng, seeds = np.random.default_rng(0), count()

    def play() -> int:
        env.reset(seed=next(seeds))
        moves, is_over = 0, False
        while not is_over:
            is_over = env.step(int(rng.integers(10, 50)))[2]
            moves += 1
        return moves

    return play


def batched(num_envs: int, credit: CreditForm = "terminal") -> Callable[[], int]:
    """Steps of the vector environment, without those that only begin an episode."""
    envs = NegotiationBatchEnv(num_envs, **CELL, credit=credit)
    envs.reset(seed=0)
    actions = np.random.default_rng(0).integers(10, 50, (64, num_envs))
    turns = count()

    def play() -> int:
        running = envs.running
        envs.step(actions[next(turns) % 64])
        return int(running.sum())

    return play


def compiled(num_games: int) -> Callable[[], int]:
    """Moves of the compiled batch without the framework, ended places begun anew at once."""
    pool = draw_pool(suite_cells(None, None), 16 * num_games, rng=np.random.default_rng(0))
    game = BatchGame(pool, num_games)
    game.begin(np.arange(num_games), np.arange(num_games))
    decision, gain = np.zeros(num_games, dtype=np.int64), np.random.default_rng(1).uniform(0.0, 0.5, num_games)
    dealt = [0]

    def play() -> int:
        at = game.episodes
        game.step(decision, at.own - at.sign * gain * 0.5 * (at.price_max - at.price_min))
        places = np.flatnonzero(~game.running)
        game.begin(places, (dealt[0] + np.arange(len(places))) % pool.num_episodes)
        dealt[0] += len(places)
        return num_games

    return play


def open_spiel() -> Callable[[], int]:
    """Moves of OpenSpiel's ``bargaining``, random ones."""
    import pyspiel

    game, rng = pyspiel.load_game("bargaining"), np.random.default_rng(0)

    def play() -> int:
        state, moves = game.new_initial_state(), 0
        while not state.is_terminal():
            actions = state.legal_actions()
            state.apply_action(actions[int(rng.integers(len(actions)))])
            moves += 1
        return moves

    return play


def main(num: int) -> None:
    """Print a line each."""
    rows = {
        "readable game": readable(),
        "single environment": single(),
        f"vector environment, {num}": batched(num),
        f"compiled batch, {num}": compiled(num),
        "single, exact credit": single("exact"),
        f"vector, exact credit, {num // 8}": batched(num // 8, "exact"),
    }
    if find_spec("pyspiel"):
        rows["OpenSpiel bargaining"] = open_spiel()
    for name, step in rows.items():
        sys.stdout.write(f"{name:26} {rate(step):12,.0f} steps a second\n")
    sys.stdout.write(f"memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4096)
