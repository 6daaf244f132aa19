"""The runs a decomposition rests on: one agent under every intervention, and the reference, on the same draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oracle.gaps import OVERALL, Slice
from oracle.interventions import (
    BayesOptimal,
    BayesOptimalAgent,
    Condition,
    PlannerSwap,
    Trial,
    play_condition,
)
from oracle.losses import Losses, MoveLoss, MoveTable, move_losses, pool_losses
from oracle.parts import Part
from oracle.shapley import shapley_values
from terms.aliases import Floats, Progress
from terms.episode import AgentLike, play
from terms.intervals import FEW
from terms.scenario import Scenario

FEW_LOSSES = 36
FEW_PARTS = 96
"""From so many scenarios on 95 % intervals of losses, and of differences of utilities, hold in 93.5 to 98 % of samples
of every fault that ``tests.bench.loss_coverage`` plays, but for rare slips, where they hold more often."""
LOSS_PARTS = (Part.SLIPS, Part.BELIEF_LOSS, Part.PLANNING_LOSS)
IMPROVEMENTS = ("belief", "type", "planning")
"""What the order-free split shares the gap among."""
PLAYS_OF_AN_AGENT = len(Condition) + 1
"""How often a decomposition lets the agent play each scenario: under every condition, and for the planner swap."""


@dataclass(frozen=True, eq=False)
class Arms:
    """Utilities of shape (episodes,), in price units. Conditions are repaired (see :mod:`oracle.interventions`).

    ``played`` is the base condition as played; ``swapped`` the planner on the agent's stated belief, ``None`` if not
    run; ``oracle`` the Bayes-optimal player; ``clairvoyant`` the best reply to the known type. ``excluded`` names the
    scenarios that a provider's failure removed from every arm.
    """

    scenarios: tuple[Scenario, ...]
    played: Floats
    base: Floats
    posterior: Floats
    revealed: Floats
    oracle: Floats
    clairvoyant: Floats
    swapped: Floats | None = None
    excluded: tuple[str, ...] = ()
    losses: Losses | None = None

    def __post_init__(self) -> None:
        for item in fields(self):
            column = getattr(self, item.name)
            if isinstance(column, np.ndarray) and column.shape != (len(self.scenarios),):
                raise ValueError(f"{item.name} has shape {column.shape}; there are {len(self.scenarios)} scenarios")

    @property
    def unit(self) -> str:
        """What is measured, for an axis."""
        return "mean utility (price units)"

    @property
    def clusters(self) -> NDArray[np.intp]:
        """The scenario of each episode, numbered."""
        numbers: dict[str, int] = {}
        each = [numbers.setdefault(item.scenario_id, len(numbers)) for item in self.scenarios]
        return np.array(each, dtype=np.intp)

    def slices(self) -> list[Slice]:
        """Return (kind, label, mask) overall, by regime and by family, in the order of the suite."""
        found: list[Slice] = [(*OVERALL, np.ones(len(self.scenarios), dtype=np.bool_))]
        kinds: dict[str, Callable[[Scenario], str]] = {
            "regime": lambda item: item.regime.value,
            "family": lambda item: item.family.value,
        }
        for kind, key in kinds.items():
            labels = [key(item) for item in self.scenarios]
            found.extend((kind, label, np.array([each == label for each in labels])) for label in dict.fromkeys(labels))
        return found

    def parts(self, reference: str) -> dict[str, Floats]:
        """Return every reported quantity per episode, in the order of the table.

        ``played + gap = reference``; ``execution + inference + uncertainty + control = gap``;
        ``uncertainty = uncertainty_own + uncertainty_unavoidable``; ``control_residual`` is control against the
        clairvoyant; ``with_belief = uncertainty + control``; ``belief + type + planning = clairvoyant - base``.
        """
        target = self.oracle if reference == "oracle" else self.clairvoyant
        unavoidable = self.clairvoyant - self.oracle
        uncertainty = self.revealed - self.posterior
        parts: dict[str, Floats] = {
            Part.PLAYED: self.played,
            Part.REFERENCE: target,
            Part.GAP: target - self.played,
            Part.EXECUTION: self.base - self.played,
            Part.INFERENCE: self.posterior - self.base,
            Part.UNCERTAINTY: uncertainty,
            Part.UNCERTAINTY_OWN: uncertainty - unavoidable,
            Part.UNCERTAINTY_UNAVOIDABLE: unavoidable,
            Part.CONTROL: target - self.revealed,
            Part.CONTROL_RESIDUAL: self.clairvoyant - self.revealed,
            Part.WITH_BELIEF: target - self.posterior,
        }
        return {**parts, **self._loss_parts(), **order_free_parts(self)}

    def _loss_parts(self) -> dict[str, Floats]:
        """Return what the advice rests on where moves were valued, luck taken out (:mod:`oracle.losses`)."""
        if self.losses is None:
            return {}
        width = np.array([item.price_range for item in self.scenarios])
        found = self.losses
        return {
            Part.SLIPS: found.slips * width,
            Part.BELIEF_LOSS: found.belief * width,
            Part.PLANNING_LOSS: found.planning * width,
        }

    def few(self, part: str) -> int:
        """Return from how many scenarios on an interval of ``part`` holds the truth as often as it says.

        Differences of utilities are mostly near 0 and rarely large, which few episodes do not show.
        """
        return FEW if part in (Part.PLAYED, Part.REFERENCE) else FEW_LOSSES if part in LOSS_PARTS else FEW_PARTS

    def facts(self, reference: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what a stored split says before and after its rows."""
        after = {
            "num_episodes": len(self.scenarios),
            "num_excluded": len(self.excluded),
            "excluded": list(self.excluded),
        }
        if self.losses is not None:
            after["num_slips"] = int(self.losses.num_slips.sum())
            after["states_beliefs"] = self.losses.states_beliefs
        return {"reference": reference}, after

    def take(self, indices: Sequence[int]) -> Arms:
        """Return the arms of some of the episodes."""
        chosen = list(indices)
        return Arms(
            tuple(self.scenarios[i] for i in chosen),
            played=self.played[chosen],
            base=self.base[chosen],
            posterior=self.posterior[chosen],
            revealed=self.revealed[chosen],
            oracle=self.oracle[chosen],
            clairvoyant=self.clairvoyant[chosen],
            swapped=None if self.swapped is None else self.swapped[chosen],
            excluded=self.excluded,
            losses=None if self.losses is None else self.losses.take(chosen),
        )


