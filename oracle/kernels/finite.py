r"""Finite type laws and the next price under each type, in closed form: see :mod:`oracle.bounds`.

Types are atoms (stance, urgency, reservation), arrays (groups, nodes, rows). With ``F`` the distribution function of
the next price before it is cut to ``[r, b]`` and ``G`` its antiderivative, the expectation of a function that is
piecewise linear between ``x_0 < ... < x_J`` and constant outside is a sum over its values there, with weights

.. math:: \int_{x_j}^{x_{j+1}} \frac{x - x_j}{x_{j+1} - x_j}\,dF
          = \frac{(x_{j+1} - x_j) F(x_{j+1}) - G(x_{j+1}) + G(x_j)}{x_{j+1} - x_j}

and its mirror, to which come the point masses ``F(r)`` at ``r`` and ``1 - F(b)`` at ``b``. A move is normal around
``b - lambda (b - r)``; an opening is normal around ``r + t``, ``t`` uniform on the span of the mark-up, which makes
``F`` a difference of antiderivatives of the normal distribution function.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from oracle.kernels.belief import TOP, normal_cdf, walk_given_above
from oracle.kernels.compiling import inline
from oracle.kernels.value import Nets
from oracle.model import Model
from terms.aliases import Floats

_ROOT_2PI = math.sqrt(2.0 * math.pi)
CLIPPED, HELD, INSIDE = range(3)


class Finite(NamedTuple):
    """One path's finite game: ``reservations`` (rows,) ascend by ``cell``, ``weights`` is the prior.

    Offers are ``own - i * tick``, ``i < num_ticks``. ``num_prices`` is the number of prices between which the penalty
    is linear, ``first_prices`` that of the first quote when the agent opens; ``slack`` see :mod:`oracle.bounds`.
    """

    own: float
    reservations: Floats
    cell: float
    weights: Floats
    model: Model
    nets: Nets
    tick: float
    num_ticks: int
    num_prices: int
    first_prices: int
    slack: float


class Truth(NamedTuple):
    """The revealed type (indices) and draws; ``noise``, ``sentiment``, ``posture`` by round, entry 0 the opening's.

    ``opening`` is the price the counterpart opens with before it is cut, whoever moves first.
    """

    group: int
    node: int
    row: int
    opening: float
    noise: Floats
    sentiment: Floats
    posture: Floats


class Law(NamedTuple):
    """The next price of every atom (groups, nodes, rows).

    ``clipped`` and ``held`` are the point masses at ``r`` and at the standing price (or 100); ``weights`` and
    ``density`` (prices, groups, nodes, rows) belong to ``prices``; ``tail`` is ``E[(own - b')^+]``.
    """

    prices: Floats
    clipped: Floats
    held: Floats
    weights: Floats
    density: Floats
    tail: Floats


class Shape(NamedTuple):
    """The law of one atom's next price before it is cut: ``sd`` and, for an opening, the span of its mean mark-up."""

    r: float
    standing: float  # nan: an opening
    rate: float
    sd: float
    near: float
    far: float


@inline
def shape_of(game: Finite, standing: float, rate: Floats, atom: tuple[int, int, int]) -> Shape:
    """Return the law of an atom's next price before it is cut."""
    g, n, i = atom
    rules, columns = game.model
    r = game.reservations[i]
    mark_up = columns.opening_scale[g, n] * (TOP - r)
    sd = rules.opening_sd if math.isnan(standing) else columns.noise_sd[g]
    return Shape(r, standing, rate[g, n], sd, rules.harshness_low * mark_up, rules.harshness_high * mark_up)


@inline
def _area(y: float) -> float:
    """Return the antiderivative of the normal distribution function."""
    return y * normal_cdf(y) + math.exp(-0.5 * y * y) / _ROOT_2PI


@inline
def _volume(y: float) -> float:
    """Return the antiderivative of :func:`_area`."""
    return 0.5 * ((y * y + 1.0) * normal_cdf(y) + y * math.exp(-0.5 * y * y) / _ROOT_2PI)


@inline
def distribution(x: float, law: Shape) -> tuple[float, float]:
    """Return ``F(x)`` and ``G(x)``."""
    if not math.isnan(law.standing):
        y = (x - law.standing + law.rate * (law.standing - law.r)) / law.sd
        return normal_cdf(y), law.sd * _area(y)
    near, far = (x - law.r - law.near) / law.sd, (x - law.r - law.far) / law.sd
    if near - far < 1e-9:
        return normal_cdf(near), law.sd * _area(near)
    return (_area(near) - _area(far)) / (near - far), law.sd * (_volume(near) - _volume(far)) / (near - far)


@inline
def density(x: float, law: Shape) -> float:
    """Return the density at ``x``."""
    if not math.isnan(law.standing):
        y = (x - law.standing + law.rate * (law.standing - law.r)) / law.sd
        return math.exp(-0.5 * y * y) / _ROOT_2PI / law.sd
    near, far = (x - law.r - law.near) / law.sd, (x - law.r - law.far) / law.sd
    if near - far < 1e-9:
        return math.exp(-0.5 * near * near) / _ROOT_2PI / law.sd
    if far > 0.0:  # the left tail is the accurate one
        near, far = -far, -near
    return (normal_cdf(near) - normal_cdf(far)) / (near - far) / law.sd


@inline
def _spread(game: Finite, weights: Floats, standing: float, rate: Floats) -> tuple[float, float]:
    """Return mean and standard deviation of the next price before it is cut, under the agent's belief."""
    rules, columns = game.model
    mean, square = 0.0, 0.0
    for g in range(weights.shape[0]):
        for n in range(weights.shape[1]):
            for i in range(weights.shape[2]):
                weight = weights[g, n, i]
                r = game.reservations[i]
                if math.isnan(standing):
                    mark_up = columns.opening_scale[g, n] * (TOP - r)
                    centre = r + 0.5 * (rules.harshness_low + rules.harshness_high) * mark_up
                    wide = (rules.harshness_high - rules.harshness_low) * mark_up
                    variance = rules.opening_sd**2 + wide * wide / 12.0
                else:
                    centre = standing - rate[g, n] * (standing - r)
                    variance = columns.noise_sd[g] ** 2
                mean += weight * centre
                square += weight * (variance + centre * centre)
    return mean, math.sqrt(max(square - mean * mean, 0.0))


@inline
def _price_grid(game: Finite, weights: Floats, standing: float, rate: Floats) -> Floats:
    """Return the prices between which the penalty is linear: a function of what the agent knows."""
    mean, sd = _spread(game, weights, standing, rate)
    lowest, top = game.reservations[0], TOP if math.isnan(standing) else standing
    left = max(lowest, mean - 2.5 * sd)
    right = max(min(top, mean + 2.5 * sd), left + 1e-6)
    size = game.first_prices if math.isnan(standing) else game.num_prices
    prices = np.empty(size)
    for j in range(size):
        prices[j] = left + (right - left) * j / (size - 1)
    return prices


@inline
def price_law(game: Finite, weights: Floats, standing: float, rate: Floats, with_weights: bool) -> Law:
    """Return the law of the next price of every atom that has weight; without weights, point masses and tail alone."""
    groups, nodes, rows = weights.shape
    prices = _price_grid(game, weights, standing, rate) if with_weights else np.empty(0)
    size = prices.shape[0]
    law = Law(
        prices, np.zeros(weights.shape), np.zeros(weights.shape), np.zeros((size, groups, nodes, rows)),
        np.zeros((size, groups, nodes, rows)), np.zeros(weights.shape),
    )  # fmt: skip
    for g in range(groups):
        for n in range(nodes):
            for i in range(rows):
                if weights[g, n, i] > 0.0:
                    _fill_atom(game, law, (g, n, i), shape_of(game, standing, rate, (g, n, i)))
    return law


@inline
def _fill_atom(game: Finite, law: Law, atom: tuple[int, int, int], shape: Shape) -> None:
    """Write the law of one atom."""
    g, n, i = atom
    r, own, prices = shape.r, game.own, law.prices
    top, size = (TOP if math.isnan(shape.standing) else shape.standing), law.prices.shape[0]
    mass, area = distribution(r, shape)
    top_mass, top_area = distribution(top, shape)
    law.clipped[g, n, i], law.held[g, n, i] = mass, 1.0 - top_mass
    # E (own - b')^+ is the integral of P(b' <= x) from r to own, and P is 1 from the standing price on.
    if own > top:
        law.tail[g, n, i] = top_area - area + own - top
    elif own > r:
        law.tail[g, n, i] = distribution(own, shape)[1] - area
    before = r
    for j in range(size + 1 if size > 0 else 0):  # the piece below prices[j]; the last one lies above them all
        edge = top if j == size else min(prices[j], top)
        if edge <= before:
            continue
        edge_mass, edge_area = (top_mass, top_area) if j == size else distribution(edge, shape)
        inside, right = edge_mass - mass, 0.0
        if 0 < j < size:
            start = prices[j - 1]
            right = (edge - start) * edge_mass - (before - start) * mass - (edge_area - area)
            right /= prices[j] - start
            law.weights[j, g, n, i] += right
        law.weights[max(j - 1, 0), g, n, i] += inside - right
        before, mass, area = edge, edge_mass, edge_area
    for j in range(size):
        # A cell's share below the price: the net was fitted to cells, and an atom would make it jump.
        share = min(1.0, max(0.0, (prices[j] - r) / game.cell + 0.5))
        if share > 0.0:
            law.density[j, g, n, i] = share * density(prices[j], shape)


@inline
def survive_atoms(game: Finite, weights: Floats, offer: float, k: int, factors: Floats, out: Floats) -> float:
    """Write ``weights`` times the chance that the talk goes on after ``offer``; return the mass that accepts."""
    rules = game.model.rules
    accepted = 0.0
    for i in range(weights.shape[2]):
        r = game.reservations[i]
        if offer >= r:
            slope = math.exp(-rules.alpha * (offer - r) / TOP)
            for g in range(weights.shape[0]):
                for n in range(weights.shape[1]):
                    takes = weights[g, n, i] / (1.0 + slope * factors[g, n])
                    accepted += takes
                    out[g, n, i] = weights[g, n, i] - takes
        else:
            stays = 1.0 - walk_given_above((r - offer) / TOP, k, rules)
            for g in range(weights.shape[0]):
                for n in range(weights.shape[1]):
                    out[g, n, i] = weights[g, n, i] * stays
    return accepted


@inline
def true_survival(game: Finite, truth: Truth, offer: float, k: int, factors: Floats) -> float:
    """Return the chance that the talk goes on after ``offer`` with the revealed type."""
    rules, r = game.model.rules, game.reservations[truth.row]
    if offer >= r:
        slope = math.exp(-rules.alpha * (offer - r) / TOP)
        return 1.0 - 1.0 / (1.0 + slope * float(factors[truth.group, truth.node]))
    return 1.0 - walk_given_above((r - offer) / TOP, k, rules)


@inline
def realised(game: Finite, truth: Truth, k: int, standing: float, rate: Floats) -> tuple[int, float]:
    """Return how the revealed noise answers round ``k`` (0: the opening), and the price."""
    r = game.reservations[truth.row]
    if math.isnan(standing):
        candidate, top = truth.opening, TOP
    else:
        lam, sd = rate[truth.group, truth.node], game.model.columns.noise_sd[truth.group]
        candidate, top = standing - lam * (standing - r) + sd * truth.noise[k], standing
    if candidate >= top:
        return HELD, top
    if candidate <= r:
        return CLIPPED, r
    return INSIDE, candidate


@inline
def take_answer(game: Finite, standing: float, rate: Floats, answer: tuple[int, float], weights: Floats) -> None:
    """Update ``weights`` in place by an answer that was held or moved."""
    kind, price = answer
    for g in range(weights.shape[0]):
        for n in range(weights.shape[1]):
            for i in range(weights.shape[2]):
                if weights[g, n, i] <= 0.0:
                    continue
                shape = shape_of(game, standing, rate, (g, n, i))
                if kind == HELD:
                    weights[g, n, i] *= 1.0 - distribution(price, shape)[0]
                else:
                    weights[g, n, i] *= density(price, shape) if price > shape.r else 0.0
    normalise(weights)


@inline
def normalise(weights: Floats) -> None:
    """Divide ``weights`` by their sum."""
    total = 0.0
    for g in range(weights.shape[0]):
        for n in range(weights.shape[1]):
            for i in range(weights.shape[2]):
                total += weights[g, n, i]
    for g in range(weights.shape[0]):
        for n in range(weights.shape[1]):
            for i in range(weights.shape[2]):
                weights[g, n, i] /= total
