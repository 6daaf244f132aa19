"""The store year as a Gymnasium environment: a step is one tool call, its reward what the assets gained, in yuan.

Needs the extra ``gym``. Nothing is written to disk; for a year that can be verified use ``terms year`` or
``terms serve``.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from commerce.config import rules_named
from commerce.money import to_yuan
from commerce.tools import TOOLS
from commerce.world import generate_world
from commerce.year import Result, Year
from experiments.extras import need

need("gym", "gymnasium")

import gymnasium  # noqa: E402 - only after its absence was named
from gymnasium import spaces  # noqa: E402

MAX_ARGUMENTS = 4096
MAX_ANSWER = 1_000_000
_CHARACTERS = "".join(map(chr, range(32, 127)))
_MOST_YUAN = 1e15  # the framework takes an infinite bound for a mistake
_NAMES = tuple(TOOLS)

GymAction = dict[str, Any]
GymObservation = dict[str, Any]


class StoreYearEnv(gymnasium.Env[GymObservation, GymAction]):
    """One year.

    An action is ``{"tool": place in tool_names, "arguments": JSON text}``; arguments that are none are refused by the
    store and take no time. An observation is the day, the minutes left in it, bank plus wallet plus escrow in yuan, and
    the answer to the last call as JSON text. The year terminates with its calendar or by bankruptcy and is truncated
    after ``max_turns`` steps.

    Parameters
    ----------
    rules
        ``paper`` or ``fair``.
    num_days, max_turns
        Length of the year, and steps at most.
    world_seed
        The world of every year; ``None`` draws one at each reset from the seed given to ``reset``.

    Examples
    --------
    >>> env = StoreYearEnv(num_days=5, world_seed=3)
    >>> observation, _ = env.reset(seed=0)
    >>> observation["day"], observation["assets"].tolist()
    (0, [100000.0])
    >>> observation, reward, *_ = env.step(env.action("open_store", store_type="beauty", store_name="Rose"))
    >>> reward
    -500.0
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 - the framework's own declaration
    tool_names = _NAMES

    def __init__(
        self,
        rules: str = "paper",
        num_days: int = 365,
        max_turns: int = 4000,
        world_seed: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        self._rules = rules_named(rules).model_copy(update={"num_days": num_days})
        self._max_turns, self._world_seed = max_turns, world_seed
        self.render_mode = render_mode
        minutes = self._rules.close_minute - self._rules.open_minute
        self.action_space = spaces.Dict(
            {
                "tool": spaces.Discrete(len(_NAMES)),
                "arguments": spaces.Text(min_length=0, max_length=MAX_ARGUMENTS, charset=_CHARACTERS),
            }
        )
        self.observation_space = spaces.Dict(
            {
                "day": spaces.Discrete(num_days + 1),
                "minutes_left": spaces.Discrete(minutes + 1),
                "assets": spaces.Box(-_MOST_YUAN, _MOST_YUAN, (1,), np.float64),
                "answer": spaces.Text(min_length=0, max_length=MAX_ANSWER, charset=_CHARACTERS),
            }
        )

    def action(self, tool: str, **arguments: Any) -> GymAction:
        """Return the action that calls ``tool``."""
        return {"tool": _NAMES.index(tool), "arguments": json.dumps(arguments)}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[GymObservation, dict[str, Any]]:
        """Begin a year and return the first morning."""
        super().reset(seed=seed)
        world_seed = self._world_seed
        if world_seed is None:
            world_seed = int(self.np_random.integers(2**31))
        self._year = Year(generate_world(world_seed, self._rules), self._rules)
        self._turns, self._answer = 0, ""
        return self._observe(), {}

    def step(self, action: GymAction) -> tuple[GymObservation, float, bool, bool, dict[str, Any]]:
        """Make one call."""
        before = self._year.final_fen
        tool = _NAMES[int(action["tool"])]
        result: Result = self._year.call(tool, str(action["arguments"]))
        self._turns += 1
        self._answer = json.dumps(result.to_json_object())[:MAX_ANSWER]
        reward = to_yuan(self._year.final_fen - before)
        is_cut = not result.is_over and self._turns >= self._max_turns
        info = {"tool": tool, "ok": result.ok, "end": self._year.state.end}
        return self._observe(), reward, result.is_over, is_cut, info

    def render(self) -> str:
        """Return one line about the moment."""
        time = self._year.time()
        return f"{time['date']} {time['clock']}, assets {to_yuan(self._year.final_fen):,.2f} yuan"

    def _observe(self) -> GymObservation:
        time = self._year.time()
        return {
            "day": time["day"],
            "minutes_left": time["minutes_left"],
            "assets": np.array([to_yuan(self._year.final_fen)]),
            "answer": self._answer,
        }


gymnasium.register("terms/StoreYear-v0", "experiments.adapters.gym_env:StoreYearEnv")
