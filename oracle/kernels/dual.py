r"""The dual's inner maximum on a finite type law, exact: see :mod:`oracle.bounds` for the bound it belongs to."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from oracle.kernels.belief import TOP, logit_factors, past_of, rates
from oracle.kernels.compiling import inline, kernel
from oracle.kernels.finite import (
    CLIPPED,
    HELD,
    Finite,
    Law,
    Truth,
    price_law,
    realised,
    survive_atoms,
    take_answer,
    true_survival,
)
from oracle.kernels.penalty import Scratch, dot, guess, interpolate, make_scratch, take_cue
from oracle.kernels.told import ToldBounds, told_now, told_values
from terms.aliases import Floats, Ints


class Tree(NamedTuple):
    """One history at a time, by round (K + 2 entries) and tick.

    ``q`` is an offer's value, ``later`` the penalty's value after its realised answer before the cue, ``survival`` the
    true chance that the talk goes on (0 where the dual stops, ``q`` then being ``told``), ``told`` the bound with the
    type told after the offer. ``value`` is the penalty's value of the history, ``total`` what it has gained in
    hindsight, ``alive`` its true chance, ``lost`` the plain sum of its errors, ``last`` the lowest tick not yet given
    up, and (``kind``, ``price``) how the revealed noise will answer.
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
def expand(game: Finite, truth: Truth, k: int, floor: float, told: ToldBounds, tree: Tree, work: Scratch) -> None:  # noqa: PLR0913
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
            tree.q[k, a] = gain + (dot(kept, law.tail) if k < rules.horizon else 0.0)
            continue
        tree.told[k, a] = gain + dot(kept, worth)
        if tree.told[k, a] <= floor:
            tree.q[k, a] = tree.told[k, a]
            continue
        tree.survival[k, a] = true_survival(game, truth, offer, k, factors)
        tree.q[k, a] = gain + dot(kept, sure) + _mean_later(game, kept, law, k, a, tree, work)


@inline
def _mean_later(game: Finite, kept: Floats, law: Law, k: int, a: int, tree: Tree, work: Scratch) -> float:  # noqa: PLR0913
    """Return the penalty's expected value after a held or moved price; keep what the realised answer makes of it."""
    offer, standing = tree.offers[k - 1], tree.standing[k]
    top = TOP if math.isnan(standing) else standing
    past = past_of(tree.offers, k, game.model.rules)
    rates(game.model, past.magnitude, work.rate)
    mass, held, mean = dot(kept, law.held), 0.0, 0.0
    if mass > 0.0:
        held = guess(game, kept, law.held, k + 1, (game.own, top, offer, past), work)
        mean += mass * held
    values = np.empty(law.prices.shape[0])
    for j in range(values.shape[0]):
        values[j] = guess(game, kept, law.density[j], k + 1, (game.own, law.prices[j], offer, past), work)
        mean += dot(kept, law.weights[j]) * values[j]
    tree.later[k, a] = held if tree.kind[k] == HELD else interpolate(law.prices, tree.price[k], values)
    return mean


@kernel
def inner_maximum(game: Finite, truth: Truth, agent_opens: bool, distance: Floats, out: Floats) -> None:
    """Write ``N_1``, ``F_1`` and the number of histories searched; with no ``distance`` (0,) only ``N_1``.

    ``N_1`` is the lookahead at the first decision. ``distance`` is the grid of :class:`oracle.kernels.told.ToldBounds`.
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
def _search(game: Finite, truth: Truth, told: ToldBounds, tree: Tree, work: Scratch) -> tuple[float, float]:
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
