"""Running a year into a folder: ``year.json`` (what it is), ``calls.jsonl`` (its calls), ``result.json`` (its numbers).

Calls are written a day at a time. A killed run is resumed by the same command: the merchant plays again from the start,
every call it made before is compared with the journal, and what is missing is added, so the finished files are
byte for byte those of an unbroken run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from commerce.merchants import Merchant, build_merchant
from commerce.metrics import tool_mix, year_metrics
from commerce.replay import Entry, RecordedYear, entry_from_json, year_digest
from commerce.year import Result, Year
from experiments.episodes.folder import RunError, differing_leaves
from experiments.storage.files import exclusive_lock, write_atomically
from experiments.storage.journal import JournalWriter, encode_line, read_journal, strict_dumps
from experiments.years.spec import YearSpec

HEADER, CALLS, RESULT = "year.json", "calls.jsonl", "result.json"


def run_year(folder: str | Path, spec: YearSpec, merchant: Merchant | None = None) -> dict[str, Any]:
    """Play the year of ``spec`` into ``folder``, or finish it there, and return its result.

    ``merchant`` replaces the one that ``spec.merchant`` names; it must make the same calls when it is run again.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with exclusive_lock(folder):
        world, rules = spec.build_world(), spec.build_rules()
        spec = spec.model_copy(update={"world_digest": world.digest})
        open_header(folder, spec)
        past = read_calls(folder)
        player = merchant or build_merchant(spec.merchant, world, rules, spec.merchant_seed)
        year = Year(world, rules)
        with JournalWriter(folder / CALLS) as journal:
            writer = _DailyWriter(journal)
            recorded = RecordedYear(year, writer.add, past)
            player(lambda tool, arguments: writer.after(recorded.call(tool, arguments), year.state.day))
            recorded.finish()
            writer.flush()
        result = result_object(spec, year)
        write_atomically(folder / RESULT, (strict_dumps(result) + "\n").encode())
    return result


class _DailyWriter:
    """Collects entries and writes them once a day."""

    def __init__(self, journal: JournalWriter) -> None:
        self._journal, self._rows, self._day = journal, list[dict[str, Any]](), 0

    def add(self, entry: Entry) -> None:
        self._rows.append(entry.to_json_object())

    def after(self, result: Result, day: int) -> Result:
        if day != self._day:
            self._day = day
            self.flush()
        return result

    def flush(self) -> None:
        if self._rows:
            self._journal.append(*self._rows)
            self._rows = []


def read_calls(folder: Path) -> list[Entry]:
    """Return the calls in the journal of ``folder``."""
    return [entry_from_json(row) for row in read_journal(folder / CALLS).rows]


def is_year(folder: Path) -> bool:
    """Whether ``folder`` holds a year and not a run of episodes."""
    return (folder / HEADER).exists()


def read_spec(folder: Path) -> YearSpec:
    """Return what the year in ``folder`` is a year of."""
    rows = read_journal(folder / HEADER).rows
    if len(rows) != 1:
        raise RunError(f"{folder} is not the folder of a year: it has no readable {HEADER}")
    return YearSpec.model_validate(rows[0])


def open_header(folder: Path, spec: YearSpec) -> None:
    """Write the header first, or make sure that the one that is there describes the same year."""
    if not (folder / HEADER).exists():
        write_atomically(folder / HEADER, encode_line(spec.to_json_object()))
        return
    before, now = read_spec(folder).to_json_object(), spec.to_json_object()
    differing = differing_leaves(before, now)
    if differing:
        raise RunError(f"{folder} holds another year ({'; '.join(differing)[:600]}); choose another folder")


def result_object(spec: YearSpec, year: Year) -> dict[str, Any]:
    """Return what ``result.json`` holds."""
    return {
        "spec": spec.to_json_object(),
        "end": year.state.end,
        "state_digest": year_digest(year),
        "metrics": {name: {"value": m.value, "n": m.n} for name, m in year_metrics(year).items()},
        "tools": tool_mix(year.state),
        "days": year.state.history,
    }
