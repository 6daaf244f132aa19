"""Scripted agents that need no key. Each is a frozen record of its settings; those that draw are seeded per episode.

None of them looks at cues, messages or side information, so every information intervention leaves them unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from terms.agents.moves import (
    accept_or_offer,
    last_offer_or_bound,
    own_bound,
    price_at_gap,
    sign,
)
from terms.types import Accept, Action, Decision, Observation, Offer, Reject


@dataclass(frozen=True)
class FixedConcession:
    """The published baseline: accept the first rational price, else close ``rate`` of the way to the own reservation.

    The distance starts at the own price bound, so the first offer already moves. Never rejects.
    """

    rate: float = 0.10

    def __post_init__(self) -> None:
        _require_share("rate", self.rate)

    @property
    def name(self) -> str:
        """Name used in tables, as in the published file; a finer rate keeps its digits, so that no two share a name."""
        name = f"{self.rate:.2f}"
        return f"fixed-{name if float(name) == self.rate else self.rate}"

    def act(self, observation: Observation) -> Action:
        """Accept or concede a fixed share."""
        if observation.accept_utility is not None and observation.accept_utility >= 0:
            return Accept()
        previous = last_offer_or_bound(observation)
        return Offer(previous + self.rate * (observation.reservation_price - previous))


@dataclass(frozen=True)
class AcceptAny:
    """Accepts whatever stands, even at a loss; opens at the own bound when it must move first."""

    name: str = "accept-any"

    def act(self, observation: Observation) -> Action:
        """Accept if anything stands."""
        return Accept() if observation.can_accept else Offer(own_bound(observation))


@dataclass(frozen=True)
class NeverAccept:
    """Concedes evenly to its reservation by the last round and leaves every closing to the counterpart."""

    name: str = "never-accept"

    def act(self, observation: Observation) -> Action:
        """Offer the point due on the straight line."""
        return Offer(_aspiration(observation, exponent=1.0))


@dataclass(frozen=True)
class RandomLegal:
    """Draws a legal decision, and a rational price not worse than its last offer."""

    seed: int = 0
    name: str = "random"
    _rng: np.random.Generator | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise ValueError(f"seed={self.seed}; it must not be negative")

    def for_episode(self, seed: int) -> Self:
        """Return the agent for one episode, with a generator of its own."""
        return replace(self, _rng=np.random.default_rng([self.seed, seed]))

    def act(self, observation: Observation) -> Action:
        """Draw one of the legal decisions."""
        rng = self._rng
        if rng is None:
            raise ValueError("RandomLegal draws per episode: call for_episode(seed) before act")
        decision = observation.legal_decisions[rng.integers(len(observation.legal_decisions))]
        if decision is Decision.ACCEPT:
            return Accept()
        if decision is Decision.REJECT:
            return Reject()
        start = last_offer_or_bound(observation)
        return Offer(start + float(rng.random()) * (observation.reservation_price - start))


@dataclass(frozen=True)
class SplitTheDifference:
    """Offers the middle between its last offer (or its bound) and the standing price, never past its reservation."""

    name: str = "split-the-difference"

    def act(self, observation: Observation) -> Action:
        """Accept what beats the middle, else offer it."""
        start = last_offer_or_bound(observation)
        target = observation.reservation_price if observation.standing_price is None else observation.standing_price
        return accept_or_offer(observation, _cap(observation, (start + target) / 2))


@dataclass(frozen=True)
class TimeDependent:
    """Aspiration over time: at round k it has conceded ``(k / K) ** (1 / speed)`` of the way to its reservation.

    ``speed < 1`` is Boulware (late), 1 linear, ``> 1`` conceder (early); Faratin, Sierra and Jennings (1998).
    """

    speed: float = 1.0
    name: str = "linear"

    def __post_init__(self) -> None:
        if not self.speed > 0:
            raise ValueError(f"speed={self.speed}; it must be positive")

    def act(self, observation: Observation) -> Action:
        """Accept what beats the aspiration, else offer it."""
        return accept_or_offer(observation, _aspiration(observation, exponent=1.0 / self.speed))


@dataclass(frozen=True)
class TitForTat:
    """Concedes what the counterpart just conceded; opens ``gap`` of the price range away from its reservation."""

    gap: float = 0.35
    name: str = "tit-for-tat"

    def __post_init__(self) -> None:
        _require_share("gap", self.gap)

    def act(self, observation: Observation) -> Action:
        """Mirror the counterpart's last concession."""
        width = observation.price_max - observation.price_min
        if observation.last_own_offer is None:
            return accept_or_offer(observation, price_at_gap(observation, self.gap * width))
        before = observation.history[-1].counterpart_price if observation.history else None  # history may be hidden
        now = observation.standing_price
        conceded = 0.0 if before is None or now is None else abs(before - now)
        return accept_or_offer(
            observation, _cap(observation, observation.last_own_offer + sign(observation) * conceded)
        )


@dataclass(frozen=True)
class Patient:
    """Waiting beats talking: opens ``gap`` of the price range away and closes ``rate`` of what remains a round.

    Accepts only what beats its own next offer, or anything rational in the last round.
    """

    gap: float = 0.35
    rate: float = 0.15
    name: str = "patient"

    def __post_init__(self) -> None:
        _require_share("gap", self.gap)
        _require_share("rate", self.rate)

    def act(self, observation: Observation) -> Action:
        """Accept what beats the next step, else take it."""
        last = observation.last_own_offer
        if last is None:
            width = observation.price_max - observation.price_min
            return accept_or_offer(observation, price_at_gap(observation, self.gap * width))
        return accept_or_offer(observation, last + self.rate * (observation.reservation_price - last))


@dataclass(frozen=True)
class Exploit:
    """Knows the flaw of the published overlap episodes, ``r_seller = 0.6 r_buyer``, and asks for just that price.

    Shows why results should not rest on known seeds; on a fresh suite the same script is an ordinary stubborn one.
    """

    name: str = "exploit"

    def act(self, observation: Observation) -> Action:
        """Offer the counterpart's reservation as the flaw reveals it."""
        own = observation.reservation_price
        # Rounding could put the product just past the counterpart's reservation, where it never accepts.
        revealed = 0.6 * own * (1 + 1e-9) if sign(observation) > 0 else own / 0.6 * (1 - 1e-9)
        return accept_or_offer(observation, min(observation.price_max, max(observation.price_min, revealed)))


def _aspiration(observation: Observation, exponent: float) -> float:
    start = own_bound(observation)
    elapsed = observation.round / observation.horizon
    price = start + (observation.reservation_price - start) * float(elapsed**exponent)
    return _cap(observation, price)  # at the full concession rounding can land just past the reservation


def _cap(observation: Observation, price: float) -> float:
    """Return ``price`` moved back to the own reservation if it lies past it."""
    own = observation.reservation_price
    return min(own, price) if sign(observation) > 0 else max(own, price)


def _require_share(field_name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"{field_name}={value}; it must lie in [0, 1]")
