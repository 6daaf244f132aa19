"""The bargaining game as a Gymnasium environment: one move a step, paid at the end.

Needs the extra ``gym``. Observations are the vector of :mod:`terms.vectors`, or the prompt a language model is given;
actions are ticks, a decision with a price, or a reply in text. For many episodes at once there is
:mod:`experiments.adapters.negotiation_batch_env`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from experiments.extras import need
from experiments.players.prompts import turn_prompt
from experiments.players.reading import read_move
from experiments.training.seat_view import SeatView, Ticks
from oracle.move_credit import CreditTracker, MoveCredit
from terms.cells import Cell, suite_cells
from terms.config import GameConfig
from terms.game import Game
from terms.scenario import Scenario
from terms.splits import SPLIT_SEEDS, Split, require_trainable
from terms.suites import fresh_scenario
from terms.types import Accept, Action, Offer, Reject
from terms.vectors import VECTOR_SIZE

need("gym", "gymnasium")

import gymnasium  # noqa: E402 - only after its absence was named
from gymnasium import spaces  # noqa: E402

ActionForm = Literal["ticks", "box", "text"]
PaidIn = Literal["share", "money"]
CreditForm = Literal["terminal", "info", "exact"]
LONGEST_PROMPT = 100_000
LONGEST_REPLY = 10_000
_CHARACTERS = "".join(map(chr, (9, 10, 13, *range(32, 127))))


def checked_setting(
    actions: str, reward: str, num_ticks: int, split: Split, training: bool, credit: str = "terminal"
) -> Ticks:
    """Refuse a setting that no environment has; names the field, the value and what is allowed."""
    settings = (("actions", actions, ActionForm), ("reward", reward, PaidIn), ("credit", credit, CreditForm))
    for field, value, allowed in settings:
        names = allowed.__args__  # type: ignore[attr-defined]  # of a Literal
        if value not in names:
            raise ValueError(f"{field}={value!r} is unknown, allowed are {', '.join(names)}")
    if num_ticks < 2:
        raise ValueError(f"num_ticks={num_ticks}; it must be at least 2")
    if training and split is not Split.TRAIN:
        raise ValueError(f"split={split.value!r} is not for training; give training=False to evaluate on it")
    return Ticks(num_ticks)


def box_space() -> spaces.Box:
    """Return the space of (decision, gain): below 1/3 offer, below 2/3 accept, else leave; the gain a share of R."""
    return spaces.Box(np.array([0.0, -1.0], np.float32), np.ones(2, np.float32), dtype=np.float32)


def vector_space() -> spaces.Box:
    """Return the space of :data:`terms.vectors.VECTOR_FIELDS`; all entries are shares or flags."""
    return spaces.Box(-2.0, 2.0, (VECTOR_SIZE,), np.float32)


class NegotiationEnv(gymnasium.Env[Any, Any]):
    """One negotiation.

    Parameters
    ----------
    split, training
        Whose seeds episodes are drawn from. In training only the first split may be used, and a scenario given to
        ``reset`` must not belong to another.
    regimes, families
        Cells that episodes are drawn from, all by default.
    actions
        ``ticks``: a number (:class:`Ticks`). ``box``: decision and gain (:func:`box_space`). ``text``: a reply as
        language models give it, read by the project's one reader.
    view
        ``vector`` (:mod:`terms.vectors`) or ``text``, the prompt of a turn.
    reward
        ``share``: utility as a share of the zopa, of the public range where no deal is possible. ``money``: utility.
    num_ticks
        Offers among the ticks.
    credit
        ``terminal``: paid at the end. ``exact``: each move is paid its turn reward (:mod:`oracle.move_credit`), in the
        same unit; they add up to the terminal reward less ``info["value"]`` of the start. ``info``: paid at the end,
        with the credit of each move told all the same.

    Notes
    -----
    ``reset(options={"scenario": scenario})`` plays one scenario as often as wanted: all its random draws are its own,
    so what differs between the plays of a group is the policy's doing alone. Numbered and boxed offers name the gain,
    the price is ``r_A - s * gain * R`` cut to the public bounds. The last ``info`` holds the
    :class:`terms.EpisodeRecord`. With credit, ``info["value"]`` is what the reference expects from here on, in the unit
    of rewards, ``info["credit"]`` the last move's :class:`oracle.move_credit.MoveCredit` in price units, and the last
    ``info["turn_rewards"]`` holds all of them in the unit of rewards.

    Examples
    --------
    >>> env = NegotiationEnv(regimes=["overlap"], families=["candid"])
    >>> observation, info = env.reset(seed=1)
    >>> observation.shape, info["scenario_id"].split("/")[1]
    ((19,), 'overlap')
    >>> observation, reward, is_over, _, info = env.step(1)
    >>> reward, is_over, info["record"].termination.value
    (0.0, True, 'agent_reject')
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 - the framework's own declaration

    def __init__(  # noqa: PLR0913
        self,
        *,
        split: Split | str = Split.TRAIN,
        training: bool = True,
        regimes: Sequence[str] | None = None,
        families: Sequence[str] | None = None,
        config: GameConfig | None = None,
        actions: ActionForm = "ticks",
        view: Literal["vector", "text"] = "vector",
        reward: PaidIn = "share",
        num_ticks: int = 51,
        credit: CreditForm = "terminal",
        render_mode: str | None = None,
    ) -> None:
        self._split, self._training = Split(split), training
        self._ticks = checked_setting(actions, reward, num_ticks, self._split, training, credit)
        if view not in ("vector", "text"):
            raise ValueError(f"view={view!r} is unknown, allowed are vector, text")
        self._cells = suite_cells(regimes, families)
        self._config = config or GameConfig()
        self._actions, self._view, self._reward, self._credit = actions, view, reward, credit
        self.render_mode = render_mode
        self.action_space = {
            "ticks": spaces.Discrete(self._ticks.num_actions),
            "box": box_space(),
            "text": spaces.Text(LONGEST_REPLY, min_length=0, charset=_CHARACTERS),
        }[actions]
        self.observation_space = (
            vector_space() if view == "vector" else spaces.Text(LONGEST_PROMPT, min_length=0, charset=_CHARACTERS)
        )

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin the scenario that ``options`` names, else one drawn from the split."""
        super().reset(seed=seed)
        scenario = (options or {}).get("scenario")
        if scenario is None:
            scenario = self._draw()
        elif not isinstance(scenario, Scenario):
            raise ValueError(f"options has scenario={scenario!r}; it must be a terms.Scenario")
        elif self._training:
            require_trainable(scenario.scenario_id)
        self._game, self._seat = Game(scenario), SeatView(scenario)
        self._tracker = None if self._credit == "terminal" else CreditTracker(scenario, self._game.observe())
        self._credits: list[MoveCredit] = []
        return self._observe(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Make one move and be answered."""
        move = self._read(action)
        self._seat.note(move)
        self._game.step(move)
        is_over = self._game.is_over
        earned = self._game.record("env").utility if is_over else 0.0
        paid = earned
        if self._tracker is not None:
            self._credits.append(self._tracker.credit(move, None if is_over else self._game.observe(), earned))
            paid = self._credits[-1].turn_reward if self._credit == "exact" else earned
        return self._observe(), paid / self._unit, is_over, False, self._info()

    @property
    def scenario(self) -> Scenario:
        """The episode that is played, hidden type included: for whoever trains, not for who is trained."""
        return self._game.scenario

    def render(self) -> str:
        """Return one line about the moment."""
        seen = self._game.observe()
        stands = "nothing" if seen.standing_price is None else f"{seen.standing_price:.2f}"
        return f"round {seen.round} of {seen.horizon}, {stands} stands, own limit {seen.reservation_price:.2f}"

    def _draw(self) -> Scenario:
        seeds = SPLIT_SEEDS[self._split]
        seed = int(self.np_random.integers(seeds.start, seeds.stop))
        cell: Cell = self._cells[int(self.np_random.integers(len(self._cells)))]
        return fresh_scenario(seed, cell, int(self.np_random.integers(1000)), config=self._config)

    def _read(self, action: Any) -> Action:
        seen = self._game.observe()
        if self._actions == "text":
            return read_move(str(action), seen).action
        if self._actions == "ticks":
            return self._seat.move(self._ticks, int(action))
        decision, gain = (float(value) for value in action)
        if decision >= 1 / 3:
            return Accept() if decision < 2 / 3 else Reject()
        return Offer(self._seat.price(gain))

    def _observe(self) -> Any:
        seen = self._game.observe()
        return self._seat.vector(seen) if self._view == "vector" else turn_prompt(seen)

    @property
    def _unit(self) -> float:
        """What rewards are counted in, in price units."""
        scenario = self.scenario
        return 1.0 if self._reward == "money" else scenario.zopa if scenario.zopa > 0 else scenario.price_range

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {"scenario_id": self.scenario.scenario_id}
        if self._tracker is not None:
            info["value"] = self._tracker.value / self._unit
            if self._credits:
                info["credit"] = self._credits[-1]
        if self._game.is_over:
            if self._tracker is not None:
                info["turn_rewards"] = [move.turn_reward / self._unit for move in self._credits]
            return {**info, "record": self._game.record("env")}
        if self._actions == "ticks":
            mask = np.ones(self._ticks.num_actions, dtype=np.int8)
            mask[0] = self._game.observe().can_accept
            info["action_mask"] = mask
        return info


gymnasium.register("terms/Negotiation-v0", "experiments.adapters.negotiation_env:NegotiationEnv")
