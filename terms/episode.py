"""Playing and replaying one episode, and who plays it.

An agent is a function of the observation, or anything with ``act``. Whoever begins its episodes is a :class:`Starter`,
which is handed the scenario with its hidden type and its noise; what users give is wrapped once, by :class:`Guest`, and
is handed a seed and its past meetings, from which nothing of the scenario can be found.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

from terms.game import Game
from terms.meetings import Meeting
from terms.protocol import coerce_action
from terms.records import EpisodeRecord
from terms.scenario import Scenario
from terms.types import Accept, Action, Decision, Observation, Offer, Reject, Turn, Unusable
from terms.voice import Voice, render

Move = Action | Mapping[str, Any]


@runtime_checkable
class Agent(Protocol):
    """Anything with ``act``. Plain functions from an observation to an action serve as well.

    An agent that keeps state or draws random numbers also has ``for_episode(seed)``, which returns a new agent for one
    episode: that is what keeps episodes independent of batch, order and worker. One that learns from earlier meetings
    with the same counterpart has ``for_meeting(seed, past)`` (see :mod:`terms.meetings`).
    """

    def act(self, observation: Observation) -> Move:
        """Return an action, or a mapping in the JSON form of section 1.5."""
        ...


class AgentExitError(RuntimeError):
    """An agent tried to end the program: like any exception of an agent it is a mistake of its author."""


class Seeds(NamedTuple):
    """Seeds of an agent, one a scenario: the first eight bytes of SHA-256 of ``agent/SALT/REPEAT/ID``.

    Ids can be guessed by whoever knows how a suite is made, so an agent from outside needs a ``salt`` that it does not
    know: without one it could look its scenario up by its seed. ``repeat`` counts plays of the same scenario.
    """

    salt: str = ""
    repeat: int = 0

    def of(self, scenario: Scenario) -> int:
        """Return the seed of an agent in ``scenario``, the same in any batch, order or process."""
        apart = f"{self.salt}/{self.repeat}/" if self.salt or self.repeat else ""
        return _hashed(f"agent/{apart}{scenario.scenario_id}")


UNSALTED = Seeds()
"""What anybody can work out who knows a suite."""


def _hashed(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


class Starter(ABC):
    """Begins episodes. It sees whole scenarios, so only this project's own players may be one."""

    name: str

    @abstractmethod
    def start(self, scenario: Scenario, past: Sequence[Meeting] | None = None) -> Agent:
        """Return the agent of one episode.

        ``past`` holds its earlier meetings with this counterpart, oldest first; ``None`` is an episode that stands
        alone.
        """

    def seeded(self, seeds: Seeds) -> Self:
        """Return the same player with other seeds; by default itself, as it draws nothing."""
        del seeds
        return self


AgentLike = Agent | Starter | Callable[[Observation], Move]
SideInfo = Mapping[str, Any] | Callable[[Observation], Mapping[str, Any]]


@dataclass(frozen=True)
class Guest(Starter):
    """What a user gave: a function or an object with ``act``, perhaps ``for_episode`` or ``for_meeting``.

    Without a salt its seeds are made of what it is shown anyway.
    """

    agent: Any
    seeds: Seeds = UNSALTED

    @property
    def name(self) -> str:  # type: ignore[override]  # a field of other starters
        """The agent's own name if it has one, else that of its function or class."""
        name = getattr(self.agent, "name", None)
        return name if isinstance(name, str) else getattr(self.agent, "__name__", type(self.agent).__name__)

    @property
    def takes_seeds(self) -> bool:
        """Whether the agent is handed a seed at all."""
        return hasattr(self.agent, "for_episode") or hasattr(self.agent, "for_meeting")

    def seeded(self, seeds: Seeds) -> Self:
        """Return the agent with other seeds."""
        return replace(self, seeds=seeds)

    def start(self, scenario: Scenario, past: Sequence[Meeting] | None = None) -> Agent:
        """Return the agent of one episode: the user's own, or the one it makes for it."""
        seed = self.seeds.of(scenario) if self.seeds.salt else _seed_of_own_side(scenario, self.seeds.repeat)
        try:
            agent = self._begin(seed, past)
        except SystemExit as stop:
            raise _exited(self.name, stop) from stop
        # Not isinstance: a runtime check of the protocol looks at every attribute and costs as much as a round.
        return _Begun(self.name, getattr(agent, "act", None) or agent, agent)

    def _begin(self, seed: int, past: Sequence[Meeting] | None) -> Any:
        meet, begin = getattr(self.agent, "for_meeting", None), getattr(self.agent, "for_episode", None)
        if past is not None and meet is not None:
            return meet(seed, tuple(past))
        return self.agent if begin is None else begin(seed)


