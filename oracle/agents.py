"""A planner with a belief, whole or with one planted fault, to test the diagnosis and to stand beside other agents.

Every agent here has three parts that can fail apart from the others: what it *believes*, how it *plans* on that
belief, and whether it *executes* the plan. Told the posterior or the type, it drops its own belief for what it is told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol, Self, runtime_checkable

import numpy as np

from oracle.beliefs import Tracker, certain, known_type, reservation_quantile, tilt
from oracle.clairvoyant import Clairvoyant, read_revealed_type
from oracle.posterior import Posterior, feasible_prob, mean_reservation, stated_belief
from oracle.prior import Grid, Knowledge
from terms.agents.moves import sign
from terms.episode import UNSALTED, Agent, Seeds, Starter
from terms.meetings import Meeting
from terms.scenario import Scenario
from terms.types import Accept, Action, Belief, Observation, Offer, Reject, ReplyFault, Unusable

Planner = Callable[[Posterior, Observation], Action]
PLANNING_GRID = Grid(0.5, 11)
_HOPELESS = 1e-4


@dataclass(frozen=True, slots=True)
class Ramp:
    """Settings of :func:`quantile_ramp`: the quantile of ``r_B`` offered first and last, and how late it rises.

    Tuned on 336 fresh overlap episodes of all families by random search.
    """

    first: float = 0.13
    last: float = 0.97
    power: float = 1.2


STANDARD_RAMP = Ramp()


def quantile_ramp(belief: Posterior, observation: Observation, ramp: Ramp = STANDARD_RAMP) -> Action:
    """Plan by a simple rule: offer a rising quantile of the counterpart's reservation, given that a deal is feasible.

    Accepts what beats that offer, and anything rational once no offer would be answered any more.
    """
    own, stated = belief.seat.own, stated_belief(belief)
    gain = -np.inf if belief.standing is None else own - belief.standing
    answered = belief.knowledge.config.final_offer_answered
    rounds_left = observation.horizon - observation.round - (0 if answered else 1)
    if rounds_left < 0:
        return Accept(belief=stated) if gain >= 0 else Reject(belief=stated)
    if feasible_prob(belief) < _HOPELESS:
        return Reject(belief=stated)
    elapsed = (observation.round - 1) / max(1, observation.round - 1 + rounds_left)
    share = ramp.first + (ramp.last - ramp.first) * elapsed**ramp.power
    price = min(own, max([reservation_quantile(belief, share), *belief.offers[-1:]]))
    if gain >= max(0.0, own - price):
        return Accept(belief=stated)
    return _offer(belief.seat.from_canonical(price), observation, stated)


def known_type_aware(planner: Planner) -> Planner:
    """Return ``planner`` with the dynamic program in its place wherever the belief is certain of the type."""
    return partial(_plan_or_reply, planner)  # no closure: agents are sent to worker processes


def _plan_or_reply(planner: Planner, belief: Posterior, observation: Observation) -> Action:
    hidden = known_type(belief)
    if hidden is None:
        return planner(belief, observation)
    masses = belief.weights.sum(axis=(0, 2))
    family = belief.groups[int(masses.argmax())].family
    return Clairvoyant(family, belief.knowledge.config, hidden).act(observation)


RIGHT_PLANNER = known_type_aware(quantile_ramp)


def split_planner(belief: Posterior, observation: Observation) -> Action:
    """Plan badly: split the believed surplus in half from the first round on, and take whatever does no harm."""
    stated, own = stated_belief(belief), belief.seat.own
    if belief.standing is not None and own - belief.standing >= 0 and observation.round > 2:
        return Accept(belief=stated)
    middle = (own + min(own, mean_reservation(belief))) / 2
    price = max([middle, *belief.offers[-1:]])
    return _offer(belief.seat.from_canonical(min(price, own)), observation, stated)


def timid_belief(belief: Posterior) -> Posterior:
    """Believe wrongly: the counterpart will hardly move, is in no hurry, and is aggressive."""
    own, mean = belief.seat.own, mean_reservation(belief)
    r_hat = belief.seat.from_canonical(mean + 0.7 * max(own - mean, 0.0))
    return tilt(belief, Belief(r_hat, 0.1, (0.02, 0.08, 0.90)))


@dataclass(frozen=True, eq=False)
class BeliefAgent:
    """Follows the exact posterior, bends it by ``distort``, plans by ``planner``, fails to execute at ``fault_rate``.

    With ``knowledge`` left open it knows the laws of the game but neither regime nor family; :meth:`for_scenario` tells
    both.
    """

    name: str = "ramp"
    planner: Planner = RIGHT_PLANNER
    distort: Callable[[Posterior], Posterior] | None = None
    fault_rate: float = 0.0
    knowledge: Knowledge = field(default_factory=Knowledge.of)
    grid: Grid = PLANNING_GRID
    _tracker: Tracker | None = field(default=None, repr=False)
    _rng: np.random.Generator | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not 0 <= self.fault_rate <= 1:
            raise ValueError(f"fault_rate={self.fault_rate}; it must lie in [0, 1]")

    def for_scenario(self, scenario: Scenario) -> Self:
        """Return the agent that knows the regime and the family of ``scenario``, not the type."""
        return replace(self, knowledge=Knowledge.about(scenario, [scenario.regime]))

    def for_episode(self, seed: int) -> Self:
        """Return the agent for one episode, with an empty memory and a generator of its own."""
        return replace(self, _tracker=Tracker(self.knowledge, self.grid), _rng=np.random.default_rng(seed))

    def act(self, observation: Observation) -> Action:
        """Believe, plan, execute."""
        if self._tracker is None or self._rng is None:
            raise ValueError("BeliefAgent keeps a belief per episode: call for_episode(seed) before act")
        belief = self._believe(self._tracker.see(observation), observation)
        action = self.planner(belief, observation)
        if self._rng.random() < self.fault_rate:
            return _spoilt(action, observation, self._rng)
        return action

    def _believe(self, exact: Posterior, observation: Observation) -> Posterior:
        hidden = read_revealed_type(observation)
        if hidden is not None:
            return certain(exact, hidden)
        if self.distort is None or "posterior" in observation.side_info:
            return exact
        return self.distort(exact)


@dataclass(frozen=True, eq=False)
class ScenarioStarter(Starter):
    """A player of the oracle's own that is built for a scenario, because it is told something about it."""

    name: str
    build: Callable[[Scenario], Agent]
    seeds: Seeds = UNSALTED

    def seeded(self, seeds: Seeds) -> Self:
        """Return the player with other seeds."""
        return replace(self, seeds=seeds)

    def start(self, scenario: Scenario, past: Sequence[Meeting] | None = None) -> Agent:
        """Return the player of one episode of ``scenario``; it has no use for a past."""
        del past
        told = self.build(scenario)
        return told.for_episode(self.seeds.of(scenario)) if isinstance(told, _Episodic) else told


