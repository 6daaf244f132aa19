"""Playing and replaying one episode."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from terms.game import Game
from terms.meetings import Meeting
from terms.protocol import coerce_action
from terms.records import EpisodeRecord
from terms.scenario import Scenario
from terms.types import Accept, Action, Decision, Observation, Offer, Reject, Turn, Unusable
from terms.voice import Voice, render


@runtime_checkable
class Agent(Protocol):
    """Anything with ``act``. Plain functions from an observation to an action serve as well.

    An agent that keeps state or draws random numbers also has ``for_episode(seed)``, which returns a new agent for one
    episode: that is what keeps episodes independent of batch, order and worker. One that learns from earlier meetings
    with the same counterpart has ``for_meeting(seed, past)`` (see :mod:`terms.meetings`).
    """

    def act(self, observation: Observation) -> Action | Mapping[str, Any]:
        """Return an action, or a mapping in the JSON form of section 1.5."""
        ...


AgentLike = Agent | Callable[[Observation], Action | Mapping[str, Any]]
SideInfo = Mapping[str, Any] | Callable[[Observation], Mapping[str, Any]]


def agent_name(agent: AgentLike) -> str:
    """Return the agent's own name if it has one, else the name of its function or class."""
    name = getattr(agent, "name", None)
    if isinstance(name, str):
        return name
    return getattr(agent, "__name__", type(agent).__name__)


def play(
    scenario: Scenario, agent: AgentLike, *, side_info: SideInfo | None = None, voice: Voice = render
) -> EpisodeRecord:
    """Play one episode and return its record; ``voice`` words the counterpart's acts (see :mod:`terms.voice`).

    ``side_info`` is shown to the agent; a function of the observation is called anew every round. An agent's illegal or
    unreadable move is recorded; an exception the agent raises is a programmer's mistake and passes through, with the
    scenario named.
    """
    act = start_episode(agent, scenario)
    game = Game(scenario, speak=voice)
    while not game.is_over:
        try:
            reply = act(observe(game, side_info))
        except Exception as error:
            error.add_note(f"raised by agent {agent_name(agent)!r} in round {game.round} of {scenario.scenario_id}")
            raise
        game.step(coerce_action(reply))
    return game.record(agent_name(agent))


def start_episode(agent: AgentLike, scenario: Scenario) -> Callable[[Observation], Action | Mapping[str, Any]]:
    """Return the agent's move function for one episode, seeded if the agent draws or keeps state."""
    player = player_of(agent, scenario)
    # Not isinstance: a runtime check of the protocol looks at every attribute and costs as much as a round.
    return getattr(player, "act", None) or player  # type: ignore[return-value]


def player_of(agent: AgentLike, scenario: Scenario, past: Sequence[Meeting] | None = None) -> AgentLike:
    """Return what plays ``scenario``: the agent itself, or the one it makes for this episode.

    ``past`` holds its earlier meetings with this counterpart for an agent that wants them (:mod:`terms.meetings`);
    ``None`` is an episode that stands alone.
    """
    meet = getattr(agent, "for_meeting", None)
    if past is not None and meet is not None:
        remembering: AgentLike = meet(scenario.agent_seed, tuple(past))
        return remembering
    start = getattr(agent, "for_episode", None)
    player: AgentLike = start(scenario.agent_seed) if start else agent
    return player


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
