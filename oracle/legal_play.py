r"""What no legal play earns against a known type: a proven upper bound over offers at any price, in any order.

Prices are measured from the counterpart's reservation, ``z`` is the agent's own. With the type known, let
``V_k(d, h)`` be the supremum over all play from round ``k`` on, at standing price ``d`` and own offers ``h``:

.. math::
    V_k(d, h) = \max\{z - d,\ 0,\ \sup_x [a_k(x, h)(z - x) + (1 - a_k)(1 - \omega_k(x))\, E\,V_{k+1}(d', (h, x))]\}.

Cut the legal offers into cells and let ``W_k(d, H)`` be the recursion below, ``H`` the cells of the last four offers.

**Theorem.** ``V_k(d, h) <= W_k(d, H)`` if the offers ``h`` lie in the cells ``H``. *Proof*, backwards in ``k``. W does
not rise in ``d`` (its stopping value does not, and a larger ``d`` moves to larger ones); where no offer is answered any
more it is ``V`` at ``d`` rounded down.

* *Quote.* ``d'`` is ``(1 - lambda) d`` plus noise, cut to ``[0, d]``. Conceding never speeds the counterpart up, so
  lambda is at most the rate of an agent that has not conceded; under that rate ``d'`` is smaller in distribution, and
  rounded down to a grid smaller still, so the expectation of W can only rise.
* *Answer.* The acceptance logit is linear in the offer, in Speed and in Rigidity. Over the cells of ``H`` Speed lies
  between its values at their ends, and Rigidity is what some step from one cell to the next allows. A piece ``[x, y]``
  of a cell therefore has acceptance probabilities between that of ``x`` with the lowest logit and that of ``y`` with
  the highest, and a deal earns at most ``z - x``; ``L + a (z - x - L)`` is linear in ``a``, so its maximum is at an end
  (``L``: what is left if the offer is turned down). Offers beyond the reservation are never accepted; the chance of
  walking away is monotone in them and lowest at an end.

An agent that is not told the type earns no more, whatever it does: it may ignore what it is told. So the mean of the
bound over the law of types and openings bounds the game, for offers at any price that also fall.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from oracle.clairvoyant import start_of
from oracle.kernels.legal_bound import OfferCells, bound_legal_play
from oracle.known_type import KnownTypeProblem
from terms.aliases import Floats
from terms.kernel import opening_scale
from terms.scenario import Scenario


@dataclass(frozen=True, slots=True)
class CellSettings:
    """How fine the bound is, in percent of R: pieces of the cells, and distances near, midway and far."""

    piece: float = 0.5
    near: float = 0.5
    midway: float = 1.0
    far: float = 4.0

    def __post_init__(self) -> None:
        if min(self.piece, self.near, self.midway, self.far) <= 0:
            raise ValueError(f"{self}; every width must be positive")


STANDARD_CELLS = CellSettings()


def legal_play_bounds(
    scenarios: Sequence[Scenario], *, settings: CellSettings = STANDARD_CELLS, num_threads: int = 2
) -> Floats:
    """Return what no play earns in each scenario, its type being known, in price units.

    Where the counterpart opens, its opening price is seen; where the agent opens, it is still to be drawn.
    """

    def bound(scenario: Scenario) -> float:
        return legal_play_bound(*start_of(scenario), settings)

    with ThreadPoolExecutor(num_threads) as pool:
        return np.array(list(pool.map(bound, scenarios)))


def legal_play_bound(
    problem: KnownTypeProblem, standing: float | None, settings: CellSettings = STANDARD_CELLS
) -> float:
    """Return what no play earns from the first move on; ``standing`` is the opening price it faces, if any."""
    if problem.zopa <= 0:
        return 0.0
    cells, distance = offer_cells(problem, settings), _distances(problem, settings)
    opening = _opening_law(problem, distance)
    price = np.nan if standing is None else standing
    last_answered = problem.params.horizon - (0 if problem.is_final_answered else 1)
    return float(
        bound_legal_play(cells, distance, opening, price, problem.urgency, problem.zopa, problem.params, last_answered)
    )


def offer_cells(problem: KnownTypeProblem, settings: CellSettings = STANDARD_CELLS) -> OfferCells:
    """Return cells that cover every legal offer; no step within a cell just above the reservation is a jump."""
    jump, top = problem.params.rigidity_threshold * problem.params.price_range, problem.ceiling
    cuts = [problem.floor, -2 * jump, -jump, 0.0, jump / 2, problem.zopa, top]
    edges = np.unique([min(max(cut, problem.floor), top) for cut in cuts])
    low, high = edges[:-1], edges[1:]
    piece = settings.piece * problem.params.price_range / 100
    pieces = [
        np.linspace(x, y, max(1, int(np.ceil((y - x) / piece))) + 1) if 0 <= x < problem.zopa else np.array([x, y])
        for x, y in zip(low.tolist(), high.tolist(), strict=True)
    ]
    padded = np.array([np.append(each, np.full(max(map(len, pieces)) - len(each), each[-1])) for each in pieces])
    return OfferCells(low, high, padded)


def _distances(problem: KnownTypeProblem, settings: CellSettings) -> Floats:
    """Return the grid of distances, rising from 0, finer where accepting starts to pay."""
    scale = problem.params.price_range / 100
    spans = ((0, 10, settings.near), (10, 40, settings.midway), (40, 100, settings.far))
    parts = [np.arange(*span) for span in spans]
    distance = scale * np.concatenate(parts)
    return distance[distance <= problem.ceiling]


def _opening_law(problem: KnownTypeProblem, distance: Floats) -> Floats:
    """Return the law of an opening price, uniform harshness plus normal noise cut to the bounds, rounded down."""
    params, top = problem.params, problem.ceiling
    near, far = (share * opening_scale(problem.urgency, params) * top for share in problem.harshness)
    sd, far = max(params.opening_sd, 1e-9 * params.price_range), max(far, near + 1e-9 * params.price_range)
    below = sd * (_area((distance - near) / sd) - _area((distance - far) / sd)) / (far - near)
    below[0] = 0.0
    return np.diff(np.append(below, 1.0))


def _area(y: Floats) -> Floats:
    return np.asarray(y * ndtr(y) + np.exp(-0.5 * y * y) / np.sqrt(2 * np.pi))
