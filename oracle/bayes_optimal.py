"""The Bayes-optimal player with fitted values: the agent of :mod:`oracle.planner` behind the planner interface.

A :class:`oracle.agents.Planner` takes a belief, so the same values serve the exact posterior, an agent's stated belief,
and the valuation of single moves.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from oracle.agents import Planner
from oracle.clairvoyant import Clairvoyant, read_revealed_type
from oracle.fitted import FittedValues
from oracle.interventions import BayesOptimal, told_regime_and_family
from oracle.kernels.planning import CompiledPlanner as KernelPlanner
from oracle.planner import BeliefTracker, FittedAgent, decide, offer_value, to_action
from oracle.posterior import Posterior
from oracle.prior import SCALE, Grid, Knowledge
from oracle.shipped import SETTINGS, values_for
from oracle.valuation import Valuer
from terms.aliases import Floats
from terms.config import GameConfig
from terms.scenario import Scenario
from terms.types import Accept, Action, Family, Observation, Offer


def fitted_planner(values: FittedValues) -> Planner:
    """Return the greedy planner of ``values``; beliefs must be on the grid they were fitted on."""
    compiled = FittedAgent(values).planner()

    def plan(belief: Posterior, observation: Observation) -> Action:
        tracker = _tracker_of(belief, compiled)
        return to_action(decide(tracker, compiled), tracker, observation)

    return plan


def fitted_valuer(values: FittedValues) -> Valuer:
    """Return what actions are worth under ``values``, in the episode's price units; no legal move is worth nothing."""
    compiled = FittedAgent(values).planner()

    def assess(belief: Posterior, observation: Observation, actions: Sequence[Action]) -> Floats:
        tracker = _tracker_of(belief, compiled)
        unit = (belief.seat.price_max - belief.seat.price_min) / SCALE
        worth = np.zeros(len(actions))
        for i, action in enumerate(actions):
            if isinstance(action, Accept) and observation.accept_utility is not None:
                worth[i] = observation.accept_utility
            elif isinstance(action, Offer) and observation.price_min <= action.price <= observation.price_max:
                price = np.array([belief.seat.to_canonical(action.price)])
                worth[i] = float(offer_value(tracker, compiled, price)[0]) * unit
        return worth

    return assess


def fitted_bayes_optimal(
    load: Callable[[Knowledge], FittedValues] = values_for,
    *,
    grid: Grid = SETTINGS.grid,
    knowledge: Callable[[Scenario], Knowledge] = told_regime_and_family,
) -> BayesOptimal:
    """Return the reference that plays the values ``load`` finds for what it is told of each scenario.

    By default those that come with the package, told regime and family. ``grid`` is the belief grid of the values; one
    fitted on another grid is refused when it is met.
    """
    found: dict[Hashable, tuple[Planner, Valuer]] = {}

    def rules(told: Knowledge) -> tuple[Planner, Valuer]:
        key = (told.regimes, told.families, told.geometry, told.objective, told.frame, told.config.model_dump_json())
        if key not in found:
            values = load(told)
            if values.grid != grid:
                raise ValueError(f"values were fitted on {values.grid}, the reference believes on {grid}")
            found[key] = fitted_planner(values), fitted_valuer(values)
        return found[key]

    return BayesOptimal(knowledge, lambda told: rules(told)[0], grid, lambda told: rules(told)[1])


@dataclass(frozen=True, eq=False)
class ToldFittedAgent:
    """The Bayes optimum as an agent that heeds what it is told: given the type, it plays the best reply to it."""

    inner: FittedAgent
    family: Family
    config: GameConfig
    name: str = "bayes"

    @classmethod
    def for_knowledge(cls, scenario: Scenario, knowledge: Knowledge, name: str = "bayes") -> Self:
        """Return the agent that is told ``knowledge`` about ``scenario``."""
        return cls(FittedAgent(values_for(knowledge)), scenario.family, scenario.config, name)

    def for_episode(self, seed: int) -> Self:
        """Return the agent for one episode, with an empty memory."""
        return replace(self, inner=self.inner.for_episode(seed))

    def act(self, observation: Observation) -> Action:
        """Play the best reply to a revealed type, else the Bayes optimum."""
        hidden = read_revealed_type(observation)
        if hidden is None:
            return self.inner.act(observation)
        return Clairvoyant(self.family, self.config, hidden).act(observation)


def _tracker_of(belief: Posterior, planner: KernelPlanner) -> BeliefTracker:
    """Return the compiled form of ``belief``; the arrays are shared, as deciding changes none of them."""
    return BeliefTracker(
        belief.knowledge,
        planner.model,
        belief.seat,
        np.ascontiguousarray(belief.weights),
        belief.low,
        belief.high,
        list(belief.offers),
        belief.round,
        belief.standing,
    )
