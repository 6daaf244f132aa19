"""Append-only JSON lines, chained: the checksum of a line covers that of the line before.

A line is ``{"checksum":"<16 hex>","data":<object>}``; the checksum is over the one before and the very bytes of
``data``, because two different digit strings can read as the same float. The chain starts at the checksum of the
header that lies beside the log (:data:`HEADER`), at nothing where there is none. So a line that was changed, lost,
doubled, added or moved is found, and a log of another run as well.

A process that is killed while it writes leaves a last line without a newline: readers drop it with a notice and a
writer cuts it off before it appends. Any other damage raises, because silence would lose a result.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from experiments.storage.files import ClosesItself, naming, read_whole
from terms.strict_json import strict_dumps, strict_loads

_HEAD, _MIDDLE, _TAIL = b'{"checksum":"', b'","data":', b"}\n"
_DIGEST_LENGTH = 16
_SYNC_SECONDS = 0.5
HEADER = "run.json"
"""The file beside a log whose checksum starts its chain."""
_DATA_START = len(_HEAD) + _DIGEST_LENGTH + len(_MIDDLE)


class DamagedJournalError(ValueError):
    """A line that was written completely no longer says what was written."""


class Journal(NamedTuple):
    """What a journal holds. ``torn`` is the number of bytes of an unfinished last line, ``end`` the last checksum."""

    rows: list[dict[str, Any]]
    torn: int
    end: str = ""


def errors_in_words(error: ValueError) -> str:
    """Return on one line what is wrong with a row, field by field."""
    if not isinstance(error, ValidationError):
        return str(error)
    return "; ".join(
        f"{'.'.join(map(str, part['loc'])) or 'row'}: {part['msg'].removeprefix('Value error, ')}"
        for part in error.errors(include_url=False)
    )


def encode_line(data: Mapping[str, Any], before: str = "") -> bytes:
    """Return the line, newline included, that stores ``data`` after a line with the checksum ``before``."""
    raw = strict_dumps(data).encode()
    return _HEAD + _digest(raw, before) + _MIDDLE + raw + _TAIL


def encode_lines(rows: Iterable[Mapping[str, Any]], before: str = "") -> bytes:
    """Return the chained lines that store ``rows`` after a line with the checksum ``before``."""
    lines = []
    for row in rows:
        lines.append(encode_line(row, before))
        before = checksum_of(lines[-1])
    return b"".join(lines)


def checksum_of(line: bytes) -> str:
    """Return the checksum that stands in a line; empty if it is none."""
    found = line[len(_HEAD) : len(_HEAD) + _DIGEST_LENGTH]
    return found.decode("ascii", "replace") if line.startswith(_HEAD) else ""


def chain_start(path: Path) -> str:
    """Return the checksum that the first line of the log at ``path`` covers: that of the header beside it."""
    header = path.with_name(HEADER)
    return checksum_of(read_whole(header)) if header != path and header.is_file() else ""


def _digest(raw: bytes, before: str) -> bytes:
    return hashlib.sha256(before.encode() + raw).hexdigest()[:_DIGEST_LENGTH].encode()


def _decode_line(line: bytes, before: str) -> dict[str, Any]:
    raw = line[_DATA_START:-1]
    if line != _HEAD + _digest(raw, before) + _MIDDLE + raw + b"}":
        raise ValueError(
            "the checksum does not match what is written, or what it follows is another: "
            f"the line before, {HEADER} for the first"
        )
    data = strict_loads(raw, unique_keys=False)
    if not isinstance(data, dict):
        raise ValueError("it holds no object")
    return data


def read_journal(path: Path) -> Journal:
    """Read every complete line; a missing file is an empty journal."""
    before = chain_start(path)
    try:
        *lines, rest = read_whole(path).split(b"\n")
    except FileNotFoundError:
        return Journal([], 0, before)
    except ValueError as error:
        raise DamagedJournalError(str(error)) from error
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            rows.append(_decode_line(line, before))
        except ValueError as error:
            raise DamagedJournalError(f"{path}, line {number}: {error}") from error
        before = checksum_of(line)
    return Journal(rows, len(rest), before)


def _last_checksum(lines: bytes) -> str:
    return checksum_of(lines[lines.rfind(b"\n", 0, -1) + 1 :])


class JournalWriter(ClosesItself):
    """The one writer of a journal. Opening cuts off a torn last line; each append is one system call.

    What was appended outlives this process at once, and the machine's power at the latest after half a second more of
    appending or at the end.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        _, torn, self._end = read_journal(path)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        if torn:
            os.ftruncate(self._file, os.fstat(self._file).st_size - torn)
        self._synced = time.monotonic()

    def append(self, *rows: Mapping[str, Any]) -> None:
        """Write ``rows``.

        When the disk is full or the user interrupts, the part that did arrive is a torn line; it is cut off at once so
        that nothing half-written stays behind.
        """
        if not rows:
            return
        lines = encode_lines(rows, self._end)
        start, written = os.fstat(self._file).st_size, 0
        try:
            with naming(self._path):
                while written < len(lines):
                    written += os.write(self._file, lines[written:])
        finally:  # an interruption may also come after the last byte
            if os.fstat(self._file).st_size == start + len(lines):
                self._end = _last_checksum(lines)
            else:
                os.ftruncate(self._file, start)
        if time.monotonic() - self._synced > _SYNC_SECONDS:
            os.fsync(self._file)
            self._synced = time.monotonic()

    def close(self) -> None:
        """Bring everything to the disk and close the file."""
        try:
            os.fsync(self._file)
        finally:
            os.close(self._file)
