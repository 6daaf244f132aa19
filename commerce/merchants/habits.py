"""How a trading merchant goes about its trade, whatever its advice is."""

from __future__ import annotations

from typing import NamedTuple


class Habits(NamedTuple):
    """The defaults are those of a sensible merchant.

    ``pays_quotes``: takes the price a supplier asked first. ``is_trusting``: pays any membership fee and goes on buying
    from suppliers whose goods came short or came back. The others count stores, and products of a category.
    """

    pays_quotes: bool = False
    is_trusting: bool = False
    first_stores: int = 2
    max_stores: int = 4
    start_products: int = 3
    max_products: int = 24


SENSIBLE = Habits()
