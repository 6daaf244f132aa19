"""The penalty's value of a belief on atoms, and its step when a cue is seen.

After an answer it is the fitted net's value, interpolated between a few prices that depend on the history alone; once
the cue is seen it moves by the net's value after the cue minus its mean over the nine cues at that price. Any function
of what the agent knows may serve; this one has its conditional mean in closed form.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from oracle.kernels.belief import TOP, OfferFeatures, conceded, past_of, posture_law, rates
from oracle.kernels.compiling import inline
from oracle.kernels.finite import Finite, Truth, normalise
from oracle.kernels.paths import pick_index
from oracle.kernels.value import NUM_FEATURES, Marginals, bounded_value, features, net_value
from terms.aliases import Floats


class Scratch(NamedTuple):
    """Work space of one search."""

    sums: Marginals
    factor: Floats
    low: Floats
    high: Floats
    x: Floats
    first: Floats
    second: Floats
    rate: Floats


@inline
def make_scratch(game: Finite) -> Scratch:
    """Return work space for the shape of ``game``."""
    groups, nodes, rows = game.weights.shape
    hidden = game.nets.b1.shape[1]
    shape = (groups, rows + 1)
    low, high = np.empty(rows), np.empty(rows)
    for i in range(rows):
        low[i], high[i] = game.reservations[i] - game.cell / 2, game.reservations[i] + game.cell / 2
    sums = Marginals(np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(shape))
    return Scratch(
        sums, np.ones(shape), low, high, np.empty(NUM_FEATURES), np.empty(hidden), np.empty(hidden),
        np.empty((groups, nodes)),
    )  # fmt: skip


@inline
def guess(game: Finite, kept: Floats, likelihood: Floats, k: int, place: tuple[float, float, float, OfferFeatures], work: Scratch) -> float:  # fmt: skip  # noqa: E501
    """Return the penalty's value of the belief ``kept * likelihood`` in round ``k``, any function of it being allowed.

    ``work.rate`` holds the concession rates given all offers so far.
    """
    groups, nodes, rows = kept.shape
    sums, columns = work.sums, game.model.columns
    own, standing = place[0], place[1]
    for g in range(groups):
        for i in range(rows):
            sums.mass[g, i] = sums.rate[g, i] = sums.rate_squared[g, i] = sums.urgency[g, i] = 0.0
        for n in range(nodes):
            lam, kappa = work.rate[g, n], columns.urgency[n]
            for i in range(rows):
                weight = kept[g, n, i] * likelihood[g, n, i]
                sums.mass[g, i] += weight
                sums.rate[g, i] += lam * weight
                sums.rate_squared[g, i] += lam * lam * weight
                sums.urgency[g, i] += kappa * weight
    mass = features(sums, work.factor, work.low, work.high, columns.stance, place, work.x)
    floor = max(own - standing, 0.0)
    if mass <= 1e-300 or k > game.model.rules.last_answered:
        return floor
    fitted = net_value(work.x, k, game.nets, work.first, work.second)
    return bounded_value(fitted, own, standing, True, 10 * work.x[5])


@inline
def dot(a: Floats, b: Floats) -> float:
    """Return the sum of products of (groups, nodes, rows)."""
    total = 0.0
    for g in range(a.shape[0]):
        for n in range(a.shape[1]):
            for i in range(a.shape[2]):
                total += a[g, n, i] * b[g, n, i]
    return total


@inline
def interpolate(prices: Floats, price: float, values: Floats) -> float:
    """Return ``values`` at ``price``: linear between ``prices``, constant outside."""
    size = prices.shape[0]
    if price <= prices[0]:
        return float(values[0])
    for j in range(1, size):
        if price <= prices[j]:
            share = (price - prices[j - 1]) / (prices[j] - prices[j - 1])
            return float(values[j - 1] + share * (values[j] - values[j - 1]))
    return float(values[size - 1])


@inline
def take_cue(game: Finite, truth: Truth, weights: Floats, k: int, before: float, answer: tuple[int, float], offers: Floats, work: Scratch) -> float:  # fmt: skip  # noqa: PLR0913, E501
    """Update ``weights`` by the cue that comes with the answer to round ``k`` and return the penalty's step.

    ``before`` is the price that stood before. The step is the value after the cue minus its mean over the nine cues.
    """
    columns = game.model.columns
    if columns.num_cues == 1:
        return 0.0
    posture = _postures(game, k, before, answer[1])
    sentiment = pick_index(columns.sentiment[truth.group], truth.sentiment[k])
    seen = (sentiment, pick_index(posture[truth.group, truth.row], truth.posture[k]))
    step, likelihood = 0.0, np.empty(weights.shape)
    if 0 < k < game.model.rules.last_answered:
        past = past_of(offers, k, game.model.rules)
        rates(game.model, past.magnitude, work.rate)
        for s in range(3):
            for t in range(3):
                _cue_law(columns.sentiment, posture, (s, t), likelihood)
                value = guess(game, weights, likelihood, k + 1, (game.own, answer[1], offers[k - 1], past), work)
                step += (1.0 if (s, t) == seen else 0.0) * value - dot(weights, likelihood) * value
    _cue_law(columns.sentiment, posture, seen, likelihood)
    for g in range(weights.shape[0]):
        for n in range(weights.shape[1]):
            for i in range(weights.shape[2]):
                weights[g, n, i] *= likelihood[g, n, i]
    normalise(weights)
    return step


@inline
def _postures(game: Finite, k: int, before: float, price: float) -> Floats:
    """Return the posture law (groups, rows, 3) of the answer ``price`` to round ``k``."""
    groups, rows = game.weights.shape[0], game.weights.shape[2]
    opened, out = not math.isnan(before), np.empty((groups, rows, 3))
    for g in range(groups):
        for i in range(rows):
            share = conceded(price, before if opened else TOP, opened, min(game.reservations[i], price))
            posture_law(share, math.sqrt(k / game.model.rules.horizon), g, game.model, out[g, i])
    return out


@inline
def _cue_law(sentiment: Floats, posture: Floats, cue: tuple[int, int], out: Floats) -> None:
    """Write P(cue) of every atom."""
    for g in range(out.shape[0]):
        for n in range(out.shape[1]):
            for i in range(out.shape[2]):
                out[g, n, i] = sentiment[g, cue[0]] * posture[g, i, cue[1]]
