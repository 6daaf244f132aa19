r"""Fitted values for any price frame: the items of a catalogue share one fit a family.

On a catalogue reservations are laid on a part ``(l, s)`` of the price range, another one for every item. The value of
a belief does not depend on how the belief came about, so one net a round, fitted to beliefs of many frames and of
every released prior, serves them all. With ``u = s / 100`` and the summary ``x`` of a belief it reads

.. math:: z = (x,\ x_P / u,\ x_S / \sqrt{u},\ x_S / u,\ \log u), \qquad V = u\, f(z),

where ``P`` are distances inside the frame and ``S`` those to the standing price, which may lie far outside. ``z`` is
linear in ``x`` for a given frame: :func:`on_frame` folds it into the first layer, and what is played with is an
ordinary net.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from oracle.convergence import ConvergenceError
from oracle.fitted import TrainingSettings, draw_owns, empty_nets, make_planner, net_of, sample_paths, store_net
from oracle.kernels.paths import Paths, regression_rows
from oracle.kernels.planning import CompiledPlanner
from oracle.kernels.value import NUM_FEATURES, Nets
from oracle.model import Priors, build_model, build_priors
from oracle.prior import RELEASED_REGIMES, SCALE, Knowledge, unit_of
from oracle.regression import Net, fit, initial_net, standardised
from terms.aliases import Floats
from terms.types import Regime

_INSIDE = (2, 3, 4, 5, 17, 18, 19, 20, 21, 22, 23)
"""Features that are distances inside the frame."""
_TO_STANDING = (1, 24)
"""Features that are distances to the standing price."""
NUM_INPUTS = NUM_FEATURES + len(_INSIDE) + 2 * len(_TO_STANDING) + 1
SMALLEST = 0.2
"""Narrowest frame that is fitted, percent of the price range; on a narrower one the net reads this width."""
_PRIORS: tuple[tuple[Regime, ...], ...] = ((Regime.OVERLAP,), (Regime.URGENCY_SHIFT,), RELEASED_REGIMES)


class FramedFit(NamedTuple):
    """Nets of every round that read ``z``, their held-out errors (rounds + 1,) in percent of the frame, and seconds."""

    nets: Nets
    rmse: Floats
    seconds: float


class _Batch(NamedTuple):
    """Paths on one frame, and the planner whose nets are those of the frame."""

    unit: float
    priors: Priors
    paths: Paths
    planner: CompiledPlanner


def inputs_of(x: Floats, unit: float) -> Floats:
    """Return ``z`` (n, inputs) of rows of features ``x`` (n, features) on a frame of width ``unit``."""
    matrix, constant = _reading(unit)
    return x @ matrix + constant


def on_frame(nets: Nets, unit: float) -> Nets:
    """Return the nets of one frame: they read plain features and give values in percent of the price range."""
    matrix, constant = _reading(unit)
    return Nets(
        np.ascontiguousarray(np.einsum("fz,kzh->kfh", matrix, nets.w1)),
        nets.b1 + np.einsum("z,kzh->kh", constant, nets.w1),
        nets.w2.copy(),
        nets.b2.copy(),
        nets.w3 * unit,
        nets.b3 * unit,
    )


def fit_frames(
    knowledge: Knowledge, settings: TrainingSettings, *, num_frames: int, rng: np.random.Generator, passes: int = 2
) -> FramedFit:
    """Fit values for the families and rules of ``knowledge`` on frames of every width and place.

    Raises
    ------
    ConvergenceError
        If the worst held-out error exceeds ``settings.tolerance``, in percent of the frame.
    """
    begin = time.perf_counter()
    horizon = knowledge.config.horizon
    nets, rmse = empty_nets(horizon, settings.hidden, NUM_INPUTS), np.full(horizon + 1, np.nan)
    for number in range(passes):
        size = settings.num_paths if number == passes - 1 else settings.num_paths // 3
        told = [_drawn_frame(knowledge, i, rng) for i in range(num_frames)]
        seeds = rng.spawn(num_frames)
        greedy = 0.6 if number else 0.0
        each = max(2, size // num_frames)

        def sampled(pair: tuple[Knowledge, np.random.Generator], each: int = each, greedy: float = greedy) -> _Batch:
            return _sample(pair[0], settings, nets, each, greedy, pair[1])

        with ThreadPoolExecutor(settings.threads) as pool:
            batches = list(pool.map(sampled, zip(told, seeds, strict=True)))
        rmse = _fit_backwards(batches, nets, settings, rng, warm=number > 0)
    worst = float(np.nanmax(rmse))
    if not worst <= settings.tolerance:
        raise ConvergenceError("fitted value iteration on frames", worst, settings.tolerance)
    return FramedFit(nets, rmse, time.perf_counter() - begin)


def _reading(unit: float) -> tuple[Floats, Floats]:
    """Return the matrix (features, inputs) and the constant (inputs,) that make ``z`` of ``x``."""
    unit = max(unit, SMALLEST / SCALE)
    matrix = np.zeros((NUM_FEATURES, NUM_INPUTS))
    matrix[:, :NUM_FEATURES] = np.eye(NUM_FEATURES)
    place = NUM_FEATURES
    for features, factor in ((_INSIDE, 1 / unit), (_TO_STANDING, unit**-0.5), (_TO_STANDING, 1 / unit)):
        for feature in features:
            matrix[feature, place] = factor
            place += 1
    constant = np.zeros(NUM_INPUTS)
    constant[-1] = np.log(unit)
    return matrix, constant


def _drawn_frame(knowledge: Knowledge, number: int, rng: np.random.Generator) -> Knowledge:
    """Draw a frame, narrow ones as often as wide ones and most near an end of the range, as those of catalogues."""
    scale = SCALE * (SMALLEST / SCALE) ** rng.random()
    low = (SCALE - scale) * rng.beta(0.5, 0.5)
    return replace(knowledge, regimes=_PRIORS[number % len(_PRIORS)], frame=(low, scale), objective="utility")


def _sample(
    knowledge: Knowledge, settings: TrainingSettings, nets: Nets, num: int, greedy: float, rng: np.random.Generator
) -> _Batch:
    unit = unit_of(knowledge)
    planner = make_planner(
        build_model(knowledge, settings.grid), on_frame(nets, unit), num_nodes=settings.num_nodes,
        step=settings.offer_step * unit, halvings=settings.halvings, goes_back=settings.goes_back,
    )  # fmt: skip
    priors = build_priors(knowledge, draw_owns(knowledge, num, rng), settings.grid)
    one_thread = replace(settings, threads=1)
    paths = sample_paths(priors, planner, one_thread, greedy_share=greedy, rng=rng, unit=unit)
    return _Batch(unit, priors, paths, planner)


def _fit_backwards(
    batches: list[_Batch], nets: Nets, settings: TrainingSettings, rng: np.random.Generator, *, warm: bool
) -> Floats:
    """Fit the nets of every round in place, last round first, and return their held-out errors."""
    rules = batches[0].planner.model.rules
    rmse = np.full(rules.horizon + 1, np.nan)
    previous: Net | None = None
    for k in range(rules.last_answered, 0, -1):

        def rows(batch: _Batch, k: int = k) -> tuple[Floats, Floats]:
            n = len(batch.priors.own)
            x, y = np.zeros((n, NUM_FEATURES)), np.zeros(n)
            regression_rows((0, n), k, batch.priors, batch.paths, batch.planner, x, y)
            used = np.isfinite(y)
            return inputs_of(x[used], batch.unit), y[used] / batch.unit

        with ThreadPoolExecutor(settings.threads) as pool:
            found = list(pool.map(rows, batches))
        z, y = np.concatenate([each[0] for each in found]), np.concatenate([each[1] for each in found])
        own = net_of(nets, k) if warm else previous
        start = initial_net(NUM_INPUTS, settings.hidden, rng) if own is None else standardised(own, z, y)
        result = fit(z, y, start, steps=settings.steps, rng=rng)
        store_net(nets, k, result.net)
        for batch in batches:
            for target, part in zip(batch.planner.nets, on_frame(nets, batch.unit), strict=True):
                target[k] = part[k]
        previous, rmse[k] = result.net, result.held_out_rmse
    return rmse
