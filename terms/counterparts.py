"""Whoever sits opposite the agent: a protocol, and the game's own kernel as one of its makes.

A counterpart says what it does about an offer; the game alone decides what follows. The kernel's answers follow
:mod:`terms.kernel` with the random numbers of the scenario, so it holds no generator of its own.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

from terms import kernel
from terms.cues import concession_share, draw_cue
from terms.kernel import STANCES, kernel_params
from terms.noise import CueDraw
from terms.scenario import Scenario
from terms.types import Cue, Decision, Offer, ReplyFault


class CounterpartMove(NamedTuple):
    """What a counterpart does: name a price, accept, or leave.

    ``price`` belongs to an offer. ``message`` is ``None`` where the game's voice shall word the act, which needs a
    ``cue``. ``fault`` tells why there is no act at all; the talk then ends.
    """

    decision: Decision
    price: float | None = None
    cue: Cue | None = None
    message: str | None = None
    fault: ReplyFault | None = None


class Counterpart(Protocol):
    """The other side of one episode. It is asked in turn and keeps what it needs."""

    def open(self) -> CounterpartMove:
        """Return the first move of an episode that the counterpart opens: an offer, or leaving."""
        ...

    def answer(self, offer: Offer, k: int) -> CounterpartMove:
        """Return the answer to the agent's offer of round ``k``."""
        ...


class KernelCounterpart:
    """The stochastic kernel of TERMS-Bench with the hidden type of ``scenario``."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario, self._config = scenario, scenario.config
        self._stance = STANCES.index(scenario.counterpart_type.stance)
        self._channel = self._config.families[scenario.family].channel
        self._params = kernel_params(
            self._config, scenario.family, scenario.counterpart_type.stance, scenario.price_range
        )
        self._standing: float | None = None
        self._offers: list[float] = []

    def open(self) -> CounterpartMove:
        """Name the opening price."""
        return self._quote(self._opening_price(), 0, self._scenario.noise.opening_cue)

    def answer(self, offer: Offer, k: int) -> CounterpartMove:
        """Accept, walk away or concede (eqs. 5-9)."""
        price, params, scenario = float(offer.price), self._params, self._scenario
        features = kernel.history_features(self._offers, scenario.sign, params)
        self._offers.append(price)
        hidden, draw = scenario.counterpart_type, scenario.noise.responses[k - 1]
        gain = kernel.favourability(price, hidden.reservation_price, scenario.sign, params.price_range)
        if draw.accept < kernel.accept_prob(gain, hidden.urgency, k, features, params):
            return CounterpartMove(Decision.ACCEPT, cue=self._cue(Decision.ACCEPT, 0.0, k, draw.cue))
        if draw.walk < kernel.walk_prob(gain, k, params):
            return CounterpartMove(Decision.REJECT, cue=self._cue(Decision.REJECT, 0.0, k, draw.cue))
        return self._quote(self._next_price(features, draw.price), k, draw.cue)

    def _quote(self, price: float, k: int, draw: CueDraw) -> CounterpartMove:
        share = concession_share(price, self._standing, self._scenario.counterpart_type.reservation_price)
        self._standing = price
        return CounterpartMove(Decision.OFFER, price, self._cue(Decision.OFFER, share, k, draw))

    def _cue(self, decision: Decision, share: float, k: int, draw: CueDraw) -> Cue:
        elapsed = math.sqrt(k / self._config.horizon)
        return draw_cue(
            decision, share, elapsed, self._stance, channel=self._channel, config=self._config.cues, draw=draw
        )

    def _next_price(self, features: kernel.Features, noise: float) -> float:
        if self._standing is None:
            return self._opening_price()
        hidden, params, sign = self._scenario.counterpart_type, self._params, self._scenario.sign
        rate = kernel.concession_rate(hidden.urgency, features, params)
        return kernel.counter_offer(self._standing, hidden.reservation_price, rate, noise * params.noise_sd, sign)

    def _opening_price(self) -> float:
        scenario, params = self._scenario, self._params
        return kernel.opening_price(
            scenario.counterpart_type.reservation_price,
            scenario.price_max if scenario.sign > 0 else scenario.price_min,
            scenario.harshness,
            kernel.opening_scale(scenario.counterpart_type.urgency, params),
            scenario.noise.opening_noise * params.opening_sd,
            scenario.sign,
        )
