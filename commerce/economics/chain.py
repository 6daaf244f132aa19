r"""Chains of negotiations with suppliers that keep their type, drawn so that every agent meets the same ones.

A supplier keeps ``t_B = (r_B, kappa, eta)`` and its family; openings, noise, regime and the agent's own reservation are
drawn anew each period, the last two given the supplier:

.. math::
    P(\rho \mid t_B) \propto w_\rho f_\rho(r_B) f_\rho(\kappa), \qquad r_A \sim f_\rho(r_A \mid r_B).

With a supplier drawn from the mixture of the game's own laws, every single period therefore has exactly the law of a
fresh suite with regime weights ``w``, in every supplier mode; only what is shared between periods differs. A supplier
at the dear end of the law is one with whom no deal is ever possible, so some persistent sessions are lost from the
start, for every agent alike. Below,
``x`` is the supplier's reservation as a share of R in a buyer's view (mirrored for a vendor), with width and midpoint
laws ``z ~ U[z_l, z_h]``, ``m ~ U[m_l, m_h]`` and gap ``q ~ U[q_l, q_h]``:

.. math::
    f_{feasible}(x) = \frac{|Z(x)|}{(z_h - z_l)(m_h - m_l)}, \quad z \mid x \sim U(Z(x)),
    \quad Z(x) = [z_l, z_h] \cap [2 (m_l - x), 2 (m_h - x)], \\
    f_{no\ deal}(x) = \frac{1}{q_h - q_l} \ln\frac{1 - q_l}{1 - \min(q_h, x)}, \quad f(q \mid x) \propto 1 / (1 - q).
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from typing import Self

import numpy as np
from pydantic import Field, model_validator

from commerce.bankroll import BankrollConfig, SupplierMode
from commerce.economics.unit import Perspective
from terms.config import Beta, Frozen, GameConfig, PriorConfig, Uniform
from terms.draws import Draws, between, pick, reservations
from terms.kernel import STANCES
from terms.noise import CueDraw, Noise, keyed_noise
from terms.scenario import Scenario
from terms.types import Family, Opener, PrivateType, Regime, Role

_OPENERS = tuple(Opener)
_REGIMES = (Regime.OVERLAP, Regime.URGENCY_SHIFT, Regime.NO_DEAL)


class ChainConfig(Frozen):
    """Laws of a chain; ``regime_weights`` are ordered (overlap, urgency shift, no deal)."""

    seed: int = Field(0, ge=0)
    perspective: Perspective = Perspective.MERCHANT
    regime_weights: tuple[float, float, float] = Field(
        (0.385, 0.385, 0.23), description="inferred: 46 of 200 published periods have no feasible deal"
    )
    families: tuple[Family, ...] = tuple(Family)
    game: GameConfig = GameConfig()

    @model_validator(mode="after")
    def _weights(self) -> Self:
        if min(self.regime_weights) < 0 or abs(sum(self.regime_weights) - 1) > 1e-9:
            raise ValueError(f"regime_weights={self.regime_weights}; three shares that sum to 1 are needed")
        if not self.families:
            raise ValueError("families is empty; name at least one")
        if len(set(self.families)) < len(self.families):
            raise ValueError(f"families={', '.join(self.families)} has one twice; name each once")
        for field in ("zopa_share", "midpoint_share", "gap_share"):
            law = getattr(self.game.prior, field)
            if law.low == law.high:  # a point has no density, and the regime given the supplier needs one
                raise ValueError(f"game.prior.{field} is the constant {law.low}; a chain needs low below high")
        return self


@dataclass(frozen=True, slots=True)
class ChainSupplier:
    """Somebody met in a session; ``number`` counts from 1 within it."""

    number: int
    family: Family
    hidden: PrivateType

    @property
    def name(self) -> str:
        """What the agent calls it."""
        return f"supplier {self.number}"


@dataclass(frozen=True, slots=True)
class BankrollChain:
    """One session before anybody has moved: ``scenarios[t]`` is played with ``who[t]``, t from 0."""

    session: int
    who: tuple[ChainSupplier, ...]
    scenarios: tuple[Scenario, ...]


class Streams:
    """Generators of one session by name, each made once and drawn from period by period.

    A stream is named after what it decides and takes the same number of draws whatever anybody does, so a chain cut
    short is the start of the longer one and adding a quantity later disturbs none of the others.
    """

    def __init__(self, seed: int, session: int) -> None:
        self._key = (seed, session)
        self._found: dict[str, np.random.Generator] = {}

    def __call__(self, name: str) -> np.random.Generator:
        """Return the stream called ``name``."""
        if name not in self._found:
            seed, session = self._key
            spawn = (zlib.crc32(name.encode()), session)
            self._found[name] = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=spawn)))
        return self._found[name]


def build_chain(session: int, chain: ChainConfig, bankroll: BankrollConfig) -> BankrollChain:
    """Return session number ``session`` (from 0) of a chain: the same for every agent, alone and among any others."""
    stream = Streams(chain.seed, session)
    pool = {
        SupplierMode.IID: bankroll.horizon,
        SupplierMode.POOL: bankroll.pool_size,
        SupplierMode.PERSISTENT: 1,
    }[bankroll.supplier_mode]
    suppliers = [draw_supplier(number, chain, stream) for number in range(1, pool + 1)]
    is_drawn = bankroll.supplier_mode is SupplierMode.POOL
    picks = stream("who").integers(pool, size=bankroll.horizon).tolist() if is_drawn else range(bankroll.horizon)
    who = tuple(suppliers[pick % pool] for pick in picks)
    mode = f"pool-{pool}" if is_drawn else bankroll.supplier_mode.value
    name = f"bankroll-{chain.seed}/{mode}/{chain.perspective.role}/{session:03d}"
    scenarios = tuple(
        draw_period(f"{name}/{period:03d}", period, supplier, chain, stream) for period, supplier in enumerate(who, 1)
    )
    return BankrollChain(session, who, scenarios)


def draw_supplier(number: int, chain: ChainConfig, stream: Streams) -> ChainSupplier:
    """Draw the type of the next supplier from the mixture of the regimes' laws."""

    def uniform(name: str) -> float:
        return float(stream(f"supplier_{name}").random())

    prior = chain.game.prior
    regime = _REGIMES[pick(chain.regime_weights, uniform("regime"))]
    family = chain.families[int(uniform("family") * len(chain.families))]
    geometry = Draws(uniform("width"), uniform("position"), 0, 0, 0, 0, 0, Noise(0, CueDraw(0, 0), ()))
    span = chain.game.price_max - chain.game.price_min
    buyer, seller = reservations(regime, geometry, prior, chain.game.price_min, span)
    law = prior.counterpart_urgency(regime)
    urgency = float(stream("supplier_urgency").beta(law.a, law.b))
    stance = STANCES[pick(chain.game.families[family].stance_prior, uniform("stance"))]
    reservation = seller if chain.perspective.role is Role.BUYER else buyer
    return ChainSupplier(number, family, PrivateType(reservation, urgency, stance))


