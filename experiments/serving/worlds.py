"""The worlds of a server: each is built once, in a worker process, so that no agent's turn waits while others open."""

from __future__ import annotations

import multiprocessing
import threading
from collections import OrderedDict
from concurrent.futures import Future, ProcessPoolExecutor

from commerce.types import World
from experiments.engine.pool import _start_worker
from experiments.years.spec import YearSpec

_KEPT = 64
"""About 1 MB each."""


class Worlds:
    """Builds worlds on demand and keeps the latest; safe to use from any number of threads.

    Parameters
    ----------
    workers
        Processes that build; 0 builds in the thread that asks.
    """

    def __init__(self, workers: int = 0) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(workers, mp_context=spawn, initializer=_start_worker) if workers else None
        self._one_at_a_time = threading.Lock()
        self._found: OrderedDict[str, Future[World]] = OrderedDict()

    def warm_up(self) -> None:
        """Start the processes before the first agent comes."""
        if self._pool is not None:
            self._pool.submit(int)

    def get(self, spec: YearSpec) -> World:
        """Return the world of a year; agents who ask for the same one share it."""
        with self._one_at_a_time:
            found = self._found.get(_name(spec))
            if found is None:
                found = self._found[_name(spec)] = self._build(spec)
                if len(self._found) > _KEPT:
                    self._found.popitem(last=False)
        return found.result()

    def close(self) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def _build(self, spec: YearSpec) -> Future[World]:
        if self._pool is not None:
            return self._pool.submit(_built, spec)
        here: Future[World] = Future()
        here.set_result(_built(spec))
        return here


def _built(spec: YearSpec) -> World:
    return spec.build_world()


def _name(spec: YearSpec) -> str:
    return f"{spec.world_dir}/{spec.world_seed}/{spec.rules}/{spec.num_days}"
