"""Playing a suite into a run folder.

One process writes: workers return finished episodes and the parent appends them, so a log has one writer and nothing is
ever done twice. Work goes to any ``concurrent.futures.Executor``; the episodes are the same wherever they are played.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

from experiments.models.playing import play_episode
from experiments.runs.config import RunHeader, SuiteSpec
from experiments.runs.files import exclusive_lock, write_atomically
from experiments.runs.folder import DROPPED, LOG, Run, RunError, load_run, open_header, write_results
from experiments.runs.journal import JournalWriter
from experiments.runs.records import to_row
from terms import Scenario
from terms.episode import AgentLike, agent_name

#: Called with the rows just finished and the number of episodes still to play.
Progress = Callable[[Sequence[dict[str, Any]], int], None]
_CHUNK = 50
_MIN_CHUNKS = 64  # a small suite is cut finer, or most workers would have nothing to do
_CHUNK_SECONDS = 0.5


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
    with exclusive_lock(folder), _seated(agent, folder, header) as player:
        # A trial that the provider lost is tried again; it has no result yet.
        before = load_run(folder)
        done = {record.scenario_id for record in before.records if not record.is_excluded}
        todo = [i for i, scenario in enumerate(suite.build()) if scenario.scenario_id not in done]
        with JournalWriter(folder / LOG) as log:
            left = len(todo)

            def keep(rows: Sequence[dict[str, Any]]) -> None:
                nonlocal left
                log.append(*rows)
                left -= len(rows)
                if progress:
                    progress(rows, left)

            _play_all(player, suite, todo, _pool(player, workers, executor), keep)
        run = load_run(folder)
        write_results(folder, run.header, run.records)
    return replace(run, torn=before.torn, resumed=len(done))


@contextmanager
def _seated(agent: AgentLike, folder: Path, header: RunHeader) -> Iterator[AgentLike]:
    """Write the header, then yield the agent that plays; one that keeps files in the folder opens them here."""
    open_header(folder, header)
    rows = [row._asdict() for row in header.suite.dropped_rows]
    if rows:
        write_atomically(folder / DROPPED, (json.dumps(rows, ensure_ascii=False, indent=1) + "\n").encode())
    sit_down = getattr(agent, "seated", None)
    with sit_down(folder) if sit_down else nullcontext(agent) as player:
        yield player


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
    """Play the episodes ``todo`` and hand each to ``keep`` as it is finished, also while stopping early."""
    with pool as executor:
        if executor is None:
            scenarios = suite.build()
            for index in todo:
                keep([_play_row(agent, scenarios[index])])
            return
        size = 1 if getattr(agent, "concurrency", 1) > 1 else max(1, min(_CHUNK, len(todo) // _MIN_CHUNKS))
        chunks = [todo[start : start + size] for start in range(0, len(todo), size)]
        _play_chunks(executor, agent, suite, chunks, keep)


def _play_chunks(
    executor: Executor,
    agent: AgentLike,
    suite: SuiteSpec,
    chunks: Sequence[Sequence[int]],
    keep: Callable[[Sequence[dict[str, Any]]], None],
) -> None:
    waiting: dict[Future[Chunk], Sequence[int]] = {}
    done: SimpleQueue[Future[Chunk]] = SimpleQueue()

    def submit(indices: Sequence[int]) -> None:
        future = executor.submit(play_chunk, agent, suite, indices)
        waiting[future] = indices
        future.add_done_callback(done.put)

    try:
        for chunk in chunks:
            submit(chunk)
        while waiting:
            future = done.get()
            rows, error = future.result()
            keep(rows)
            rest = waiting.pop(future)[len(rows) :]  # only now: an interruption before this must not lose the rows
            if error is not None:
                raise error
            if rest:
                submit(rest)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            _stop(agent)
        _drain(waiting, keep)
        if isinstance(error, BrokenExecutor):
            raise RunError("a worker process died; run the same command again to go on") from error
        raise


def _stop(agent: AgentLike) -> None:
    """Tell an agent that can stop in the middle of an episode: a slow model may need minutes to end it."""
    stop = getattr(agent, "stop", None)
    if stop is not None:
        stop()


def _drain(waiting: Iterable[Future[Chunk]], keep: Callable[[Sequence[dict[str, Any]]], None]) -> None:
    """Start nothing new, and keep what is already being played: it may have been paid for."""
    running = [future for future in waiting if not future.cancel()]
    for future in running:
        if future.exception() is None:
            keep(future.result().rows)


class Chunk(NamedTuple):
    """What a worker hands back: the rows of finished episodes, and what the agent raised, if it did."""

    rows: list[dict[str, Any]]
    error: Exception | None


def play_chunk(agent: AgentLike, suite: SuiteSpec, indices: Sequence[int]) -> Chunk:
    """Play some episodes of a suite; the unit of work that is sent to a worker.

    Half a second of slow episodes, or an exception of the agent, ends it early: what was finished is handed back.
    """
    scenarios, rows = suite.build(), list[dict[str, Any]]()
    end = time.monotonic() + _CHUNK_SECONDS
    for index in indices:
        try:
            rows.append(_play_row(agent, scenarios[index]))
        except Exception as error:  # noqa: BLE001 - the parent raises it, once the finished rows are kept
            return Chunk(rows, _portable(error))
        if time.monotonic() > end:
            break
    return Chunk(rows, None)


def _play_row(agent: AgentLike, scenario: Scenario) -> dict[str, Any]:
    played = play_episode(scenario, agent)
    extras = {"receipts": list(played.receipts), "voice": played.voice_outcomes}
    return {"record": to_row(played.record), **{key: value for key, value in extras.items() if value}}


def _portable(error: Exception) -> Exception:
    """Return ``error`` ready to leave a worker process, where its traceback and perhaps its class cannot follow."""
    if multiprocessing.parent_process() is None:
        return error
    error.add_note("".join(traceback.format_exception(error)))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 - a class may fail to pickle in any way, and then it would break the pool
        substitute = RuntimeError(f"{type(error).__name__}: {error}")
        substitute.__notes__ = error.__notes__
        return substitute
    return error


def _start_worker() -> None:
    """Leave Ctrl-C to the parent, and end when the parent is gone instead of waiting for work for ever."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
