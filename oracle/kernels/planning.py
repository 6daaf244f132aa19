r"""One-step lookahead on the exact belief: action values, the best offer, and what the counterpart may answer.

.. math::
    Q_k(I, p) = A(p) (r_A - p) + \sum_j w_j f(b'_j)\, E_{cue} V_{k+1}(I'_j) + P(held)\, E_{cue} V_{k+1}(I'_{held}).

The concession rate depends on the offers *before* the current one, so the likelihood of every possible next price is
computed once a decision and serves all offers. Quadrature masses are rescaled to the mass that survives the offer.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from oracle.kernels.belief import (
    TOP,
    OfferFeatures,
    ceiling_law,
    conceded,
    cut_cells,
    held_law,
    logit_factors,
    move_law,
    opening_law,
    past_of,
    posture_law,
    rates,
    row_weight,
    survive,
)
from oracle.kernels.compiling import inline, kernel
from oracle.kernels.value import NUM_FEATURES, Marginals, Nets, bounded_value, features, net_value
from oracle.model import Model
from terms.aliases import Floats, Ints

_SMALL_PART = 0.2
_DROPS = 5
"""How many steps below every reservation offers are searched that go back."""


class State(NamedTuple):
    """The agent's information at its move; ``standing`` is 100 while nothing stands, ``opened`` then false."""

    weights: Floats
    low: Floats
    high: Floats
    own: float
    offers: Floats
    round: int
    standing: float
    opened: bool


class CompiledPlanner(NamedTuple):
    """What a decision is computed with: the game, the fitted nets, and how finely it searches.

    ``nodes``, ``node_weights`` are a Gauss-Legendre rule on [-1, 1]; ``step`` is the coarse offer grid and
    ``halvings`` how often it is halved around the best offer; ``goes_back`` also searches below the last own offer.
    """

    model: Model
    nets: Nets
    nodes: Floats
    node_weights: Floats
    step: float
    halvings: int
    goes_back: bool


class Outlook(NamedTuple):
    """Everything about the next answer that does not depend on the offer.

    ``law`` (branches, groups, nodes, rows + 1) is the likelihood times the quadrature weight of every next price; the
    last branch is the point mass (held, or an opening at 100). ``source`` is the row that feeds the new atom, -1 for
    none, rows for no change.
    """

    low: Floats
    top: Floats
    rate: Floats
    factors: Floats
    prices: Floats
    law: Floats
    source: Ints
    posture: Floats  # (branches, 3, groups, rows + 1)


@inline
def _interval(state: State, low: Floats, top: Floats, rate: Floats, model: Model) -> tuple[float, float, float]:
    """Return where the next price can lie: the support, cut at 4.5 standard deviations around its mean; and its cut.

    Up to the highest possible reservation a price can be the counterpart's last. Where that part of the interval is
    small, a rule over the whole would step over it, and it gets a rule of its own; else the cut is the right end.
    """
    weights = state.weights
    rows = low.shape[0] - 1
    bottom, peak = state.standing, 0.0
    mean, square = 0.0, 0.0
    for i in range(rows + 1):
        middle = (low[i] + top[i]) / 2
        for g in range(rate.shape[0]):
            variance = model.columns.noise_sd[g] ** 2
            for n in range(rate.shape[1]):
                weight = weights[i, g, n]
                if weight > 0.0:
                    bottom, peak = min(bottom, low[i]), max(peak, top[i])
                    candidate = state.standing - rate[g, n] * (state.standing - middle)
                    mean += weight * candidate
                    square += weight * (candidate * candidate + variance)
    if not state.opened:
        far = model.rules.harshness_high * model.columns.opening_scale.max()
        left, right = bottom, min(TOP, peak + far * (TOP - peak) + 4.5 * model.rules.opening_sd)
    else:
        spread = 4.5 * math.sqrt(max(square - mean * mean, 0.0))
        left, right = max(bottom, mean - spread), min(state.standing, mean + spread)
    return left, right, (peak if 0.0 < peak - left < _SMALL_PART * (right - left) else right)


