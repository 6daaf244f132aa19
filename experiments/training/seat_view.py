"""One seat's view as numbers: the vector of :mod:`terms.vectors` while a game is played, and prices of gains."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from terms.kernel import KernelParams, history_features, kernel_params
from terms.scenario import Scenario
from terms.types import Accept, Action, Observation, Offer, Opener, Posture, Reject, Sentiment
from terms.vectors import VECTOR_SIZE, write_vector

_NOTHING = float("nan")


class Ticks(NamedTuple):
    """Numbered actions: 0 accepts, 1 leaves, ``2 + i`` offers the price that gains ``i / (num - 1)`` of R."""

    num: int

    @property
    def num_actions(self) -> int:
        """How many actions there are."""
        return self.num + 2

    def gain(self, action: Any) -> Any:
        """Return the gain that an offer asks for, a share of R; number or array."""
        return (action - 2) / (self.num - 1)


class SeatView:
    """What the vector needs of the moves and prices so far."""

    def __init__(self, scenario: Scenario) -> None:
        self._params: KernelParams = kernel_params(
            scenario.config, scenario.family, scenario.counterpart_type.stance, scenario.price_range
        )
        self._frame = (
            scenario.sign,
            int(scenario.opener is Opener.AGENT),
            scenario.agent_type.reservation_price,
            scenario.price_min,
            scenario.price_max,
        )
        self._offers: list[float] = []
        self._quotes: list[tuple[int, float]] = []

    def price(self, gain: float) -> float:
        """Return the price that gains a share of R, cut to the public bounds."""
        sign, _, own, low, high = self._frame
        return min(high, max(low, own - sign * gain * (high - low)))

    def move(self, ticks: Ticks, number: int) -> Action:
        """Return the move that a number means."""
        if number < 2:
            return Accept() if number == 0 else Reject()
        return Offer(self.price(ticks.gain(number)))

    def note(self, move: Action) -> None:
        """Remember an offer that the rules allow."""
        _, _, _, low, high = self._frame
        if isinstance(move, Offer) and low <= move.price <= high:
            self._offers.append(move.price)

    def vector(self, seen: Observation) -> np.ndarray:
        """Return what is seen."""
        if seen.standing_price is not None and (not self._quotes or self._quotes[-1][0] < seen.round):
            self._quotes.append((seen.round, seen.standing_price))
        prices = [price for _, price in self._quotes]
        quotes = (prices[0], prices[max(0, len(prices) - 2)], prices[-1]) if prices else (_NOTHING,) * 3
        cue = (-1, -1)
        if seen.cue is not None:
            cue = (tuple(Sentiment).index(seen.cue.sentiment), tuple(Posture).index(seen.cue.posture))
        past = history_features(self._offers, self._frame[0], self._params)
        out = np.zeros(VECTOR_SIZE, dtype=np.float32)
        last = self._offers[-1] if self._offers else _NOTHING
        write_vector(out, self._frame, seen.round, quotes, last, past, cue, self._params)  # type: ignore[arg-type]
        return out
