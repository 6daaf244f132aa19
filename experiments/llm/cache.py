"""Replies kept by their whole request, so that running the same thing again is free.

One SQLite file in WAL mode, for any number of threads and processes. Only replies are kept, never failures. Repeats of
one request get one answer: leave the cache off where the variation between repeats is what is measured.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from pydantic import ValidationError

from experiments.llm.records import Completion

FILE_NAME = "replies.sqlite"
_BUSY_TIMEOUT_S = 60.0
_T = TypeVar("_T")


class DamagedCacheError(ValueError):
    """The file of the cache cannot be read; deleting it loses only the savings."""


class UnusableCacheError(OSError):
    """The file of the cache cannot be opened or written; nothing in it is lost."""


class ReplyCache:
    """The cache in ``directory``, which is made if it is not there."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._path = directory / FILE_NAME
        self._lock = threading.Lock()
        self._db = self._guarded(self._connect)
        try:
            self._guarded(self._prepare)
        except BaseException:
            self._db.close()
            raise

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)

    def _prepare(self) -> None:
        deadline = time.monotonic() + _BUSY_TIMEOUT_S
        while True:
            try:
                self._db.execute("PRAGMA journal_mode=WAL")
                break
            except sqlite3.OperationalError:
                # Several openers at once: the switch of mode answers "locked" without the waiting other statements do.
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.execute("CREATE TABLE IF NOT EXISTS replies (request TEXT PRIMARY KEY, completion TEXT NOT NULL)")

    def get(self, request: str) -> Completion | None:
        """Return the reply kept for the request with this digest, or ``None``."""
        row = self._guarded(
            lambda: self._db.execute("SELECT completion FROM replies WHERE request = ?", (request,)).fetchone()
        )
        if row is None:
            return None
        try:
            return Completion.model_validate_json(row[0])
        except ValidationError as error:
            raise self._damaged(f"the reply to request {request} is no completion") from error

    def put(self, request: str, completion: Completion) -> None:
        """Keep a reply; of two for one request the first stays, whoever wrote it."""
        text = completion.model_dump_json()
        self._guarded(lambda: self._db.execute("INSERT OR IGNORE INTO replies VALUES (?, ?)", (request, text)))

    def _guarded(self, work: Callable[[], _T]) -> _T:
        with self._lock:
            try:
                return work()
            except sqlite3.OperationalError as error:
                # Locked for a minute, read-only, or the disk is full: not damage.
                raise UnusableCacheError(f"the reply cache {self._path} cannot be used ({error})") from error
            except sqlite3.DatabaseError as error:
                raise self._damaged(str(error)) from error

    def _damaged(self, why: str) -> DamagedCacheError:
        return DamagedCacheError(f"the reply cache {self._path} is damaged ({why}); delete it to start an empty one")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
