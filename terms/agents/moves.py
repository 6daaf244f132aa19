"""Arithmetic shared by the scripted agents, written once for both roles.

A price is seen through ``s = +1`` (buyer) or ``-1`` (seller): an agent starts at its own price bound and concedes
towards its own reservation, never past it.
"""

from __future__ import annotations

from terms.types import Accept, Observation, Offer, Role


def sign(observation: Observation) -> int:
    """``+1`` when the agent buys, ``-1`` when it sells."""
    return observation.role.sign


def own_bound(observation: Observation) -> float:
    """Return the best price imaginable: ``p_min`` for a buyer, ``p_max`` for a seller."""
    return observation.price_min if observation.role is Role.BUYER else observation.price_max


def last_offer_or_bound(observation: Observation) -> float:
    """Return the last own offer, or the own bound before the first."""
    return own_bound(observation) if observation.last_own_offer is None else observation.last_own_offer


def price_at_gap(observation: Observation, gap: float) -> float:
    """Return the price that leaves ``gap`` (in price units) to the own reservation, cut to the public bounds."""
    price = observation.reservation_price - sign(observation) * gap
    return min(observation.price_max, max(observation.price_min, price))


def is_worth_more(observation: Observation, price: float) -> bool:
    """Whether accepting now is rational and earns at least what a deal at ``price`` would."""
    gain = observation.accept_utility
    if gain is None or gain < 0:
        return False
    return gain >= sign(observation) * (observation.reservation_price - price)


def accept_or_offer(observation: Observation, price: float, *, close_at_end: bool = True) -> Accept | Offer:
    """Accept what beats the own next offer ``price``, and anything rational in the last round; else offer ``price``."""
    gain = observation.accept_utility
    is_last_call = close_at_end and observation.rounds_remaining == 0 and gain is not None and gain >= 0
    if is_last_call or is_worth_more(observation, price):
        return Accept()
    return Offer(price)
