"""Many years at once: merchants in processes, agents in threads, which wait for their models most of the time."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple, TypeVar

from experiments.years.run import OnDay, YearRun, run_year
from experiments.years.seats import YearSeat
from experiments.years.spec import YearSpec

_T = TypeVar("_T")


class Job(NamedTuple):
    """A year and where it goes."""

    folder: Path
    spec: YearSpec


def run_merchant_years(jobs: Sequence[Job], workers: int = 1) -> Iterator[YearRun]:
    """Yield each year as it ends."""
    if workers == 1:
        for job in jobs:
            yield run_year(job.folder, job.spec)
        return
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from _as_they_end([pool.submit(run_year, job.folder, job.spec) for job in jobs])


def run_agent_years(
    jobs: Sequence[Job],
    seat: YearSeat,
    workers: int = 1,
    stop: Callable[[], None] = lambda: None,
    on_day: OnDay = lambda spec, day: None,
) -> Iterator[YearRun]:
    """Yield each year as its sitting ends.

    An exception in one year lets the others end theirs and is raised then. An interruption calls ``stop``, which makes
    every year end at its next call.
    """
    with ThreadPoolExecutor(workers) as pool:
        waiting = [pool.submit(run_year, job.folder, job.spec, seat, on_day) for job in jobs]
        try:
            yield from _as_they_end(waiting)
        except BaseException as error:
            for future in waiting:
                future.cancel()
            if not isinstance(error, Exception):
                stop()
            raise


def _as_they_end(waiting: Iterable[Future[_T]]) -> Iterator[_T]:
    failure: BaseException | None = None
    for future in as_completed(waiting):
        error = future.exception()
        if error is None:
            yield future.result()
        failure = failure or error
    if failure is not None:
        raise failure
