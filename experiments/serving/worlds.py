"""The worlds of a server and their seed.

Each world is built once, in a worker process, so that no agent's turn waits while others open. The seed is drawn where
the operator names none, kept beside the years, and told to no agent: whoever can guess it can build the world and read
the hidden facts; a small one is found by trying them all.
"""

from __future__ import annotations

import multiprocessing
import os
import secrets
import threading
from collections import OrderedDict
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path

from commerce.types import World
from experiments.engine.pool import _start_worker
from experiments.years.spec import YearSpec

SEED_FILE = "serve-seed"
_BITS, _SMALL_BITS = 63, 40


def find_or_draw_seed(folder: Path) -> tuple[int, Path]:
    """Return the seed that a server of ``folder`` used before, else draw one; and the file it is kept in.

    Raises
    ------
    ValueError
        If the file holds no seed.
    """
    path = folder / SEED_FILE
    folder.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(f"{secrets.randbits(_BITS)}\n")
    text = path.read_text(encoding="utf-8").strip()
    if not (text.isascii() and text.isdigit()) or len(text) > 20 or int(text) >= 1 << _BITS:
        raise ValueError(f"{path} holds {text[:40]!r}, needed is a number below 2^{_BITS}; name one with --seed")
    return int(text), path


def is_small(seed: int) -> bool:
    """Whether a stranger could find ``seed`` by generating worlds and comparing what the store answers."""
    return seed < 1 << _SMALL_BITS


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
            # Not waited for, the pool could close its pipes while the interpreter, as it ends, still writes to them.
            self._pool.shutdown(cancel_futures=True)

    def _build(self, spec: YearSpec) -> Future[World]:
        if self._pool is not None:
            return self._pool.submit(_built, spec)
        here: Future[World] = Future()
        here.set_result(_built(spec))
        return here


def _built(spec: YearSpec) -> World:
    return spec.build_world()


def _name(spec: YearSpec) -> str:
    return f"{spec.world_dir}/{spec.world_seed}/{spec.rules_label}/{spec.num_days}"
