"""One episode with everything a model brings to it: receipts, the reveal ladder, a voice. Works for any agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.players.negotiator_settings import Reveal
from experiments.players.reveal import reveal_side_info
from experiments.players.voice import EpisodeVoice, ModelVoice
from terms import EpisodeRecord, Scenario, play
from terms.episode import AgentLike, player_of
from terms.meetings import Meeting
from terms.voice import render


@dataclass(frozen=True, slots=True)
class PlayedEpisode:
    """A finished episode, the receipts of a model's replies and where the counterpart's words came from.

    ``receipts`` is empty for agents that are not models, ``voice_outcomes`` without a model voice.
    """

    record: EpisodeRecord
    receipts: tuple[dict[str, Any], ...]
    voice_outcomes: dict[str, int]


def play_episode(
    scenario: Scenario,
    agent: AgentLike,
    *,
    side_info: Mapping[str, Any] | None = None,
    past: Sequence[Meeting] | None = None,
) -> PlayedEpisode:
    """Play one episode, tell the agent what its reveal level says, and keep what the log needs.

    Parameters
    ----------
    scenario
        The episode.
    agent
        Any agent; a :class:`~experiments.players.negotiator.ModelAgent` brings its settings, perhaps a narrator, and
        leaves receipts.
    side_info
        Told to the agent beside what its reveal level says.
    past
        Earlier meetings with this counterpart, for an agent that wants them; ``None`` if the episode stands alone.
    """
    player = player_of(_informed(agent, scenario), scenario, past)
    settings = getattr(agent, "settings", None)
    level = getattr(settings, "reveal", Reveal.NOTHING)
    narrator: ModelVoice | None = getattr(agent, "narrator", None)
    voice: EpisodeVoice | None = narrator.for_episode(scenario.agent_seed) if narrator else None
    told = {**reveal_side_info(scenario, level), **(side_info or {})}
    record = play(scenario, player, side_info=told, voice=voice or render)
    return PlayedEpisode(
        record,
        tuple(receipt.to_json_object() for receipt in getattr(player, "receipts", ())),
        {outcome.value: count for outcome, count in sorted(voice.outcomes.items())} if voice else {},
    )


def _informed(agent: AgentLike, scenario: Scenario) -> AgentLike:
    """Let the oracle tell its own players the laws of the scenario; no other agent is told anything."""
    if type(agent).__module__.partition(".")[0] != "oracle":
        return agent
    from oracle.interventions import informed  # seconds of imports that no other agent needs

    return informed(agent, scenario)
