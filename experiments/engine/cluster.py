"""Where work is done, one choice for every long command: here, in local processes, or on a Dask scheduler's workers.

Results are the same in all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager

from experiments.engine.pool import worker_processes


@contextmanager
def open_executor(workers: int = 1, scheduler: str | None = None, *, threads: int = 1) -> Iterator[Executor | None]:
    """Yield the workers of the Dask scheduler at an address, else threads or local processes; ``None`` is here.

    Dask does the work of a lost worker again elsewhere. Workers need this package and every file that is read at the
    same path.
    """
    if workers < 1:
        raise ValueError(f"workers={workers}; it must be at least 1")
    if scheduler is not None:
        with _connected(scheduler) as executor:
            yield executor
    elif threads > 1:
        with ThreadPoolExecutor(threads) as executor:
            yield executor
    elif workers > 1:
        with worker_processes(workers) as executor:
            yield executor
    else:
        yield None


@contextmanager
def _connected(address: str) -> Iterator[Executor]:
    try:
        from distributed import Client
    except ImportError as error:
        raise ValueError("--scheduler needs Dask: install terms-commerce[cluster]") from error
    try:
        client = Client(address, timeout="10s", set_as_default=False)  # type: ignore[no-untyped-call]
    except (ValueError, OSError, ImportError) as error:
        raise ValueError(
            f"scheduler={address!r} is no address that answers, such as tcp://127.0.0.1:8786: {error}"
        ) from error
    with client:
        yield client.get_executor(pure=False)  # type: ignore[no-untyped-call]
