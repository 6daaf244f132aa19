r"""The dynamic program against a counterpart of known type.

With the type ``(r_B, kappa, eta)`` known and the noise not, a situation is the round ``k``, the standing price ``b``
and the own offers ``h``:

.. math::
    V_k(b, h) = \max\{z - b,\ 0,\ \max_{x \ge x_{last}} Q_k(x)\}, \qquad
    Q_k(x) = a_k(x, h)(z - x) + (1 - a_k)(1 - \omega_k)\, E\,V_{k+1}(b', (h, x)).

Prices are measured from ``r_B`` towards the agent's reservation at ``z``, so one solve serves both roles. Offers lie on
a grid that contains ``r_B`` itself and steps that just reach the rigidity threshold; values are linear between standing
prices. The greedy policy plays grid offers only, so it earns the computed value in the true kernel, up to the
interpolation. A solution depends on (family, stance, kappa, z, bounds) alone; the last few are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from oracle.kernels.induction import SLOTS, Worth, backward_induction, known_type_offer_values, noise_weights
from terms.agents.moves import sign
from terms.aliases import Floats, Ints
from terms.config import GameConfig
from terms.kernel import (
    NO_HISTORY,
    KernelParams,
    concession_rate,
    history_features,
    kernel_params,
    opening_scale,
)
from terms.types import Family, Observation, PrivateType


@dataclass(frozen=True, slots=True)
class Resolution:
    """How fine the dynamic program is: number of offers within the surplus, and of standing prices."""

    num_offers: int = 10
    num_prices: int = 64

    def __post_init__(self) -> None:
        if self.num_offers < 2 or self.num_prices < 4:
            raise ValueError(f"num_offers={self.num_offers}, num_prices={self.num_prices}; at least 2 and 4 are needed")


STANDARD_RESOLUTION = Resolution()


class KnownTypeProblem(NamedTuple):
    """A known counterpart seen from the agent's chair, prices measured from its reservation.

    ``zopa`` is the agent's reservation, ``floor`` its best price (not positive), ``ceiling`` the counterpart's best.
    """

    params: KernelParams
    urgency: float
    zopa: float
    floor: float
    ceiling: float
    harshness: tuple[float, float]
    is_final_answered: bool


class Solution(NamedTuple):
    """Values on the grid: ``values`` (K + 2, ranks, prices) at round, last four offers and standing price."""

    problem: KnownTypeProblem
    offers: Floats
    prices: Floats
    worth: Worth
    values: Floats


def problem_of(config: GameConfig, family: Family, hidden: PrivateType, observation: Observation) -> KnownTypeProblem:
    """Translate and mirror: a seller's game is the buyer's with prices read from the other end.

    Raises
    ------
    ValueError
        If the history window is longer than the three differences a state holds.
    """
    if config.concession.window >= SLOTS:
        raise ValueError(f"window={config.concession.window}; the dynamic program holds up to {SLOTS - 1} differences")
    low, high = observation.price_min, observation.price_max
    side, reservation = sign(observation), hidden.reservation_price
    best, worst = (low, high) if side > 0 else (high, low)
    law = config.opening.harshness
    return KnownTypeProblem(
        params=kernel_params(config, family, hidden.stance, high - low),
        urgency=hidden.urgency,
        zopa=side * (observation.reservation_price - reservation),
        floor=side * (best - reservation),
        ceiling=max(side * (worst - reservation), 1e-6 * (high - low)),  # a grid of width 0 has no slopes
        harshness=(law.low, law.high),
        is_final_answered=config.final_offer_answered,
    )


def offer_grid(problem: KnownTypeProblem, num_offers: int) -> Floats:
    """Return the offers searched: the counterpart's reservation, even steps up to the own one, and two below.

    A step divides the rigidity threshold, so that some jump just reaches it. Offers below the counterpart's reservation
    are never accepted; the two kept serve to jump from.
    """
    jump = problem.params.rigidity_threshold * problem.params.price_range * (1 + 1e-9)
    if jump <= 0 or problem.zopa <= 0:
        return np.linspace(0.0, max(problem.zopa, 0.0), num_offers if problem.zopa > 0 else 1)
    parts = max(1, int(np.floor(jump * (num_offers - 1) / problem.zopa)))
    step = jump / parts if problem.zopa > jump / parts else problem.zopa / (num_offers - 1)
    above = np.arange(int(problem.zopa / step) + 1) * step
    below = np.array([-2 * jump, -jump])
    return np.concatenate([below[below >= problem.floor], above])


def standing_prices(problem: KnownTypeProblem, num_prices: int) -> Floats:
    """Return the standing prices: even up to the own reservation, where accepting starts to pay, then widening."""
    reach = min(problem.zopa, problem.ceiling)
    if reach <= 0 or problem.ceiling - reach <= 1e-9 * problem.params.price_range:
        return np.linspace(0.0, problem.ceiling, num_prices)
    near = (2 * num_prices) // 3
    far = problem.ceiling - reach
    return np.concatenate(
        [np.linspace(0.0, reach, near), reach + far * np.linspace(0.0, 1.0, num_prices - near + 1)[1:] ** 1.5]
    )


def surplus_worth(problem: KnownTypeProblem, offers: Floats, prices: Floats) -> Worth:
    """Return the game's own utility: what a deal leaves of the own reservation, nothing without one."""
    rounds = problem.params.horizon + 1
    return Worth(
        np.repeat(problem.zopa - offers[None], rounds, axis=0),
        np.repeat(problem.zopa - prices[None], rounds, axis=0),
        np.zeros(rounds),
    )


