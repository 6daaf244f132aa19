"""Many negotiations in step as a Gymnasium vector environment, compiled; draw for draw the readable game.

Needs the extra ``gym``. It speaks the language of :mod:`experiments.adapters.negotiation_env` (vectors, ticks or
boxes); episodes are freshly drawn by the same laws, or the scenarios that ``reset`` is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.adapters.negotiation_env import CreditForm, PaidIn, box_space, checked_setting, vector_space
from experiments.extras import need
from oracle.batch_game import BATCH_ENDINGS, BatchGame, TalkPool, draw_pool, pool_of
from oracle.batch_values import BatchValues
from oracle.prior import Knowledge
from oracle.shipped import values_for
from terms.aliases import Floats, Ints
from terms.cells import suite_cells
from terms.config import GameConfig
from terms.scenario import Scenario
from terms.splits import SPLIT_SEEDS, Split, require_trainable

need("gym", "gymnasium")

import gymnasium  # noqa: E402 - only after its absence was named
from gymnasium import spaces  # noqa: E402
from gymnasium.vector import AutoresetMode, VectorEnv  # noqa: E402
from gymnasium.vector.utils import batch_space  # noqa: E402

_POOL = 16  # episodes drawn at once, for each place
_OFFER, _ACCEPT, _REJECT = range(3)


class NegotiationBatchEnv(VectorEnv[Any, Any, Any]):
    """``num_envs`` negotiations at once; parameters as in the single environment.

    An ended negotiation is replaced in the next step, whose action is not looked at there and whose reward is 0 (the
    framework's own convention). ``info`` holds ``termination``, a place in
    :data:`oracle.batch_game.BATCH_ENDINGS` or -1, and ``utility`` in money, both of shape (num_envs,).

    With ``credit="exact"`` each move is paid when it is made (:mod:`oracle.batch_values`: the fitted values are read
    without looking ahead). The rewards of an episode add up to its terminal one less ``info["value"]`` of its first
    moment. It takes one regime and one family, because the reference is told them.

    Notes
    -----
    ``reset(options={"scenarios": [...]})`` plays these, one after the other, and begins anew at their end. Without, a
    split is a stream of draws of its own: the generator is seeded by the split's first suite seed and by ``seed``.
    """

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}  # noqa: RUF012

    def __init__(  # noqa: PLR0913
        self,
        num_envs: int = 1,
        *,
        split: Split | str = Split.TRAIN,
        training: bool = True,
        regimes: Sequence[str] | None = None,
        families: Sequence[str] | None = None,
        config: GameConfig | None = None,
        actions: str = "ticks",
        reward: PaidIn = "share",
        num_ticks: int = 51,
        credit: CreditForm = "terminal",
    ) -> None:
        if credit == "info":
            raise ValueError("credit='info' is for the single environment, allowed here are terminal, exact")
        if actions == "text":
            raise ValueError("actions='text' is for the single environment, allowed here are ticks, box")
        self.num_envs = num_envs
        self._split, self._training = Split(split), training
        self._ticks = checked_setting(actions, reward, num_ticks, self._split, training, credit)
        self._cells, self._config = suite_cells(regimes, families), config or GameConfig()
        told = {(cell.regime, cell.family) for cell in self._cells}
        if credit == "exact" and len(told) > 1:
            raise ValueError(f"credit='exact' needs one regime and one family; these cells have {len(told)} pairs")
        self._told = told.pop() if credit == "exact" else None
        self._values: BatchValues | None = None
        self._actions, self._reward = actions, reward
        self.single_action_space = spaces.Discrete(self._ticks.num_actions) if actions == "ticks" else box_space()
        self.single_observation_space = vector_space()
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._draws: np.random.Generator | None = None
        self._is_given = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode at every place."""
        scenarios = (options or {}).get("scenarios")
        self._is_given = scenarios is not None
        if scenarios is not None:
            if self._training:
                for scenario in scenarios:
                    require_trainable(scenario.scenario_id)
            self._check_told(scenarios)
            pool = pool_of(scenarios)
        else:
            if self._draws is None or seed is not None:
                entropy = [SPLIT_SEEDS[self._split].start] if seed is None else [SPLIT_SEEDS[self._split].start, seed]
                self._draws = np.random.default_rng(None if seed is None else entropy)
            pool = self._draw()
        self._game, self._next = BatchGame(pool, self.num_envs), 0
        if self._told is not None:
            knowledge = Knowledge(self._config, (self._told[0],), (self._told[1],))
            self._values = BatchValues(self._game, values_for(knowledge))
        self._begin(np.arange(self.num_envs))
        return self._game.seen.copy(), self._told_value(self._info())

    def step(self, actions: Any) -> tuple[Any, Floats, np.ndarray, np.ndarray, dict[str, Any]]:
        """Make one move everywhere."""
        game = self._game
        was_running = game.running
        before = None if self._values is None else self._values.value.copy()
        game.step(*self._read(np.asarray(actions)))
        ended = was_running & ~game.running
        paid = np.where(ended, game.utility, 0.0)
        if self._values is not None and before is not None:
            self._values.step(np.flatnonzero(was_running))
            paid += np.where(was_running, self._values.value - before, 0.0)
        reward = paid / self._unit()
        info = self._info()
        places = np.flatnonzero(~was_running)
        if len(places):
            self._begin(places)
        return game.seen.copy(), reward, ended, np.zeros(self.num_envs, dtype=bool), self._told_value(info)

    @property
    def running(self) -> np.ndarray:
        """Which episodes run, (num_envs,); the others begin anew in the next step."""
        return self._game.running

    def _draw(self) -> TalkPool:
        assert self._draws is not None  # reset came first
        return draw_pool(self._cells, _POOL * self.num_envs, rng=self._draws, config=self._config)

    def _begin(self, places: Ints) -> None:
        """Begin the next episodes of the pool, of a fresh one where it has no more."""
        num = self._game.pool.num_episodes
        if not self._is_given and self._next + len(places) > num:
            self._game.pool, self._next = self._draw(), 0
        self._game.begin(places, (self._next + np.arange(len(places))) % num)
        if self._values is not None:
            self._values.begin(places)
        self._next = (self._next + len(places)) % num if self._is_given else self._next + len(places)

    def _read(self, actions: np.ndarray) -> tuple[Ints, Floats]:
        """Return the decisions and prices that ``actions`` mean."""
        if self._actions == "ticks":
            decision = np.where(actions == 0, _ACCEPT, np.where(actions == 1, _REJECT, _OFFER))
            gain = self._ticks.gain(actions)
        else:
            chosen = actions[:, 0].astype(np.float64)
            decision = np.where(chosen < 1 / 3, _OFFER, np.where(chosen < 2 / 3, _ACCEPT, _REJECT))
            gain = actions[:, 1].astype(np.float64)
        at = self._game.episodes
        price = at.own - at.sign * gain * (at.price_max - at.price_min)
        return decision, np.minimum(at.price_max, np.maximum(at.price_min, price))

    def _unit(self) -> Any:
        if self._reward == "money":
            return 1.0
        zopa, at = self._game.zopa, self._game.episodes
        return np.where(zopa > 0, zopa, at.price_max - at.price_min)

    def _info(self) -> dict[str, Any]:
        return {"termination": self._game.termination.copy(), "utility": self._game.utility.copy()}

    def _told_value(self, info: dict[str, Any]) -> dict[str, Any]:
        """Return ``info`` with what the reference expects now, of an episode that has just begun its first value."""
        return info if self._values is None else {**info, "value": self._values.value / self._unit()}

    def _check_told(self, scenarios: Sequence[Scenario]) -> None:
        """Refuse scenarios of other laws than those the values were fitted for."""
        if self._told is None:
            return
        for scenario in scenarios:
            if (scenario.regime, scenario.family) != self._told or scenario.config != self._config:
                raise ValueError(
                    f"scenario={scenario.scenario_id!r} is not of {self._told[0]}, {self._told[1]} and this config, "
                    "which credit='exact' was told"
                )


def ending(number: int) -> str | None:
    """Return the name of an ending in ``info["termination"]``, ``None`` for a running episode."""
    return None if number < 0 else BATCH_ENDINGS[number].value


gymnasium.register(
    "terms/NegotiationVec-v0",
    vector_entry_point="experiments.adapters.negotiation_batch_env:NegotiationBatchEnv",
)
