"""Who plays, for every mode: a name, what pins it, where it sits down, and the agent it starts for an episode.

A player sits down in a folder (:meth:`Player.sit`), and the one that comes of it starts an agent for each scenario. All
of it has defaults, so that a scripted agent is a player as it is; :func:`as_player` wraps what users give, once.

:func:`play_episode` plays one episode with everything that a player brings to it: receipts, what it is told besides,
a voice.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from terms import EpisodeRecord, Observation, Scenario, play
from terms.agents import SCRIPTED
from terms.episode import Agent, AgentLike, Guest, Move, Seeds, Starter, as_starter
from terms.meetings import Meeting
from terms.voice import Voice, render


@dataclass(frozen=True, slots=True)
class AtTable:
    """An agent in one episode: its move, what it is told besides, who words the counterpart, and its receipts so far.

    ``outcomes`` counts where the counterpart's words came from, empty where the templates speak.
    """

    name: str
    act: Callable[[Observation], Move]
    told: Mapping[str, Any] = field(default_factory=dict)
    voice: Voice = render
    receipts: Callable[[], Sequence[Mapping[str, Any]]] = tuple
    outcomes: Callable[[], Mapping[str, int]] = dict


class Sitter:
    """Whoever sits down in a folder to play, at a table or in a store; everything but the name has a default."""

    name: str

    @property
    def settings(self) -> dict[str, Any]:
        """What pins it beyond its name, for the header of a run."""
        return {}

    def sit(self, folder: Path) -> AbstractContextManager[Sitter]:
        """Sit down in ``folder`` and yield the one that plays; one that keeps files opens them there."""
        del folder
        return nullcontext(self)

    def stop(self) -> None:
        """Let everything end at its next call; one that answers at once needs nothing."""


class Player(Starter, Sitter):
    """Who plays negotiations; everything but the start of an episode has a default."""

    #: Episodes in flight at once, in threads of one process.
    concurrency: int = 1
    #: Whether it opens files where it sits down, which others must not share.
    keeps_files: bool = False
    #: Whether it is handed seeds and is not ours, so that they must tell nothing.
    has_secret_seeds: bool = False

    def sit(self, folder: Path) -> AbstractContextManager[Player]:
        """Sit down in ``folder`` and yield the player that plays."""
        del folder
        return nullcontext(self)

    def start(self, scenario: Scenario, past: Sequence[Meeting] | None = None) -> AtTable:
        """Return the agent of one episode; see :meth:`terms.episode.Starter.start`."""
        raise NotImplementedError

    def apart(self, what: str) -> Player:
        """Return the player for a second playing of the same scenarios, whose records must not mix with the first."""
        del what
        return self

    def new_salt(self) -> str:
        """Return the salt of a new run's seeds, empty where anybody may know them."""
        return secrets.token_hex(16) if self.has_secret_seeds else ""


@dataclass(frozen=True)
class Seated(Player):
    """A player that starts agents and needs nothing else: scripted ones, the oracle's, and what users give."""

    starter: Starter
    pins: Mapping[str, Any] = field(default_factory=dict)
    concurrency: int = 1
    has_secret_seeds: bool = False

    @property
    def name(self) -> str:  # type: ignore[override]  # a field of other starters
        """Name of its row."""
        return self.starter.name

    @property
    def settings(self) -> dict[str, Any]:
        """What pins it beyond its name."""
        return dict(self.pins)

    def seeded(self, seeds: Seeds) -> Self:
        """Return the player with other seeds."""
        return replace(self, starter=self.starter.seeded(seeds))

    def start(self, scenario: Scenario, past: Sequence[Meeting] | None = None) -> AtTable:
        """Return the agent of one episode."""
        agent: Agent = self.starter.start(scenario, past)
        return AtTable(self.name, agent.act)


def seed_of_playing(seed: int, playing: str) -> int:
    """Return what names the calls of another playing of an episode; the first one, without a name, has ``seed``."""
    if not playing:
        return seed
    return int.from_bytes(hashlib.sha256(f"{playing}/{seed}".encode()).digest()[:8], "big")


_OURS = frozenset(kind for kind, _ in SCRIPTED.values())


def as_player(agent: AgentLike, pins: Mapping[str, Any] | None = None) -> Player:
    """Return ``agent`` as a player: as it is if it is one, else wrapped. ``pins`` go into the header of a run too.

    An agent of one's own may have ``concurrency``: the episodes it plays at once.
    """
    if type(agent) is Seated and pins:
        return replace(agent, pins={**agent.pins, **pins})
    if issubclass(type(agent), Player):
        return agent  # type: ignore[return-value]  # checked by its class, which it cannot lie about
    starter = as_starter(agent)
    is_secret = isinstance(starter, Guest) and type(agent) not in _OURS and starter.takes_seeds
    return Seated(starter, pins or {}, getattr(agent, "concurrency", 1), is_secret)


@dataclass(frozen=True, slots=True)
class PlayedEpisode:
    """A finished episode, the receipts of a model's replies and where the counterpart's words came from.

    ``receipts`` is empty for agents that are not models, ``voice_outcomes`` without a model voice.
    """

    record: EpisodeRecord
    receipts: tuple[Mapping[str, Any], ...]
    voice_outcomes: Mapping[str, int]


def play_episode(
    scenario: Scenario,
    agent: AgentLike,
    *,
    side_info: Mapping[str, Any] | None = None,
    past: Sequence[Meeting] | None = None,
) -> PlayedEpisode:
    """Play one episode and keep what the log needs.

    Parameters
    ----------
    scenario
        The episode.
    agent
        Any agent; a :class:`~experiments.players.player.Player` brings what it is told and perhaps a voice, and leaves
        receipts.
    side_info
        Told to the agent beside what it brings.
    past
        Earlier meetings with this counterpart, for an agent that wants them; ``None`` if the episode stands alone.
    """
    seat = as_player(agent).start(scenario, past)
    record = play(scenario, seat, side_info={**seat.told, **(side_info or {})}, voice=seat.voice)
    return PlayedEpisode(record, tuple(seat.receipts()), seat.outcomes())
