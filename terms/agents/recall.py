"""A scripted agent that learns from earlier meetings with the same counterpart; no model and no belief over types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from terms.agents.moves import accept_or_offer, price_at_gap, sign
from terms.agents.scripted import Patient
from terms.meetings import Meeting
from terms.types import Action, Observation, Reject

_ROUNDS_BEYOND = 3


@dataclass(frozen=True)
class Recall:
    """Patient at first; with a counterpart it knows it asks for the best price that one ever showed, and leaves early.

    The best price a counterpart named or accepted bounds its reservation. The agent opens ``probe`` (share of R) beyond
    it, comes to it by round 3 and stays, and leaves at once where it lies more than ``hopeless`` past its own.
    """

    probe: float = 0.04
    hopeless: float = 0.10
    name: str = "recall"
    _bound: float | None = None

    def __post_init__(self) -> None:
        for field in ("probe", "hopeless"):
            if not 0 <= getattr(self, field) <= 1:
                raise ValueError(f"{field}={getattr(self, field)}; it must lie in [0, 1]")

    def for_meeting(self, seed: int, past: Sequence[Meeting]) -> Self:
        """Return the agent of one episode that has met this counterpart in ``past``."""
        del seed
        prices = [price for meeting in past for price in meeting.shown_limits]
        if not prices:
            return self
        return replace(self, _bound=min(prices) if past[0].role.sign > 0 else max(prices))

    def act(self, observation: Observation) -> Action:
        """Ask for what the counterpart has shown it can do."""
        side, width = sign(observation), observation.price_max - observation.price_min
        room = 0.0 if self._bound is None else side * (observation.reservation_price - self._bound)
        if room < -self.hopeless * width:
            return Reject()
        if room <= 0:
            return _STRANGER.act(observation)
        beyond = self.probe * width * max(0.0, 1 - (observation.round - 1) / (_ROUNDS_BEYOND - 1))
        return accept_or_offer(observation, price_at_gap(observation, room + beyond))


_STRANGER = Patient()
