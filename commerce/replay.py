"""Years as lists of calls: recording, checking and replaying them.

A year follows from (world, rules, calls), so its calls are its whole record. An entry holds a call and the digest of
its result; replaying the entries reproduces the year and proves that nothing was altered.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, NoReturn

from commerce.argument_parser import TOO_DEEP, is_too_deep
from commerce.state import state_digest
from commerce.tools.pages import TablePage, canonical
from commerce.year import Result, Year

_DIGEST_LENGTH = 16
_check = json.JSONEncoder(allow_nan=False, check_circular=False).encode


class DivergedError(ValueError):
    """A replayed call was answered differently, or another call was made in its place."""


class Entry(NamedTuple):
    """One call and the digest of its result."""

    number: int
    tool: str
    arguments: Any
    result: str

    def to_json_object(self) -> dict[str, Any]:
        """Return the entry as JSON data."""
        return dict(self._asdict())


def entry_from_json(data: Mapping[str, Any]) -> Entry:
    """Return the entry that was stored as ``data``."""
    return Entry(data["number"], data["tool"], data["arguments"], data["result"])


def result_digest(result: Result) -> str:
    """Return a short digest of everything an agent was told."""
    return hashlib.sha256(_written(result).encode()).hexdigest()[:_DIGEST_LENGTH]


def _written(result: Result) -> str:
    """Return the canonical JSON of an answer; its pages are written from their columns."""
    answer = result.answer
    if result.error is not None or not isinstance(answer, Mapping):
        return canonical(result.to_json_object())
    parts = (
        f"{canonical(name)}:{part.written() if isinstance(part, TablePage) else canonical(part)}"
        for name, part in sorted(answer.items())
    )
    rest = canonical({"notices": list(result.notices), "ok": result.ok, "time": dict(result.time)})
    return f'{{"data":{{{",".join(parts)}}},{rest[1:]}'


def recordable(arguments: Any) -> Any:
    """Return the arguments if they are JSON, else their text: it can be stored, and is refused just the same."""
    if is_too_deep(arguments):
        return TOO_DEEP
    try:
        _check(arguments)
    except (TypeError, ValueError):
        return json.dumps(arguments, default=repr, skipkeys=True)
    return arguments


def check_entry(written: Entry, found: Entry) -> None:
    """Raise if a call or its result is not what was written."""
    if written != found and _canonical(written) != _canonical(found):  # 1 is not 1.0 for the first alone
        diverged(written, found)


def diverged(written: Entry, found: object) -> NoReturn:
    """Raise for an entry that was not reproduced."""
    raise DivergedError(f"call {written.number}: the journal says {written}, the replay {found}")


def _canonical(entry: Entry) -> str:
    return canonical(entry.to_json_object())


def replay_calls(year: Year, entries: Iterable[Entry]) -> Year:
    """Repeat recorded calls on a new year and return it; any difference raises."""
    for written in entries:
        result = year.call(written.tool, written.arguments)
        check_entry(written, written._replace(result=result_digest(result)))
    return year


def year_digest(year: Year) -> str:
    """Return the digest of the whole state: equal digests mean equal years."""
    return state_digest(year.state)
