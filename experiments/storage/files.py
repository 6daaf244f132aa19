"""Files that are either absent or whole, and the lock that keeps a run folder to one process."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

LOCK = ".lock"
_TEMPORARY = ".terms-{}.tmp"


class ClosesItself:
    """Something that is closed when its ``with`` block ends."""

    def close(self) -> None:
        """Let go of the file."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class RunLockedError(RuntimeError):
    """Another process is writing to this run folder."""


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name the file in a failure of the system that names none, as that of a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise


def refuse_device(path: Path) -> None:
    """Refuse to put a file in the place of a device, a pipe or a socket: the owner of the system would lose it."""
    if path.exists() and not path.is_file():  # also where a link leads to one
        raise ValueError(f"{str(path)!r} is a folder or a device, which no file may replace")


def write_atomically(path: Path, data: bytes) -> None:
    """Write to a temporary name, reach the disk, then rename; a crash leaves the old file or none.

    The name is not to be guessed and must be new: whoever may write to the folder could have laid a link there.
    """
    refuse_device(path)
    temporary = path.with_name(_TEMPORARY.format(secrets.token_hex(8)))
    file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        with naming(path), os.fdopen(file, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def parquet_bytes(table: Any) -> bytes:
    """Return the Parquet file of an Arrow table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    data: bytes = sink.getvalue().to_pybytes()
    return data


def read_whole(path: Path) -> bytes:
    """Return the content of a regular file.

    Raises
    ------
    ValueError
        If it is a link, a folder or a device: its content would be somebody else's, or have no end.
    FileNotFoundError
        If there is none.
    """
    if not stat.S_ISREG(path.lstat().st_mode):
        raise ValueError(f"{path} is not a regular file")
    return path.read_bytes()


def check_out_file(path: Path, names: str) -> Path:
    """Return ``path`` if a command may write its result there; ``names`` is the suffix that such results have.

    Raises
    ------
    ValueError
        If it is a folder or below a file, or would replace a file of a run, which no longer could be read.
    """
    if path.is_dir() or (path.parent.exists() and not path.parent.is_dir()):
        raise ValueError(f"--out={str(path)!r} is a folder or lies below a file, needed is the name of a file")
    refuse_device(path)
    if path.exists() and (path.parent / "run.json").exists() and path.suffix != names:
        raise ValueError(f"--out={str(path)!r} is a file of the run in {path.parent}; choose another name")
    return path


LARGEST_GIVEN = 64 * 1024 * 1024
"""Bytes of a file that a user names: far more than any holds, and less than would fill the memory."""


def read_given(path: Path) -> bytes:
    """Return the content of a file that a user names; unlike one of a run folder it may be a link or a pipe.

    Raises
    ------
    ValueError
        If it is a folder, a device or a socket, or larger than :data:`LARGEST_GIVEN`: a device may have no end.
    OSError
        If it cannot be read.
    """
    with naming(path):
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
            raise ValueError(f"{str(path)!r} is {'a folder' if stat.S_ISDIR(mode) else 'a device'}, needed is a file")
        with path.open("rb") as stream:
            data = stream.read(LARGEST_GIVEN + 1)
    if len(data) > LARGEST_GIVEN:
        raise ValueError(f"{str(path)!r} has more than {LARGEST_GIVEN:,} bytes")
    return data


@contextmanager
def exclusive_lock(folder: Path) -> Iterator[None]:
    """Hold the folder's lock; the system releases it when the process dies, however it dies.

    What a killed writer left half-written is removed: nobody else writes here now.
    """
    file = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RunLockedError(
                f"{folder} is in use by another process; wait for it or choose another --out"
            ) from error
        for left in folder.glob(_TEMPORARY.format("?" * 16)):
            left.unlink(missing_ok=True)
        yield
    finally:
        os.close(file)


def folder_name(text: str, kept: str = "._@+=-", longest: int = 80) -> str:
    """Return ``text`` as part of a folder's name: letters, digits and ``kept``; a long one is cut and keeps a hash."""
    name = re.sub(f"[^A-Za-z0-9{re.escape(kept)}]+", "-", text).strip("-")
    if len(name) <= longest:
        return name
    return f"{name[:longest]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
