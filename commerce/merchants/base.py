"""What a merchant is: a function that runs a whole year through its calls.

A merchant gets ``call(tool, arguments) -> Result`` and plays until a result says that the year is over. It draws
nothing but from its own seed, so the same merchant in the same world plays the same year. It can also take over a year
that somebody else began: what it would have learned by then it finds in the :class:`view <commerce.branching.View>`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from commerce.branching import Successor, View
from commerce.year import Result, Year

Call = Callable[[str, Mapping[str, Any]], Result]


class Merchant(Protocol):
    """A merchant plays one year."""

    def __call__(self, call: Call) -> None:
        """Play until the year is over."""


class Shopkeeper(Merchant, Successor, Protocol):
    """A merchant that can also take over."""


def open_stores(view: View) -> list[dict[str, Any]]:
    """Return the cards of the stores that are open."""
    return [row for row in view.look("check_store_status")["stores"] if row["is_open"]]


def play_year(year: Year, merchant: Merchant) -> Year:
    """Let ``merchant`` play ``year`` and return it; a merchant that leaves early stops the year."""
    merchant(year.call)
    year.stop()
    return year
