"""What was asked and answered, kept: the log of a run's calls, and a cache of replies for any run.

The call log has one line before an attempt is sent and one after it ended, in a checksummed journal. A kill between the
two leaves a reservation without an end: money of unknown amount. A call that ended with a reply is found again by its
id and its whole request, so a resumed run neither pays for it nor gets another answer.

The cache is one SQLite file in WAL mode, for any number of threads and processes, by the whole request. Only replies
are kept, never failures. Repeats of one request get one answer: leave the cache off where the variation between repeats
is what is measured.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar
from urllib.parse import quote

from pydantic import Field, TypeAdapter, ValidationError

from experiments.llm.records import Completion, Record, Usage
from experiments.llm.spending import UNKNOWN, MoneyState, Settlement, Spending
from experiments.storage.files import ClosesItself
from experiments.storage.journal import DamagedJournalError, JournalWriter, errors_in_words, read_journal

MODEL_CALLS = "model_calls.jsonl"
"""Name of the call log in a run folder."""
_LONGEST_ID = 400
"""Characters of a quoted call id that go into a header, from its end; vendors refuse more than about 512."""
_HELD_APART = {"usage", "call_id", "from_cache", "attempts"}


def name_call(who: str, seed: int, round_number: int, what: str) -> str:
    """Return the id of a call: who asks, in the episode of which agent seed, in which round, and what for."""
    return f"{who}/{episode_key(seed)}/r{round_number}/{what}"


def episode_key(seed: int) -> str:
    """Return what stands for an episode in the ids of its calls: its agent seed."""
    return f"{seed:016x}"


def episode_of_call(call_id: str) -> str:
    """Return the episode of a call named by :func:`name_call`, whose asker may hold slashes; empty for another id."""
    parts = call_id.rsplit("/", 3)
    return parts[1] if len(parts) == 4 else ""


class Attempt(NamedTuple):
    """Which try of which call, and what it took to get there.

    ``attempt_id`` is like no other's, also after a resume; ``number`` counts the tries of the call from 0.
    """

    attempt_id: str
    call_id: str
    number: int
    request: str
    model: str
    left_out: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def request_id(self) -> str:
        """Name of the attempt at the server."""
        return f"{quote(self.call_id, safe='/:@,=+~')[-_LONGEST_ID:]}#{self.number}"

    @property
    def named(self) -> dict[str, Any]:
        """What tells it from the others, as both its rows in the log say it."""
        return {"attempt_id": self.attempt_id, "call_id": self.call_id, "attempt": self.number}


class Reserved(Record):
    """An attempt is about to be sent."""

    event: Literal["reserved"] = "reserved"
    attempt_id: str
    call_id: str
    attempt: int
    model: str
    held_microusd: int = Field(ge=0)


class Ended(Record):
    """An attempt ended. ``completion`` is its reply, ``error`` says why there is none."""

    event: Literal["ended"] = "ended"
    attempt_id: str
    call_id: str
    attempt: int
    request: str
    state: MoneyState
    microusd: int | None
    usage: Usage | None
    latency_s: float
    error: str | None = None
    completion: dict[str, Any] | None = None


class Recalled(Record):
    """A call was answered from the cache, at no cost."""

    event: Literal["recalled"] = "recalled"
    call_id: str
    request: str


CallRow = Reserved | Ended | Recalled
_ROW: TypeAdapter[CallRow] = TypeAdapter(CallRow)


def read_calls(path: Path) -> list[CallRow]:
    """Return the rows of a call log; a missing file holds none, a torn last line is left out.

    Raises
    ------
    DamagedJournalError
        If a line is none that is written there, or an attempt begins twice or ends without having begun.
    """
    rows, begun, ended = list[CallRow](), set[str](), set[str]()
    for number, data in enumerate(read_journal(path).rows, 1):
        try:
            row = _ROW.validate_python(data)
            if not isinstance(row, Recalled):
                _once(row, begun, ended)
        except ValueError as error:
            raise DamagedJournalError(f"{path}, line {number}: {errors_in_words(error)}") from error
        rows.append(row)
    return rows


def _once(row: Reserved | Ended, begun: set[str], ended: set[str]) -> None:
    name = row.attempt_id
    if isinstance(row, Ended) and name not in begun:
        raise ValueError(f"attempt {name!r} ends without having begun")
    seen = ended if isinstance(row, Ended) else begun
    if name in seen:
        raise ValueError(f"attempt {name!r} is there twice")
    seen.add(name)


def spending_of(rows: Iterable[CallRow]) -> Spending:
    """Return what the calls cost; the rows may be of several logs. A reservation that never ended is unknown money."""
    spending, held = Spending(), dict[str, int]()
    for row in rows:
        if isinstance(row, Reserved):
            held[row.attempt_id] = row.held_microusd
            spending = spending.reserve(row.held_microusd)
        elif isinstance(row, Ended):
            spending = spending.settle(held.pop(row.attempt_id), Settlement(row.state, row.microusd, row.usage))
    for amount in held.values():
        spending = spending.settle(amount, UNKNOWN)
    return spending


def finished_calls(rows: Iterable[CallRow]) -> dict[tuple[str, str], Completion]:
    """Return the reply of every answered call, by call id and request."""
    return dict(_finished(rows))


def _finished(rows: Iterable[CallRow]) -> Iterator[tuple[tuple[str, str], Completion]]:
    for row in rows:
        if isinstance(row, Ended) and row.completion is not None:
            stored = row.completion | {"usage": row.usage or Usage()}
            reply = Completion(**stored, call_id=row.call_id, from_cache=True, attempts=0)
            yield (row.call_id, row.request), reply


class CallLog(ClosesItself):
    """The one writer of a call log, for all threads of a process. Opening it reads what is there.

    Attributes
    ----------
    start
        What the calls in the file had cost when it was opened: the start of a :class:`Meter`.
    """

    def __init__(self, path: Path) -> None:
        self._writer = JournalWriter(path)  # cuts off a torn line, so that the reading below sees whole lines
        rows = read_calls(path)
        self.start = spending_of(rows)
        self._finished = finished_calls(rows)
        self._lock = threading.Lock()

    def find(self, call_id: str, request: str) -> Completion | None:
        """Return the logged reply of this very call, or ``None``."""
        return self._finished.get((call_id, request))

    def reserved(self, attempt: Attempt, held_microusd: int) -> None:
        """Write that ``attempt`` is about to be sent."""
        self._append(Reserved(**attempt.named, model=attempt.model, held_microusd=held_microusd))

    def ended(self, attempt: Attempt, ended: Settlement, latency_s: float, outcome: Completion | Exception) -> None:
        """Write how ``attempt`` ended."""
        told = (
            {"completion": outcome.model_dump(exclude=_HELD_APART)}
            if isinstance(outcome, Completion)
            else {"error": f"{type(outcome).__name__}: {outcome}"}
        )
        settled = ended._asdict()
        self._append(Ended(**attempt.named, request=attempt.request, **settled, latency_s=latency_s, **told))

    def recalled(self, call_id: str, request: str) -> None:
        """Write that a call was answered from the cache."""
        self._append(Recalled(call_id=call_id, request=request))

    def _append(self, row: CallRow) -> None:
        with self._lock:
            self._writer.append(row.model_dump())

    def close(self) -> None:
        """Close the file."""
        self._writer.close()


FILE_NAME = "replies.sqlite"
_BUSY_TIMEOUT_S = 60.0
_T = TypeVar("_T")


class DamagedCacheError(ValueError):
    """The file of the cache cannot be read; deleting it loses only the savings."""


class UnusableCacheError(OSError):
    """The file of the cache cannot be opened or written; nothing in it is lost."""


class ReplyCache(ClosesItself):
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