def solve_on(
    problem: KnownTypeProblem, offers: Floats, prices: Floats, first_round: int = 2, worth: Worth | None = None
) -> Solution:
    """Run backward induction on given grids down to ``first_round``.

    Parameters
    ----------
    offers, prices
        Rising; ``prices`` runs from 0 to the highest standing price that can occur.
    first_round
        Round 1 has no state to tabulate: nothing has been offered, and perhaps nothing stands.
    worth
        What endings are worth by round; the game's own utility if left out.
    """
    ends = worth or surplus_worth(problem, offers, prices)
    params = problem.params
    rate_of, rates = _rates(problem, offers)
    weights = np.stack([_weights(prices, prices, rate, params).T for rate in rates])
    ranks = comb(len(offers) + SLOTS - 1, SLOTS)
    values = np.zeros((params.horizon + 2, ranks, len(prices)))
    backward_induction(
        offers, prices, problem.urgency, params, ends, (first_round, int(problem.is_final_answered)),
        rate_of, np.ascontiguousarray(weights), values,
    )  # fmt: skip
    return Solution(problem, offers, prices, ends, values)


@lru_cache(maxsize=16)
def solve_known_type(problem: KnownTypeProblem, resolution: Resolution = STANDARD_RESOLUTION) -> Solution:
    """Solve a feasible problem on the standard grids; the last few solutions are kept."""
    return solve_on(
        problem, offer_grid(problem, resolution.num_offers), standing_prices(problem, resolution.num_prices)
    )


def offer_action_values(solution: Solution, k: int, past: Sequence[int], standing: float | None) -> Floats:
    """Return the value of every offer of the grid in round ``k``; -inf for offers that would go back.

    Parameters
    ----------
    past
        Grid indices of all own offers so far, oldest first.
    standing
        The counterpart's price; ``None`` before its first.
    """
    problem, out = solution.problem, np.empty(len(solution.offers))
    if k == problem.params.horizon and not problem.is_final_answered:
        nothing = solution.worth.nothing[k]
        return np.where(np.arange(len(out)) >= (past[-1] if past else 0), nothing, -np.inf)
    recent = list(past[-SLOTS:])
    first, second, third, last = [recent[0]] * (SLOTS - len(recent)) + recent if recent else [-1] * SLOTS
    made = solution.offers[recent]
    if standing is None:
        law = opening_weights(problem, solution.prices)
    else:
        rate = concession_rate(problem.urgency, history_features(made.tolist(), 1, problem.params), problem.params)
        law = _weights(solution.prices, np.array([standing]), rate, problem.params)[0]
    known_type_offer_values(
        solution.offers, made, (first, second, third, last), k, problem.urgency, problem.params, solution.worth,
        solution.values[k + 1], law, out,
    )  # fmt: skip
    return out


def value_at_start(
    problem: KnownTypeProblem, standing: float | None, resolution: Resolution = STANDARD_RESOLUTION
) -> float:
    """Return the value at the agent's first move; ``standing`` is the opening price it faces, if any."""
    if problem.zopa <= 0:
        return 0.0
    best = float(offer_action_values(solve_known_type(problem, resolution), 1, (), standing).max())
    return max(best, 0.0 if standing is None else problem.zopa - standing)