@kernel
def look_ahead(state: State, planner: CompiledPlanner) -> Outlook:
    """Compute the likelihood of every next price once, for all offers of this decision."""
    model = planner.model
    rows, groups, nodes = state.weights.shape
    low, top = np.empty(rows), np.empty(rows)
    cut_cells(state.low, state.high, state.standing, low, top)
    past = past_of(state.offers, state.offers.shape[0], model.rules)
    rate, factors = np.empty((groups, nodes)), np.empty((groups, nodes))
    rates(model, past.magnitude, rate)
    logit_factors(model, state.round, past, factors)
    left, right, cut = _interval(state, low, top, rate, model)
    rule = planner.nodes.shape[0]
    size = 2 * rule if cut < right else rule
    prices, source = np.empty(size + 1), np.empty(size + 1, dtype=np.int64)
    law = np.empty((size + 1, groups, nodes, rows))
    one = np.empty((rows, groups, nodes))
    for j in range(size + 1):
        scale = 1.0
        if j < size:
            start, width = (left, cut - left) if j < rule else (cut, right - cut)
            prices[j] = start + width * (planner.nodes[j % rule] + 1.0) / 2
            scale = planner.node_weights[j % rule] * width / 2
            if state.opened:
                source[j] = move_law(prices[j], state.standing, low, top, rate, model.columns.noise_sd, 0.0, one)
            else:
                source[j] = opening_law(prices[j], low, top, model, one)
        else:
            prices[j], source[j] = (state.standing if state.opened else TOP), rows - 1
            if state.opened:
                held_law(state.standing, low, top, rate, model.columns.noise_sd, one)
            else:
                ceiling_law(low, top, model, one)
        for i in range(rows):
            for g in range(groups):
                for n in range(nodes):
                    law[j, g, n, i] = one[i, g, n] * scale
    posture = _postures(state, low, top, prices, model)
    return Outlook(low, top, rate, factors, prices, law, source, posture)


@inline
def _postures(state: State, low: Floats, top: Floats, prices: Floats, model: Model) -> Floats:
    groups, rows = model.columns.rho.shape[0], low.shape[0]
    if model.columns.num_cues == 1:
        return np.ones((1, 3, groups, rows))
    out, law = np.empty((prices.shape[0], 3, groups, rows)), np.empty(3)
    elapsed = math.sqrt(state.round / model.rules.horizon)
    for j in range(prices.shape[0]):
        for i in range(rows):
            r = prices[j] if i == rows - 1 else (low[i] + max(low[i], min(top[i], prices[j]))) / 2
            share = conceded(prices[j], state.standing, state.opened, min(r, prices[j]))
            for g in range(groups):
                posture_law(share, elapsed, g, model, law)
                for t in range(3):
                    out[j, t, g, i] = law[t]
    return out


@inline
def _sum_urgency(weights: Floats, law: Floats, source: int, rate: Floats, urgency: Floats, sums: Marginals) -> float:
    """Write the marginals of ``weights * law`` (groups, nodes, rows) and return the mass; ``source`` feeds the atom."""
    groups, nodes, rows = weights.shape
    total = 0.0
    for g in range(groups):
        for i in range(rows):
            sums.mass[g, i] = sums.rate[g, i] = sums.rate_squared[g, i] = sums.urgency[g, i] = 0.0
        for n in range(nodes):
            lam, kappa = rate[g, n], urgency[n]
            for i in range(rows):
                weight = weights[g, n, i] * law[g, n, i]
                sums.mass[g, i] += weight
                sums.rate[g, i] += lam * weight
                sums.rate_squared[g, i] += lam * lam * weight
                sums.urgency[g, i] += kappa * weight
            if source != rows - 1:  # the loop took the old atom's weight; a new atom is fed by its cell
                feed = weights[g, n, source] if source >= 0 else 0.0
                weight = (feed - weights[g, n, rows - 1]) * law[g, n, rows - 1]
                sums.mass[g, rows - 1] += weight
                sums.rate[g, rows - 1] += lam * weight
                sums.rate_squared[g, rows - 1] += lam * lam * weight
                sums.urgency[g, rows - 1] += kappa * weight
        for i in range(rows):
            total += sums.mass[g, i]
    return total


