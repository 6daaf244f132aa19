r"""Fitted value iteration on the exact posterior.

From the last answered round back, the value of continuing is computed without noise by quadrature at sampled beliefs,

.. math:: C_k(I) = \max_p \Big[ A(p)(r_A - p) + E\, \hat V_{k+1}(I') \Big],

and a small net of the belief's summary is fitted to it (one a round). Beliefs are sampled by exploring play: ramps of
belief quantiles, random offers, and in the second pass the play of the first pass's own nets.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from oracle.convergence import ConvergenceError
from oracle.kernels.paths import FALLING, GREEDY, RAMP, RANDOM, Exploration, Paths, explore, regression_rows
from oracle.kernels.planning import CompiledPlanner
from oracle.kernels.value import NUM_FEATURES, Nets
from oracle.model import Model, Priors, build_model, build_priors
from oracle.prior import Grid, Knowledge
from oracle.regression import Net, fit, initial_net, standardised
from terms.aliases import Floats
from terms.draws import Draws, reservations
from terms.noise import CueDraw, Noise

FITTED_GRID = Grid(1.0, 9)


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """Sizes of one training: paths, net width and fitting steps, quadrature nodes, offer grid, belief grid.

    ``tolerance`` is the largest held-out error of any round, in percent of R, with which the result may be used. A
    ``falling_share`` of the paths has offers that go back, and then the search looks there too.
    """

    num_paths: int = 4000
    hidden: int = 16
    steps: int = 20
    num_nodes: int = 8
    offer_step: float = 2.0
    halvings: int = 0
    grid: Grid = FITTED_GRID
    threads: int = 2
    tolerance: float = 0.5
    falling_share: float = 0.0

    @property
    def goes_back(self) -> bool:
        """Whether values hold, and offers are searched, after and below the last own offer."""
        return self.falling_share > 0


@dataclass(frozen=True, slots=True, eq=False)
class FittedValues:
    """Nets of every round with what they were fitted for, and diagnostics of the fit.

    ``rmse`` (rounds + 1,) is the held-out error of each round in percent of R; ``seconds`` the training time;
    ``goes_back`` says that histories with offers that go back were among those fitted.
    """

    knowledge: Knowledge
    grid: Grid
    nets: Nets
    rmse: Floats
    seconds: float
    goes_back: bool = False


def make_planner(
    model: Model, nets: Nets, *, num_nodes: int, step: float, halvings: int, goes_back: bool = False
) -> CompiledPlanner:
    """Return a planner with a Gauss-Legendre rule of ``num_nodes``."""
    nodes, weights = np.polynomial.legendre.leggauss(num_nodes)
    return CompiledPlanner(model, nets, nodes, weights, step, halvings, goes_back)


def empty_nets(horizon: int, hidden: int, inputs: int = NUM_FEATURES) -> Nets:
    """Return nets that value every continuation at 0."""
    return Nets(
        np.zeros((horizon + 1, inputs, hidden)),
        np.zeros((horizon + 1, hidden)),
        np.zeros((horizon + 1, hidden, hidden)),
        np.zeros((horizon + 1, hidden)),
        np.zeros((horizon + 1, hidden)),
        np.zeros(horizon + 1),
    )


def draw_owns(knowledge: Knowledge, num: int, rng: np.random.Generator) -> Floats:
    """Draw canonical own reservations (num,) from the regimes in equal shares."""
    prior = knowledge.config.prior
    owns = np.empty(num)
    for i in range(num):
        regime = knowledge.regimes[i % len(knowledge.regimes)]
        draws = Draws(rng.random(), rng.random(), 0, 0, 0, 0, 0, Noise(0, CueDraw(0, 0), ()))
        owns[i], _ = reservations(regime, draws, prior, *knowledge.frame)
    return owns


def train(
    knowledge: Knowledge, settings: TrainingSettings, *, rng: np.random.Generator, passes: int = 2
) -> FittedValues:
    """Fit the continuation values of ``knowledge``: explore and regress backwards, ``passes`` times."""
    begin = time.perf_counter()
    model = build_model(knowledge, settings.grid)
    horizon = model.rules.horizon
    nets, rmse = empty_nets(horizon, settings.hidden), np.full(horizon + 1, np.nan)
    for number in range(passes):
        is_last = number == passes - 1
        size = settings.num_paths if is_last else settings.num_paths // 3
        planner = make_planner(
            model, nets, num_nodes=settings.num_nodes, step=settings.offer_step, halvings=settings.halvings,
            goes_back=settings.goes_back,
        )  # fmt: skip
        priors = build_priors(knowledge, draw_owns(knowledge, size, rng), settings.grid)
        paths = sample_paths(priors, planner, settings, greedy_share=0.6 if number else 0.0, rng=rng)
        rmse = _regress(priors, paths, planner, settings, rng, warm=number > 0)
    worst = float(np.nanmax(rmse))
    if not worst <= settings.tolerance:
        raise ConvergenceError("fitted value iteration", worst, settings.tolerance)
    return FittedValues(knowledge, settings.grid, nets, rmse, time.perf_counter() - begin, settings.goes_back)


def sample_paths(
    priors: Priors,
    planner: CompiledPlanner,
    settings: TrainingSettings,
    *,
    greedy_share: float,
    rng: np.random.Generator,
    unit: float = 1.0,
) -> Paths:
    """Sample what is seen on exploring paths, half of them opened by the agent.

    ``unit`` is the part of the price range that reservations are laid on: steps of exploring offers are scaled by it.
    """
    n, horizon = len(priors.own), planner.model.rules.horizon
    rising = 1 - settings.falling_share
    other = rising * (1 - greedy_share) / 2
    shares = [other, other, rising * greedy_share, settings.falling_share]
    style = rng.choice([RAMP, RANDOM, GREEDY, FALLING], size=n, p=shares)
    plan = Exploration(style, _exploration(style, rng) * np.array([1, 1, 1, unit]), rng.integers(0, 2, n))
    draws = rng.random((n, horizon, 10))
    draws[:, :, 2] = rng.standard_normal((n, horizon))
    paths = Paths(
        np.full((n, horizon), np.nan), np.full((n, horizon), np.nan), np.full((n, horizon, 2), -1, dtype=np.int64)
    )
    in_threads(lambda span: explore(span, priors, plan, draws, planner, paths), n, settings.threads)
    return paths


def _exploration(style: NDArray[np.int64], rng: np.random.Generator) -> Floats:
    """Draw each path's exploration settings: ramp from, to, power; or noise, hold, power; then the first gap."""
    n = len(style)
    ramp = np.column_stack([rng.uniform(0, 0.3, n), rng.uniform(0.2, 1.0, n), rng.uniform(0.5, 3, n), np.full(n, 40.0)])
    other = np.column_stack([np.full(n, 0.15), rng.uniform(0, 0.9, n), rng.uniform(1, 5, n), rng.uniform(15, 45, n)])
    return np.where((style == RAMP)[:, None], ramp, other)


