"""Playing a suite into a run folder.

One process writes: workers return finished episodes and the parent appends them, so a log has one writer and nothing is
ever done twice. Work goes to any ``concurrent.futures.Executor``; the episodes are the same wherever they are played.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    as_completed,
)
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from experiments.runs.config import RunHeader, SuiteSpec
from experiments.runs.files import exclusive_lock
from experiments.runs.folder import LOG, Run, RunError, load_run, open_header, write_results
from experiments.runs.journal import JournalWriter
from experiments.runs.records import to_row
from terms import play
from terms.episode import AgentLike, agent_name

#: Called with the rows just finished and the number of episodes still to play.
Progress = Callable[[Sequence[dict[str, Any]], int], None]
_CHUNK = 50


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
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    header = RunHeader.of(agent_name(agent), suite, agent_settings)
    with exclusive_lock(folder):
        open_header(folder, header)
        # A trial that the provider lost is tried again; it has no result yet.
        done = {record.scenario_id for record in load_run(folder).records if not record.is_excluded}
        todo = [i for i, scenario in enumerate(suite.build()) if scenario.scenario_id not in done]
        with JournalWriter(folder / LOG) as log:
            left = len(todo)

            def keep(rows: Sequence[dict[str, Any]]) -> None:
                nonlocal left
                log.append(*rows)
                left -= len(rows)
                if progress:
                    progress(rows, left)

            _play_all(agent, suite, todo, _pool(agent, workers, executor), keep)
        run = load_run(folder)
        write_results(folder, header, run.records)
    return run


def _pool(agent: AgentLike, workers: int, executor: Executor | None) -> AbstractContextManager[Executor | None]:
    if workers < 1:
        raise ValueError(f"workers={workers}; it must be at least 1")
    concurrency = getattr(agent, "concurrency", 1)
    if executor is not None:
        return nullcontext(executor)
    if concurrency > 1:
        return ThreadPoolExecutor(concurrency)
    if workers == 1:
        return nullcontext(None)
    try:
        pickle.dumps(agent)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(
            f"agent {agent_name(agent)!r} cannot be sent to worker processes, use workers=1: {error}"
        ) from error
    spawn = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=spawn, initializer=_start_worker)


def _play_all(
    agent: AgentLike,
    suite: SuiteSpec,
    todo: Sequence[int],
    pool: AbstractContextManager[Executor | None],
    keep: Callable[[Sequence[dict[str, Any]]], None],
) -> None:
    """Play the episodes ``todo`` and hand each finished chunk to ``keep``, also while stopping early."""
    size = 1 if getattr(agent, "concurrency", 1) > 1 else _CHUNK
    chunks = [todo[start : start + size] for start in range(0, len(todo), size)]
    with pool as executor:
        if executor is None:
            for chunk in chunks:
                keep(play_chunk(agent, suite, chunk))
            return
        waiting = {executor.submit(play_chunk, agent, suite, chunk) for chunk in chunks}
        try:
            for future in as_completed(list(waiting)):
                waiting.discard(future)
                keep(future.result())
        except BaseException as error:
            _drain(waiting, keep)
            if isinstance(error, BrokenExecutor):
                raise RunError("a worker process died; run the same command again to go on") from error
            raise


def _drain(waiting: set[Future[list[dict[str, Any]]]], keep: Callable[[Sequence[dict[str, Any]]], None]) -> None:
    """Start nothing new, and keep what is already being played: it may have been paid for."""
    running = [future for future in waiting if not future.cancel()]
    for future in running:
        if future.exception() is None:
            keep(future.result())


def play_chunk(agent: AgentLike, suite: SuiteSpec, indices: Sequence[int]) -> list[dict[str, Any]]:
    """Play some episodes of a suite; the unit of work that is sent to a worker."""
    scenarios = suite.build()
    return [{"record": to_row(play(scenarios[index], agent))} for index in indices]


def _start_worker() -> None:
    """Leave Ctrl-C to the parent, and end when the parent is gone instead of waiting for work for ever."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
