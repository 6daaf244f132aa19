r"""The dual's inner maximum on a finite type law, exact: see :mod:`oracle.bounds` for the bound it belongs to.

The penalty's value after an answer is the fitted net's, interpolated between a few prices that depend on the history
alone, plus, once the cue is seen, the net's value after the cue minus its mean over the nine cues at that price. Any
function of what the agent knows may serve; this one has its conditional mean in closed form.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oracle.kernels.belief import TOP, Past, conceded, logit_factors, past_of, posture_law, rates
from oracle.kernels.compiling import inline, kernel
from oracle.kernels.finite import (
    CLIPPED,
    HELD,
    Finite,
    Law,
    Truth,
    normalise,
    price_law,
    realised,
    survive_atoms,
    take_answer,
    true_survival,
)
from oracle.kernels.paths import pick
from oracle.kernels.told import Told, told_now, told_values
from oracle.kernels.value import NUM_FEATURES, Marginals, bounded_value, features, net_value

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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
def guess(game: Finite, kept: Floats, likelihood: Floats, k: int, place: tuple[float, float, float, Past], work: Scratch) -> float:  # fmt: skip  # noqa: E501
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


class Tree(NamedTuple):
    """One history at a time, by round (K + 2 entries) and tick.

    ``q`` is an offer's value, ``later`` the penalty's value after its realised answer before the cue, ``survival`` the
    true chance that the talk goes on (0 where the dual stops, ``q`` then being ``told``), ``told`` the bound with the
    type told after the offer. ``value`` is the penalty's value of the history, ``total`` what it has gained in
    hindsight, ``alive`` its true chance, ``lost`` the plain sum of its errors, ``last`` the lowest tick not yet given
    up, and (``kind``, ``price``) how the revealed luck will answer.
    """

    weights: Floats  # (K + 2, groups, nodes, rows)
    q: Floats
    later: Floats
    survival: Floats
    told: Floats
    standing: Floats
    value: Floats
    total: Floats
    alive: Floats
    lost: Floats
    last: Ints
    kind: Ints
    price: Floats
    offers: Floats


@inline
def make_tree(game: Finite) -> Tree:
    """Return an empty tree that stands before the first price."""
    size = game.model.rules.horizon + 2
    groups, nodes, rows = game.weights.shape
    by_tick = (size, game.num_ticks)
    tree = Tree(
        np.zeros((size, groups, nodes, rows)), np.zeros(by_tick), np.zeros(by_tick), np.zeros(by_tick),
        np.zeros(by_tick), np.full(size, np.nan), np.zeros(size), np.zeros(size), np.ones(size), np.zeros(size),
        np.full(size, game.num_ticks - 1), np.zeros(size, dtype=np.int64), np.zeros(size), np.zeros(size),
    )  # fmt: skip
    tree.weights[1] = game.weights
    return tree


@inline
def _dot(a: Floats, b: Floats) -> float:
    total = 0.0
    for g in range(a.shape[0]):
        for n in range(a.shape[1]):
            for i in range(a.shape[2]):
                total += a[g, n, i] * b[g, n, i]
    return total


@inline
def _between(prices: Floats, price: float, values: Floats) -> float:
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
def expand(game: Finite, truth: Truth, k: int, floor: float, told: Told, tree: Tree, work: Scratch) -> None:  # noqa: PLR0913
    """Value every offer of round ``k`` at the tree's history.

    An offer worth at most ``floor`` even if the type were told after it is valued as if it were.
    """
    rules, weights, standing = game.model.rules, tree.weights[k], tree.standing[k]
    shape = weights.shape
    past = past_of(tree.offers, k - 1, rules)
    rate, factors = np.empty(shape[:2]), np.empty(shape[:2])
    rates(game.model, past.magnitude, rate)
    logit_factors(game.model, k, past, factors)
    is_last = k >= rules.last_answered
    law = price_law(game, weights, standing, rate, not is_last)
    tree.kind[k], tree.price[k] = realised(game, truth, k, standing, rate)
    kept, worth, sure = np.empty(shape), np.zeros(shape), np.empty(shape)
    told_now(game, told, k, standing, worth)
    for i in range(shape[2]):
        for g in range(shape[0]):
            for n in range(shape[1]):
                sure[g, n, i] = law.clipped[g, n, i] * max(game.own - game.reservations[i], 0.0)
    for a in range(tree.last[k] + 1):
        offer = tree.offers[k - 1] = game.own - a * game.tick
        gain = survive_atoms(game, weights, offer, k, factors, kept) * (game.own - offer)
        tree.survival[k, a] = 0.0
        if is_last:
            tree.q[k, a] = gain + (_dot(kept, law.tail) if k < rules.horizon else 0.0)
            continue
        tree.told[k, a] = gain + _dot(kept, worth)
        if tree.told[k, a] <= floor:
            tree.q[k, a] = tree.told[k, a]
            continue
        tree.survival[k, a] = true_survival(game, truth, offer, k, factors)
        tree.q[k, a] = gain + _dot(kept, sure) + _mean_later(game, kept, law, k, a, tree, work)


@inline
def _mean_later(game: Finite, kept: Floats, law: Law, k: int, a: int, tree: Tree, work: Scratch) -> float:  # noqa: PLR0913
    """Return the penalty's expected value after a held or moved price; keep what the realised answer makes of it."""
    offer, standing = tree.offers[k - 1], tree.standing[k]
    top = TOP if math.isnan(standing) else standing
    past = past_of(tree.offers, k, game.model.rules)
    rates(game.model, past.magnitude, work.rate)
    mass, held, mean = _dot(kept, law.held), 0.0, 0.0
    if mass > 0.0:
        held = guess(game, kept, law.held, k + 1, (game.own, top, offer, past), work)
        mean += mass * held
    values = np.empty(law.prices.shape[0])
    for j in range(values.shape[0]):
        values[j] = guess(game, kept, law.density[j], k + 1, (game.own, law.prices[j], offer, past), work)
        mean += _dot(kept, law.weights[j]) * values[j]
    tree.later[k, a] = held if tree.kind[k] == HELD else _between(law.prices, tree.price[k], values)
    return mean


