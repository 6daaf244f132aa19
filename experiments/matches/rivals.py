"""Two players at one table as one player of the engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

from experiments.players.player import AtTable, Player, Seated
from terms import Scenario
from terms.episode import Guest, Seeds
from terms.meetings import Meeting
from terms.two_seats import Match, mirrored, play_match

SECOND = "second"
"""Folder of a model's calls in the second seat; the first one's are where every run has them."""
MOST_AT_ONCE = 10**6


class PlayedMatch(NamedTuple):
    """A finished talk, and how a model's replies were read in either seat."""

    match: Match
    receipts: Sequence[Mapping[str, Any]]
    second_receipts: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Rivals(Player):
    """``first`` in the agent's seat, ``second`` in the counterpart's."""

    first: Player
    second: Player

    @property
    def name(self) -> str:  # type: ignore[override]  # a field of other starters
        """Who plays whom."""
        return f"{self.first.name} against {self.second.name}"

    @property
    def settings(self) -> dict[str, Any]:
        """What pins either beyond its name."""
        return {"first": _pinned(self.first), "second": _pinned(self.second)}

    @property
    def concurrency(self) -> int:  # type: ignore[override]  # a constant of other players
        """Talks at once: as many as the slower of the two takes."""
        return min(_limit(player) for player in self) if any(player.concurrency > 1 for player in self) else 1

    @property
    def keeps_files(self) -> bool:  # type: ignore[override]
        """Whether either does."""
        return any(player.keeps_files for player in self)

    @property
    def has_secret_seeds(self) -> bool:  # type: ignore[override]
        """Whether either does."""
        return any(player.has_secret_seeds for player in self)

    def __iter__(self) -> Iterator[Player]:
        return iter((self.first, self.second))

    def seeded(self, seeds: Seeds) -> Self:
        """Return the two with other seeds; theirs differ, as their scenarios do."""
        return replace(self, first=self.first.seeded(seeds), second=self.second.seeded(seeds))

    @contextmanager
    def sit(self, folder: Path) -> Iterator[Rivals]:
        """Sit both down, each with files of its own."""
        with ExitStack() as stack:
            first = stack.enter_context(self.first.sit(folder))
            apart = folder / SECOND
            if self.second.keeps_files:
                apart.mkdir(exist_ok=True)
            yield replace(self, first=first, second=stack.enter_context(self.second.sit(apart)))

    def stop(self) -> None:
        """Let everything end at its next call."""
        for player in self:
            player.stop()

    def start(self, scenario: Scenario, past: Sequence[Meeting] | None = None) -> AtTable:
        """Two players have no single seat; see :meth:`meet`."""
        raise TypeError(f"{self.name} are two players; they meet")

    def meet(self, scenario: Scenario) -> PlayedMatch:
        """Let the two negotiate ``scenario``."""
        first, second = self.first.start(scenario), self.second.start(mirrored(scenario))
        match = play_match(scenario, first, second, side_info=(first.told, second.told))
        return PlayedMatch(match, tuple(first.receipts()), tuple(second.receipts()))


def _pinned(player: Player) -> dict[str, Any]:
    return {"agent": player.name, **player.settings}


def _limit(player: Player) -> int:
    """Return how many talks a player takes at once; one that answers by itself takes any number."""
    if type(player) is not Seated or player.concurrency > 1:
        return player.concurrency
    agent = player.starter.agent if isinstance(player.starter, Guest) else player.starter
    return MOST_AT_ONCE if type(agent).__module__.split(".")[0] in ("terms", "oracle") else 1
