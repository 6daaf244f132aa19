"""Playing a suite into a run folder.

One process writes: workers return finished episodes and the parent appends them, so a log has one writer and nothing is
ever done twice. Work goes to any ``concurrent.futures.Executor``; the episodes are the same wherever they are played.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from commerce.economics import EconomicsConfig, unit_economics
from experiments.engine.pool import Job, Progress, Row, log_jobs
from experiments.episodes.config import RunHeader, SuiteSpec
from experiments.episodes.folder import DROPPED, LOG, Run, load_run, open_header, write_results
from experiments.episodes.records import to_row
from experiments.players.player import Player, as_player
from experiments.players.playing import play_episode
from experiments.storage.files import exclusive_lock, write_atomically
from terms import Scenario
from terms.episode import AgentLike, Seeds

_CHUNK = 50
_MIN_CHUNKS = 64  # a small suite is cut finer, or most workers would have nothing to do


def run_suite(  # noqa: PLR0913 - what is played, where to, and by whom
    agent: AgentLike,
    suite: SuiteSpec,
    out: str | Path,
    *,
    workers: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
    agent_settings: dict[str, Any] | None = None,
) -> Run:
    """Play every episode of ``suite`` that ``out`` does not hold yet, and write the results.

    Parameters
    ----------
    agent
        Any agent. With worker processes it must be picklable; one with ``concurrency > 1`` plays that many episodes at
        once in threads of this process.
    out
        Run folder; created, or resumed when it holds the same run.
    workers
        Local worker processes.
    executor
        Where to submit instead, for example a Dask client's.

    Raises
    ------
    RunError
        If ``out`` holds a different run, or a worker died; what was finished stays.
    RunLockedError
        If another process is writing to ``out``.
    """
    # An agent may change the current directory; what comes after it is written where it was meant to be.
    player, folder = as_player(agent), Path(out).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    header = RunHeader.of(player.name, suite, agent_settings, player.new_salt())
    with exclusive_lock(folder), _seated(player, folder, header) as seated:
        # A trial that the provider lost is tried again; it has no result yet.
        before = load_run(folder)
        done = {record.scenario_id for record in before.records if not record.is_excluded}
        todo = [i for i, scenario in enumerate(suite.build()) if scenario.scenario_id not in done]
        jobs = suite_jobs(suite, todo, seated.concurrency, before.header.salt)
        log_jobs(seated, jobs, folder / LOG, left=len(todo), workers=workers, executor=executor, progress=progress)
        run = load_run(folder)
        write_results(folder, run.header, run.records)
    return replace(run, folder=Path(out), torn=before.torn, resumed=len(done))


@contextmanager
def _seated(player: Player, folder: Path, header: RunHeader) -> Iterator[Player]:
    """Write the header, then yield the player that plays; one that keeps files in the folder opens them here."""
    open_header(folder, header)
    rows = [row._asdict() for row in header.suite.dropped_rows]
    if rows:
        write_atomically(folder / DROPPED, (json.dumps(rows, ensure_ascii=False, indent=1) + "\n").encode())
    with player.sit(folder) as seated:
        yield seated


def suite_jobs(suite: SuiteSpec, todo: Sequence[int], concurrency: int, salt: str = "") -> list[Job]:
    """Cut the episodes ``todo`` into jobs: single ones for an agent that plays several at once, else chunks."""
    size = 1 if concurrency > 1 else max(1, min(_CHUNK, len(todo) // _MIN_CHUNKS))
    return [SuiteJob(suite, tuple(todo[start : start + size]), salt) for start in range(0, len(todo), size)]


class SuiteJob(NamedTuple):
    """Some episodes of a suite by their place in it."""

    suite: SuiteSpec
    indices: tuple[int, ...]
    salt: str = ""

    def rows(self, player: Player) -> Iterator[Row]:
        """Play the episodes."""
        scenarios, seeded = self.suite.build(), player.seeded(Seeds(self.salt))
        for index in self.indices:
            yield _play_row(seeded, scenarios[index], self.suite.economics)

    def after(self, rows: Sequence[Row]) -> SuiteJob | None:
        """Return the episodes after the first ``len(rows)``."""
        rest = self.indices[len(rows) :]
        return self._replace(indices=rest) if rest else None


def _play_row(player: Player, scenario: Scenario, economics: EconomicsConfig | None) -> Row:
    money = None if economics is None else {"economics": unit_economics(scenario, economics).to_json_object()}
    played = play_episode(scenario, player, side_info=money)
    extras = {"receipts": list(played.receipts), "voice": played.voice_outcomes}
    return {"record": to_row(played.record), **{key: value for key, value in extras.items() if value}}