@inline
def take_cue(game: Finite, truth: Truth, weights: Floats, k: int, before: float, answer: tuple[int, float], offers: Floats, work: Scratch) -> float:  # fmt: skip  # noqa: PLR0913, E501
    """Update ``weights`` by the cue that comes with the answer to round ``k`` and return the penalty's step.

    ``before`` is the price that stood before. The step is the value after the cue minus its mean over the nine cues.
    """
    columns = game.model.columns
    if columns.num_cues == 1:
        return 0.0
    posture = _postures(game, k, before, answer[1])
    sentiment = pick(columns.sentiment[truth.group], truth.sentiment[k])
    seen = (sentiment, pick(posture[truth.group, truth.row], truth.posture[k]))
    step, likelihood = 0.0, np.empty(weights.shape)
    if 0 < k < game.model.rules.last_answered:
        past = past_of(offers, k, game.model.rules)
        rates(game.model, past.magnitude, work.rate)
        for s in range(3):
            for t in range(3):
                _cue_law(columns.sentiment, posture, (s, t), likelihood)
                value = guess(game, weights, likelihood, k + 1, (game.own, answer[1], offers[k - 1], past), work)
                step += (1.0 if (s, t) == seen else 0.0) * value - _dot(weights, likelihood) * value
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


@kernel
def inner_maximum(game: Finite, truth: Truth, agent_opens: bool, distance: Floats, out: Floats) -> None:
    """Write ``N_1``, ``F_1`` and the number of histories searched; with no ``distance`` (0,) only ``N_1``.

    ``N_1`` is the lookahead at the first decision. ``distance`` is the grid of :class:`oracle.kernels.told.Told`.
    """
    tree, work = make_tree(game), make_scratch(game)
    out[0] = out[1] = out[2] = 0.0
    if not agent_opens and not _open(game, truth, tree, work):
        out[0] = max(game.own - game.reservations[truth.row], 0.0)
        return
    told = told_values(game, distance if distance.shape[0] > 0 else np.zeros(1))
    expand(game, truth, 1, -1.0, told, tree, work)
    tree.value[1] = _stop(game, tree, 1)
    for a in range(game.num_ticks):
        tree.value[1] = max(tree.value[1], tree.q[1, a])
    out[0] = tree.value[1]
    if distance.shape[0] == 0:
        return
    for a in range(game.num_ticks):
        if tree.told[1, a] <= tree.value[1] + game.slack:
            tree.q[1, a], tree.survival[1, a] = tree.told[1, a], 0.0
    out[1], out[2] = _search(game, truth, told, tree, work)


