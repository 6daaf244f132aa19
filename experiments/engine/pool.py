"""Work on executors: jobs whose rows come back in slices, so that nothing finished is lost and nothing is done twice.

A job is what one worker does in order: some episodes of a suite, or the periods of one session. Work goes to any
``concurrent.futures.Executor``; the rows are the same wherever they are made.
"""

from __future__ import annotations

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
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple, Protocol

from experiments.episodes.folder import RunError
from experiments.players.player import Player
from experiments.storage.journal import JournalWriter

Row = dict[str, Any]
Keep = Callable[[Sequence[Row]], None]
#: Called with the rows just finished and the number still to come.
Progress = Callable[[Sequence[Row], int], None]
_CHUNK_SECONDS = 0.5


class Job(Protocol):
    """Work for one worker; it must be picklable."""

    def rows(self, player: Player) -> Iterator[Row]:
        """Do the work and yield a row for every finished piece."""
        ...

    def after(self, rows: Sequence[Row]) -> Job | None:
        """Return what is left once ``rows`` are done, ``None`` if nothing is."""
        ...


def open_pool(player: Player, workers: int, executor: Executor | None) -> AbstractContextManager[Executor | None]:
    """Return where jobs are done: the given executor, threads for an agent with ``concurrency``, or processes."""
    if workers < 1:
        raise ValueError(f"workers={workers}; it must be at least 1")
    if executor is not None:
        return nullcontext(executor)
    if player.concurrency > 1:
        return ThreadPoolExecutor(player.concurrency)
    if workers == 1:
        return nullcontext(None)
    try:
        pickle.dumps(player)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(f"agent {player.name!r} cannot be sent to worker processes, use workers=1: {error}") from error
    spawn = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=spawn, initializer=_start_worker)


def log_jobs(  # noqa: PLR0913 - what is done, by whom, and where
    player: Player,
    jobs: Sequence[Job],
    log: Path,
    *,
    left: int,
    workers: int,
    executor: Executor | None,
    progress: Progress | None,
) -> None:
    """Do every job, appending its rows to ``log`` as they come; ``left`` rows are still to come."""
    with JournalWriter(log) as journal:

        def keep(rows: Sequence[Row]) -> None:
            nonlocal left
            journal.append(*rows)
            left -= len(rows)
            if progress:
                progress(rows, left)

        with open_pool(player, workers, executor) as pool:
            do_jobs(player, jobs, pool, keep)


def do_jobs(player: Player, jobs: Sequence[Job], executor: Executor | None, keep: Keep) -> None:
    """Do every job and hand each row to ``keep`` as it is finished, also while stopping early."""
    if executor is None:
        for job in jobs:
            for row in job.rows(player):
                keep([row])
        return
    _do_elsewhere(executor, player, jobs, keep)


def _do_elsewhere(executor: Executor, player: Player, jobs: Sequence[Job], keep: Keep) -> None:
    waiting: dict[Future[Chunk], Job] = {}
    done: SimpleQueue[Future[Chunk]] = SimpleQueue()

    def submit(job: Job) -> None:
        future = executor.submit(do_slice, player, job)
        waiting[future] = job
        future.add_done_callback(done.put)

    try:
        for job in jobs:
            submit(job)
        while waiting:
            future = done.get()
            rows, error = future.result()
            keep(rows)
            rest = waiting.pop(future).after(rows)  # only now: an interruption before this must not lose the rows
            if error is not None:
                raise error
            if rest is not None:
                submit(rest)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            player.stop()  # a slow model may need minutes to end an episode
        _drain(waiting, keep)
        if isinstance(error, BrokenExecutor):
            raise RunError("a worker process died; run the same command again to go on") from error
        raise


def _drain(waiting: Iterable[Future[Chunk]], keep: Keep) -> None:
    """Start nothing new, and keep what is already being played: it may have been paid for."""
    running = [future for future in waiting if not future.cancel()]
    for future in running:
        if future.exception() is None:
            keep(future.result().rows)


class Chunk(NamedTuple):
    """What a worker hands back: finished rows, and what the agent raised, if it did."""

    rows: list[Row]
    error: Exception | None


def do_slice(player: Player, job: Job) -> Chunk:
    """Do a part of a job; the unit of work that is sent to a worker.

    Half a second of slow work, or an exception of the agent, ends it early: what was finished is handed back.
    """
    rows, end = list[Row](), time.monotonic() + _CHUNK_SECONDS
    try:
        for row in job.rows(player):
            rows.append(row)
            if time.monotonic() > end:
                break
    except Exception as error:  # noqa: BLE001 - the parent raises it, once the finished rows are kept
        return Chunk(rows, _portable(error))
    return Chunk(rows, None)


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
