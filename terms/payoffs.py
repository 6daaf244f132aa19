"""Arithmetic of a deal: ``u = s (r_A - p)``, ``zopa = r_buyer - r_seller``, ``s = +1`` for a buyer, -1 for a seller.

Plain scalar functions without any type of the project, so that the oracle can compile them unchanged.
"""

from __future__ import annotations


def utility(price: float, reservation_price: float, sign: int) -> float:
    """Return the agent's gain from trading at ``price``; negative past its reservation."""
    return sign * (reservation_price - price)


def zopa(agent_reservation: float, counterpart_reservation: float, sign: int) -> float:
    """Return ``r_buyer - r_seller``; negative when no price suits both."""
    return sign * (agent_reservation - counterpart_reservation)
