"""Many years at once: merchants wherever the engine works, agents in threads, as they mostly wait for their models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from experiments.engine.pool import as_done, without_collecting
from experiments.years.run import OnDay, YearRun, read_played, run_year
from experiments.years.seats import YearSeat
from experiments.years.spec import YearSpec


class YearPlace(NamedTuple):
    """A year and where it goes."""

    folder: Path
    spec: YearSpec


def run_merchant_years(name: str, years: Sequence[YearPlace], executor: Executor | None = None) -> Iterator[YearRun]:
    """Yield each year of the merchant called ``name`` as it ends.

    Raises
    ------
    RunError
        If a worker process died; the same command goes on.
    """
    for place, _ in as_done(partial(_play_there, name), years, executor):
        yield read_played(years[place].folder)


def _play_there(name: str, year: YearPlace) -> None:
    """Play a year in a worker; what it came to is on the disk."""
    with without_collecting():
        run_year(year.folder, year.spec, name)


def run_agent_years(
    years: Sequence[YearPlace],
    seat: YearSeat,
    workers: int = 1,
    on_day: OnDay = lambda spec, day: None,
) -> Iterator[YearRun]:
    """Yield each year as its sitting ends.

    An exception in one year lets the others that have begun end theirs and is raised then. An interruption stops
    the seat, which makes every year end at its next call.
    """
    with ThreadPoolExecutor(workers) as threads:
        try:
            for _, played in as_done(lambda one: run_year(one.folder, one.spec, seat, on_day), years, threads):
                yield played
        except BaseException as error:
            if not isinstance(error, Exception):
                seat.stop()
            raise
