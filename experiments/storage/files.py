"""Files that are either absent or whole, and the lock that keeps a run folder to one process."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class RunLockedError(RuntimeError):
    """Another process is writing to this run folder."""


def write_atomically(path: Path, data: bytes) -> None:
    """Write to a temporary name, reach the disk, then rename; a crash leaves the old file or none."""
    temporary = path.with_name(f".{path.name}.tmp")  # one writer; what a killed one left is written over
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def exclusive_lock(folder: Path) -> Iterator[None]:
    """Hold the folder's lock; the system releases it when the process dies, however it dies."""
    with (folder / ".lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RunLockedError(
                f"{folder} is in use by another process; wait for it or choose another --out"
            ) from error
        yield


def folder_name(text: str, kept: str = "._@+=-", longest: int = 80) -> str:
    """Return ``text`` as part of a folder's name: letters, digits and ``kept``; a long one is cut and keeps a hash."""
    name = re.sub(f"[^A-Za-z0-9{re.escape(kept)}]+", "-", text).strip("-")
    if len(name) <= longest:
        return name
    return f"{name[:longest]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
