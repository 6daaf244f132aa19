"""Work on executors: jobs whose rows come back in slices, so that nothing finished is lost and nothing is done twice.

A job is what one worker does in order: some episodes of a suite, or the periods of one session. Work goes to any
``concurrent.futures.Executor``; the rows are the same wherever they are made.
"""

from __future__ import annotations

import gc
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
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple, TypeVar

from experiments.engine.folder import RunError
from experiments.engine.task import Job, Keep, Row
from experiments.players.player import Player
from experiments.storage.journal import JournalWriter

_T = TypeVar("_T")
Piece = TypeVar("Piece")
#: Called with the rows just finished and the number still to come.
RowsDone = Callable[[Sequence[Row], int], None]
_CHUNK_SECONDS = 0.5


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
    return worker_processes(workers)


def worker_processes(workers: int) -> ProcessPoolExecutor:
    """Return that many processes, which end when this one does, however it ends."""
    spawn = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=spawn, initializer=_start_worker)


def log_jobs(
    player: Player,
    jobs: Sequence[Job],
    log: Path,
    *,
    workers: int,
    executor: Executor | None,
    progress: RowsDone | None,
) -> None:
    """Do every job, appending its rows to ``log`` as they come."""
    left = sum(job.left for job in jobs)
    with JournalWriter(log) as journal:

        def keep(*rows: Row) -> None:
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
            job.do(player, keep)
        return
    _do_elsewhere(executor, player, jobs, keep)


def as_done(
    function: Callable[[Piece], _T], pieces: Sequence[Piece], executor: Executor | None
) -> Iterator[tuple[int, _T]]:
    """Yield the place of every piece and what ``function`` made of it, as they end; both must be picklable.

    Raises
    ------
    RunError
        If a worker process died; pieces that leave nothing on the disk are then to be done again.
    """
    if executor is None:
        yield from enumerate(map(function, pieces))
        return
    places = {executor.submit(function, piece): place for place, piece in enumerate(pieces)}
    done: SimpleQueue[Future[_T]] = SimpleQueue()
    for future in places:
        future.add_done_callback(done.put)
    try:
        for _ in pieces:
            future = done.get()
            yield places[future], future.result()
    except BaseException as error:
        for future in places:
            future.cancel()
        named = _named(error)
        if named is error:
            raise
        raise named from error


def map_pieces(
    function: Callable[[Piece], _T],
    pieces: Sequence[Piece],
    *,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[_T]:
    """Return what ``function`` makes of every piece, in the order of the pieces, wherever each was made.

    ``progress`` is called with how many are done and how many there are. See :func:`as_done`.
    """
    made: dict[int, _T] = {}
    for place, found in as_done(function, pieces, executor):
        made[place] = found
        if progress:
            progress(len(made), len(pieces))
    return [made[place] for place in range(len(pieces))]


def _named(error: BaseException) -> BaseException:
    """Return ``error``, or one line for a worker that is gone."""
    if isinstance(error, BrokenExecutor) or type(error).__module__.startswith("distributed"):
        return RunError("a worker process died; run the same command again to go on")
    return error


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
            keep(*rows)
            rest = waiting.pop(future).after(rows)  # only now: an interruption before this must not lose the rows
            if error is not None:
                raise error
            if rest is not None:
                submit(rest)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            player.stop()  # a slow model may need minutes to end an episode
        _drain(waiting, keep)
        named = _named(error)
        if named is error:
            raise
        raise named from error


def _drain(waiting: Iterable[Future[Chunk]], keep: Keep) -> None:
    """Start nothing new, and keep what is already being played: it may have been paid for."""
    running = [future for future in waiting if not future.cancel()]
    for future in running:
        if future.exception() is None:
            keep(*future.result().rows)


class Chunk(NamedTuple):
    """What a worker hands back: finished rows, and what the agent raised, if it did."""

    rows: list[Row]
    error: Exception | None


class _SliceOver(BaseException):
    """A slice of work has lasted long enough."""


def do_slice(player: Player, job: Job) -> Chunk:
    """Do a part of a job; the unit of work that is sent to a worker.

    Half a second of slow work, or an exception of the agent, ends it early: what was finished is handed back.
    """
    rows, end = list[Row](), time.monotonic() + _CHUNK_SECONDS

    def keep(*finished: Row) -> None:
        rows.extend(finished)
        if time.monotonic() > end:
            raise _SliceOver

    try:
        job.do(player, keep)
    except _SliceOver:
        return Chunk(rows, None)
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


@contextmanager
def without_collecting() -> Iterator[None]:
    """Look for no garbage meanwhile: of many small objects that are all kept it finds none, and takes a tenth."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
