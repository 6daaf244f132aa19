r"""Backward induction against a counterpart whose type is known, on a grid of offers and standing prices.

Prices are a buyer's with the counterpart's reservation at 0: offers ``x`` rise, standing prices ``y`` fall. A state is
(round, last four own offers, standing price). The last four offers carry everything the kernel reads of the past: up
to three differences. Offers are monotone, so the four are a multiset and get the dense rank

.. math:: i_1 + C(i_2 + 1, 2) + C(i_3 + 2, 3) + C(i_4 + 3, 4), \qquad i_1 \le i_2 \le i_3 \le i_4.

With fewer than four offers made, the first one is repeated. Values are piecewise linear in the standing price, and for
such a function the expectation over the projected normal noise has a closed form: with ``C(a) = E (b' - a)^+``,

.. math:: C(a) = \sigma [H((m - a)/\sigma) - H((m - b)/\sigma)]_{a < b}, \qquad H(x) = x\Phi(x) + \varphi(x),

where ``m = (1 - lambda) b``; both point masses of the projection are inside it, and no quadrature error is left.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from oracle.kernels.compiling import inline, kernel
from oracle.kernels.formulas import accept_prob, history_features, walk_prob
from terms.aliases import Floats, Ints
from terms.kernel import Features, KernelParams

SLOTS = 4
_ROOT_2 = math.sqrt(2.0)
_ROOT_2PI = math.sqrt(2.0 * math.pi)


class Worth(NamedTuple):
    """What an ending is worth by round: row ``k`` is round k, row 0 unused.

    A deal at each offer ``deal`` (K + 1, offers), at each standing price ``taken`` (K + 1, nodes), and no deal
    ``nothing`` (K + 1,).
    """

    deal: Floats
    taken: Floats
    nothing: Floats


@inline
def rank(first: int, second: int, third: int, last: int) -> int:
    """Return the dense number of a rising quadruple of offer indices."""
    pair = second * (second + 1) // 2
    triple = third * (third + 1) * (third + 2) // 6
    return first + pair + triple + last * (last + 1) * (last + 2) * (last + 3) // 24


@inline
def _integral_cdf(x: float) -> float:
    return x * 0.5 * math.erfc(-x / _ROOT_2) + math.exp(-0.5 * x * x) / _ROOT_2PI


@inline
def _excess(a: float, top: float, mean: float, sd: float) -> float:
    """Return ``E (b' - a)^+`` for ``b' = clip(N(mean, sd), 0, top)`` and ``0 <= a <= top``."""
    if a >= top:
        return 0.0
    if sd <= 0.0:
        return max(0.0, min(mean, top) - a)
    return sd * (_integral_cdf((mean - a) / sd) - _integral_cdf((mean - top) / sd))


@inline
def _spread(y: Floats, top: float, mean: float, sd: float, out: Floats) -> None:
    """Write the weight of each node of ``y`` in ``E f(b')``, exact for every ``f`` linear between nodes."""
    above, before = _excess(y[0], top, mean, sd), 1.0
    for j in range(len(y) - 1):
        below = _excess(y[j + 1], top, mean, sd)
        slope = (above - below) / (y[j + 1] - y[j])
        out[j] = before - slope
        above, before = below, slope
    out[len(y) - 1] = before


@kernel
def noise_weights(y: Floats, tops: Floats, means: Floats, sd: float, out: Floats) -> None:
    """Write the node weights of ``clip(N(mean, sd), 0, top)`` for each pair, shape (pairs, nodes)."""
    for i in range(len(tops)):
        _spread(y, tops[i], means[i], sd, out[i])


@inline
def _outlook(
    x: float, k: int, urgency: float, features: Features, params: KernelParams, ends: tuple[float, float]
) -> tuple[float, float]:
    """Return what offer ``x`` earns at once and the probability that the talk goes on.

    ``ends`` is what a deal at ``x`` and no deal are worth in round ``k``.
    """
    gain = x / params.price_range
    closes = accept_prob(gain, urgency, k, features, params)
    walks = walk_prob(gain, k, params)
    return closes * ends[0] + (1.0 - closes) * walks * ends[1], (1.0 - closes) * (1.0 - walks)


@inline
def _best_offer(  # noqa: PLR0913
    x: Floats, past: Floats, quad: tuple[int, int, int, int], k: int, urgency: float, params: KernelParams,
    worth: Worth, later: Floats, weights: Floats, values: Floats,
) -> None:  # fmt: skip
    """Raise ``values`` (nodes,) to the best over offers; ``weights`` is (arrival, node)."""
    features = history_features(past, 1, params)  # type: ignore[arg-type]  # an array is read like a sequence
    nodes = len(values)
    follow = np.empty(nodes)
    for j in range(quad[3], len(x)):
        now, lives = _outlook(x[j], k, urgency, features, params, (worth.deal[k, j], worth.nothing[k]))
        row = later[rank(quad[1], quad[2], quad[3], j)]
        follow[:] = 0.0
        for arrival in range(nodes):  # the standing price never rises; columns inside, so that the loop is vectorised
            comes = row[arrival] * lives
            for node in range(arrival, nodes):
                follow[node] += weights[arrival, node] * comes
        for node in range(nodes):
            values[node] = max(values[node], now + follow[node])


@kernel
def backward_induction(  # noqa: PLR0913
    x: Floats, y: Floats, urgency: float, params: KernelParams, worth: Worth, rules: tuple[int, int],
    rate_of: Ints, weights: Floats, values: Floats,
) -> None:  # fmt: skip
    """Fill ``values`` (K + 2, ranks, nodes) for rounds ``rules[0]`` to K.

    ``rules`` is (first round, whether the final offer is answered); ``rate_of`` (SLOTS + 1, offers, offers) numbers
    the concession rate by how many offers count, the first and the last of them; ``weights`` (rates, arrival nodes,
    nodes) are the noise weights.
    """
    horizon, n = params.horizon, len(x)
    past = np.empty(SLOTS)
    values[horizon + 1] = worth.nothing[horizon]
    for k in range(horizon, rules[0] - 1, -1):
        made = min(k - 1, SLOTS)
        counted = min(made, params.window + 1)
        can_offer = k < horizon or rules[1] == 1
        for last in range(n):
            past[SLOTS - 1] = x[last]
            for third in range(last + 1):
                past[2] = x[third]
                for second in range(third + 1):
                    past[1] = x[second]
                    for first in range(second + 1):
                        quad = (first, second, third, last)
                        if made < SLOTS and quad[0] != quad[SLOTS - made]:
                            continue  # with fewer offers made, the leading slots repeat the first
                        past[0] = x[first]
                        row = values[k, rank(first, second, third, last)]
                        for node in range(len(y)):
                            row[node] = max(worth.taken[k, node], worth.nothing[k])
                        if can_offer:
                            rate = rate_of[counted, quad[SLOTS - counted], last]
                            _best_offer(
                                x, past[SLOTS - made :], quad, k, urgency, params, worth, values[k + 1],
                                weights[rate], row,
                            )  # fmt: skip


@kernel
def known_type_offer_values(  # noqa: PLR0913
    x: Floats, past: Floats, quad: tuple[int, int, int, int], k: int, urgency: float, params: KernelParams,
    worth: Worth, later: Floats, weights: Floats, out: Floats,
) -> None:  # fmt: skip
    """Write the value of every offer in one situation; -inf below the last offer, which would go back.

    ``weights`` (nodes,) is the law of the next standing price, ``quad`` the last offers by index (all -1 before any).
    """
    features = history_features(past, 1, params)  # type: ignore[arg-type]  # an array is read like a sequence
    for j in range(len(x)):
        out[j] = -np.inf
        if j < quad[3]:
            continue
        now, lives = _outlook(x[j], k, urgency, features, params, (worth.deal[k, j], worth.nothing[k]))
        state = rank(j, j, j, j) if quad[3] < 0 else rank(quad[1], quad[2], quad[3], j)
        follow = 0.0
        for node in range(len(weights)):
            follow += weights[node] * later[state, node]
        out[j] = now + lives * follow
