"""Whether the posterior is right: where the truth falls in it, over many episodes.

At each observation the randomised probability integral transform of the true reservation is taken
(:func:`oracle.posterior.pit`). It is uniform on [0, 1] in every round if the belief is
calibrated, whatever the agent does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oracle.interventions import Reference
from oracle.posterior import pit
from terms.episode import AgentLike, start_episode
from terms.estimates import Estimate, Ratio, estimate_ratios
from terms.game import Game
from terms.protocol import coerce_action
from terms.scenario import Scenario

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Calibration:
    """One row an observation: its episode's number, its round, and the transform of the true reservation."""

    episode: NDArray[np.intp]
    round: NDArray[np.intp]
    transform: Floats

    def shares(self, num_bins: int = 10) -> list[Estimate]:
        """Return the share of observations in each of ``num_bins`` equal bins, with intervals clustered by episode."""
        bins = np.minimum((self.transform * num_bins).astype(int), num_bins - 1)
        everything = np.ones(len(bins))
        return [
            estimate_ratios([Ratio((bins == each).astype(float), everything)], self.episode) for each in range(num_bins)
        ]


def calibrate(
    scenarios: Sequence[Scenario], agent: AgentLike, *, reference: Reference | None = None, rng: np.random.Generator
) -> Calibration:
    """Play ``agent`` and follow the exact posterior beside it; ``rng`` spreads the atom at the standing price."""
    honest = reference or Reference()
    rows: list[tuple[int, int, float]] = []
    for number, scenario in enumerate(scenarios):
        act, game, tracker = start_episode(agent, scenario), Game(scenario), honest.tracker(scenario)
        while not game.is_over:
            observation = game.observe()
            belief = tracker.see(observation)
            value = pit(belief, scenario.counterpart_type.reservation_price, rng.random())
            rows.append((number, observation.round, value))
            game.step(coerce_action(act(observation)))
    if not rows:
        raise ValueError("scenarios is empty; calibration needs episodes")
    episodes, rounds, values = zip(*rows, strict=True)
    return Calibration(np.array(episodes), np.array(rounds), np.array(values))
