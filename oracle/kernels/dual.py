r"""The dual's inner maximum on a finite type law, exact: see :mod:`oracle.certificate` for the bound it belongs to.

Types are atoms (stance, urgency, reservation), arrays (groups, nodes, rows). With ``F`` the distribution function of
the next price before it is cut to ``[r, b]`` and ``G`` its antiderivative, the expectation of a function that is
piecewise linear between ``x_0 < ... < x_J`` and constant outside is a sum over its values there, with weights

.. math:: \int_{x_j}^{x_{j+1}} \frac{x - x_j}{x_{j+1} - x_j}\,dF
          = \frac{(x_{j+1} - x_j) F(x_{j+1}) - G(x_{j+1}) + G(x_j)}{x_{j+1} - x_j}

and its mirror, to which come the point masses ``F(r)`` at ``r`` and ``1 - F(b)`` at ``b``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oracle.kernels.belief import TOP, Past, conceded, logit_factors, normal_cdf, past_of, posture_law, rates, walk_given_above
from oracle.kernels.compiling import inline, kernel
from oracle.kernels.value import NUM_FEATURES, Marginals, Nets, bounded_value, features, net_value
from oracle.model import Model

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_ROOT_2PI = math.sqrt(2.0 * math.pi)
CLIPPED, HELD, INSIDE = range(3)


class Finite(NamedTuple):
    """One path's finite game. ``reservations`` (rows,) ascend by ``cell``; ``weights`` (groups, nodes, rows) is the prior.

    Offers are ``own - i * tick``, ``i < num_ticks``. ``num_prices`` is the number of prices between which the penalty
    is linear, ``first_prices`` that of the first quote when the agent opens.
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
    """The revealed type (indices) and luck; ``noise``, ``sentiment``, ``posture`` are by round, entry 0 the opening's.

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
    """The next price of every atom: point masses, weights and densities (prices, groups, nodes, rows) at ``prices``."""

    prices: Floats
    clipped: Floats
    held: Floats
    weights: Floats
    density: Floats
    tail: Floats  # E[(own - b')^+] (groups, nodes, rows)


@inline
def _area(y: float) -> float:
    """Return the antiderivative of the normal distribution function."""
    return y * normal_cdf(y) + math.exp(-0.5 * y * y) / _ROOT_2PI


@inline
def _volume(y: float) -> float:
    """Return the antiderivative of :func:`_area`."""
    return 0.5 * ((y * y + 1.0) * normal_cdf(y) + y * math.exp(-0.5 * y * y) / _ROOT_2PI)


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
def _distribution(x: float, r: float, standing: float, rate: float, sd: float, span: tuple[float, float]) -> tuple[float, float]:  # fmt: skip  # noqa: PLR0913, E501
    """Return ``F(x)`` and ``G(x)``; ``span`` are the nearest and farthest mean mark-up of an opening."""
    if not math.isnan(standing):
        y = (x - standing + rate * (standing - r)) / sd
        return normal_cdf(y), sd * _area(y)
    near, far = (x - r - span[0]) / sd, (x - r - span[1]) / sd
    if near - far < 1e-9:
        return normal_cdf(near), sd * _area(near)
    return (_area(near) - _area(far)) / (near - far), sd * (_volume(near) - _volume(far)) / (near - far)


@inline
def _density(x: float, r: float, standing: float, rate: float, sd: float, span: tuple[float, float]) -> float:  # fmt: skip  # noqa: PLR0913, E501
    if not math.isnan(standing):
        y = (x - standing + rate * (standing - r)) / sd
        return math.exp(-0.5 * y * y) / _ROOT_2PI / sd
    near, far = (x - r - span[0]) / sd, (x - r - span[1]) / sd
    if near - far < 1e-9:
        return math.exp(-0.5 * near * near) / _ROOT_2PI / sd
    if far > 0.0:
        near, far = -far, -near
    return (normal_cdf(near) - normal_cdf(far)) / (near - far) / sd


@inline
def _price_grid(game: Finite, weights: Floats, standing: float, rate: Floats) -> Floats:
    """Return the prices between which the penalty is linear: a function of what the agent knows."""
    mean, sd = _spread(game, weights, standing, rate)
    lowest, top = game.reservations[0], TOP if math.isnan(standing) else standing
    for i in range(weights.shape[2]):
        mass = 0.0
        for g in range(weights.shape[0]):
            for n in range(weights.shape[1]):
                mass += weights[g, n, i]
        if mass > 1e-9:
            lowest = game.reservations[i]
            break
    left = max(lowest, mean - 2.5 * sd)
    right = max(min(top, mean + 2.5 * sd), left + 1e-6)
    size = game.first_prices if math.isnan(standing) else game.num_prices
    prices = np.empty(size)
    for j in range(size):
        prices[j] = left + (right - left) * j / (size - 1)
    return prices


@inline
def price_law(game: Finite, weights: Floats, standing: float, rate: Floats, with_weights: bool) -> Law:
    """Return the law of the next price of every atom (see the module's docstring)."""
    rules, columns = game.model
    groups, nodes, rows = weights.shape
    top = TOP if math.isnan(standing) else standing
    prices = _price_grid(game, weights, standing, rate) if with_weights else np.empty(0)
    size = prices.shape[0]
    clipped, held, tail = np.zeros(weights.shape), np.zeros(weights.shape), np.zeros(weights.shape)
    moments, density = np.zeros((size, groups, nodes, rows)), np.zeros((size, groups, nodes, rows))
    for g in range(groups):
        sd = rules.opening_sd if math.isnan(standing) else columns.noise_sd[g]
        for n in range(nodes):
            lam = rate[g, n]
            for i in range(rows):
                if weights[g, n, i] <= 0.0:
                    continue
                r = game.reservations[i]
                mark_up = columns.opening_scale[g, n] * (TOP - r)
                span = (rules.harshness_low * mark_up, rules.harshness_high * mark_up)
                mass, area = _distribution(r, r, standing, lam, sd, span)
                top_mass, top_area = _distribution(top, r, standing, lam, sd, span)
                clipped[g, n, i], held[g, n, i] = mass, 1.0 - top_mass
                # E (own - b')^+ with b' cut to [r, top] is the integral of P(b' <= x) from r to own.
                gain = max(game.own - r, 0.0)
                if game.own <= top:
                    own_mass, own_area = _distribution(max(game.own, r), r, standing, lam, sd, span)
                    tail[g, n, i] = own_area - area if gain > 0.0 else 0.0
                else:
                    tail[g, n, i] = top_area - area + game.own - top
                before, before_mass, before_area = r, mass, area
                for j in range(size + 1 if size > 0 else 0):
                    # segment between prices j - 1 and j, constant outside the grid
                    edge = top if j == size else min(prices[j], top)
                    if edge <= before:
                        continue
                    if j == size:
                        edge_mass, edge_area = top_mass, top_area
                    else:
                        edge_mass, edge_area = _distribution(edge, r, standing, lam, sd, span)
                    inside = edge_mass - before_mass
                    if j == 0:
                        moments[0, g, n, i] += inside
                    elif j == size:
                        moments[size - 1, g, n, i] += inside
                    else:
                        origin = prices[j - 1]
                        right = (edge - origin) * edge_mass - (before - origin) * before_mass - (edge_area - before_area)
                        right /= prices[j] - origin
                        moments[j, g, n, i] += right
                        moments[j - 1, g, n, i] += inside - right
                    before, before_mass, before_area = edge, edge_mass, edge_area
                for j in range(size):
                    share = min(1.0, max(0.0, (prices[j] - r) / game.cell + 0.5))
                    if share > 0.0:
                        density[j, g, n, i] = share * _density(prices[j], r, standing, lam, sd, span)
    return Law(prices, clipped, held, moments, density, tail)


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
        return 1.0 - 1.0 / (1.0 + slope * factors[truth.group, truth.node])
    return 1.0 - walk_given_above((r - offer) / TOP, k, rules)


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
def guess(game: Finite, kept: Floats, likelihood: Floats, k: int, place: tuple[float, float, float, Past], work: Scratch) -> float:  # fmt: skip  # noqa: PLR0913, E501
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


class Told(NamedTuple):
    """What is left to earn after the offer of round k if the type is told: ``worth`` (rounds, distances, groups, nodes, rows).

    An upper bound, by ``distance`` (ascending) between the standing price and the reservation.
    """

    distance: Floats
    worth: Floats


@inline
def told_values(game: Finite, distance: Floats) -> Told:
    """Return the values of known types under the most favourable history.

    Acceptance, concession and walk-away are those of the best history features, offers need not rise, and between two
    distances the value at the smaller one is taken.
    """
    rules, columns = game.model
    groups, nodes, rows = game.weights.shape
    size, last = distance.shape[0], rules.last_answered
    worth = np.zeros((rules.horizon + 1, size, groups, nodes, rows))
    moves, takes = np.empty((size, size)), np.empty(game.num_ticks)
    value = np.empty(size)
    for g in range(groups):
        sd = columns.noise_sd[g]
        for n in range(nodes):
            lam = rules.lambda_0 + columns.lambda_shift[g] + rules.lambda_1 * columns.urgency[n]
            lam = min(1.0, max(0.0, lam))
            for m in range(size):
                before = 0.0
                for t in range(m + 1):
                    edge = 1.0 if t == m else normal_cdf((distance[t + 1] - (1.0 - lam) * distance[m]) / sd)
                    moves[m, t] = edge - before
                    before = edge
            for i in range(rows):
                zopa = game.own - game.reservations[i]
                for m in range(size):
                    value[m] = max(zopa - distance[m], 0.0)
                for k in range(rules.horizon - 1 if last < rules.horizon else rules.horizon, 0, -1):
                    shift = rules.beta * columns.urgency[n] - rules.gamma * (1.0 - math.sqrt(k / rules.horizon))
                    shift += max(0.0, columns.xi[g]) if k > 2 else 0.0
                    for a in range(game.num_ticks):
                        above = (zopa - a * game.tick) / TOP
                        takes[a] = 1.0 / (1.0 + math.exp(-rules.alpha * above - shift)) if above >= 0.0 else 0.0
                    for m in range(size):
                        if k < rules.horizon:
                            for t in range(m + 1):
                                worth[k, m, g, n, i] += moves[m, t] * value[t]
                    for m in range(size):
                        later = worth[k, m, g, n, i]
                        top = max(later, zopa - distance[m])
                        for a in range(game.num_ticks):
                            if takes[a] > 0.0:
                                top = max(top, takes[a] * a * game.tick + (1.0 - takes[a]) * later)
                        value[m] = top
    return Told(distance, worth)


@inline
def _told_now(game: Finite, told: Told, k: int, standing: float, out: Floats) -> None:
    """Write what every atom is worth after the offer of round ``k``, its type told."""
    for i in range(out.shape[2]):
        r = game.reservations[i]
        at = 0
        if not math.isnan(standing):
            while at + 1 < told.distance.shape[0] and told.distance[at + 1] <= standing - r:
                at += 1
        for g in range(out.shape[0]):
            for n in range(out.shape[1]):
                out[g, n, i] = max(game.own - r, 0.0) if math.isnan(standing) else told.worth[k, at, g, n, i]


class Node(NamedTuple):
    """What a history offers next, by tick: dominated actions have ``survival`` 0 and the bound as ``q``."""

    q: Floats
    survival: Floats
    later: Floats  # the penalty's value after the realised answer, before its cue
    told: Floats  # the bound if the type is told after the offer


@inline
def _realised(game: Finite, truth: Truth, k: int, standing: float, rate: Floats) -> tuple[int, float]:
    """Return how the revealed luck answers round ``k`` (0: the opening) and the price."""
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
def _between(prices: Floats, price: float, values: Floats) -> float:
    size = prices.shape[0]
    if price <= prices[0]:
        return values[0]
    for j in range(1, size):
        if price <= prices[j]:
            share = (price - prices[j - 1]) / (prices[j] - prices[j - 1])
            return values[j - 1] + share * (values[j] - values[j - 1])
    return values[size - 1]


@inline
def _dot(a: Floats, b: Floats) -> float:
    total = 0.0
    for g in range(a.shape[0]):
        for n in range(a.shape[1]):
            for i in range(a.shape[2]):
                total += a[g, n, i] * b[g, n, i]
    return total


@inline
def expand(game: Finite, truth: Truth, weights: Floats, offers: Floats, k: int, standing: float, last: int, floor: float, told: Told, work: Scratch, node: Node) -> tuple[int, float]:  # fmt: skip  # noqa: PLR0913, E501
    """Value every tick up to ``last`` in round ``k`` and return (how luck answers, price).

    ``floor`` is the value below which an action is dominated: one whose value is at most that even if the type were
    told afterwards is valued as if it were.
    """
    rules = game.model.rules
    shape = weights.shape
    past = past_of(offers, k - 1, rules)
    rate, factors = np.empty(shape[:2]), np.empty(shape[:2])
    rates(game.model, past.magnitude, rate)
    logit_factors(game.model, k, past, factors)
    is_last = k >= rules.last_answered
    law = price_law(game, weights, standing, rate, not is_last)
    kind, price = _realised(game, truth, k, standing, rate)
    kept, values = np.empty(shape), np.empty(law.prices.shape[0])
    top = TOP if math.isnan(standing) else standing
    best = np.empty(shape)
    if not is_last:
        _told_now(game, told, k, standing, best)
    for a in range(last + 1):
        offer = game.own - a * game.tick
        offers[k - 1] = offer
        accepted = survive_atoms(game, weights, offer, k, factors, kept)
        gain = accepted * (game.own - offer)
        node.later[a] = 0.0
        if is_last:
            node.q[a] = gain + (_dot(kept, law.tail) if rules.last_answered < rules.horizon else 0.0)
            node.survival[a] = 0.0
            continue
        node.told[a] = gain + _dot(kept, best)
        if node.told[a] <= floor:
            node.q[a], node.survival[a] = node.told[a], 0.0
            continue
        following = past_of(offers, k, rules)
        rates(game.model, following.magnitude, work.rate)
        q = gain
        for g in range(shape[0]):
            for n in range(shape[1]):
                for i in range(shape[2]):
                    q += kept[g, n, i] * law.clipped[g, n, i] * max(game.own - game.reservations[i], 0.0)
        mass = _dot(kept, law.held)
        held = 0.0
        if mass > 0.0:
            held = guess(game, kept, law.held, k + 1, (game.own, top, offer, following), work)
            q += mass * held
        for j in range(values.shape[0]):
            values[j] = guess(game, kept, law.density[j], k + 1, (game.own, law.prices[j], offer, following), work)
            q += _dot(kept, law.weights[j]) * values[j]
        node.q[a] = q
        node.survival[a] = true_survival(game, truth, offer, k, factors)
        node.later[a] = held if kind == HELD else _between(law.prices, price, values)
    return kind, price


@inline
def _answer_likelihood(game: Finite, weights: Floats, standing: float, rate: Floats, answer: tuple[int, float], out: Floats) -> None:  # fmt: skip  # noqa: PLR0913, E501
    """Multiply ``out`` by the likelihood of the answer (held or inside)."""
    rules, columns = game.model
    kind, price = answer
    for g in range(weights.shape[0]):
        sd = rules.opening_sd if math.isnan(standing) else columns.noise_sd[g]
        for n in range(weights.shape[1]):
            for i in range(weights.shape[2]):
                if weights[g, n, i] <= 0.0:
                    out[g, n, i] = 0.0
                    continue
                r = game.reservations[i]
                mark_up = columns.opening_scale[g, n] * (TOP - r)
                span = (rules.harshness_low * mark_up, rules.harshness_high * mark_up)
                if kind == HELD:
                    below, _ = _distribution(price, r, standing, rate[g, n], sd, span)
                    out[g, n, i] *= 1.0 - below
                elif price > r:
                    out[g, n, i] *= _density(price, r, standing, rate[g, n], sd, span)
                else:
                    out[g, n, i] = 0.0


@inline
def _normalise(weights: Floats) -> None:
    total = 0.0
    for g in range(weights.shape[0]):
        for n in range(weights.shape[1]):
            for i in range(weights.shape[2]):
                total += weights[g, n, i]
    for g in range(weights.shape[0]):
        for n in range(weights.shape[1]):
            for i in range(weights.shape[2]):
                weights[g, n, i] /= total


@inline
def take_cue(game: Finite, truth: Truth, weights: Floats, k: int, before: float, answer: tuple[int, float], offers: Floats, work: Scratch) -> float:  # fmt: skip  # noqa: PLR0913, E501
    """Update ``weights`` by the cue that comes with the answer to round ``k`` and return the penalty's step.

    The step is the value after the cue minus its expectation over the nine cues, both at the realised price.
    """
    columns, rules = game.model.columns, game.model.rules
    if columns.num_cues == 1:
        return 0.0
    groups, nodes, rows = weights.shape
    price = answer[1]
    opened = not math.isnan(before)
    standing = before if opened else TOP
    elapsed = math.sqrt(k / rules.horizon)
    posture, law = np.empty((3, groups, rows)), np.empty(3)
    for g in range(groups):
        for i in range(rows):
            share = conceded(price, standing, opened, min(game.reservations[i], price))
            posture_law(share, elapsed, g, game.model, law)
            for t in range(3):
                posture[t, g, i] = law[t]
    seen = (_pick(columns.sentiment[truth.group], truth.sentiment[k]), 0)
    seen = (seen[0], _pick(posture[:, truth.group, truth.row], truth.posture[k]))
    step = 0.0
    if k > 0 and k + 1 <= rules.last_answered:
        past = past_of(offers, k, rules)
        rates(game.model, past.magnitude, work.rate)
        place = (game.own, price, offers[k - 1], past)
        likelihood = np.empty(weights.shape)
        for s in range(3):
            for t in range(3):
                mass = 0.0
                for g in range(groups):
                    for n in range(nodes):
                        for i in range(rows):
                            likelihood[g, n, i] = columns.sentiment[g, s] * posture[t, g, i]
                            mass += weights[g, n, i] * likelihood[g, n, i]
                value = guess(game, weights, likelihood, k + 1, place, work)
                step -= mass * value
                if s == seen[0] and t == seen[1]:
                    step += value
    for g in range(groups):
        for n in range(nodes):
            for i in range(rows):
                weights[g, n, i] *= columns.sentiment[g, seen[0]] * posture[seen[1], g, i]
    _normalise(weights)
    return step


@inline
def _pick(law: Floats, uniform: float) -> int:
    running = 0.0
    for i in range(law.shape[0]):
        running += law[i]
        if uniform < running:
            return i
    return law.shape[0] - 1


@kernel
def inner_maximum(game: Finite, truth: Truth, agent_opens: bool, depth: int, distance: Floats, stats: Floats) -> None:
    """Write ``N_1``, ``F_1`` and the number of histories searched to ``stats``.

    ``depth`` 0 stops after ``N_1``, which is the root's own lookahead.
    """
    rules = game.model.rules
    horizon, last_round = rules.horizon, rules.last_answered
    groups, nodes, rows = game.weights.shape
    work = make_scratch(game)
    weights = np.empty((horizon + 2, groups, nodes, rows))
    q, survival = np.empty((horizon + 2, game.num_ticks)), np.empty((horizon + 2, game.num_ticks))
    later = np.empty((horizon + 2, game.num_ticks))
    standing, value = np.full(horizon + 2, np.nan), np.zeros(horizon + 2)
    total, alive = np.zeros(horizon + 2), np.ones(horizon + 2)
    lost = np.zeros(horizon + 2)
    last = np.full(horizon + 2, game.num_ticks - 1)
    kinds, prices = np.zeros(horizon + 2, dtype=np.int64), np.empty(horizon + 2)
    offers = np.zeros(horizon + 1)
    rate, factors = np.zeros((groups, nodes)), np.empty((groups, nodes))
    weights[1] = game.weights
    if not agent_opens:
        answer = _realised(game, truth, 0, np.nan, rate)
        if answer[0] == CLIPPED:
            stats[0], stats[1], stats[2] = max(game.own - answer[1], 0.0), 0.0, 0.0
            return
        _answer_likelihood(game, game.weights, np.nan, rate, answer, weights[1])
        _normalise(weights[1])
        take_cue(game, truth, weights[1], 0, np.nan, answer, offers, work)
        standing[1] = answer[1]
    bound = np.zeros((horizon + 2, game.num_ticks))
    told = told_values(game, distance if depth > 0 else np.zeros(1))
    k, count, best = 1, 1.0, -1e300
    kinds[1], prices[1] = expand(game, truth, weights[1], offers, 1, standing[1], last[1], -1.0, told, work, Node(q[1], survival[1], later[1], bound[1]))  # fmt: skip
    value[1] = max(0.0, game.own - standing[1]) if not math.isnan(standing[1]) else 0.0
    for a in range(game.num_ticks):
        value[1] = max(value[1], q[1, a])
    best = max(game.own - standing[1], 0.0) - value[1] if not math.isnan(standing[1]) else -value[1]
    stats[0] = value[1]
    if depth == 0:
        return
    for a in range(game.num_ticks):
        if bound[1, a] <= value[1] + game.slack:
            q[1, a], survival[1, a] = bound[1, a], 0.0
    while k > 0:
        a, top = -1, -1e300
        for each in range(last[k] + 1):
            if q[k, each] > top:
                a, top = each, q[k, each]
        if a < 0 or top <= -1e299:
            k -= 1
            continue
        gain = total[k] + alive[k] * (q[k, a] - value[k])
        lost[k + 1] = lost[k] + q[k, a] - value[k]
        q[k, a] = -1e300
        if survival[k, a] <= 0.0 or kinds[k] == CLIPPED:
            best = max(best, gain)
            continue
        reach = alive[k] * survival[k, a]
        # Every later error is at most twice the largest possible zopa.
        if gain + reach * 2.0 * TOP * (horizon - k) <= best:
            continue
        offers[k - 1] = game.own - a * game.tick
        past = past_of(offers, k - 1, rules)
        rates(game.model, past.magnitude, rate)
        logit_factors(game.model, k, past, factors)
        survive_atoms(game, weights[k], offers[k - 1], k, factors, weights[k + 1])
        answer = (kinds[k], prices[k])
        _answer_likelihood(game, weights[k], standing[k], rate, answer, weights[k + 1])
        _normalise(weights[k + 1])
        value[k + 1] = later[k, a] + take_cue(game, truth, weights[k + 1], k, standing[k], answer, offers, work)
        standing[k + 1], last[k + 1] = answer[1], a
        total[k + 1], alive[k + 1] = gain, reach
        best = max(best, gain + reach * (max(game.own - standing[k + 1], 0.0) - value[k + 1]))
        kinds[k + 1], prices[k + 1] = expand(game, truth, weights[k + 1], offers, k + 1, standing[k + 1], a, value[k + 1] - lost[k + 1] + game.slack, told, work, Node(q[k + 1], survival[k + 1], later[k + 1], bound[k + 1]))  # fmt: skip
        count += 1.0
        if k + 1 >= last_round:
            for each in range(a + 1):
                best = max(best, gain + reach * (q[k + 1, each] - value[k + 1]))
        else:
            k += 1
    stats[1], stats[2] = best, count
