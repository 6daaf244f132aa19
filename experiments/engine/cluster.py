"""Beyond one machine: a Dask scheduler's workers as an executor. Results are those of a local run, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager


@contextmanager
def cluster_executor(address: str | None) -> Iterator[Executor | None]:
    """Connect to the Dask scheduler at ``address`` and yield its executor; without an address yield ``None``.

    Dask plays the episodes of a lost worker again elsewhere. Workers need this package and, for a catalogue suite, the
    catalogue at the same path.
    """
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise ValueError("--scheduler needs Dask: install terms-commerce[cluster]") from error
    with Client(address, timeout="10s", set_as_default=False) as client:  # type: ignore[no-untyped-call]
        yield client.get_executor()
