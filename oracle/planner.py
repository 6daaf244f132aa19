"""The Bayes optimum as an agent: the exact belief, fitted values, and a greedy one-step lookahead.

It uses nothing but its observations and the laws it was told (:class:`oracle.prior.Knowledge`). Both roles are played
by the same code through the mirror of :class:`oracle.prior.Seat`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from oracle.fitted import FittedValues, make_planner
from oracle.kernels.belief import TOP, update_belief
from oracle.kernels.paths import decide_once
from oracle.kernels.planning import CompiledPlanner, State, offer_values
from oracle.model import Model, build_model
from oracle.posterior import SENTIMENTS, seat_of
from oracle.prior import Grid, Knowledge, Seat, build_prior, unit_of
from terms.aliases import Floats
from terms.cues import POSTURES
from terms.types import Accept, Action, Belief, Cue, Observation, Offer, Reject, Role

ACCEPT, OFFER, REFUSE = range(3)
HIDDEN_CUE = (-1, -1)


class BestMove(NamedTuple):
    """What the planner would do: ``kind`` (0 accept, 1 offer, 2 reject), canonical price, and value in percent of R."""

    kind: int
    price: float
    value: float


@dataclass(slots=True, eq=False)
class BeliefTracker:
    """A belief that follows one episode in place, compiled; the readable twin is :mod:`oracle.posterior`."""

    knowledge: Knowledge
    model: Model
    seat: Seat
    weights: Floats
    low: Floats
    high: Floats
    offers: list[float]
    round: int = 0
    standing: float | None = None

    @classmethod
    def start(cls, knowledge: Knowledge, model: Model, seat: Seat, grid: Grid) -> BeliefTracker:
        """Return the prior of ``seat``."""
        prior = build_prior(knowledge, seat.own, grid, seat.role)
        weights = np.concatenate([prior.weights, np.zeros((1, *prior.weights.shape[1:]))])
        return cls(knowledge, model, seat, weights, prior.low, prior.high, [])

    def see(self, observation: Observation) -> None:
        """Take in the next observation of the episode.

        Raises
        ------
        ValueError
            If rounds were skipped, or if what was seen is impossible under what the agent knows.
        """
        if observation.round != self.round + 1:
            raise ValueError(
                f"observation is of round {observation.round}; the belief waits for round {self.round + 1}"
            )
        if observation.last_own_offer is not None:
            self.offers.append(self.seat.to_canonical(observation.last_own_offer))
        if observation.standing_price is not None:
            price = self.seat.to_canonical(observation.standing_price)
            self._take(min(price, TOP if self.standing is None else self.standing), observation.cue)
        self.round = observation.round

    def take_answer(self, offer: float, price: float, cue: Cue | None) -> None:
        """Take in the answer to a canonical ``offer`` that an observation would show, and move to the next round."""
        self.offers.append(offer)
        self._take(price, cue)
        self.round += 1

    def copy(self) -> BeliefTracker:
        """Return an independent copy."""
        return replace(self, weights=self.weights.copy(), offers=list(self.offers))

    def state(self) -> State:
        """Return the information state for the compiled planner."""
        opened = self.standing is not None
        standing = self.standing if self.standing is not None else TOP
        offers = np.array(self.offers, dtype=np.float64)
        return State(self.weights, self.low, self.high, self.seat.own, offers, self.round, standing, opened)

    def stated_belief(self) -> Belief:
        """Return posterior means and stance probabilities in the episode's units."""
        standing = TOP if self.standing is None else self.standing
        middles = np.append((self.low + np.maximum(self.low, np.minimum(self.high, standing))) / 2, standing)
        r = float(self.weights.sum(axis=(1, 2)) @ middles)
        urgency = float(self.weights.sum(axis=(0, 1)) @ self.model.columns.urgency)
        stance = np.bincount(self.model.columns.stance, self.weights.sum(axis=(0, 2)), minlength=3)
        return Belief(self.seat.from_canonical(r), urgency, (float(stance[0]), float(stance[1]), float(stance[2])))

    def _take(self, price: float, cue: Cue | None) -> None:
        opened = self.standing is not None
        standing = self.standing if self.standing is not None else TOP
        code = HIDDEN_CUE if cue is None else (SENTIMENTS.index(cue.sentiment), POSTURES.index(cue.posture))
        offers = np.array(self.offers, dtype=np.float64)
        evidence = update_belief(
            self.weights, self.low, self.high, offers, self.round, (price, standing, opened), code, self.model
        )
        if not evidence > 0:
            raise ValueError(f"what was seen before round {self.round + 1} is impossible under the agent's prior")
        self.standing = price


@dataclass(frozen=True, eq=False)
class FittedAgent:
    """Plays the Bayes optimum of ``values``. Search settings are finer than in training: they cost only time.

    ``offer_step`` is in percent of what reservations are laid on.
    """

    values: FittedValues
    offer_step: float = 2.0
    halvings: int = 2
    num_nodes: int = 12
    name: str = "bayes"
    _tracker: BeliefTracker | None = None
    _planner: CompiledPlanner | None = None

    def for_episode(self, seed: int) -> FittedAgent:
        """Return the agent for one episode; ``seed`` is not used, as the planner never draws."""
        del seed
        return replace(self, _planner=self._planner or self.planner(), _tracker=None)

    def planner(self) -> CompiledPlanner:
        """Return what decisions are computed with."""
        model = build_model(self.values.knowledge, self.values.grid)
        return make_planner(
            model, self.values.nets, num_nodes=self.num_nodes, step=self.offer_step * unit_of(self.values.knowledge),
            halvings=self.halvings, goes_back=self.values.goes_back,
        )  # fmt: skip

    def act(self, observation: Observation) -> Action:
        """Update the belief and take the best decision."""
        planner = self._planner or self.planner()
        tracker = self._tracker
        if observation.round == 1 or tracker is None:
            seat = seat_of(observation)
            tracker = BeliefTracker.start(self.values.knowledge, planner.model, seat, self.values.grid)
            object.__setattr__(self, "_planner", planner)
            object.__setattr__(self, "_tracker", tracker)
        tracker.see(observation)
        return to_action(decide(tracker, planner), tracker, observation)


def decide(tracker: BeliefTracker, planner: CompiledPlanner) -> BestMove:
    """Return the planner's decision at the tracker's state."""
    return BestMove(*decide_once(tracker.state(), planner))


def offer_value(tracker: BeliefTracker, planner: CompiledPlanner, prices: Floats) -> Floats:
    """Return the value of offering each of ``prices`` (canonical), in percent of R."""
    out = np.empty(len(prices))
    offer_values(np.ascontiguousarray(prices, dtype=np.float64), tracker.state(), planner, out)
    return out


def to_action(decision: BestMove, tracker: BeliefTracker, observation: Observation) -> Action:
    """Return the decision as a legal action in the episode's units, with the belief it rests on."""
    belief = tracker.stated_belief()
    if decision.kind == ACCEPT:
        return Accept(belief=belief)
    if decision.kind == REFUSE:
        return Reject(belief=belief)
    last = observation.last_own_offer
    if last is not None and tracker.offers[-1] == decision.price:
        return Offer(last, belief=belief)
    price = tracker.seat.from_canonical(decision.price)
    own = observation.reservation_price
    # The mirror rounds in the last digit, which must not turn a reservation price into a breach.
    price = min(price, own) if observation.role is Role.BUYER else max(price, own)
    return Offer(price, belief=belief)
