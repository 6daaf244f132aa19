"""What the engine asks of a mode of play. A mode is one object; episodes, sessions and years are three of them.

The log is the truth: every row is written by a job, read back by a reader, and checked by being played again. All else
in a folder is derived from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from experiments.engine.header import Header, Spec
from experiments.players.player import Player

Row = dict[str, Any]
Keep = Callable[..., None]
"""Called with the rows just finished, in order."""


@dataclass(frozen=True, kw_only=True)
class ReadBack(Generic[Spec]):
    """A run read back; every mode adds what its log holds.

    ``torn`` is the number of bytes of an unfinished last line that were left out; ``resumed`` how much was already
    there when the run was taken up again.
    """

    folder: Path
    header: Header[Spec]
    torn: int
    resumed: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to play, lost trials aside."""
        raise NotImplementedError

    @property
    def left(self) -> str:
        """What is left to play, for people."""
        raise NotImplementedError


R = TypeVar("R", bound=ReadBack[Any])
R_co = TypeVar("R_co", bound=ReadBack[Any], covariant=True)


class Job(Protocol):
    """Work that one worker does in order; it must be picklable. A long one pushes its rows as they come."""

    @property
    def left(self) -> int:
        """Rows still to come."""
        ...

    def do(self, player: Player, keep: Keep) -> None:
        """Do the work and give every finished row to ``keep``."""
        ...

    def after(self, rows: Sequence[Row]) -> Job | None:
        """Return what is left once ``rows`` are done, ``None`` if nothing is."""
        ...


class Reader(Protocol[R_co]):
    """Reads a log, row by row."""

    def add(self, row: Row) -> None:
        """Take in a row; raises ``ValueError`` for one that is none, or that does not belong where it stands."""
        ...

    def done(self, folder: Path, torn: int) -> R_co:
        """Return the run that the rows make up."""
        ...


class StoredMode(Protocol[Spec, R]):
    """What can be read back and checked: all that is asked of a mode whose runs are played by a hand of their own."""

    @property
    def mode(self) -> str:
        """Its name in headers."""
        ...

    @property
    def log(self) -> str:
        """Name of its log."""
        ...

    @property
    def tables(self) -> Sequence[str]:
        """Results that are Parquet: their bytes may differ where another version of the library wrote them."""
        ...

    @property
    def spec_type(self) -> type[Spec]:
        """What its spec is."""
        ...

    def digests(self, spec: Spec) -> dict[str, str]:
        """Return hashes of what ``spec`` makes, by name."""
        ...

    def beside(self, spec: Spec) -> Mapping[str, bytes]:
        """Return files that are written before anything is played."""
        ...

    def reader(self, header: Header[Spec]) -> Reader[R]:
        """Return a reader of a log under ``header``."""
        ...

    def check(self, run: R) -> Iterable[str]:
        """Play every row again, without any agent, and yield what differs."""
        ...

    def results(self, run: R) -> Mapping[str, bytes]:
        """Return the files that follow from the log, by name."""
        ...

    def receipts(self, run: R) -> Iterable[Mapping[str, Any]]:
        """Return how a model's replies were read, turn by turn; nothing for other agents."""
        ...

    def extras(self, run: R) -> Mapping[str, Iterable[str]]:
        """Return other files the mode knows and checks, each with what is wrong with it."""
        ...


class Task(StoredMode[Spec, R], Protocol):
    """A mode of play whose work is cut into jobs."""

    def jobs(self, run: R, concurrency: int) -> Sequence[Job]:
        """Return what is left to do, cut for an agent that does ``concurrency`` of it at once."""
        ...

    def done(self, run: R) -> int:
        """Return how many units are there and will not be played again."""
        ...

    def order(self, header: Header[Spec]) -> Callable[[Row], Any]:
        """Return what gives the place of a row in a finished log, to sort by."""
        ...
