r"""What an agent may believe about the counterpart before the first price.

Everything is told from a buyer's chair in percent of the price range: a seller's prices are mirrored, so one set of
formulas serves both roles. With own reservation ``a`` and the laws of section 1.1 of the game,

.. math::
    \text{feasible: } z \sim U \text{ on } \{z_l \le z \le z_h,\ m_l \le a - z/2 \le m_h\},\ r = a - z, \\
    \text{no deal: } f(q) \propto 1 / (100 - q) \text{ on } \{q_l \le q \le q_h,\ q \le 100 - a\},\ r = a + q.

The own reservation is itself evidence about the regime: a mixture weighs each regime by the density of ``a`` under it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import betainc, betaincinv

from terms.aliases import Floats
from terms.cells import choose
from terms.config import Beta, GameConfig, Uniform
from terms.kernel import STANCES
from terms.scenario import Scenario
from terms.types import Family, Regime, Role, Stance

SCALE = 100.0
_EDGE = 1e-6  # prices are divided and multiplied on the way here
_MIN_CELLS_STEP = 2.5  # percent of the frame: on a narrow one a fixed step would leave too few cells
RELEASED_REGIMES = (Regime.OVERLAP, Regime.URGENCY_SHIFT, Regime.NO_DEAL)


@dataclass(frozen=True, slots=True)
class Grid:
    """Resolution of a belief: widest reservation cell in percent of R, and number of urgency nodes."""

    r_step: float = 0.25
    num_urgency: int = 21

    def __post_init__(self) -> None:
        if not 0 < self.r_step <= 10 or self.num_urgency < 1:
            raise ValueError(f"r_step={self.r_step}, num_urgency={self.num_urgency}; allowed are (0, 10] and 1 or more")


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What the agent knows of the laws: which regimes and families are possible (each equally likely).

    ``geometry="tied"`` is the flaw of the published overlap episodes, where the own reservation reveals the other
    one; it is never the default. ``objective="se"`` weighs each type by ``1/zopa``, so that expected utility under it
    is proportional to expected surplus efficiency, ``E[u/z] = E[1/z] E'[u]``; every regime must then have a zopa.
    ``frame`` (low, scale) is the part of the price range that reservations are laid on, in the agent's canonical
    prices: all of it, save for the items of a catalogue.
    """

    config: GameConfig
    regimes: tuple[Regime, ...] = RELEASED_REGIMES
    families: tuple[Family, ...] = tuple(Family)
    geometry: Literal["independent", "tied"] = "independent"
    objective: Literal["utility", "se"] = "utility"
    frame: tuple[float, float] = (0.0, SCALE)

    def __post_init__(self) -> None:
        if self.frame[0] < -_EDGE or self.frame[1] <= 0 or sum(self.frame) > SCALE + _EDGE:
            raise ValueError(f"frame={self.frame}; low and scale must lay it inside [0, {SCALE:g}]")
        if self.objective == "se" and Regime.NO_DEAL in self.regimes:
            names = ", ".join(self.regimes)
            raise ValueError(f"objective='se' with regimes {names}: surplus efficiency needs regimes that have a zopa")

    @classmethod
    def of(
        cls,
        regimes: Sequence[Regime | str] | None = None,
        families: Sequence[Family | str] | None = None,
        config: GameConfig | None = None,
    ) -> Knowledge:
        """Resolve names; ``None`` means not known, that is every released regime or every family."""
        return cls(
            config or GameConfig(),
            tuple(choose("regimes", regimes, Regime, RELEASED_REGIMES)),
            tuple(choose("families", families, Family, tuple(Family))),
        )

    @classmethod
    def about(cls, scenario: Scenario, regimes: Sequence[Regime | str] | None = None) -> Knowledge:
        """Return the laws of ``scenario`` for whoever is told its family and that one of ``regimes`` holds."""
        told = cls.of(regimes, [scenario.family], scenario.config)
        frame, unit = scenario.frame, SCALE / scenario.price_range
        above, below = frame.low - frame.price_min, frame.price_max - frame.low - frame.scale
        low = above if scenario.agent_role is Role.BUYER else below
        return told if scenario.product is None else replace(told, frame=(low * unit, frame.scale * unit))


