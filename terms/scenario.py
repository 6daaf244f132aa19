"""A scenario: one episode before anybody has moved, with its types, geometry, noise and difficulty."""

from __future__ import annotations

import math
from dataclasses import dataclass

from terms.config import GameConfig
from terms.noise import Noise
from terms.payoffs import zopa
from terms.types import Channel, Family, Opener, PrivateType, Regime, Role, Stance

_STANCE_SCORE = {Stance.CONCILIATORY: 0.0, Stance.NEUTRAL: 0.5, Stance.AGGRESSIVE: 1.0}
_CHANNEL_SCORE = {
    Channel.INFORMATIVE: 0.0,
    Channel.COLLAPSED: 0.5,
    Channel.NOISY: 0.75,
    Channel.PRESSURING: 1.0,
}


@dataclass(frozen=True, slots=True)
class Product:
    """Public context of a data-grounded episode: what an agent is told about the item."""

    name: str
    category: str
    reference_price: float
    low_price: float
    high_price: float
    details: str = ""

    def to_json_object(self) -> dict[str, object]:
        """Return the product as it is shown to the agent."""
        return {
            "name": self.name,
            "category": self.category,
            "reference_price": self.reference_price,
            "historic_low": self.low_price,
            "historic_high": self.high_price,
            "details": self.details,
        }


@dataclass(frozen=True, slots=True)
class PriceFrame:
    """Where prices live: the public bounds, and the interval ``[low, low + scale]`` reservations are laid on."""

    price_min: float
    price_max: float
    low: float
    scale: float
    product: Product | None = None

    @classmethod
    def of(cls, config: GameConfig) -> PriceFrame:
        """Return the synthetic frame: reservations use the whole public range."""
        return cls(config.price_min, config.price_max, config.price_min, config.price_max - config.price_min)

    @classmethod
    def around(cls, product: Product, price_min: float, price_max: float) -> PriceFrame:
        """Return the frame of an item: its historic spread around its reference price, moved inside the bounds."""
        spread = product.high_price - product.low_price
        low = min(max(product.reference_price - spread / 2, price_min), price_max - spread)
        return cls(price_min, price_max, low, spread, product)


@dataclass(frozen=True, slots=True)
class Scenario:
    """One episode to play. ``episode_seed`` is the number of the episode inside its suite (published: its seed)."""

    scenario_id: str
    regime: Regime
    family: Family
    agent_role: Role
    opener: Opener
    episode_seed: int
    agent_type: PrivateType
    counterpart_type: PrivateType
    harshness: float
    price_min: float
    price_max: float
    noise: Noise
    config: GameConfig
    product: Product | None = None
    difficulty_bin: int | None = None

    @property
    def sign(self) -> int:
        """``+1`` when the agent buys, ``-1`` when it sells."""
        return self.agent_role.sign

    @property
    def price_range(self) -> float:
        """``R``."""
        return self.price_max - self.price_min

    @property
    def frame(self) -> PriceFrame:
        """Where the reservations were drawn; whoever sees the bounds and the product knows it."""
        if self.product is not None:
            return PriceFrame.around(self.product, self.price_min, self.price_max)
        return PriceFrame(self.price_min, self.price_max, self.price_min, self.price_range)

    @property
    def zopa(self) -> float:
        """``r_buyer - r_seller``; negative when infeasible."""
        return zopa(self.agent_type.reservation_price, self.counterpart_type.reservation_price, self.sign)

    @property
    def difficulty(self) -> float:
        """Difficulty grade of this episode (paper's Appendix G)."""
        return difficulty(self)


def difficulty(scenario: Scenario) -> float:
    """Grade an episode from what was drawn, before anybody moves.

    Feasible regimes: ``(0.45 (1 - zopa/R) + 0.25 max(0, (kA - kB)/(kA + kB + 1e-6)) + 0.20 s) / 0.90`` with
    s = 0, 0.5, 1 for a conciliatory, neutral, aggressive counterpart. No-deal:
    ``0.60 exp(zopa/(R + 1e-6)) + 0.25 cue + 0.15 (1 - s)`` with cue = 0, 0.5, 0.75, 1 for an informative, collapsed,
    noisy, pressuring channel.
    """
    stance = _STANCE_SCORE[scenario.counterpart_type.stance]
    if scenario.regime is Regime.NO_DEAL:
        channel = scenario.config.families[scenario.family].channel
        return (
            0.60 * math.exp(scenario.zopa / (scenario.price_range + 1e-6))
            + 0.25 * _CHANNEL_SCORE[channel]
            + 0.15 * (1.0 - stance)
        )
    own, other = scenario.agent_type.urgency, scenario.counterpart_type.urgency
    pressure = max(0.0, (own - other) / (own + other + 1e-6))
    return (0.45 * (1.0 - scenario.zopa / scenario.price_range) + 0.25 * pressure + 0.20 * stance) / 0.90
