"""The three information conditions on identical episodes and draws (section 2.3 of the paper).

``base``: the agent infers the type itself. ``oracle_posterior``: it is shown the exact posterior, recomputed after
every observation. ``revealed_type``: it is shown the type. Works for any agent: scripted, a function, a model, a
person.

Every trial is scored twice. *As played*, a reply that is no legal move ends the episode. *Repaired*, the reference's
move takes its place and the talk goes on; the difference is what faults of execution cost, kept apart from decisions.
The repaired line is a counterfactual for the diagnosis alone and never a result of the agent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple

from oracle import posterior
from oracle.agents import PLANNING_GRID, BeliefAgent, Planner, ScenarioStarter, known_type_aware, quantile_ramp
from oracle.beliefs import Tracker, certain, tilt
from oracle.clairvoyant import revealed_type
from oracle.posterior import Posterior
from oracle.prior import Grid, Knowledge
from oracle.valuation import Valuer, mixture_values
from terms.episode import AgentLike, SideInfo, Starter, as_starter, observe, play, replay
from terms.game import Game
from terms.meetings import Meeting
from terms.protocol import coerce_action
from terms.records import EpisodeRecord
from terms.scenario import Scenario
from terms.types import Accept, Action, Belief, Observation, Offer, Regime, ReplyFault, Unusable


class Condition(StrEnum):
    """What the agent is told."""

    BASE = "base"
    ORACLE_POSTERIOR = "oracle_posterior"
    REVEALED_TYPE = "revealed_type"


def told_regime_and_family(scenario: Scenario) -> Knowledge:
    """Return the laws of the scenario's own regime and family: the sharpest prior anybody may hold."""
    return Knowledge.about(scenario, [scenario.regime])


def told_for_efficiency(scenario: Scenario) -> Knowledge:
    """Return the same laws tilted by 1/zopa, for a player that maximises SE+; without a deal there is none to tilt."""
    told = told_regime_and_family(scenario)
    return told if scenario.regime is Regime.NO_DEAL else replace(told, objective="se")


def told_family(scenario: Scenario) -> Knowledge:
    """Return the laws with every regime possible, so that infeasibility has to be inferred."""
    return Knowledge.about(scenario)


def ramp_planner(knowledge: Knowledge) -> Planner:
    """Return the rule of thumb, which needs no training and so does not depend on the laws."""
    del knowledge
    return quantile_ramp


def mixture_valuer(knowledge: Knowledge) -> Valuer:
    """Return the values of a player without fitted ones; the belief alone says what it knows."""
    del knowledge
    return mixture_values


SHOWN_GRID = Grid()


@dataclass(frozen=True)
class BayesOptimal:
    """The Bayes-optimal player: what it is told of the laws, how finely it believes, how it plans and values moves."""

    knowledge: Callable[[Scenario], Knowledge] = told_regime_and_family
    planner: Callable[[Knowledge], Planner] = ramp_planner
    grid: Grid = PLANNING_GRID
    valuer: Callable[[Knowledge], Valuer] = mixture_valuer
    shown_grid: Grid = SHOWN_GRID

    @property
    def has_values(self) -> bool:
        """Whether single moves are valued by fitted values, and not by rule of thumb."""
        return self.valuer is not mixture_valuer

    def tracker(self, scenario: Scenario) -> Tracker:
        """Return an exact posterior that waits for the first observation of ``scenario``."""
        return Tracker(self.knowledge(scenario), self.grid)

    def shown_tracker(self, scenario: Scenario) -> Tracker:
        """Return the posterior that an agent is shown: as fine as any, while planning makes do with a coarse one."""
        return Tracker(self.knowledge(scenario), self.shown_grid)

    def plan(self, scenario: Scenario) -> Planner:
        """Return the planner for ``scenario``; where a belief is certain, it is the dynamic program."""
        return known_type_aware(self.planner(self.knowledge(scenario)))


class Trial(NamedTuple):
    """One episode as played, and with faults of execution repaired (the same record where there was none)."""

    played: EpisodeRecord
    repaired: EpisodeRecord


class BayesOptimalAgent:
    """The reference in one scenario: the Bayes optimum, or with ``is_told`` the best reply to the type."""

    def __init__(self, bayes_optimal: BayesOptimal, scenario: Scenario, *, is_told: bool = False) -> None:
        self.name = "clairvoyant" if is_told else "oracle"
        self._known_type = scenario.counterpart_type if is_told else None
        self._tracker = bayes_optimal.tracker(scenario)
        self._plan = bayes_optimal.plan(scenario)

    def see(self, observation: Observation) -> Posterior:
        """Take in an observation and return the exact posterior there."""
        return self._tracker.see(observation)

    def act(self, observation: Observation) -> Action:
        """Return the reference's move."""
        belief = self.see(observation)
        return self._plan(certain(belief, self._known_type) if self._known_type else belief, observation)


