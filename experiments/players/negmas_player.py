"""Negotiators of NegMAS at our table: ``negmas:BoulwareTBNegotiator`` is an agent like any other, in either seat.

Needs the extra ``negmas``. Each talk is a mechanism of NegMAS's own with one issue, the price in steps of half a
percent of the public range, in which a puppet repeats the other seat's offers. The negotiator's utility is 1 at its
best public price and 0, its reserved value, at its reservation price. A standing price between two steps is shown as
the step that is worse for the negotiator; what it accepts is the price itself. Leaving is rejecting.
"""

from __future__ import annotations

import math
import random
import warnings
from typing import Any

from experiments.extras import need
from terms.types import Accept, Action, Observation, Offer, Reject

need("negmas", "negmas")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it warns of its own parts while it is imported
    import negmas
    from negmas.preferences import LinearUtilityAggregationFunction
    from negmas.preferences.value_fun import AffineFun
    from negmas.sao import ResponseType, SAOCallNegotiator, SAOMechanism, SAOResponse

NUM_STEPS = 200
EXAMPLES = (
    "BoulwareTBNegotiator",
    "LinearTBNegotiator",
    "ConcederTBNegotiator",
    "NaiveTitForTatNegotiator",
    "CABNegotiator",
    "MiCRONegotiator",
)
"""Those that the project's own evidence is about; any other of one price works too."""


class NegmasAgent:
    """A negotiator of NegMAS by the name of its class.

    Raises
    ------
    ValueError
        If NegMAS has no negotiator of this name.
    """

    def __init__(self, kind: str) -> None:
        found = getattr(negmas, kind, None)
        if not (isinstance(found, type) and issubclass(found, negmas.Negotiator)):
            raise ValueError(f"agent='negmas:{kind}' is no negotiator of NegMAS, allowed are {', '.join(EXAMPLES)} ...")
        self.kind = kind
        self.name = f"negmas-{kind.removesuffix('Negotiator')}"

    def for_episode(self, seed: int) -> NegmasTalk:
        """Return the negotiator for one talk; those that draw do so from ``seed``."""
        return NegmasTalk(self.kind, seed)

    def act(self, seen: Observation) -> Action:
        """Answer a single observation as the first of a talk."""
        return self.for_episode(0).act(seen)


class NegmasTalk:
    """One talk: the mechanism, its negotiator and the puppet."""

    def __init__(self, kind: str, seed: int) -> None:
        self._kind, self._seed = kind, seed
        self._mechanism: Any = None
        self._draws = random.Random(seed).getstate()

    def act(self, seen: Observation) -> Action:
        """Let the puppet repeat what stands, and the negotiator answer."""
        with warnings.catch_warnings(), _DrawsOf(self):
            warnings.simplefilter("ignore")
            if self._mechanism is None:
                self._begin(seen)
            if seen.standing_price is not None:
                self._puppet.offer = (self._shown(seen.standing_price),)
                self._mechanism.step()
            self._mechanism.step()
        state = self._mechanism.state
        if state.agreement is not None:
            return Accept() if seen.can_accept else Reject()
        if not state.running or state.current_offer is None:
            return Reject()
        return Offer(min(seen.price_max, self._low + state.current_offer[0] * self._step))

    def _begin(self, seen: Observation) -> None:
        self._low, self._step = seen.price_min, (seen.price_max - seen.price_min) / NUM_STEPS
        self._sign, own = seen.role.sign, seen.reservation_price
        best = seen.price_min if self._sign > 0 else seen.price_max
        width = max(self._sign * (own - best), 1e-9 * NUM_STEPS * self._step)
        issue = negmas.make_issue(values=NUM_STEPS + 1, name="price")
        # In steps from the lowest price: s (r_A - p) / width.
        slope, bias = -self._sign * self._step / width, self._sign * (own - self._low) / width
        worth, opposite = (
            LinearUtilityAggregationFunction({"price": AffineFun(each, bias=at)}, issues=[issue], reserved_value=0.0)
            for each, at in ((slope, bias), (-slope, 1 - bias))
        )
        self._mechanism = SAOMechanism(issues=[issue], n_steps=2 * seen.horizon, one_offer_per_step=True)
        self._puppet = _Puppet(name="other")
        seats = [(getattr(negmas, self._kind)(name="own"), worth), (self._puppet, opposite)]
        for negotiator, utility in seats if seen.standing_price is None else reversed(seats):
            self._mechanism.add(negotiator, preferences=utility)

    def _shown(self, price: float) -> int:
        place = (price - self._low) / self._step
        step = math.ceil(place - 1e-9) if self._sign > 0 else math.floor(place + 1e-9)
        return min(NUM_STEPS, max(0, step))


class _Puppet(SAOCallNegotiator):  # type: ignore[misc]  # the framework's types are not ours
    """Says what the other seat said."""

    offer: tuple[int] | None = None

    def __call__(self, state: Any, dest: str | None = None) -> Any:
        return SAOResponse(ResponseType.REJECT_OFFER, self.offer)


class _DrawsOf:
    """Lends a talk its own state of Python's common generator, from which negotiators draw."""

    def __init__(self, talk: NegmasTalk) -> None:
        self._talk = talk

    def __enter__(self) -> None:
        self._before = random.getstate()
        random.setstate(self._talk._draws)

    def __exit__(self, *_: object) -> None:
        self._talk._draws = random.getstate()
        random.setstate(self._before)
