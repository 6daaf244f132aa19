"""Speed of the ruin-aware dynamic program: ``python -m tests.bench.ruin``.

The compiled recursion beside a NumPy twin that convolves law by law, on the session of the published size (50 periods,
four classes, the full menu) with laws of random outcomes; the known-type stage at three resolutions.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

from commerce.bankroll import BankrollConfig
from commerce.economics import SESSION_ECONOMICS, ChainConfig, build_chain, unit_economics
from oracle.bankroll.known_supplier import StageGrid, identity, stage_of, stage_value
from oracle.bankroll.menu import CLASSES, PLANS, PlanOutcomes, build_problem
from oracle.bankroll.problem import RuinProblem
from oracle.bankroll.ruin import lattice_of, num_nodes, risk_neutral, solve_ruin, value_policy

RULES = BankrollConfig()
NUM_SUPPLIERS = 600


def _seconds(run: Callable[[], object], repeats: int = 5) -> float:
    """Return the median time of ``run``, the first call left out: it compiles."""
    run()
    samples = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        samples.append(time.perf_counter() - start)
    return statistics.median(samples)


def sampled_problem(step_cents: int) -> RuinProblem:
    """Return a session with the sizes of the real one."""
    rng = np.random.default_rng(0)
    shape = (len(CLASSES), len(PLANS), NUM_SUPPLIERS, 1)
    deal = rng.random(shape) < 0.77
    net = np.where(deal, rng.integers(-500, 3600, shape), rng.integers(-1800, -600, shape))
    return build_problem(
        PlanOutcomes(net, np.ones(shape, dtype=bool), np.zeros(shape[2:])), RULES, step_cents=step_cents
    )


def numpy_values(problem: RuinProblem) -> np.ndarray:
    """Return the values before the first period (classes, nodes) by whole-array convolutions: the slow twin."""
    lattice, size = lattice_of(problem), num_nodes(problem)
    tops, _ = risk_neutral(problem)
    cash = problem.threshold_cents + problem.step_cents * np.arange(-lattice.below, size + lattice.above)
    values = np.tile(cash[lattice.below : lattice.below + size], (len(problem.classes), 1)).astype(float)
    width = lattice.below + lattice.above + 1
    for t in range(problem.horizon - 1, -1, -1):
        ahead = np.tile(cash.astype(float), (len(problem.classes), 1))
        ahead[:, lattice.below : lattice.below + size] = problem.transitions[t] @ values
        ahead[:, lattice.below + size :] += (problem.transitions[t] @ tops[t + 1])[:, None]
        values = np.full_like(values, -np.inf)
        for (m, _), law in problem.laws.items():
            worth = np.zeros(size)
            for posted in np.unique(law.posted):
                weights = np.zeros(width)
                here = law.posted == posted
                weights[law.change[here] + lattice.below] = law.prob[here]
                worth += np.correlate(ahead[posted], weights, mode="valid")
            values[m] = np.maximum(values[m], worth)
    return values


def bench_program() -> None:
    """Compare the recursion with its twin, and time solving and valuing a policy."""
    for step in (100, 50, 25):
        problem = sampled_problem(step)
        found = solve_ruin(problem)
        compiled = _seconds(lambda p=problem: solve_ruin(p), repeats=3)
        valued = _seconds(lambda p=problem, f=found: value_policy(p, f.policy), repeats=3)
        start = time.perf_counter()
        twin = numpy_values(problem)
        arrays = time.perf_counter() - start
        worst = float(np.abs(twin - found.values[0]).max())
        sys.stdout.write(
            f"step {step:3d} cents, {found.values.shape[2]:5d} nodes: solve {compiled:6.2f} s, value a policy "
            f"{valued:5.2f} s, NumPy {arrays:6.2f} s, {arrays / compiled:4.1f} x; they differ by {worst:.1e} cents\n"
        )


def bench_stage() -> None:
    """Time the known-type stage."""
    scenarios = build_chain(0, ChainConfig(), RULES).scenarios
    stages = [stage_of(each, unit_economics(each, SESSION_ECONOMICS)) for each in scenarios]
    for grid in (StageGrid(5, 16), StageGrid(8, 24), StageGrid(12, 48)):
        seconds = _seconds(lambda g=grid: [stage_value(stage, 1e6, RULES, identity, g) for stage in stages], repeats=3)
        mean = np.mean([stage_value(stage, 1e6, RULES, identity, grid) for stage in stages]) - 1e6
        sys.stdout.write(
            f"known type, {grid.num_offers:2d} offers, {grid.num_prices} prices: {1e3 * seconds / len(stages):6.2f} ms "
            f"a stage, mean net {mean / 100:.3f} dollars\n"
        )


if __name__ == "__main__":
    bench_program()
    bench_stage()
