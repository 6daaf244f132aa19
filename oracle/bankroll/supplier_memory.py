r"""What is known about a supplier, carried from one meeting to the next.

A supplier keeps its type ``t = (r_B, kappa, eta)``; the agent's own reservation, the regime and the noise are new in
every meeting. After ``J`` meetings with own reservations ``a_j`` and what was seen in them,

.. math:: p(t \mid \ldots) \propto p_0(t) \prod_j f(a_j \mid t)\, L_j(t),

so the belief at the end of a meeting, times ``f(a \mid t)`` of the next own reservation, is the next prior: nothing has
to be undone. With the laws of :mod:`commerce.economics.chain` and shares of the price range ``x`` (supplier) and ``a``,

.. math::
    f(a \mid x, \kappa) = \frac{\sum_\rho w_\rho f_\rho(x, a) \beta_\rho(\kappa)}
    {\sum_\rho w_\rho f_\rho(x) \beta_\rho(\kappa)}.

``L_j`` holds every price and cue of a meeting and its end (:mod:`oracle.bankroll.closing`). The belief is exact up to
its cells, inside which the reservation is uniform, and its nodes of urgency.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from commerce.economics import ChainConfig
from oracle.bankroll.closing import Closing, close_meeting
from oracle.model import Model
from oracle.planner import BeliefTracker
from oracle.prior import RELEASED_REGIMES, SCALE, Grid, Knowledge, Seat, TypeGroup, column_groups
from terms.aliases import Floats
from terms.config import Beta
from terms.types import Role

NEGLIGIBLE = 1e-12
FINE, HEAVY = 0.25, 0.02
"""Cells wider than ``FINE`` percent of R with more than ``HEAVY`` of the belief are halved between meetings."""


@dataclass(frozen=True, slots=True, eq=False)
class SupplierMemory:
    """Belief about one supplier between meetings: cells ``low``, ``high`` (rows,), ``weights`` (rows, groups, nodes).

    ``meetings`` counts those in which the supplier was seen to name a price or to take one.
    """

    low: Floats
    high: Floats
    weights: Floats
    meetings: int


class Laws(NamedTuple):
    """Everything a belief about suppliers of one family needs."""

    knowledge: Knowledge
    model: Model
    grid: Grid
    chain: ChainConfig

    @property
    def groups(self) -> tuple[TypeGroup, ...]:
        """The (family, stance) pairs of the middle axis of every belief."""
        return column_groups(self.knowledge)


def start_meeting(laws: Laws, seat: Seat, memory: SupplierMemory | None) -> BeliefTracker:
    """Return the belief before the first price: of a stranger, or of a supplier that is remembered.

    What cannot be (rounding of cells, at most) is forgotten: then the supplier is a stranger again.
    """
    stranger = BeliefTracker.start(laws.knowledge, laws.model, seat, laws.grid)
    nodes = laws.model.columns.urgency
    joint = _joint_density(stranger.low, stranger.high, seat.own, nodes, laws.chain)
    plain = joint.sum(axis=0)
    weights = np.array(laws.chain.regime_weights)
    tilt = np.divide(np.tensordot(weights, joint, 1), plain, out=np.zeros_like(plain), where=plain > 0)
    stranger.weights[:-1] *= tilt[:, None, :]
    stranger.weights /= stranger.weights.sum()
    if memory is None:
        return stranger
    known = memory.weights * own_density(memory, seat.own, nodes, laws.chain)[:, None, :]
    total = known.sum()
    if not total > 0:
        return stranger
    atom = np.zeros((1, *known.shape[1:]))
    return replace(stranger, weights=np.concatenate([known / total, atom]), low=memory.low, high=memory.high)


def end_meeting(tracker: BeliefTracker, closing: Closing, meetings: int) -> SupplierMemory:
    """Return what is remembered after a meeting, which is the ``meetings``-th that counts.

    Where the supplier said nothing the own reservation was still seen, and its law is a part of the belief.
    """
    low, high, weights = close_meeting(tracker, closing)
    kept = weights.sum(axis=(1, 2)) > NEGLIGIBLE
    return _refined(SupplierMemory(low[kept], high[kept], weights[kept] / weights[kept].sum(), meetings))


def _refined(memory: SupplierMemory) -> SupplierMemory:
    """Halve wide cells that hold much, and put cells in rising order."""
    wide = (memory.high - memory.low > FINE) & (memory.weights.sum(axis=(1, 2)) > HEAVY)
    middle = (memory.low + memory.high) / 2
    low = np.concatenate([memory.low, middle[wide]])
    high = np.concatenate([np.where(wide, middle, memory.high), memory.high[wide]])
    half = np.where(wide, 0.5, 1.0)[:, None, None] * memory.weights
    weights = np.concatenate([half, half[wide]])
    order = np.argsort(low, kind="stable")
    return SupplierMemory(low[order], high[order], weights[order], memory.meetings)


def own_density(memory: SupplierMemory, own: float, nodes: Floats, chain: ChainConfig) -> Floats:
    """Return ``f(a | x, kappa)`` at every (row, node), up to a constant; ``own`` canonical."""
    weights = np.array(chain.regime_weights)
    joint = np.tensordot(weights, _joint_density(memory.low, memory.high, own, nodes, chain), 1)
    alone = np.tensordot(weights, _type_density((memory.low + memory.high) / 2, nodes, chain), 1)
    return np.divide(joint, alone, out=np.zeros_like(joint), where=alone > 0)


def _joint_density(low: Floats, high: Floats, own: float, nodes: Floats, chain: ChainConfig) -> Floats:
    """Return ``f_rho(x, a) beta_rho(kappa)`` averaged over cells (regimes, rows, nodes); prices in percent of R.

    Cells are cut where a law ends: a supplier at the very edge of what is possible must keep its weight.
    """
    prior, a = chain.game.prior, own / SCALE
    zopa, gap, (first, last) = prior.zopa_share, prior.gap_share, _middles(chain)
    cells = low / SCALE, high / SCALE
    feasible = _share_inside(*cells, max(a - zopa.high, 2 * first - a), min(a - zopa.low, 2 * last - a))
    apart = _share_inside(*cells, a + gap.low, a + gap.high)
    distance = np.clip((cells[0] + cells[1]) / 2 - a, gap.low, gap.high)
    deal = feasible / ((zopa.high - zopa.low) * (last - first))
    none = apart / ((1 - distance) * (gap.high - gap.low))
    return _with_urgency([deal, deal, none], nodes, chain)


def _share_inside(low: Floats, high: Floats, bottom: float, top: float) -> Floats:
    """Return the share of each cell that lies between ``bottom`` and ``top``; a point is inside or not."""
    width = high - low
    inside = np.clip(np.minimum(high, top) - np.maximum(low, bottom), 0.0, None)
    is_inside = ((low >= bottom) & (low <= top)).astype(np.float64)
    return np.asarray(np.divide(inside, width, out=is_inside, where=width > 0))


def _type_density(r: Floats, nodes: Floats, chain: ChainConfig) -> Floats:
    """Return ``f_rho(x) beta_rho(kappa)`` (regimes, rows, nodes)."""
    prior, x = chain.game.prior, r / SCALE
    low, high = _middles(chain)
    width, gap = prior.zopa_share, prior.gap_share
    widths = np.minimum(width.high, 2 * (high - x)) - np.maximum(width.low, 2 * (low - x))
    deal = np.maximum(widths, 0.0) / ((width.high - width.low) * (high - low))
    longest = np.clip(np.minimum(gap.high, x), gap.low, None)
    none = np.log((1 - gap.low) / (1 - longest)) / (gap.high - gap.low)
    return _with_urgency([deal, deal, none], nodes, chain)


def _middles(chain: ChainConfig) -> tuple[float, float]:
    law = chain.game.prior.midpoint_share
    return (law.low, law.high) if chain.perspective.role is Role.BUYER else (1 - law.high, 1 - law.low)


def _with_urgency(densities: list[Floats], nodes: Floats, chain: ChainConfig) -> Floats:
    laws = [chain.game.prior.counterpart_urgency(regime) for regime in RELEASED_REGIMES]
    return np.stack(
        [np.multiply.outer(density, _beta(nodes, law)) for density, law in zip(densities, laws, strict=True)]
    )


def _beta(x: Floats, law: Beta) -> Floats:
    scale = math.gamma(law.a + law.b) / (math.gamma(law.a) * math.gamma(law.b))
    return np.asarray(scale * x ** (law.a - 1) * (1 - x) ** (law.b - 1))
