r"""What a buyer can tell of floors from nothing but the prices it was told.

Under bids that stay the same a supplier concedes a share :math:`\lambda` of what is left above its floor ``r`` in every
round, :math:`b_{k+1} - r = (1 - \lambda)(b_k - r)` up to noise. So any three standing prices in a row give the floor
without the share, by Aitken's extrapolation:

.. math:: r = b_2 - \frac{(b_2 - b_1)^2}{(b_2 - b_1) - (b_1 - b_0)}.

A floor lasts, so the guesses of all talks about a product are averaged; what was agreed on is an upper bound.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

_LOWEST = 0.75
"""Share of the standing price below which no guess goes: one with much noise in it may be anything."""


class FloorGuesses:
    """Guesses in fen by supplier and product."""

    def __init__(self) -> None:
        self._told: dict[tuple[str, str], list[int]] = {}
        self._guessed: dict[tuple[str, str], tuple[int, float]] = {}
        self._agreed: dict[tuple[str, str], int] = {}

    def note(self, email: str, outcome: Mapping[str, Any]) -> None:
        """Take note of what a supplier answered about one product."""
        pair = (email, outcome["sku_id"])
        price = round(100 * outcome.get("price", 0.0))
        if outcome["decision"] == "Offer":
            told = self._told.setdefault(pair, [round(100 * outcome["opening_price"])])
            told.append(price)
            if len(told) >= 3 and (guess := extrapolated(*told[-3:])) is not None:
                num, mean = self._guessed.get(pair, (0, 0.0))
                self._guessed[pair] = (num + 1, mean + (guess - mean) / (num + 1))
            return
        self._told.pop(pair, None)
        if outcome["decision"] == "Accept":
            self._agreed[pair] = min(price, self._agreed.get(pair, price))

    def of(self, email: str, product_id: str) -> float | None:
        """Return the floor that is guessed, ``None`` where nothing was heard."""
        pair = (email, product_id)
        found = min(self._guessed.get(pair, (0, math.inf))[1], self._agreed.get(pair, math.inf))
        return found if math.isfinite(found) else None


def extrapolated(first: float, second: float, third: float) -> float | None:
    """Return where three standing prices in a row lead to, ``None`` if they do not slow down."""
    early, late = second - first, third - second
    if late >= 0 or late <= early:
        return None
    return max(_LOWEST * third, third - late**2 / (late - early))
