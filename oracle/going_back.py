r"""The dynamic program against a known type when offers may also go back.

Going back makes ConcedeSpeed negative, and a jump that follows resets Rigidity, so where ``rho < 0`` or ``xi < 0`` a
zig-zag can be accepted with a larger chance than any rising sequence. A situation is the round, the standing price and
the last four own offers in the order they were made; offers are few, as their sequences are many:

.. math::
    V_k(b, h) = \max\{z - b,\ 0,\ \max_x Q_k(x)\}, \qquad
    Q_k(x) = a_k(x, h)(z - x) + (1 - a_k)(1 - \omega_k)\, E\,V_{k+1}(b', (h, x)).

Prices are measured from the counterpart's reservation, as in :mod:`oracle.known_type`, whose rising offers lie on a
finer grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from oracle.kernels.induction import SLOTS, noise_weights
from oracle.known_type import KnownTypeProblem, opening_weights, standing_prices
from terms.aliases import Floats, Ints
from terms.kernel import walk_prob

_NUM_PRICES = 32
_ABOVE = 2


class Unordered(NamedTuple):
    """Values of every sequence of the last offers: ``values[k]`` (sequences, prices) before the offer of round k.

    A sequence is a number whose digits, oldest first, are indices into ``offers``.
    """

    problem: KnownTypeProblem
    offers: Floats
    prices: Floats
    values: tuple[Floats, ...]


class _Answers(NamedTuple):
    """What histories (n, offers made) make of the offers x of round k: chances (n, x) and law (n, prices, prices)."""

    takes: Floats
    goes_on: Floats
    rate: Ints
    laws: Floats


def can_pay(problem: KnownTypeProblem) -> bool:
    """Return whether going back can move the counterpart: it reads the speed of offers, or dislikes rigid ones."""
    return problem.zopa > 0 and (problem.params.rho < 0 or problem.params.xi < 0)


def few_offers(problem: KnownTypeProblem) -> Floats:
    """Return the counterpart's reservation, one and two jumps below it, and some offers above."""
    jump = problem.params.rigidity_threshold * problem.params.price_range * (1 + 1e-9)
    below = np.array([-2 * jump, -jump])
    above = np.arange(1, _ABOVE + 1) * jump / _ABOVE
    kept = np.concatenate([below[below >= problem.floor], [0.0], above[above < problem.zopa]])
    return np.unique(kept)


def solve_unordered(problem: KnownTypeProblem, offers: Floats, prices: Floats) -> Unordered:
    """Run backward induction over every sequence of ``offers``; ``prices`` rise from 0 to the highest that stands."""
    n, horizon = len(offers), problem.params.horizon
    values = [np.zeros((1, len(prices)))] * (horizon + 2)
    for k in range(horizon, 1, -1):
        made = min(k - 1, SLOTS)
        past = offers[_digits(n, made)]
        follow = np.arange(n**made) * n if made < SLOTS else np.arange(n**made) % n ** (SLOTS - 1) * n
        values[k] = _best(problem, k, past, offers, prices, None if k == horizon else values[k + 1], follow)
    return Unordered(problem, offers, prices, tuple(values))


@lru_cache(maxsize=16)
def solve_few(problem: KnownTypeProblem) -> Unordered:
    """Solve on the standard few offers; the last solutions are kept."""
    return solve_unordered(problem, few_offers(problem), standing_prices(problem, _NUM_PRICES))


def unordered_values(
    solution: Unordered, k: int, past: Sequence[float], standing: float | None, asked: Sequence[float] = ()
) -> tuple[Floats, Floats]:
    """Return offers and their values in round ``k`` after any ``past`` own offers, oldest first.

    The offers are the solution's and those ``asked`` about. From the next round on the solution's are offered.
    """
    problem, prices = solution.problem, solution.prices
    offers = np.append(solution.offers, np.asarray(asked, dtype=np.float64))
    if k == problem.params.horizon and not problem.is_final_answered:
        return offers, np.zeros(len(offers))
    made = np.asarray(past, dtype=np.float64)[-SLOTS:]
    answers = _answers(problem, k, made[None], offers, prices)
    worth = answers.takes[0] * (problem.zopa - offers)
    if k < problem.params.horizon:
        law = opening_weights(problem, prices) if standing is None else _law(problem, prices, standing, made)
        later = np.array([law @ _after(solution, k + 1, np.append(made, x)[-SLOTS:]) for x in offers])
        worth = worth + answers.goes_on[0] * later
    return offers, worth