def order_free_parts(arms: Arms) -> dict[str, Floats]:
    """Return the Shapley split of ``clairvoyant - base`` among belief, type and planning; empty if it was not run.

    Told the type, the posterior adds nothing, so coalitions with the type do not depend on the belief.
    """
    if arms.swapped is None:
        return {}
    worth = {
        frozenset[str](): arms.base,
        frozenset({"belief"}): arms.posterior,
        frozenset({"type"}): arms.revealed,
        frozenset({"belief", "type"}): arms.revealed,
        frozenset({"planning"}): arms.swapped,
        frozenset({"belief", "planning"}): arms.oracle,
        frozenset({"type", "planning"}): arms.clairvoyant,
        frozenset(IMPROVEMENTS): arms.clairvoyant,
    }
    return {f"order_free_{name}": part for name, part in shapley_values(IMPROVEMENTS, worth).items()}


def run_arms(
    agent: AgentLike,
    suite: Sequence[Scenario],
    *,
    bayes_optimal: BayesOptimal | None = None,
    is_order_free: bool = True,
    progress: Progress | None = None,
) -> Arms:
    """Play every arm on every scenario.

    Parameters
    ----------
    is_order_free
        Also run the planner on the agent's stated belief, which the order-free split needs: one more play of the agent.
    progress
        Called with (scenarios done, scenarios in all).

    Raises
    ------
    ValueError
        If the suite is empty, or if the provider failed on every scenario.
    """
    bayes_optimal = bayes_optimal or BayesOptimal()
    rows: list[ScenarioArms | None] = []
    for number, scenario in enumerate(suite, start=1):
        rows.append(arms_of_scenario(agent, scenario, bayes_optimal, is_order_free=is_order_free))
        if progress is not None:
            progress(number, len(suite))
    return join_arms(suite, rows)


class ScenarioArms(NamedTuple):
    """What every arm earned in one scenario, and what the moves of three of them lost where moves are valued.

    ``utilities`` are in the order of :class:`Arms`; ``moves`` of the agent as it plays, shown the posterior, and with
    the planner in its place.
    """

    utilities: tuple[float, ...]
    moves: tuple[tuple[MoveLoss, ...], ...] = ()


def join_arms(suite: Sequence[Scenario], rows: Sequence[ScenarioArms | None]) -> Arms:
    """Return the arms that :func:`arms_of_scenario` gave for each scenario of ``suite``, wherever it ran.

    Raises
    ------
    ValueError
        If the suite is empty, or if the provider failed on every scenario.
    """
    if not suite:
        raise ValueError("suite is empty; a decomposition needs episodes")
    played = [(scenario, row) for scenario, row in zip(suite, rows, strict=True) if row is not None]
    excluded = [scenario.scenario_id for scenario, row in zip(suite, rows, strict=True) if row is None]
    if not played:
        raise ValueError(f"the provider failed on all {len(suite)} scenarios; there is nothing to decompose")
    table = np.array([row.utilities for _, row in played])
    tables = [MoveTable.of(episodes) for episodes in zip(*(row.moves for _, row in played), strict=True)]
    return Arms(
        tuple(scenario for scenario, _ in played),
        played=table[:, 0],
        base=table[:, 1],
        posterior=table[:, 2],
        revealed=table[:, 3],
        oracle=table[:, 4],
        clairvoyant=table[:, 5],
        swapped=table[:, 6] if table.shape[1] > 6 else None,
        excluded=tuple(excluded),
        losses=pool_losses(*tables, num=len(played)) if tables else None,
    )


def arms_of_scenario(
    agent: AgentLike, scenario: Scenario, bayes_optimal: BayesOptimal, *, is_order_free: bool = True
) -> ScenarioArms | None:
    """Return what every arm earns in ``scenario``, ``None`` if the provider failed in one of them."""
    trials: list[Trial] = []
    for condition in Condition:
        trial = play_condition(scenario, agent, condition, bayes_optimal=bayes_optimal)
        if trial.repaired.is_excluded:
            return None  # a scenario lost in one arm is lost in all, or the arms would not be paired
        trials.append(trial)
    reviewed = [trial.repaired for trial in trials[:2]]
    utilities = [trials[0].played.utility, *(trial.repaired.utility for trial in trials)]
    for is_told in (False, True):
        utilities.append(play(scenario, BayesOptimalAgent(bayes_optimal, scenario, is_told=is_told)).utility)
    if is_order_free:
        swapped = play(scenario, PlannerSwap(agent, scenario, bayes_optimal))
        if swapped.is_excluded:
            return None
        utilities.append(swapped.utility)
        reviewed.append(swapped)
    moves = [tuple(move_losses(scenario, record, bayes_optimal)) for record in reviewed if bayes_optimal.has_values]
    return ScenarioArms(tuple(utilities), tuple(moves))