def _regress(
    priors: Priors,
    paths: Paths,
    planner: CompiledPlanner,
    settings: TrainingSettings,
    rng: np.random.Generator,
    *,
    warm: bool,
) -> Floats:
    """Fit the nets of every round in place, last round first, and return their held-out errors."""
    model, nets, n = planner.model, planner.nets, len(priors.own)
    rmse = np.full(model.rules.horizon + 1, np.nan)
    previous: Net | None = None
    for k in range(model.rules.last_answered, 0, -1):
        x, y = np.zeros((n, NUM_FEATURES)), np.zeros(n)
        work = partial(regression_rows, k=k, priors=priors, paths=paths, planner=planner, x=x, y=y)
        in_threads(work, n, settings.threads)
        used = np.isfinite(y)
        x, y = x[used], y[used]
        own = net_of(nets, k) if warm else previous
        start = initial_net(NUM_FEATURES, settings.hidden, rng) if own is None else standardised(own, x, y)
        result = fit(x, y, start, steps=settings.steps, rng=rng)
        store_net(nets, k, result.net)
        previous, rmse[k] = result.net, result.held_out_rmse
    return rmse


def in_threads(work: Callable[[tuple[int, int]], object], n: int, threads: int) -> None:
    """Run ``work(span)`` over ``range(n)`` in small spans; kernels release the GIL."""
    size = max(1, n // (8 * threads))
    spans = [(start, min(n, start + size)) for start in range(0, n, size)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, spans))


def net_of(nets: Nets, k: int) -> Net:
    """Return the net of round ``k``; its arrays are views."""
    return Net(nets.w1[k], nets.b1[k], nets.w2[k], nets.b2[k], nets.w3[k], np.asarray(nets.b3[k]))


def store_net(nets: Nets, k: int, net: Net) -> None:
    """Write the net of round ``k`` in place."""
    for target, part in zip(nets, net, strict=True):
        target[k] = part