def situation_values(
    problem: KnownTypeProblem,
    k: int,
    past: Sequence[float],
    standing: float | None,
    resolution: Resolution = STANDARD_RESOLUTION,
    also: Sequence[float] = (),
) -> tuple[Floats, Floats]:
    """Return offers and their values in round ``k`` after any ``past`` own offers, on the grid or not.

    Prices are measured from the counterpart's reservation. Past offers and the offers ``also`` asked about are added to
    the grid where they are not on it. Offers that went back count as held at their best, as the state holds rising
    offers only.
    """
    raised = np.maximum.accumulate(np.asarray(past, dtype=np.float64))[-SLOTS:]
    wanted = np.append(raised, also)
    solution = solve_known_type(problem, resolution) if problem.zopa > 0 else None
    if solution is None or _indices(solution.offers, wanted, problem) is None:
        offers = np.union1d(offer_grid(problem, resolution.num_offers), wanted)
        solution = solve_on(problem, offers, standing_prices(problem, resolution.num_prices), first_round=k + 1)
    indices = _indices(solution.offers, raised, problem)
    return solution.offers, offer_action_values(solution, k, indices or (), standing)


def _indices(offers: Floats, past: Floats, problem: KnownTypeProblem) -> list[int] | None:
    """Return the grid numbers of ``past``, or ``None`` if one of them is not on the grid."""
    if len(past) == 0:
        return []
    nearest = np.abs(offers[:, None] - past).argmin(axis=0)
    is_exact = np.abs(offers[nearest] - past) <= 1e-10 * problem.params.price_range
    return [int(index) for index in nearest] if is_exact.all() else None


def _rates(problem: KnownTypeProblem, offers: Floats) -> tuple[Ints, list[float]]:
    """Give a number to the concession rate of every (offers counted, first, last): it depends on nothing else."""
    n, numbers = len(offers), dict[float, int]()
    table = np.zeros((SLOTS + 1, n, n), dtype=np.int64)
    for counted in range(SLOTS + 1):
        for first in range(n):
            for last in range(first, n):
                steps = max(counted - 1, 1)
                shift = (offers[last] - offers[first]) / (steps * problem.params.price_range) if counted > 1 else 0.0
                past = NO_HISTORY._replace(magnitude=float(shift))
                rate = round(concession_rate(problem.urgency, past, problem.params), 13)
                table[counted, first, last] = numbers.setdefault(rate, len(numbers))
    return table, list(numbers)


def _weights(prices: Floats, tops: Floats, rate: float, params: KernelParams) -> Floats:
    out = np.empty((len(tops), len(prices)))
    noise_weights(prices, tops, (1.0 - rate) * tops, params.noise_sd, out)
    return out


def opening_weights(problem: KnownTypeProblem, prices: Floats) -> Floats:
    r"""Return the law of the opening price on the nodes: uniform harshness, normal noise, clipped to [0, ceiling].

    The excess ``E (b - a)^+`` of a normal averages over a uniform mean on ``[m_0, m_1]`` in closed form, by
    ``J(x) = ((x^2 + 1) Phi(x) + x phi(x)) / 2`` with ``J' = H`` of the kernel module.
    """
    params, top = problem.params, problem.ceiling
    sd = max(params.opening_sd, 1e-6 * params.price_range)  # without noise the limit, to rounding
    ends = [share * opening_scale(problem.urgency, params) * top for share in problem.harshness]
    spread = max(ends[1] - ends[0], 1e-6 * params.price_range)

    def averaged(a: Floats) -> Floats:
        near, far = ((end - a) / sd for end in (ends[0], ends[0] + spread))
        return np.asarray((_twice_integrated_cdf(far) - _twice_integrated_cdf(near)) * sd**2 / spread)

    excess = averaged(prices) - averaged(np.array([top]))
    slopes = -np.diff(excess) / np.diff(prices)
    return np.asarray(np.append(1.0, slopes) - np.append(slopes, 0.0))


def _twice_integrated_cdf(x: Floats) -> Floats:
    return np.asarray(((x**2 + 1) * ndtr(x) + x * np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi)) / 2)