def draw_period(name: str, period: int, supplier: ChainSupplier, chain: ChainConfig, stream: Streams) -> Scenario:
    """Draw what the next period brings beside its supplier; ``period`` counts from 1."""
    game = chain.game
    x = _canonical(supplier.hidden.reservation_price, chain)
    odds = regime_odds(x, supplier.hidden.urgency, chain)
    regime = _REGIMES[pick(odds, float(stream("regime").random()))]
    own = x + _own_distance(x, regime, float(stream("own").random()), chain)
    urgency, stance = game.prior.agent_urgency, STANCES[pick(game.prior.agent_stance, stream("agent_stance").random())]
    return Scenario(
        scenario_id=name,
        regime=regime,
        family=supplier.family,
        agent_role=chain.perspective.role,
        opener=_OPENERS[int(stream("opener").integers(2))],
        episode_seed=period,
        agent_type=PrivateType(_price(own, chain), float(stream("agent_urgency").beta(urgency.a, urgency.b)), stance),
        counterpart_type=supplier.hidden,
        harshness=between(game.opening.harshness, float(stream("harshness").random())),
        price_min=game.price_min,
        price_max=game.price_max,
        noise=keyed_noise(stream, game.horizon),
        config=game,
    )


def regime_odds(x: float, urgency: float, chain: ChainConfig) -> tuple[float, float, float]:
    """Return the probability of each regime given a supplier's canonical reservation and urgency."""
    feasible, gap = _feasible_widths(x, chain), _gaps(x, chain.game.prior)
    prior = chain.game.prior
    width = (prior.zopa_share.high - prior.zopa_share.low) * (prior.midpoint_share.high - prior.midpoint_share.low)
    with_deal = max(0.0, feasible.high - feasible.low) / width if feasible else 0.0
    without = math.log((1 - gap.low) / (1 - gap.high)) / (prior.gap_share.high - prior.gap_share.low) if gap else 0.0
    raw = [
        weight * density * _beta_density(urgency, prior.counterpart_urgency(regime))
        for weight, density, regime in zip(chain.regime_weights, (with_deal, with_deal, without), _REGIMES, strict=True)
    ]
    total = sum(raw)
    return raw[0] / total, raw[1] / total, raw[2] / total


def _own_distance(x: float, regime: Regime, uniform: float, chain: ChainConfig) -> float:
    """Return ``r_A - x``: a width above the supplier's reservation, or a gap below it."""
    if regime is not Regime.NO_DEAL:
        widths = _feasible_widths(x, chain)
        return between(widths, uniform) if widths else 0.0
    gaps = _gaps(x, chain.game.prior)
    if gaps is None:
        raise ValueError(f"x={x}: a supplier so low cannot be met without a feasible deal")
    return math.pow(1 - gaps.low, 1 - uniform) * math.pow(1 - gaps.high, uniform) - 1


def _feasible_widths(x: float, chain: ChainConfig) -> Uniform | None:
    width, middle = chain.game.prior.zopa_share, chain.game.prior.midpoint_share
    low, high = (middle.low, middle.high) if chain.perspective.role is Role.BUYER else (1 - middle.high, 1 - middle.low)
    shortest, longest = max(width.low, 2 * (low - x)), min(width.high, 2 * (high - x))
    return Uniform(low=shortest, high=longest) if shortest <= longest else None


def _gaps(x: float, prior: PriorConfig) -> Uniform | None:
    longest = min(prior.gap_share.high, x)
    return Uniform(low=prior.gap_share.low, high=longest) if prior.gap_share.low < longest else None


def _beta_density(x: float, law: Beta) -> float:
    scale: float = math.gamma(law.a + law.b) / (math.gamma(law.a) * math.gamma(law.b))
    return scale * math.pow(x, law.a - 1) * math.pow(1 - x, law.b - 1)


def _canonical(price: float, chain: ChainConfig) -> float:
    share = (price - chain.game.price_min) / (chain.game.price_max - chain.game.price_min)
    return share if chain.perspective.role is Role.BUYER else 1 - share


def _price(x: float, chain: ChainConfig) -> float:
    share = x if chain.perspective.role is Role.BUYER else 1 - x
    return chain.game.price_min + (chain.game.price_max - chain.game.price_min) * share
