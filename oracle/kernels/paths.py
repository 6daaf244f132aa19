r"""Whole episodes with the exact belief: sampled information states, regression targets, and the planner at play.

Exploration draws the counterpart's type afresh from the belief that survives each offer, so a path never ends early
and still has the law of the game given that nobody has closed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from oracle.kernels.belief import (
    TOP,
    conceded,
    cut_cells,
    logit_factors,
    past_of,
    posture_law,
    rates,
    row_weight,
    survive,
    total_weight,
    update_belief,
)
from oracle.kernels.compiling import inline, kernel
from oracle.kernels.formulas import counter_offer, opening_price
from oracle.kernels.planning import CompiledPlanner, State, best_offer, state_features
from oracle.model import Model, Priors
from terms.aliases import Floats, Ints

RAMP, RANDOM, GREEDY, FALLING = range(4)


class Paths(NamedTuple):
    """What was seen on each path: ``quotes[:, k]`` stands in round k + 1, or is nan. Cues: (sentiment, posture)."""

    offers: Floats  # (n, K)
    quotes: Floats  # (n, K)
    cues: Ints  # (n, K, 2)


class Exploration(NamedTuple):
    """How paths explore: ``style`` (n,), ``settings`` (n, 4), ``agent_opens`` (n,)."""

    style: Ints
    settings: Floats
    agent_opens: Ints


@inline
def pick_index(row: Floats, uniform: float) -> int:
    """Return the index whose cumulative probability first exceeds ``uniform``."""
    running = 0.0
    for i in range(row.shape[0]):
        running += row[i]
        if uniform < running:
            return i
    return len(row) - 1


@inline
def draw_type(weights: Floats, low: Floats, top: Floats, uniform: float, inside: float) -> tuple[float, int, int]:
    """Return (r, group, node) drawn from ``weights``, which need not be normalised."""
    target, running = uniform * total_weight(weights), 0.0
    last = (0, 0, 0)
    for i in range(weights.shape[0]):
        for g in range(weights.shape[1]):
            for n in range(weights.shape[2]):
                if weights[i, g, n] > 0.0:
                    running += weights[i, g, n]
                    last = (i, g, n)
                    if running > target:
                        return float(low[i] + inside * (top[i] - low[i])), g, n
    i, g, n = last
    return float(low[i] + inside * (top[i] - low[i])), g, n


@inline
def cue_with_answer(k: int, g: int, share: float, draws: Floats, model: Model) -> tuple[int, int]:
    """Return the cue that comes with the answer to round ``k``, ``share`` of the distance conceded."""
    law = np.empty(3)
    posture_law(share, math.sqrt(k / model.rules.horizon), g, model, law)
    return pick_index(model.columns.sentiment[g], draws[0]), pick_index(law, draws[1])


@inline
def _answer(state: State, k: int, offer: float, draws: Floats, model: Model) -> tuple[float, tuple[int, int]]:
    """Draw a price and cue from the belief's own law after ``offer`` has survived (``k`` = 0: an opening)."""
    shape = state.weights.shape
    low, top, kept = np.empty(shape[0]), np.empty(shape[0]), state.weights.copy()
    cut_cells(state.low, state.high, state.standing, low, top)
    rate = np.empty((shape[1], shape[2]))
    past = past_of(state.offers, state.offers.shape[0], model.rules)
    if k > 0:
        logit_factors(model, k, past, rate)
        survive(state.weights, low, top, offer, k, rate, model.rules, kept)
    rates(model, past.magnitude, rate)
    r, g, n = draw_type(kept, low, top, draws[0], draws[1])
    rules, columns = model
    if state.opened:
        price = counter_offer(state.standing, r, rate[g, n], draws[2] * columns.noise_sd[g], 1)
    else:
        harshness = rules.harshness_low + (rules.harshness_high - rules.harshness_low) * draws[3]
        price = opening_price(r, TOP, harshness, columns.opening_scale[g, n], draws[2] * rules.opening_sd, 1)
    return price, cue_with_answer(k, g, conceded(price, state.standing, state.opened, r), draws[4:], model)


@inline
def _explore(state: State, style: int, settings: Floats, draws: Floats, planner: CompiledPlanner) -> float:
    """Return an exploring offer: a ramp of belief quantiles, a random rise, or the planner's with noise or falls."""
    own, count = state.own, state.offers.shape[0]
    ceiling = min(own, state.standing) if state.opened else own
    last = float(state.offers[count - 1]) if count > 0 else max(0.0, own - float(settings[3]))
    if style >= GREEDY and draws[0] > settings[0]:
        price, _ = best_offer(state, planner)
        return price if not math.isnan(price) else last
    if style == FALLING and count > 0:
        return float(max(0.0, last - settings[3] * draws[1]))
    if style == RAMP:
        share = settings[0] + (settings[1] - settings[0]) * ((state.round - 1) / 8.0) ** settings[2]
        running, price = 0.0, ceiling
        for i in range(state.low.shape[0]):
            running += row_weight(state.weights[i])
            if running >= share:
                price = min(state.high[i], ceiling)
                break
        return float(max(last, price))
    if count > 0 and draws[1] < settings[1]:
        return last
    return float(max(last, last + (ceiling - last) * draws[2] ** settings[2]))


