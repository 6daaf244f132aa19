"""A round robin: every player meets every other in both seats on the same scenarios, a run folder a table.

``tournament.json`` beside the tables holds who played and the ratings; it is derived from the tables alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

from experiments.engine.folder import RunError, holds
from experiments.engine.pool import RowsDone
from experiments.engine.run import load_run, run_task
from experiments.episodes.config import SUITE, SuiteSpec
from experiments.matches.match_task import MATCHES, MatchRun, match_summary
from experiments.matches.rivals import Rivals
from experiments.players.player import Player
from experiments.stats.matches import Ratings, rate
from experiments.storage.files import folder_name, write_atomically
from terms.strict_json import strict_dumps

TOURNAMENT = "tournament.json"


class Tournament(NamedTuple):
    """The tables of a finished round robin and the ratings that follow from them."""

    runs: tuple[MatchRun, ...]
    ratings: Ratings

    @property
    def tables(self) -> Mapping[tuple[str, str], MatchRun]:
        """By (first seat, second seat)."""
        return {run.agents: run for run in self.runs}

    def to_json_object(self) -> dict[str, Any]:
        """Return what ``tournament.json`` holds."""
        tables = {" against ".join(run.agents): match_summary(run)["metrics"] for run in self.runs}
        suite = self.runs[0].header.spec.label
        return {"suite": suite, **self.ratings.to_json_object(), "tables": tables}


def table_folder(first: str, second: str) -> str:
    """Return the name of the folder in which two players meet."""
    return f"{folder_name(first, '.=_-')}-against-{folder_name(second, '.=_-')}"


def run_tournament(
    players: Sequence[Player],
    spec: SuiteSpec,
    out: Path,
    *,
    workers: int = 1,
    executor: Executor | None = None,
    progress: Callable[[str], RowsDone | None] = lambda table: None,
) -> Tournament:
    """Play what is missing of a round robin in ``out`` and return it.

    Parameters
    ----------
    players
        At least two, of different names.
    progress
        Returns for the name of a table what is told about its rows.

    Raises
    ------
    ValueError
        If a name comes twice or there are fewer than two players.
    """
    names = [player.name for player in players]
    if len(names) < 2 or len(set(names)) < len(names):
        raise ValueError(f"agents={', '.join(names)}; a tournament needs at least two, each named once")
    for first, second in permutations(players, 2):
        folder = out / table_folder(first.name, second.name)
        rivals = Rivals(first, second)
        run_task(MATCHES, rivals, spec, folder, workers=workers, executor=executor, progress=progress(rivals.name))
    found = load_tournament(out)
    write_atomically(out / TOURNAMENT, (strict_dumps(found.to_json_object()) + "\n").encode())
    return found


def load_tournament(folder: Path) -> Tournament:
    """Read the tables in ``folder`` and rate who played.

    Raises
    ------
    RunError
        If there is none, one is not finished, or they are on different suites or games.
    """
    runs = tuple(load_run(MATCHES, table) for table in _tables(folder))
    if not runs:
        raise RunError(f"{folder} is no tournament: it holds no folder of matches")
    for run in runs:
        if not run.is_complete:
            raise RunError(f"{run.folder}: {run.left}; run the same command again")
        if (run.header.digests[SUITE], run.header.spec) != (runs[0].header.digests[SUITE], runs[0].header.spec):
            raise RunError(f"{run.folder} is on another suite than {runs[0].folder}")
    return Tournament(runs, rate({run.agents: run.matches for run in runs}))


def find_matches(folders: Sequence[Path]) -> list[Path]:
    """Return the folders of matches among ``folders`` and in the tournaments among them; other folders are no part."""
    found: list[Path] = []
    for folder in folders:
        found += [folder] if holds(folder, MATCHES.mode) else _tables(folder) if is_tournament(folder) else []
    return found


def is_tournament(folder: Path) -> bool:
    """Whether ``folder`` holds tables of matches."""
    return folder.is_dir() and next(_tables(folder), None) is not None


def _tables(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.iterdir()) if path.is_dir() and holds(path, MATCHES.mode))