@runtime_checkable
class _Episodic(Protocol):
    """A player with a memory or draws of its own for each episode."""

    def for_episode(self, seed: int) -> Agent:
        """Return the player of one episode."""
        ...


BELIEF_AGENTS: dict[str, BeliefAgent] = {
    "ramp": BeliefAgent(),
    "faulty-belief": BeliefAgent("faulty-belief", distort=timid_belief),
    "faulty-planning": BeliefAgent("faulty-planning", planner=split_planner),
    "faulty-execution": BeliefAgent("faulty-execution", fault_rate=0.12),
}


def _offer(price: float, observation: Observation, stated: Belief) -> Offer:
    """Return a legal offer: mirror arithmetic rounds in the last digit, which must not become a breach."""
    own, last = observation.reservation_price, observation.last_own_offer
    side = sign(observation)
    price = min(price, own) if side > 0 else max(price, own)
    if last is not None and side * (price - last) < 0:
        price = last
    return Offer(min(observation.price_max, max(observation.price_min, price)), belief=stated)


def _spoilt(action: Action, observation: Observation, rng: np.random.Generator) -> Action:
    kind = int(rng.integers(3))
    if kind == 0:
        return Unusable(ReplyFault.UNREADABLE, "planted fault", action.belief)
    if kind == 1:
        return Unusable(ReplyFault.TRUNCATED, "planted fault", action.belief)
    width = observation.price_max - observation.price_min
    return Offer(observation.price_max + width, belief=action.belief)