@dataclass(frozen=True, slots=True)
class Seat:
    """The agent's chair: role, own reservation and public bounds, in the units of the episode."""

    role: Role
    reservation_price: float
    price_min: float = 0.0
    price_max: float = 100.0

    def to_canonical(self, price: float) -> float:
        """Return ``price`` as a buyer would see it, in percent of R."""
        width = self.price_max - self.price_min
        distance = price - self.price_min if self.role is Role.BUYER else self.price_max - price
        return distance * (SCALE / width)

    def from_canonical(self, price: float) -> float:
        """Invert :meth:`to_canonical`."""
        distance = price * ((self.price_max - self.price_min) / SCALE)
        return self.price_min + distance if self.role is Role.BUYER else self.price_max - distance

    @property
    def own(self) -> float:
        """Own reservation in canonical units."""
        return self.to_canonical(self.reservation_price)


def is_framed(knowledge: Knowledge) -> bool:
    """Return whether reservations are laid on a part of the price range only."""
    return knowledge.frame != (0.0, SCALE)


def unit_of(knowledge: Knowledge) -> float:
    """Return the width of the frame as a share of the price range."""
    return knowledge.frame[1] / SCALE


class TypeGroup(NamedTuple):
    """One behavioural class of columns."""

    family: Family
    stance: Stance


class Prior(NamedTuple):
    """A belief before the first price.

    ``low``, ``high`` (rows,) bound the reservation cells, inside which r is uniform; ``urgency`` (nodes,) are the
    urgency nodes; ``weights`` (rows, groups, nodes) sum to one; ``groups`` names the (family, stance) of the middle
    axis.
    """

    low: Floats
    high: Floats
    urgency: Floats
    groups: tuple[TypeGroup, ...]
    weights: Floats


class Segment(NamedTuple):
    """Law of r given the own reservation under one regime: interval, and mass of each of ``n`` equal cells.

    ``masses`` sum to the density of the own reservation, the regime's evidence.
    """

    low: float
    high: float
    masses: Floats


def build_prior(knowledge: Knowledge, own: float, grid: Grid, role: Role = Role.BUYER) -> Prior:
    """Return the prior of an agent with canonical reservation ``own``.

    Raises
    ------
    ValueError
        If ``own`` cannot occur under any regime the agent holds possible.
    """
    segments = {regime: _framed_segment(regime, own, role, grid, knowledge) for regime in knowledge.regimes}
    segments = {regime: segment for regime, segment in segments.items() if segment.masses.sum() > 0}
    if not segments:
        names = ", ".join(knowledge.regimes)
        raise ValueError(f"own reservation {own:.6g} (buyer's view, percent of R) cannot occur under regimes {names}")
    urgency, masses = regime_urgency(knowledge, grid)
    stance = np.array(
        [prob for family in knowledge.families for prob in knowledge.config.families[family].stance_prior]
    )
    blocks = [
        (segment, np.multiply.outer(segment.masses, np.multiply.outer(stance, masses[regime])))
        for regime, segment in segments.items()
    ]
    low, high, weights = _stack(blocks)
    return Prior(low, high, urgency, column_groups(knowledge), weights / weights.sum())


def column_groups(knowledge: Knowledge) -> tuple[TypeGroup, ...]:
    """Return the (family, stance) pairs in the order of every group axis."""
    return tuple(TypeGroup(family, stance) for family in knowledge.families for stance in STANCES)


def regime_urgency(knowledge: Knowledge, grid: Grid) -> tuple[Floats, dict[Regime, Floats]]:
    """Return the urgency nodes, the same for every own reservation, and each regime's masses at them."""
    laws = [knowledge.config.prior.counterpart_urgency(regime) for regime in knowledge.regimes]
    nodes, masses = urgency_nodes(laws, grid.num_urgency)
    return nodes, dict(zip(knowledge.regimes, masses, strict=True))


def urgency_nodes(laws: Sequence[Beta], num: int) -> tuple[Floats, Floats]:
    """Return nodes (num,) and each law's mass at them (laws, num): means of equal-mass cells of the average law."""
    fine = np.linspace(0.0, 1.0, 4001)
    if len({(law.a, law.b) for law in laws}) == 1:
        edges = betaincinv(laws[0].a, laws[0].b, np.linspace(0.0, 1.0, num + 1))
    else:
        average = np.mean([betainc(law.a, law.b, fine) for law in laws], axis=0)
        edges = np.interp(np.linspace(0.0, 1.0, num + 1), average, fine)
    masses = np.array([np.diff(betainc(law.a, law.b, edges)) for law in laws])
    moments = np.array([law.a / (law.a + law.b) * np.diff(betainc(law.a + 1, law.b, edges)) for law in laws])
    return moments.sum(axis=0) / masses.sum(axis=0), masses


