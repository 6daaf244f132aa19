"""The runs a decomposition rests on: one agent under every intervention, and the reference, on the same draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from oracle.interventions import (
    Condition,
    PlannerSwap,
    Reference,
    ReferenceAgent,
    Trial,
    play_condition,
)
from terms.aliases import Floats, Progress
from terms.episode import AgentLike, play
from terms.scenario import Scenario


@dataclass(frozen=True, eq=False)
class Arms:
    """Utilities of shape (episodes,), in price units. Conditions are repaired (see :mod:`oracle.interventions`).

    ``played`` is the base condition as played; ``swapped`` the planner on the agent's stated belief, ``None`` if not
    run; ``oracle`` the honest reference; ``clairvoyant`` the best reply to the known type. ``excluded`` names the
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

    def __post_init__(self) -> None:
        for item in fields(self):
            column = getattr(self, item.name)
            if isinstance(column, np.ndarray) and column.shape != (len(self.scenarios),):
                raise ValueError(f"{item.name} has shape {column.shape}; there are {len(self.scenarios)} scenarios")

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
        )


def run_arms(
    agent: AgentLike,
    suite: Sequence[Scenario],
    *,
    reference: Reference | None = None,
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
    if not suite:
        raise ValueError("suite is empty; a decomposition needs episodes")
    honest = reference or Reference()
    kept: list[Scenario] = []
    rows: list[list[float]] = []
    excluded: list[str] = []
    for number, scenario in enumerate(suite, start=1):
        row = _run_scenario(agent, scenario, honest, is_order_free)
        if row is None:
            excluded.append(scenario.scenario_id)
        else:
            kept.append(scenario)
            rows.append(row)
        if progress is not None:
            progress(number, len(suite))
    if not kept:
        raise ValueError(f"the provider failed on all {len(suite)} scenarios; there is nothing to decompose")
    table = np.array(rows)
    return Arms(
        tuple(kept),
        played=table[:, 0],
        base=table[:, 1],
        posterior=table[:, 2],
        revealed=table[:, 3],
        oracle=table[:, 4],
        clairvoyant=table[:, 5],
        swapped=table[:, 6] if is_order_free else None,
        excluded=tuple(excluded),
    )


def _run_scenario(
    agent: AgentLike, scenario: Scenario, reference: Reference, is_order_free: bool
) -> list[float] | None:
    trials: list[Trial] = []
    for condition in Condition:
        trial = play_condition(scenario, agent, condition, reference=reference)
        if trial.repaired.is_excluded:
            return None  # a scenario lost in one arm is lost in all, or the arms would not be paired
        trials.append(trial)
    references = [
        play(scenario, ReferenceAgent(reference, scenario, is_told=is_told)).utility for is_told in (False, True)
    ]
    row = [trials[0].played.utility, *(trial.repaired.utility for trial in trials), *references]
    if is_order_free:
        swapped = play(scenario, PlannerSwap(agent, scenario, reference))
        if swapped.is_excluded:
            return None
        row.append(swapped.utility)
    return row
