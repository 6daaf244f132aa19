"""The aids by name."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum


class Aid(StrEnum):
    """What stands beside an agent."""

    REMIND = "remind"
    ENFORCE = "enforce"
    RETRIEVAL = "retrieval"
    SCRATCH_FILE = "scratch-file"
    AUTO_WITHDRAWAL = "auto-withdrawal"
    CASH_FORECAST = "cash-forecast"
    DELIVERY_CHECK = "delivery-check"


AIDS = {
    Aid.REMIND: "each answer of a supplier comes with the own best earlier quote for the product",
    Aid.ENFORCE: "the same, and an offer or accept above that quote is not passed on",
    Aid.RETRIEVAL: "each answer comes with the latest own dealings with the supplier and in the product",
    Aid.SCRATCH_FILE: "all notes lie open each morning",
    Aid.AUTO_WITHDRAWAL: "the wallet is withdrawn each morning by a call of its own",
    Aid.CASH_FORECAST: "each morning tells when the bank would run dry if nothing were bought or withdrawn",
    Aid.DELIVERY_CHECK: "each morning names the deliveries that fell short of their orders",
}
"""What each aid does. The first four are about memory, the others about the books."""


def check_aids(names: Sequence[str]) -> tuple[Aid, ...]:
    """Return the aids called ``names`` in the order of :class:`Aid`.

    Raises
    ------
    ValueError
        If a name is none, or is given twice.
    """
    for name in names:
        if name not in AIDS:
            raise ValueError(f"aid={name!r}, allowed are {', '.join(AIDS)}")
        if names.count(name) > 1:
            raise ValueError(f"aid={name!r} is given twice")
    return tuple(aid for aid in Aid if aid in names)
