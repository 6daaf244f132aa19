"""Past talks with the same counterpart, as the agent saw them: what an agent with a memory may start from.

An agent that wants them has ``for_meeting(seed, past)``, which returns the agent of one episode given the tuple of its
past meetings with this counterpart, oldest first. It is a pure function of what was seen, so an interrupted chain can
be taken up anywhere and leads to the same episodes.
"""

from __future__ import annotations

from dataclasses import dataclass

from terms.records import EpisodeRecord
from terms.types import Cue, Role, Termination, Turn


@dataclass(frozen=True, slots=True)
class Meeting:
    """One past talk. Nothing hidden is in it: no type of the counterpart and no regime.

    ``profit`` is what it brought in dollars, with a deal or without; ``None`` where nothing is worth money.
    """

    role: Role
    reservation_price: float
    price_min: float
    price_max: float
    turns: tuple[Turn, ...]
    termination: Termination
    price: float | None
    closing_cue: Cue | None
    profit: float | None = None

    @property
    def shown_limits(self) -> list[float]:
        """Prices the counterpart named or traded at: each is its reservation or on the agent's side of it."""
        named = [turn.counterpart_price for turn in self.turns if turn.counterpart_price is not None]
        return named if self.price is None else [*named, self.price]


def meeting_of(record: EpisodeRecord, profit: float | None = None) -> Meeting:
    """Return what the agent saw of ``record``, which brought ``profit`` dollars."""
    return Meeting(
        role=record.agent_role,
        reservation_price=record.agent_type.reservation_price,
        price_min=record.price_min,
        price_max=record.price_max,
        turns=record.turns,
        termination=record.termination,
        price=record.price,
        closing_cue=record.closing_cue,
        profit=profit,
    )