@inline
def state_at(weights: Floats, index: int, k: int, priors: Priors, standing: float, offers: Floats) -> State:
    """Assemble the state of round ``k``; nan stands for no price."""
    opened = not math.isnan(standing)
    place = standing if opened else TOP
    return State(weights, priors.low[index], priors.high[index], priors.own[index], offers[: k - 1], k, place, opened)


@inline
def fresh_weights(priors: Priors, index: int) -> Floats:
    """Return the prior of one path with an empty atom."""
    rows, groups, nodes = priors.weights[index].shape
    weights = np.zeros((rows + 1, groups, nodes))
    for i in range(rows):
        for g in range(groups):
            for n in range(nodes):
                weights[i, g, n] = priors.weights[index, i, g, n]
    return weights


@kernel
def explore(
    span: tuple[int, int], priors: Priors, plan: Exploration, draws: Floats, planner: CompiledPlanner, paths: Paths
) -> None:
    """Write the paths of ``span``; of ``draws`` (n, K, 10), 0-5 feed the counterpart (2 is normal), 6-8 exploration."""
    model = planner.model
    for i in range(span[0], span[1]):
        weights, offers = fresh_weights(priors, i), paths.offers[i]
        if plan.agent_opens[i] == 0:
            state = state_at(weights, i, 1, priors, np.nan, offers)
            price, cue = _answer(state, 0, 0.0, draws[i, 0], model)
            _record(paths, i, 0, price, cue)
            update_belief(weights, state.low, state.high, offers[:0], 0, (price, TOP, False), cue, model)
        for k in range(1, model.rules.horizon):
            state = state_at(weights, i, k, priors, paths.quotes[i, k - 1], offers)
            offers[k - 1] = _explore(state, plan.style[i], plan.settings[i], draws[i, k, 6:], planner)
            price, cue = _answer(state, k, offers[k - 1], draws[i, k], model)
            _record(paths, i, k, price, cue)
            update_belief(
                weights, state.low, state.high, offers[:k], k, (price, state.standing, state.opened), cue, model
            )


@inline
def _record(paths: Paths, i: int, k: int, price: float, cue: tuple[int, int]) -> None:
    paths.quotes[i, k] = price
    paths.cues[i, k, 0], paths.cues[i, k, 1] = cue


@inline
def path_belief(i: int, last: int, priors: Priors, paths: Paths, model: Model) -> Floats:
    """Return the belief of path ``i`` in round ``last``."""
    weights = fresh_weights(priors, i)
    for k in range(last):
        if math.isnan(paths.quotes[i, k]):
            continue
        standing = paths.quotes[i, k - 1] if k > 0 else np.nan
        opened = not math.isnan(standing)
        quote = (paths.quotes[i, k], standing if opened else TOP, opened)
        cue = (paths.cues[i, k, 0], paths.cues[i, k, 1])
        update_belief(weights, priors.low[i], priors.high[i], paths.offers[i, :k], k, quote, cue, model)
    return weights


@kernel
def regression_rows(span: tuple[int, int], k: int, priors: Priors, paths: Paths, planner: CompiledPlanner, x: Floats, y: Floats) -> None:  # fmt: skip  # noqa: PLR0913, E501
    """Write the features of round ``k`` on each path of ``span`` and ``max_p Q_k``, nan where no price stands."""
    for i in range(span[0], span[1]):
        standing = paths.quotes[i, k - 1]
        if math.isnan(standing):
            y[i] = np.nan
            continue
        weights = path_belief(i, k, priors, paths, planner.model)
        state = state_at(weights, i, k, priors, standing, paths.offers[i])
        state_features(state, planner.model, x[i])
        _, value = best_offer(state, planner)
        y[i] = value


@inline
def best_move(state: State, planner: CompiledPlanner) -> tuple[int, float, float]:
    """Return (0 accept, 1 offer, 2 reject; price; value). Ties go to accepting, then to leaving."""
    price, value = best_offer(state, planner)
    gain = state.own - state.standing if state.opened else -1.0
    if gain >= max(value, 0.0):
        return 0, state.standing, gain
    if math.isnan(price) or value <= 1e-9:
        return 2, 0.0, 0.0
    return 1, price, value


@kernel
def decide_once(state: State, planner: CompiledPlanner) -> tuple[int, float, float]:
    """Return the planner's decision in one state (see :func:`best_move`)."""
    return best_move(state, planner)