def _framed_segment(regime: Regime, own: float, role: Role, grid: Grid, knowledge: Knowledge) -> Segment:
    """Return the law of r on the frame: that on the whole range, shrunk and moved; its masses lose a common factor."""
    low, scale = knowledge.frame
    if (low, scale) == (0.0, SCALE):
        return _segment(regime, own, role, grid, knowledge)
    unit = scale / SCALE
    finer = replace(grid, r_step=min(grid.r_step / unit, _MIN_CELLS_STEP))
    segment = _segment(regime, (own - low) / unit, role, finer, knowledge)
    return Segment(low + segment.low * unit, low + segment.high * unit, segment.masses)


def _segment(regime: Regime, own: float, role: Role, grid: Grid, knowledge: Knowledge) -> Segment:
    law = knowledge.config.prior
    if regime is Regime.NO_DEAL:
        return _no_deal_segment(own, _percent(law.gap_share), grid)
    width, middle = _percent(law.zopa_share), _percent(law.midpoint_share)
    if knowledge.geometry == "tied" and regime is Regime.OVERLAP:
        return _tied_segment(own, width, middle, role)
    if role is Role.SELLER:  # only the midpoint changes sides in the mirror
        middle = Uniform(low=SCALE - middle.high, high=SCALE - middle.low)
    shortest = max(width.low, 2 * (own - middle.high))
    longest = min(width.high, 2 * (own - middle.low))
    if shortest >= longest:
        return Segment(own, own, np.zeros(0))
    cells = _cells(own - longest, own - shortest, grid)
    density = 1.0 / ((width.high - width.low) * (middle.high - middle.low))
    masses = np.full(cells, density * (longest - shortest) / cells)
    if knowledge.objective == "se":
        masses = density * -np.diff(np.log(np.linspace(longest, shortest, cells + 1)))
    return Segment(own - longest, own - shortest, masses)


def _no_deal_segment(own: float, gap: Uniform, grid: Grid) -> Segment:
    longest = min(gap.high, SCALE - own)
    if gap.low >= longest or own < 0:
        return Segment(own, own, np.zeros(0))
    cells = _cells(own + gap.low, own + longest, grid)
    edges = np.linspace(gap.low, longest, cells + 1)
    masses = -np.diff(np.log(SCALE - edges)) if longest < SCALE else np.full(cells, 1.0 / cells)
    return Segment(own + gap.low, own + longest, masses / (gap.high - gap.low))


def _tied_segment(own: float, width: Uniform, middle: Uniform, role: Role) -> Segment:
    """Return the point on which the released overlap draws put r, as a cell of 2e-6."""
    seller = role is Role.SELLER
    start = (SCALE - middle.low if seller else middle.low) + width.low / 2
    slope = (middle.high - middle.low) * (-1 if seller else 1) + (width.high - width.low) / 2
    share = (own - start) / slope
    r = own - (width.low + share * (width.high - width.low))
    possible = -1e-9 <= share <= 1 + 1e-9
    return Segment(r - 1e-6, r + 1e-6, np.array([1.0 / abs(slope)]) if possible else np.zeros(0))


def _stack(blocks: list[tuple[Segment, Floats]]) -> tuple[Floats, Floats, Floats]:
    """Lay the regimes' cells side by side, adding up regimes that share an interval."""
    merged: dict[tuple[float, float, int], Floats] = {}
    for segment, weights in blocks:
        key = (segment.low, segment.high, len(weights))
        merged[key] = merged[key] + weights if key in merged else weights
    keys = sorted(merged)
    edges = [np.linspace(low, high, cells + 1) for low, high, cells in keys]
    low, high = np.concatenate([edge[:-1] for edge in edges]), np.concatenate([edge[1:] for edge in edges])
    return low, high, np.concatenate([merged[key] for key in keys])


def _cells(low: float, high: float, grid: Grid) -> int:
    return max(1, int(np.ceil((high - low) / grid.r_step - 1e-9)))


def _percent(law: Uniform) -> Uniform:
    return Uniform(low=law.low * SCALE, high=law.high * SCALE)
