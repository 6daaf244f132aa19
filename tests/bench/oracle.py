"""Speed of the oracle's compiled parts beside their readable twins, in one run: ``python -m tests.bench.oracle``.

The simulator against :func:`terms.play` on the published suite, and on drawn batches with one and two threads; the
known-type dynamic program against the whole-array NumPy twin of the tests, on one problem and one grid; clairvoyant
values of the published suite; the dual's inner search.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

import terms
from oracle.bounds import inner_maxima
from oracle.clairvoyant import clairvoyant_values
from oracle.kernels.dual import inner_maximum
from oracle.known_type import offer_grid, solve_known_type, solve_on, standing_prices
from oracle.player_registry import build_player
from oracle.relaxation import BracketSettings, draw_episodes
from oracle.shipped import standard_knowledge, values_for
from oracle.simulate import Schedule, draw_batch, simulate, to_batch
from terms.agents.scripted import FixedConcession, Patient, TimeDependent
from terms.cells import suite_cells
from terms.types import Family, Opener, Role
from tests.oracle.dual_twin import Twin, tiny_game, tiny_truth
from tests.oracle.twins import numpy_backward_induction, tiny_problem

REPEATS = 5
NUM_DRAWN = 200_000
SCHEDULE = Schedule(tuple(np.linspace(0.5, 0.0, 10).tolist()))


def _seconds(run: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return the median time of ``run``, the first call left out: it compiles."""
    run()
    samples = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        samples.append(time.perf_counter() - start)
    return statistics.median(samples)


def _print(label: str, text: str) -> None:
    sys.stdout.write(f"{label:52} {text}\n")


def bench_simulator() -> None:
    """Compare the compiled simulator with the readable game and time it on drawn batches."""
    suite = terms.published_suite()
    batch = to_batch(suite)
    readable = _seconds(lambda: [terms.play(scenario, Patient()) for scenario in suite])
    compiled = _seconds(lambda: simulate(batch, Patient()))
    _print(
        "patient, published suite, compiled", f"{len(suite) / compiled:12,.0f} a second, {readable / compiled:.0f} x"
    )
    rng = np.random.default_rng(0)
    cell = suite_cells(["overlap"], ["taciturn"])[0]
    drawn = draw_batch(cell, NUM_DRAWN, rng=rng)
    for agent in (FixedConcession(0.1), TimeDependent(0.2), Patient(), SCHEDULE):
        for threads in (1, 2):
            seconds = _seconds(lambda a=agent, t=threads: simulate(drawn, a, num_threads=t))
            _print(f"{agent.name}, drawn batch, {threads} threads", f"{NUM_DRAWN / seconds:12,.0f} a second")
    seconds = _seconds(lambda: simulate(draw_batch(cell, NUM_DRAWN, rng=rng), Patient(), num_threads=2))
    _print("patient, drawing the batch included", f"{NUM_DRAWN / seconds:12,.0f} a second")


def bench_dynamic_program() -> None:
    """Compare the compiled recursion with the NumPy twin and time the whole published suite."""
    problem = tiny_problem(np.random.default_rng(0), horizon=10)._replace(zopa=30.0)
    offers, prices = offer_grid(problem, 10), standing_prices(problem, 64)
    compiled = _seconds(lambda: solve_on(problem, offers, prices))
    arrays = _seconds(lambda: numpy_backward_induction(problem, offers, prices), repeats=1)
    label = f"known type, {len(offers)} offers, {len(prices)} prices, 10 rounds"
    _print(label, f"{compiled * 1e3:9.1f} ms, NumPy {arrays * 1e3:.0f} ms, {arrays / compiled:.0f} x")
    suite = terms.published_suite()
    for threads in (1, 2):
        solve_known_type.cache_clear()
        start = time.perf_counter()
        clairvoyant_values(suite, num_threads=threads)
        _print(f"clairvoyant values of 1,800 episodes, {threads} threads", f"{time.perf_counter() - start:9.1f} s")


def bench_dual() -> None:
    """Time the dual's inner search at full size, and beside its written-out twin on a tiny game."""
    values, settings = values_for(standard_knowledge("taciturn", "overlap")), BracketSettings()
    drawn = draw_episodes(values.knowledge, Opener.AGENT, Role.BUYER, 10, np.random.default_rng(0))
    start = inner_maxima(values, Opener.AGENT, settings, drawn)  # compiles
    seconds = _seconds(lambda: inner_maxima(values, Opener.AGENT, settings, drawn), repeats=1)
    _print("dual search, ticks of 4 % of R", f"{start[:, 1].sum() / seconds:12,.0f} histories a second")
    rng = np.random.default_rng(1)
    game = tiny_game(rng, horizon=4, family=Family.TACITURN, rows=2, nodes=1, ticks=3)
    truth, stats = tiny_truth(game, (0, 0, 1), rng), np.zeros(3)
    compiled = _seconds(lambda: inner_maximum(game, truth, True, np.zeros(1), stats))
    written = _seconds(lambda: Twin(game, truth).first(game.weights, float("nan")), repeats=1)
    _print(
        "dual search, tiny game", f"{compiled * 1e3:9.2f} ms, NumPy {written * 1e3:.0f} ms, {written / compiled:.0f} x"
    )


def bench_move() -> None:
    """Time a move of ``bayes``: belief update and best move; and the 1,800 published episodes, in processor time."""
    player, suite = build_player("bayes"), terms.published_suite()
    for label, chosen in (("72 episodes", suite[::25]), ("1,800 published episodes", suite)):
        terms.play(chosen[0], player)
        start = time.process_time()
        moves = sum(terms.play(scenario, player).rounds_played for scenario in chosen)
        seconds = time.process_time() - start
        _print(f"bayes, {label}", f"{1e3 * seconds / moves:9.2f} ms a move, {seconds:.1f} s of processor time")


if __name__ == "__main__":
    bench_move()
    bench_simulator()
    bench_dynamic_program()
    bench_dual()