@inline
def _open(game: Finite, truth: Truth, tree: Tree, work: Scratch) -> bool:
    """Take in the counterpart's opening; False if it opens at its reservation, which ends the game."""
    rate = np.zeros(game.weights.shape[:2])
    answer = realised(game, truth, 0, np.nan, rate)
    if answer[0] == CLIPPED:
        return False
    take_answer(game, np.nan, rate, answer, tree.weights[1])
    take_cue(game, truth, tree.weights[1], 0, np.nan, answer, tree.offers, work)
    tree.standing[1] = answer[1]
    return True


@inline
def _stop(game: Finite, tree: Tree, k: int) -> float:
    """Return what accepting or leaving earns."""
    return 0.0 if math.isnan(tree.standing[k]) else max(game.own - tree.standing[k], 0.0)


@inline
def _search(game: Finite, truth: Truth, told: Told, tree: Tree, work: Scratch) -> tuple[float, float]:
    """Return the maximum over all histories, depth first from the best offer on, and how many were searched."""
    rules = game.model.rules
    best, count, k = _stop(game, tree, 1) - tree.value[1], 1.0, 1
    while k > 0:
        a = _next_offer(tree, k)
        if a < 0:
            k -= 1
            continue
        error = tree.q[k, a] - tree.value[k]
        tree.q[k, a] = -np.inf
        gain, reach = tree.total[k] + tree.alive[k] * error, tree.alive[k] * tree.survival[k, a]
        if tree.survival[k, a] <= 0.0 or tree.kind[k] == CLIPPED:
            best = max(best, gain)
            continue
        # No later error exceeds 200: values lie in [0, 100], and a cue moves them by at most 100.
        if gain + reach * 2.0 * TOP * (rules.horizon - k) <= best:
            continue
        tree.total[k + 1], tree.alive[k + 1], tree.lost[k + 1] = gain, reach, tree.lost[k] + error
        _descend(game, truth, k, a, tree, work)
        best, k, count = max(best, gain + reach * (_stop(game, tree, k + 1) - tree.value[k + 1])), k + 1, count + 1.0
        expand(game, truth, k, tree.value[k] - tree.lost[k] + game.slack, told, tree, work)
        if k >= rules.last_answered:
            for each in range(a + 1):
                best = max(best, gain + reach * (tree.q[k, each] - tree.value[k]))
            k -= 1
    return best, count


@inline
def _next_offer(tree: Tree, k: int) -> int:
    """Return the most promising tick of round ``k`` that is not done, or -1."""
    found, top = -1, -np.inf
    for a in range(tree.last[k] + 1):
        if tree.q[k, a] > top:
            found, top = a, tree.q[k, a]
    return found


@inline
def _descend(game: Finite, truth: Truth, k: int, a: int, tree: Tree, work: Scratch) -> None:
    """Move to round ``k + 1`` after tick ``a`` and its realised answer."""
    rules, answer, before = game.model.rules, (tree.kind[k], tree.price[k]), tree.standing[k]
    shape = tree.weights[k].shape
    rate, factors = np.empty(shape[:2]), np.empty(shape[:2])
    tree.offers[k - 1] = game.own - a * game.tick
    past = past_of(tree.offers, k - 1, rules)
    rates(game.model, past.magnitude, rate)
    logit_factors(game.model, k, past, factors)
    survive_atoms(game, tree.weights[k], tree.offers[k - 1], k, factors, tree.weights[k + 1])
    take_answer(game, before, rate, answer, tree.weights[k + 1])
    step = take_cue(game, truth, tree.weights[k + 1], k, before, answer, tree.offers, work)
    tree.value[k + 1] = tree.later[k, a] + step
    tree.standing[k + 1], tree.last[k + 1] = answer[1], a
