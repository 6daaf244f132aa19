"""What is left to earn once the type is told: proven upper bounds under the most favourable history."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from oracle.kernels.belief import TOP, normal_cdf
from oracle.kernels.compiling import inline
from oracle.kernels.finite import Finite
from terms.aliases import Floats


class ToldBounds(NamedTuple):
    """What is left after the offer of round k if the type is told, an upper bound.

    ``worth`` (rounds + 1, distances, groups, nodes, rows) is by ``distance`` (ascending from 0) between standing price
    and reservation; between two distances the value of the smaller one holds.
    """

    distance: Floats
    worth: Floats


@inline
def told_values(game: Finite, distance: Floats) -> ToldBounds:
    """Return the values of known types by backward induction.

    Acceptance and concession are those of the best history features, nobody walks away, and offers need not rise. The
    price's distance d moves to ``(1 - lambda) d + noise`` cut to [0, d], for every reservation alike.
    """
    groups, nodes, rows = game.weights.shape
    size = distance.shape[0]
    worth = np.zeros((game.model.rules.horizon + 1, size, groups, nodes, rows))
    moves = np.zeros((size, size))
    for g in range(groups):
        for n in range(nodes):
            _moves(game, g, n, distance, moves)
            for i in range(rows):
                _induct(game, (g, n, i), distance, moves, worth)
    return ToldBounds(distance, worth)


@inline
def _moves(game: Finite, g: int, n: int, distance: Floats, out: Floats) -> None:
    """Write the probability of moving from each distance to each, every move rounded down."""
    rules, columns = game.model
    rate = rules.lambda_0 + columns.lambda_shift[g] + rules.lambda_1 * columns.urgency[n]
    rate = min(1.0, max(0.0, rate + max(0.0, -columns.lambda_2[g])))
    for m in range(distance.shape[0]):
        before = 0.0
        for t in range(m + 1):
            mean = (1.0 - rate) * distance[m]
            edge = 1.0 if t == m else normal_cdf((distance[t + 1] - mean) / columns.noise_sd[g])
            out[m, t] = edge - before
            before = edge


@inline
def _induct(game: Finite, atom: tuple[int, int, int], distance: Floats, moves: Floats, worth: Floats) -> None:
    """Write one type's worth in every round, last round first."""
    g, n, i = atom
    rules, size = game.model.rules, distance.shape[0]
    zopa = game.own - game.reservations[i]
    value, takes = np.empty(size), np.empty(game.num_ticks)
    for m in range(size):
        value[m] = max(zopa - distance[m], 0.0)
    for k in range(rules.last_answered, 0, -1):
        _takes(game, g, n, k, zopa, takes)
        for m in range(size):
            if k < rules.horizon:
                for t in range(m + 1):
                    worth[k, m, g, n, i] += moves[m, t] * value[t]
        for m in range(size):
            later = worth[k, m, g, n, i]
            best = max(later, zopa - distance[m])
            for a in range(game.num_ticks):
                if takes[a] > 0.0:
                    best = max(best, takes[a] * a * game.tick + (1.0 - takes[a]) * later)
            value[m] = best


@inline
def _takes(game: Finite, g: int, n: int, k: int, zopa: float, out: Floats) -> None:
    """Write the largest acceptance probability of every tick: no speed, and rigidity only where it helps."""
    rules, columns = game.model
    shift = rules.beta * columns.urgency[n] - rules.gamma * (1.0 - math.sqrt(k / rules.horizon))
    shift += max(0.0, columns.xi[g]) if k > 2 else 0.0
    shift += max(0.0, columns.rho[g])
    for a in range(game.num_ticks):
        above = (zopa - a * game.tick) / TOP
        out[a] = 1.0 / (1.0 + math.exp(-rules.alpha * above - shift)) if above >= 0.0 else 0.0


@inline
def told_now(game: Finite, told: ToldBounds, k: int, standing: float, out: Floats) -> None:
    """Write what every atom is worth after the offer of round ``k``, its type told."""
    for i in range(out.shape[2]):
        r, at = game.reservations[i], 0
        while at + 1 < told.distance.shape[0] and told.distance[at + 1] <= standing - r:  # never if nothing stands
            at += 1
        for g in range(out.shape[0]):
            for n in range(out.shape[1]):
                out[g, n, i] = max(game.own - r, 0.0) if math.isnan(standing) else told.worth[k, at, g, n, i]