@inline
def action_value(price: float, with_cues: bool, state: State, outlook: Outlook, planner: CompiledPlanner) -> float:
    """Return ``Q_k(I, price)``; without cues the next cue is taken to tell nothing."""
    model = planner.model
    rows, groups, nodes = state.weights.shape
    k, own = state.round, state.own
    kept = np.empty((rows, groups, nodes))
    accepted = survive(state.weights, outlook.low, outlook.top, price, k, outlook.factors, model.rules, kept)
    gain = accepted * (own - price)
    if k >= model.rules.horizon:
        return gain
    alive = 0.0
    turned = np.empty((groups, nodes, rows))
    for i in range(rows):
        for g in range(groups):
            for n in range(nodes):
                turned[g, n, i] = kept[i, g, n]
                alive += kept[i, g, n]
    offers = np.empty(state.offers.shape[0] + 1)
    for i in range(state.offers.shape[0]):
        offers[i] = state.offers[i]
    offers[state.offers.shape[0]] = price
    past = past_of(offers, offers.shape[0], model.rules)
    rate = np.empty((groups, nodes))
    rates(model, past.magnitude, rate)
    sums = Marginals(
        np.empty((groups, rows)), np.empty((groups, rows)), np.empty((groups, rows)), np.empty((groups, rows))
    )
    reached, value = 0.0, 0.0
    for j in range(outlook.prices.shape[0]):
        mass = _sum_urgency(turned, outlook.law[j], outlook.source[j], rate, model.columns.urgency, sums)
        reached += mass
        if mass < 1e-12:
            continue
        standing = outlook.prices[j]
        if k + 1 > model.rules.last_answered:
            value += mass * max(own - standing, 0.0)
            continue
        place = (own, standing, price, past)
        value += _branch_value(sums, j, with_cues and model.columns.num_cues > 1, place, k + 1, outlook, planner)
    return gain + (value * alive / reached if reached > 0.0 else 0.0)


@inline
def _branch_value(sums: Marginals, j: int, with_cues: bool, place: tuple[float, float, float, OfferFeatures], k: int, outlook: Outlook, planner: CompiledPlanner) -> float:  # fmt: skip  # noqa: PLR0913, E501
    """Return mass times value of one next price, summed over its cues."""
    groups, rows = sums.mass.shape
    columns = planner.model.columns
    factor, x = np.ones((groups, rows)), np.empty(NUM_FEATURES)
    hidden = planner.nets.b1.shape[1]
    first, second = np.empty(hidden), np.empty(hidden)
    value = 0.0
    for sentiment in range(3 if with_cues else 1):
        for posture in range(3 if with_cues else 1):
            if with_cues:
                for g in range(groups):
                    for i in range(rows):
                        factor[g, i] = columns.sentiment[g, sentiment] * outlook.posture[j, posture, g, i]
            mass = features(sums, factor, outlook.low, outlook.top, columns.stance, place, x)
            if mass > 1e-13:
                fitted = net_value(x, k, planner.nets, first, second)
                value += mass * bounded_value(fitted, place[0], place[1], True, 10 * x[5])
    return value


