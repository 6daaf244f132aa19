"""The bargaining game of two learners as a PettingZoo environment: agents move in turn, both are paid at the end.

Needs the extra ``pettingzoo``. Observations and numbered actions are those of
:mod:`experiments.adapters.negotiation_env`; the agents are called ``first`` and ``second``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.extras import need
from experiments.training.seat_view import SeatView

need("pettingzoo", "pettingzoo")

import gymnasium  # noqa: E402 - only after its absence was named
from gymnasium.utils import seeding  # noqa: E402
from pettingzoo import AECEnv  # noqa: E402

from experiments.adapters.negotiation_env import PaidIn, checked_setting, vector_space  # noqa: E402
from terms.cells import suite_cells  # noqa: E402
from terms.config import GameConfig  # noqa: E402
from terms.scenario import Scenario  # noqa: E402
from terms.splits import SPLIT_SEEDS, Split, require_trainable  # noqa: E402
from terms.suites import fresh_scenario  # noqa: E402
from terms.two_seats import OpenMatch, mirrored  # noqa: E402

SEATS = ("first", "second")


class NegotiationTable(AECEnv):  # type: ignore[misc]  # the framework has no types
    """One negotiation of two agents; parameters as in the single environment, numbered actions only.

    Every seat is rewarded once, at the end: its utility as a share of the zopa (of the public range where no deal is
    possible), or in money. Only the mover's observation has legal actions in ``info["action_mask"]``. The last infos
    hold each seat's :class:`terms.EpisodeRecord`.
    """

    metadata = {"name": "terms_negotiation_v0", "is_parallelizable": False, "render_modes": []}  # noqa: RUF012

    def __init__(  # noqa: PLR0913
        self,
        *,
        split: Split | str = Split.TRAIN,
        training: bool = True,
        regimes: Sequence[str] | None = ("overlap",),
        families: Sequence[str] | None = ("candid",),
        config: GameConfig | None = None,
        reward: PaidIn = "share",
        num_ticks: int = 51,
    ) -> None:
        super().__init__()
        self._split, self._training = Split(split), training
        self._ticks = checked_setting("ticks", reward, num_ticks, self._split, training)
        self._cells, self._config, self._reward = suite_cells(regimes, families), config or GameConfig(), reward
        self.possible_agents = list(SEATS)
        self.render_mode = None
        self.action_spaces = {seat: gymnasium.spaces.Discrete(self._ticks.num_actions) for seat in SEATS}
        self.observation_spaces = {seat: vector_space() for seat in SEATS}
        self._random: np.random.Generator | None = None

    def observation_space(self, agent: str) -> gymnasium.Space[Any]:
        """Return the space of a seat's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.Space[Any]:
        """Return the space of a seat's actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin the scenario that ``options`` names, else one drawn from the split."""
        if self._random is None or seed is not None:
            self._random, _ = seeding.np_random(seed)
        scenario = (options or {}).get("scenario")
        if scenario is None:
            scenario = self._draw(self._random)
        elif not isinstance(scenario, Scenario):
            raise ValueError(f"options has scenario={scenario!r}; it must be a terms.Scenario")
        elif self._training:
            require_trainable(scenario.scenario_id)
        self._talk = OpenMatch(scenario)
        self._views = {"first": SeatView(scenario), "second": SeatView(mirrored(scenario))}
        self.agents = list(SEATS)
        self.rewards, self._cumulative_rewards = dict.fromkeys(SEATS, 0.0), dict.fromkeys(SEATS, 0.0)
        self.terminations, self.truncations = dict.fromkeys(SEATS, False), dict.fromkeys(SEATS, False)
        self.infos: dict[str, dict[str, Any]] = {seat: {} for seat in SEATS}
        self._hand_over()

    def observe(self, agent: str) -> np.ndarray:
        """Return what a seat sees."""
        return self._views[agent].vector(self._talk.observe(agent))

    def step(self, action: Any) -> None:
        """Make the move of ``agent_selection``."""
        mover = self.agent_selection
        if self.terminations[mover]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[mover] = 0.0
        move = self._views[mover].move(self._ticks, int(action))
        self._views[mover].note(move)
        self._talk.step(move)
        self._clear_rewards()
        if self._talk.mover is None:
            self._end()
        else:
            self._hand_over()
        self._accumulate_rewards()

    def _hand_over(self) -> None:
        mover = self._talk.mover
        assert mover is not None  # a talk that has ended is handed over to nobody
        self.agent_selection = mover
        self.infos = {seat: {} for seat in SEATS}
        mask = np.ones(self._ticks.num_actions, dtype=np.int8)
        mask[0] = self._talk.observe().can_accept
        self.infos[mover] = {"action_mask": mask}

    def _end(self) -> None:
        scenario = self._talk.scenario
        share = scenario.zopa if scenario.zopa > 0 else scenario.price_range
        unit = 1.0 if self._reward == "money" else share
        match = self._talk.match()
        for seat, record in zip(SEATS, match, strict=True):
            self.rewards[seat] = record.utility / unit
            self.terminations[seat] = True
            self.infos[seat] = {"record": record}
        self.agent_selection = SEATS[0]

    def _draw(self, rng: np.random.Generator) -> Scenario:
        seeds = SPLIT_SEEDS[self._split]
        cell = self._cells[int(rng.integers(len(self._cells)))]
        seed = int(rng.integers(seeds.start, seeds.stop))
        return fresh_scenario(seed, cell, int(rng.integers(1000)), config=self._config)
