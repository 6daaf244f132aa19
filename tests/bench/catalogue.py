"""The reference on a catalogue beside the rule of thumb and tuned scripts: ``python -m tests.bench.catalogue PATH N``.

A script asks for a share of the item's spread that moves with the rounds, with settings drawn at random; the best of
200 by SE+ is chosen on one draw of episodes and measured on another, on which all play. Utilities are in shares of the
item's spread.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oracle.agents import BELIEF_AGENTS
from oracle.bayes_optimal import ToldFittedAgent
from oracle.interventions import informed, told_for_efficiency
from oracle.player_registry import build_player
from terms import Scenario, catalog_suite, play
from terms.agents import moves
from terms.types import Accept, Action, Family, Observation

NUM_SCRIPTS, TUNED_ON = 200, 240
REGIMES = ("overlap", "urgency_shift")


@dataclass(frozen=True)
class SpreadScript:
    """Asks for ``first`` of the spread at the start and ``last`` at the end; takes what comes within ``slack``."""

    first: float
    last: float
    power: float
    slack: float
    name: str = "script"

    def act(self, observation: Observation) -> Action:
        """Take or ask."""
        product = observation.side_info["product"]
        spread = product["historic_high"] - product["historic_low"]
        elapsed = (observation.round - 1) / (observation.horizon - 1)
        share = self.first + (self.last - self.first) * elapsed**self.power
        gain = observation.accept_utility
        if gain is not None and gain >= max(0.0, (share - self.slack) * spread):
            return Accept()
        return moves.accept_or_offer(observation, moves.price_at_gap(observation, share * spread))


def _shares(suite: Sequence[Scenario], agent: object) -> np.ndarray:
    return np.array([play(each, agent).utility / each.zopa for each in suite])  # type: ignore[arg-type]


def _tuned(path: str) -> SpreadScript:
    rng = np.random.default_rng(0)
    suite = catalog_suite(path, REGIMES, n_per_cell=TUNED_ON // 48, seed=1)
    drawn = np.column_stack([rng.uniform(0, 0.5, NUM_SCRIPTS), rng.uniform(0, 0.3, NUM_SCRIPTS),
                             rng.uniform(0.3, 3, NUM_SCRIPTS), rng.uniform(0, 0.1, NUM_SCRIPTS)])  # fmt: skip
    drawn[: NUM_SCRIPTS // 4, 1] = drawn[: NUM_SCRIPTS // 4, 0]  # a quarter of them never move
    scripts = [SpreadScript(*row) for row in drawn.tolist()]
    return max(scripts, key=lambda each: float(_shares(suite, each).mean()))


def main(path: str, n_per_cell: int) -> None:
    """Measure and print."""
    script = _tuned(path)
    sys.stdout.write(f"best of {NUM_SCRIPTS} scripts on {TUNED_ON} episodes: {script}\n")
    bayes, ramp = build_player("bayes"), informed(BELIEF_AGENTS["ramp"])
    for family in Family:
        start = time.process_time()
        suite = catalog_suite(path, REGIMES, [family], n_per_cell, seed=7)
        share = np.array([each.zopa / each.frame.scale for each in suite])
        efficient = np.array(
            [play(each, ToldFittedAgent.for_knowledge(each, told_for_efficiency(each))).utility / each.zopa
             for each in suite]
        )  # fmt: skip
        best = _shares(suite, bayes)
        others = {"ramp": _shares(suite, ramp), "script": _shares(suite, script)}
        parts = [f"{family.value:12} n={len(suite)} bayes U/E[z] {(best * share).sum() / share.sum():.4f}"]
        for name, other in others.items():
            gain, more = (best - other) * share / share.mean(), efficient - other
            parts.append(
                f"- {name} {_interval(gain)}; SE+ {efficient.mean():.4f} (se) - {other.mean():.4f} = {_interval(more)}"
            )
        sys.stdout.write(" ".join(parts) + f"; {time.process_time() - start:.0f} s\n")
        sys.stdout.flush()


def _interval(values: np.ndarray) -> str:
    return f"{values.mean():+.4f} +- {1.96 * values.std(ddof=1) / len(values) ** 0.5:.4f}"


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 50)