@dataclass(frozen=True, slots=True)
class _Begun:
    """A user's agent in one episode."""

    name: str
    move: Callable[[Observation], Move]
    agent: Any

    def act(self, observation: Observation) -> Move:
        """Return the agent's move."""
        try:
            return self.move(observation)
        except SystemExit as stop:
            raise _exited(self.name, stop) from stop


def _exited(name: str, stop: SystemExit) -> AgentExitError:
    return AgentExitError(f"agent {name!r} called sys.exit({stop.code!r}); an agent answers or raises, it ends nothing")


def _seed_of_own_side(scenario: Scenario, repeat: int) -> int:
    shown = (scenario.agent_role.value, scenario.agent_type.reservation_price, scenario.opener.value)
    return _hashed(f"agent/{repeat}/{shown}/{scenario.price_min}/{scenario.price_max}")


def as_starter(agent: AgentLike) -> Starter:
    """Return ``agent`` as it is if it begins episodes itself, else wrapped."""
    # By the class alone: an object can say of itself that it is anything, and would be handed the hidden type.
    return agent if issubclass(type(agent), Starter) else Guest(agent)  # type: ignore[return-value]


def agent_name(agent: AgentLike) -> str:
    """Return the agent's own name if it has one, else the name of its function or class."""
    return as_starter(agent).name


def play(
    scenario: Scenario, agent: AgentLike, *, side_info: SideInfo | None = None, voice: Voice = render
) -> EpisodeRecord:
    """Play one episode and return its record; ``voice`` words the counterpart's acts (see :mod:`terms.voice`).

    ``side_info`` is shown to the agent; a function of the observation is called anew every round. An agent's illegal or
    unreadable move is recorded; an exception the agent raises is a programmer's mistake and passes through, with the
    scenario named.
    """
    starter = as_starter(agent)
    act = starter.start(scenario).act
    game = Game(scenario, speak=voice)
    while not game.is_over:
        try:
            reply = act(observe(game, side_info))
        except Exception as error:
            error.add_note(f"raised by agent {starter.name!r} in round {game.round} of {scenario.scenario_id}")
            raise
        game.step(coerce_action(reply))
    return game.record(starter.name)


def observe(game: Game, side_info: SideInfo | None) -> Observation:
    """Return what the agent sees now, with side information that may itself depend on what it sees."""
    return game.observe(side_info(game.observe()) if callable(side_info) else side_info)


def replay(
    scenario: Scenario,
    moves: Iterable[Action | Mapping[str, Any]],
    *,
    agent: str = "replay",
    voice: Voice = render,
) -> EpisodeRecord:
    """Feed recorded agent moves to the kernel and return the episode they lead to.

    ``moves`` are actions, or mappings with ``decision`` and ``price``; :func:`recorded_moves` gives those of a record.
    Moves that end too early or go on after the end raise ``ValueError``, because the record would not be the one that
    was logged. An episode worded by a model reads the same again with
    ``voice=terms.voice.recorded(turns, closing_message)``.
    """
    game = Game(scenario, speak=voice)
    for move in moves:
        game.step(coerce_action(move))
    if not game.is_over:
        raise ValueError(f"the moves end in round {game.round} of {scenario.scenario_id} while the talk is open")
    return game.record(agent)


def recorded_moves(record: EpisodeRecord) -> list[Action]:
    """Return the agent's moves of a record, ready for :func:`replay`."""
    return [_move(turn, record) for turn in record.turns]


def _move(turn: Turn, record: EpisodeRecord) -> Action:
    match turn.decision:
        case Decision.OFFER if turn.price is not None:
            return Offer(turn.price, turn.message, turn.belief)
        case Decision.ACCEPT:
            return Accept(turn.message, turn.belief)
        case Decision.REJECT:
            return Reject(turn.message, turn.belief)
    if record.fault is None:
        raise ValueError(f"round {turn.round} of {record.scenario_id} has neither a move nor a fault")
    return Unusable(record.fault, record.fault_detail, turn.belief)