@kernel
def best_offer(state: State, planner: CompiledPlanner) -> tuple[float, float]:
    """Return the best offer and its ``Q``; ties go to the lower offer. ``(nan, 0)`` if no offer can be rational.

    Offers never pass the own reservation, and never fall below the last one unless the planner searches there too. The
    grid hangs on the own reservation.
    """
    if state.round > planner.model.rules.last_answered:
        return np.nan, 0.0
    outlook = look_ahead(state, planner)
    count, step = state.offers.shape[0], planner.step
    bottom = state.offers[count - 1] if count > 0 else max(0.0, _lowest(state) - step)
    if planner.goes_back and count > 0:
        bottom = min(bottom, max(0.0, _lowest(state) - _DROPS * step))
    if bottom > state.own:
        return np.nan, 0.0
    ceiling = max(bottom, min(state.own, state.standing) if state.opened else state.own)
    best, value = bottom, -1.0
    index = math.floor((state.own - bottom) / step - 1e-9) + 1
    price = bottom
    while index >= 0 and price <= ceiling:
        q = action_value(price, False, state, outlook, planner)
        if q > value + 1e-12:
            best, value = price, q
        index -= 1
        price = state.own - index * step
    return _refine(best, value, (bottom, ceiling), state, outlook, planner)


@inline
def _refine(best: float, value: float, limits: tuple[float, float], state: State, outlook: Outlook, planner: CompiledPlanner) -> tuple[float, float]:  # fmt: skip  # noqa: E501
    """Halve the grid around the best offer, now with cues; the best offer so far is valued again if cues may tell."""
    width, centre = planner.step, best
    if planner.model.columns.num_cues > 1:
        value = -1.0
    for trial in range(1 + 2 * planner.halvings):
        if trial == 0:
            price = best
        else:
            if trial % 2 == 1:
                width, centre = width / 2, best
            price = min(limits[1], max(limits[0], centre + (width if trial % 2 == 0 else -width)))
        if price == centre and value >= 0.0:
            continue
        q = action_value(price, True, state, outlook, planner)
        if q > value + 1e-12:
            best, value = price, q
    return best, value


@inline
def _lowest(state: State) -> float:
    """Return the lowest reservation that has weight."""
    for i in range(state.low.shape[0]):
        if row_weight(state.weights[i]) > 0.0:
            return float(state.low[i])
    return state.standing


@kernel
def offer_values(prices: Floats, state: State, planner: CompiledPlanner, out: Floats) -> None:
    """Write ``Q`` of each of ``prices``, cues included."""
    outlook = look_ahead(state, planner)
    for i in range(prices.shape[0]):
        out[i] = action_value(prices[i], True, state, outlook, planner)


@inline
def state_features(state: State, model: Model, out: Floats) -> None:
    """Write the features of the agent's own state."""
    rows, groups, nodes = state.weights.shape
    low, top = np.empty(rows), np.empty(rows)
    cut_cells(state.low, state.high, state.standing, low, top)
    count = state.offers.shape[0]
    past = past_of(state.offers, count, model.rules)
    rate = np.empty((groups, nodes))
    rates(model, past.magnitude, rate)
    sums = Marginals(
        np.zeros((groups, rows)), np.zeros((groups, rows)), np.zeros((groups, rows)), np.zeros((groups, rows))
    )
    for g in range(groups):
        for i in range(rows):
            for n in range(nodes):
                weight, lam = state.weights[i, g, n], rate[g, n]
                sums.mass[g, i] += weight
                sums.rate[g, i] += lam * weight
                sums.rate_squared[g, i] += lam * lam * weight
                sums.urgency[g, i] += model.columns.urgency[n] * weight
    last = state.offers[count - 1] if count > 0 else state.own
    place = (state.own, state.standing, last, past)
    features(sums, np.ones((groups, rows)), low, top, model.columns.stance, place, out)


@kernel
def state_value(state: State, planner: CompiledPlanner) -> float:
    """Return the fitted value of a state in which a price stands."""
    hidden = planner.nets.b1.shape[1]
    x = np.empty(NUM_FEATURES)
    if state.round > planner.model.rules.last_answered:
        return max(state.own - state.standing, 0.0)
    state_features(state, planner.model, x)
    fitted = net_value(x, state.round, planner.nets, np.empty(hidden), np.empty(hidden))
    return bounded_value(fitted, state.own, state.standing, True, 10 * x[5])