def _after(solution: Unordered, k: int, past: Floats) -> Floats:
    """Return the values (prices,) before the offer of round ``k`` when ``past`` need not be on the grid."""
    problem, offers, prices, n = solution.problem, solution.offers, solution.prices, len(solution.offers)
    horizon = problem.params.horizon
    layers = []  # sequences that still hold some of ``past``: d new offers after its last ones
    for d in range(SLOTS):
        kept = past[max(len(past) - (SLOTS - d), 0) :]
        new = offers[_digits(n, d)]
        layers.append(np.hstack([np.broadcast_to(kept, (n**d, len(kept))), new]))
    later = solution.values[min(k + SLOTS, horizon + 1)]
    for d in range(SLOTS - 1, -1, -1):
        if k + d <= horizon:
            follow = np.arange(n**d) * n
            later = _best(problem, k + d, layers[d], offers, prices, None if k + d == horizon else later, follow)
    return np.asarray(later[0])


def _best(  # noqa: PLR0913
    problem: KnownTypeProblem, k: int, past: Floats, offers: Floats, prices: Floats, later: Floats | None, follow: Ints
) -> Floats:
    """Return the values (sequences, prices) of round ``k``; sequence i is followed by rows ``follow[i] + offer``."""
    stop = np.maximum(problem.zopa - prices, 0.0)
    if k == problem.params.horizon and not problem.is_final_answered:
        return np.tile(stop, (len(past), 1))
    answers = _answers(problem, k, past, offers, prices)
    gain = answers.takes * (problem.zopa - offers)
    out: Floats = np.maximum(stop, gain.max(axis=1)[:, None])
    if later is None:
        return out
    for u in range(len(answers.laws)):
        rows = np.flatnonzero(answers.rate == u)
        after = later[follow[rows, None] + np.arange(len(offers))] @ answers.laws[u].T
        worth = gain[rows, :, None] + answers.goes_on[rows, :, None] * after
        out[rows] = np.maximum(stop, worth.max(axis=1))
    return out


def _answers(problem: KnownTypeProblem, k: int, past: Floats, offers: Floats, prices: Floats) -> _Answers:
    """Return how the counterpart answers ``offers`` after each row of ``past``, by eqs. 5 to 8 on whole arrays."""
    params, (speed, magnitude, rigid) = problem.params, _features(problem, past)
    clock = 1.0 - np.sqrt(k / params.horizon)
    base = params.beta * problem.urgency - params.gamma * clock + params.rho * speed + params.xi * rigid
    logit = base[:, None] + params.alpha * offers / params.price_range
    takes = np.where(offers >= 0, expit(logit), 0.0)
    stays = 1.0 - np.array([walk_prob(x / params.price_range, k, params) for x in offers.tolist()])
    raw = params.lambda_0 + params.lambda_1 * problem.urgency - params.lambda_2 * magnitude + params.lambda_shift
    rates, number = np.unique(np.clip(raw, 0.0, 1.0).round(13), return_inverse=True)
    laws = np.empty((len(rates), len(prices), len(prices)))
    for rate, law in zip(rates.tolist(), laws, strict=True):
        noise_weights(prices, prices, (1.0 - rate) * prices, params.noise_sd, law)
    return _Answers(takes, (1.0 - takes) * stays, number.ravel(), laws)


def _features(problem: KnownTypeProblem, past: Floats) -> tuple[Floats, Floats, Floats]:
    """Return speed, magnitude and rigidity of each row of ``past`` (n, offers made)."""
    params, zero = problem.params, np.zeros(len(past))
    if past.shape[1] < 2:
        return zero, zero, zero
    steps = np.diff(past[:, -params.window - 1 :], axis=1) / params.price_range
    rises = np.maximum(steps, 0.0)
    return steps.mean(axis=1), rises.mean(axis=1), np.where(rises[:, -1] < params.rigidity_threshold, 1.0, 0.0)


def _law(problem: KnownTypeProblem, prices: Floats, standing: float, made: Floats) -> Floats:
    """Return the law (prices,) of the price that follows ``standing`` after the offers ``made``."""
    params, (_, magnitude, _) = problem.params, _features(problem, made[None])
    raw = params.lambda_0 + params.lambda_1 * problem.urgency - params.lambda_2 * magnitude[0] + params.lambda_shift
    out = np.empty((1, len(prices)))
    mean = (1.0 - min(1.0, max(0.0, raw))) * standing
    noise_weights(prices, np.array([standing]), np.array([mean]), params.noise_sd, out)
    return np.asarray(out[0])


def _digits(n: int, count: int) -> Ints:
    """Return the digits (n ** count, count) of every number, base n, the leading one first."""
    return np.stack(np.unravel_index(np.arange(n**count), (n,) * count), axis=1) if count else np.zeros((1, 0), int)
