"""One episode with everything a player brings to it: receipts, what it is told besides, a voice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.players.player import as_player
from terms import EpisodeRecord, Scenario, play
from terms.episode import AgentLike
from terms.meetings import Meeting


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
