r"""Backward induction over cells of offers: an upper bound on what any play earns against a known type.

See :mod:`oracle.legal_play` for the bound. A state is the round, the distance ``d`` of the standing price from the
counterpart's reservation, rounded down to a grid, and the cells that hold the last four own offers, a number whose
digits, oldest first, are cells.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from oracle.kernels.belief import normal_cdf
from oracle.kernels.compiling import inline, kernel
from oracle.kernels.formulas import sigmoid, walk_prob
from oracle.kernels.induction import SLOTS
from terms.aliases import Floats
from terms.kernel import KernelParams


class OfferCells(NamedTuple):
    """Intervals ``[low, high]`` of offers, measured from the counterpart's reservation; a cell that ends at 0 lacks it.

    ``edges`` (cells, pieces + 1) cut each cell into pieces; the last edge is repeated where there are fewer.
    """

    low: Floats
    high: Floats
    edges: Floats


@inline
def _range_of_shifts(state: int, made: int, cells: OfferCells, params: KernelParams) -> tuple[float, float]:
    """Return the lowest and highest part of the acceptance logit that the offers in the cells of ``state`` can make."""
    if made < 2:
        return 0.0, 0.0
    n = cells.low.shape[0]
    last, before = state % n, state // n % n
    first, counted = state, min(made, params.window + 1)
    for _ in range(counted - 1):
        first //= n
    first %= n
    steps = (counted - 1) * params.price_range
    slow, fast = (cells.low[last] - cells.high[first]) / steps, (cells.high[last] - cells.low[first]) / steps
    low, high = min(params.rho * slow, params.rho * fast), max(params.rho * slow, params.rho * fast)
    least = max(0.0, (cells.low[last] - cells.high[before]) / params.price_range)
    most = max(0.0, (cells.high[last] - cells.low[before]) / params.price_range)
    may_hold, may_jump = least < params.rigidity_threshold + 1e-9, most >= params.rigidity_threshold - 1e-9
    if may_hold and may_jump:
        return low + min(params.xi, 0.0), high + max(params.xi, 0.0)
    return (low + params.xi, high + params.xi) if may_hold else (low, high)


@inline
def _piece_chances(k: int, urgency: float, shifts: tuple[float, float], cells: OfferCells, params: KernelParams, least: Floats, most: Floats) -> None:  # fmt: skip  # noqa: PLR0913, E501
    """Write the least and the largest chance that an offer of each piece (cells, pieces) is accepted."""
    base = params.beta * urgency - params.gamma * (1.0 - math.sqrt(k / params.horizon))
    for c in range(cells.low.shape[0]):
        for p in range(cells.edges.shape[1] - 1):
            low, high = cells.edges[c, p], cells.edges[c, p + 1]
            if cells.low[c] < 0.0:
                least[c, p] = most[c, p] = 0.0
                continue
            least[c, p] = sigmoid(params.alpha * low / params.price_range + base + shifts[0])
            most[c, p] = sigmoid(params.alpha * high / params.price_range + base + shifts[1])


@inline
def _best_cell(k: int, c: int, zopa: float, later: float, cells: OfferCells, params: KernelParams, least: Floats, most: Floats) -> float:  # fmt: skip  # noqa: PLR0913, E501
    """Return what an offer in cell ``c`` is worth at most when ``later`` is left if it is turned down."""
    if cells.low[c] < 0.0:
        near = min(cells.high[c], -1e-12) / params.price_range
        walks = min(walk_prob(near, k, params), walk_prob(cells.low[c] / params.price_range, k, params))
        return (1.0 - walks) * later
    best = -np.inf
    for p in range(cells.edges.shape[1] - 1):
        if p > 0 and cells.edges[c, p + 1] <= cells.edges[c, p]:
            break
        gain = zopa - cells.edges[c, p] - later
        best = max(best, later + (most[c, p] if gain > 0.0 else least[c, p]) * gain)
    return best


@inline
def _moves(distance: Floats, start: float, rate: float, sd: float, out: Floats) -> None:
    """Write the chance of moving from ``start`` to each distance, every move rounded down."""
    before = 0.0
    for t in range(distance.shape[0]):
        following = distance[t + 1] if t + 1 < distance.shape[0] else np.inf
        edge = 1.0
        if following < start:
            shift = following - (1.0 - rate) * start
            edge = normal_cdf(shift / sd) if sd > 0.0 else (1.0 if shift > 0.0 else 0.0)
        out[t] = edge - before
        before = edge


@inline
def _expect(moves: Floats, values: Floats, out: Floats) -> None:
    """Write the mean of ``values`` (states, distances) after a move from each distance."""
    for s in range(out.shape[0]):
        for m in range(out.shape[1]):
            total = 0.0
            for t in range(m + 1):
                total += moves[m, t] * values[s, t]
            out[s, m] = total


@inline
def _best_play(k: int, urgency: float, zopa: float, cells: OfferCells, params: KernelParams, later: Floats, out: Floats) -> None:  # fmt: skip  # noqa: PLR0913, E501
    """Raise ``out`` (states, distances) to the best offer of round ``k``; ``later`` is what is left after it."""
    n, made = cells.low.shape[0], min(k - 1, SLOTS)
    kept = n ** (made if made < SLOTS else SLOTS - 1)
    shape = (n, cells.edges.shape[1] - 1)
    least, most = np.empty(shape), np.empty(shape)
    for s in range(out.shape[0]):
        _piece_chances(k, urgency, _range_of_shifts(s, made, cells, params), cells, params, least, most)
        for c in range(n):
            follow = s % kept * n + c
            for m in range(out.shape[1]):
                worth = _best_cell(k, c, zopa, later[follow, m], cells, params, least, most)
                out[s, m] = max(out[s, m], worth)


@kernel
def bound_legal_play(  # noqa: C901, PLR0913
    cells: OfferCells, distance: Floats, opening: Floats, standing: float, urgency: float, zopa: float,
    params: KernelParams, last_answered: int,
) -> float:  # fmt: skip
    """Return the bound at the first move: with ``standing`` (nan: none), the opening's law being ``opening``."""
    n, size = cells.low.shape[0], distance.shape[0]
    rate = params.lambda_0 + params.lambda_1 * urgency + params.lambda_shift + max(0.0, -params.lambda_2)
    rate = min(1.0, max(0.0, rate))
    moves, values = np.zeros((size, size)), np.zeros((n, size))
    for m in range(size):
        _moves(distance, distance[m], rate, params.noise_sd, moves[m])
    for k in range(params.horizon, 1, -1):
        made = min(k - 1, SLOTS)
        now, later = np.empty((n**made, size)), np.zeros((n ** min(made + 1, SLOTS), size))
        for s in range(now.shape[0]):
            for m in range(size):
                now[s, m] = max(zopa - distance[m], 0.0)
        if k < params.horizon:
            _expect(moves, values, later)
        if k <= last_answered:
            _best_play(k, urgency, zopa, cells, params, later, now)
        values = now
    law = opening.copy()
    if not math.isnan(standing):
        _moves(distance, standing, rate, params.noise_sd, law)
    left = np.zeros((n, size))
    for c in range(n):
        for t in range(size):
            left[c, 0] += law[t] * values[c, t]
    first = np.full((1, size), 0.0 if math.isnan(standing) else max(zopa - standing, 0.0))
    if last_answered > 0:
        _best_play(1, urgency, zopa, cells, params, left, first)
    return float(first[0, 0])