class PlannerSwap:
    """The agent's own belief with the reference's action rule: asks the agent, keeps what it states, plans anew.

    An agent that says nothing new still holds what it stated last, and before that the prior: it has told nobody that
    it learnt anything. A provider's failure ends the episode as it would any other.
    """

    def __init__(self, agent: AgentLike, scenario: Scenario, bayes_optimal: BayesOptimal) -> None:
        starter = informed(agent)
        self.name = f"{starter.name}+planner"
        self._ask = starter.start(scenario).act
        self._tracker = bayes_optimal.tracker(scenario)
        self._plan = bayes_optimal.plan(scenario)
        self._stated: Belief | None = None

    def act(self, observation: Observation) -> Action:
        """Return the planner's move on the belief the agent states here."""
        exact = self._tracker.see(observation)
        reply = coerce_action(self._ask(observation))
        if isinstance(reply, Unusable) and reply.fault is ReplyFault.PROVIDER:
            return reply
        self._stated = reply.belief or self._stated or self._prior_belief(observation)
        return self._plan(tilt(exact, self._stated), observation)

    def _prior_belief(self, observation: Observation) -> Belief:
        start = posterior.start(self._tracker.knowledge, posterior.seat_of(observation), self._tracker.grid)
        return posterior.stated_belief(start)


def condition_side_info(scenario: Scenario, condition: Condition, bayes_optimal: BayesOptimal) -> SideInfo | None:
    """Return what ``condition`` tells the agent in one episode; make it anew for every episode."""
    if condition is Condition.BASE:
        return None
    if condition is Condition.REVEALED_TYPE:
        return {"revealed_type": revealed_type(scenario.counterpart_type)}
    tracker = bayes_optimal.shown_tracker(scenario)

    def posterior_now(observation: Observation) -> Mapping[str, Any]:
        return {"posterior": posterior.summary(tracker.see(observation))}

    return posterior_now


def play_condition(
    scenario: Scenario,
    agent: AgentLike,
    condition: Condition,
    *,
    bayes_optimal: BayesOptimal | None = None,
    side_info: Mapping[str, Any] | None = None,
    past: Sequence[Meeting] | None = None,
) -> Trial:
    """Play one episode under ``condition``, as played and with faults of execution repaired.

    ``side_info`` is told beside what the condition tells, ``past`` holds the agent's meetings with this counterpart. A
    provider's failure ends both lines: it is no fault of the agent and is excluded from every mean.
    """
    bayes_optimal, starter = bayes_optimal or BayesOptimal(), informed(agent)
    name, act = starter.name, starter.start(scenario, past).act
    told = _beside(side_info, condition_side_info(scenario, condition, bayes_optimal))
    stand_in: BayesOptimalAgent | None = None
    unseen: list[Observation] = []  # what a stand-in has to catch up on; most episodes never need one
    game, moves = Game(scenario), list[Action]()
    played: EpisodeRecord | None = None
    while not game.is_over:
        observation = observe(game, told)
        try:
            action = coerce_action(act(observation))
        except Exception as error:
            error.add_note(f"raised by agent {name!r} in round {game.round} of {scenario.scenario_id} ({condition})")
            raise
        unseen.append(observation)
        if is_execution_fault(action, observation):
            played = played or replay(scenario, [*moves, action], agent=name)
            stand_in = stand_in or BayesOptimalAgent(
                bayes_optimal, scenario, is_told=condition is Condition.REVEALED_TYPE
            )
            while unseen:
                stand_in.see(unseen.pop(0))
            action = stand_in.act(observation)
        moves.append(action)
        game.step(action)
    record = game.record(name)
    return Trial(played or record, record)


def _beside(first: Mapping[str, Any] | None, second: SideInfo | None) -> SideInfo | None:
    """Tell both."""
    if not first or second is None:
        return first or second
    if callable(second):
        return lambda observation: {**first, **second(observation)}
    return {**first, **second}


def is_execution_fault(action: Action, observation: Observation) -> bool:
    """Whether the reply is no move of the game: unreadable, empty, refused, truncated, or illegal.

    Trading at a loss or going back on an offer is legal, if unwise: those are decisions.
    """
    match action:
        case Unusable():
            return action.fault is not ReplyFault.PROVIDER
        case Offer():
            return not observation.price_min <= action.price <= observation.price_max
        case Accept():
            return not observation.can_accept
        case _:
            return False


def run_condition(
    scenarios: Iterable[Scenario],
    agent: AgentLike,
    condition: Condition | str,
    *,
    bayes_optimal: BayesOptimal | None = None,
) -> list[Trial]:
    """Play every scenario under one condition; the oracle's own agents are told the scenario's laws first."""
    return [play_condition(item, agent, Condition(condition), bayes_optimal=bayes_optimal) for item in scenarios]


def informed(agent: AgentLike) -> Starter:
    """Return who begins the agent's episodes; a belief agent of the oracle's own is told regime and family of each."""
    return ScenarioStarter(agent.name, agent.for_scenario) if type(agent) is BeliefAgent else as_starter(agent)


def run_bayes_optimal(
    scenarios: Sequence[Scenario], bayes_optimal: BayesOptimal, *, is_told: bool = False
) -> list[EpisodeRecord]:
    """Play every scenario with the Bayes-optimal player, or with the one that is told the type."""
    return [play(item, BayesOptimalAgent(bayes_optimal, item, is_told=is_told)) for item in scenarios]
