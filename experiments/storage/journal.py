"""Append-only JSON lines with a checksum per line.

A line is ``{"checksum":"<16 hex>","data":<object>}``; the checksum is over the very bytes of ``data``, because two
different digit strings can read as the same float. A process that is killed while it writes leaves a last line without
a newline: readers drop it with a notice and a writer cuts it off before it appends. Any other damage raises, because
silence would lose a result.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, NoReturn, Self

_HEAD, _MIDDLE, _TAIL = b'{"checksum":"', b'","data":', b"}\n"
_DIGEST_LENGTH = 16
_SYNC_SECONDS = 0.5
_DATA_START = len(_HEAD) + _DIGEST_LENGTH + len(_MIDDLE)


class DamagedJournalError(ValueError):
    """A line that was written completely no longer says what was written."""


class Journal(NamedTuple):
    """What a journal holds. ``torn`` is the number of bytes of an unfinished last line."""

    rows: list[dict[str, Any]]
    torn: int


def strict_dumps(value: object) -> str:
    """Return compact, key-sorted JSON; a NaN or infinity raises, because it is not JSON."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def strict_loads(text: str | bytes) -> Any:
    """Read JSON, refusing NaN and infinities, which Python's own reader accepts."""
    return json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not valid JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):  # 1e400: what was read so could never be written again
        raise ValueError(f"{digits[:40]} is not a finite number")
    return value


def encode_line(data: Mapping[str, Any]) -> bytes:
    """Return the line, newline included, that stores ``data``."""
    raw = strict_dumps(data).encode()
    return _HEAD + _digest(raw) + _MIDDLE + raw + _TAIL


def _digest(raw: bytes) -> bytes:
    return hashlib.sha256(raw).hexdigest()[:_DIGEST_LENGTH].encode()


def _decode_line(line: bytes, path: Path, number: int) -> dict[str, Any]:
    raw = line[_DATA_START:-1]
    if line != _HEAD + _digest(raw) + _MIDDLE + raw + b"}":
        raise DamagedJournalError(f"{path}, line {number}: the checksum does not match what is written")
    data: dict[str, Any] = strict_loads(raw)
    return data


def read_journal(path: Path) -> Journal:
    """Read every complete line; a missing file is an empty journal."""
    if not path.exists():
        return Journal([], 0)
    *lines, rest = path.read_bytes().split(b"\n")
    return Journal([_decode_line(line, path, number) for number, line in enumerate(lines, 1)], len(rest))


class JournalWriter:
    """The one writer of a journal. Opening cuts off a torn last line; each append is one system call.

    What was appended outlives this process at once, and the machine's power at the latest after half a second more of
    appending or at the end.
    """

    def __init__(self, path: Path) -> None:
        torn = read_journal(path).torn
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        if torn:
            os.ftruncate(self._file, os.fstat(self._file).st_size - torn)
        self._synced = time.monotonic()

    def append(self, *rows: Mapping[str, Any]) -> None:
        """Write ``rows``.

        When the disk is full or the user interrupts, the part that did arrive is a torn line; it is cut off at once so
        that nothing half-written stays behind.
        """
        data = b"".join(encode_line(row) for row in rows)
        start = os.fstat(self._file).st_size
        try:
            written = 0
            while written < len(data):
                written += os.write(self._file, data[written:])
        except BaseException:
            if os.fstat(self._file).st_size != start + len(data):
                os.ftruncate(self._file, start)
            raise
        if time.monotonic() - self._synced > _SYNC_SECONDS:
            os.fsync(self._file)
            self._synced = time.monotonic()

    def close(self) -> None:
        """Bring everything to the disk and close the file."""
        try:
            os.fsync(self._file)
        finally:
            os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
