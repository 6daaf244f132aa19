"""Years as a mode of the engine: the transcript is the log, and all else in a folder follows from it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from commerce.metrics import tool_mix, year_metrics
from commerce.procurement import SupplierDesk
from commerce.replay import Entry, entry_from_json, year_digest
from commerce.types import World
from commerce.year import Year
from experiments.engine.folder import RunError, holds, read_header
from experiments.engine.header import Header
from experiments.engine.task import ReadBack, Row
from experiments.llm.calls import MODEL_CALLS, read_calls, spending_of
from experiments.storage.journal import chain_start, encode_lines, read_journal
from experiments.years.seats import YearSeat
from experiments.years.sitting import YearSitting
from experiments.years.spec import WORLD, YearSpec
from experiments.years.supplier_words import SUPPLIER_WORDS, RecordedWords
from experiments.years.transcript import (
    OUTCOME,
    TRANSCRIPT,
    EndRecord,
    Outcome,
    OutcomeRecord,
    Transcript,
    TranscriptReader,
)
from terms.strict_json import strict_dumps, strict_loads

MODE = "year"
STORE_CALLS, RESULT = "store_calls.jsonl", "result.json"
DERIVED = (STORE_CALLS, RESULT)
"""What only a scored year has."""
LEFT, ENDED, OVERFLOWED = "the agent left before the end", "ended by the agent", "its context overflowed: "
"""Why a year was scored although its session could have gone on."""
_FROM_SESSION = (Outcome.FINISHED, Outcome.BANKRUPT)
"""What only the other lines can say."""
SeatOf = Callable[[Header[YearSpec]], YearSeat]


@dataclass(frozen=True, kw_only=True)
class YearLog(ReadBack[YearSpec]):
    """A year read back. ``played`` is its session where it was just played, else its lines are carried out again."""

    transcript: Transcript
    seat: YearSeat
    played: YearSitting | None = None

    @property
    def is_complete(self) -> bool:
        """Whether its last sitting has ended, scored or not."""
        return self.transcript.end is not None

    @property
    def left(self) -> str:
        """That the year goes on."""
        return "the year has not ended"

    @cached_property
    def session(self) -> YearSitting:
        """The year with all its lines carried out; raises ``DivergedError`` if one is not reproduced."""
        return self.played or open_session(self)

    @cached_property
    def derived(self) -> Mapping[str, bytes]:
        """The files that follow from the transcript."""
        end, session = self.transcript.end, self.session
        assert end is not None
        made: dict[str, bytes] = {}
        if end.outcome.is_scored:
            session.year.stop()
            start = chain_start(self.folder / STORE_CALLS)
            made[STORE_CALLS] = encode_lines([entry.to_json_object() for entry in session.entries], start)
            made[RESULT] = _json_line(result_object(self.header, session.year))
        return {**made, OUTCOME: _json_line(_outcome(self, end).model_dump(mode="json"))}


class YearMode:
    """See :class:`experiments.engine.task.StoredMode`; ``seat_of`` gives the seat by which an agent is checked."""

    mode = MODE
    log = TRANSCRIPT
    tables = ()
    spec_type = YearSpec

    def __init__(self, seat_of: SeatOf) -> None:
        self._seat_of = seat_of

    def digests(self, spec: YearSpec) -> dict[str, str]:
        """Return the hash of the world."""
        return {WORLD: spec.build_world().digest}

    def beside(self, spec: YearSpec) -> Mapping[str, bytes]:
        """Return nothing."""
        return {}

    def reader(self, header: Header[YearSpec]) -> YearReader:
        """Return a reader of the transcript."""
        return YearReader(header, self._seat_of(header))

    def check(self, run: YearLog) -> Iterator[str]:
        """Carry out every turn and call again; for a model derive every request: what it saw, and what had left."""
        run.seat.check(run.session, run.header)
        if run.transcript.opening is None:
            yield f"{TRANSCRIPT} has no opening; run the same command again"
        end = run.transcript.end
        if end is None:
            return
        yield from _end_findings(end, run.session)
        for name in () if end.outcome.is_scored else DERIVED:
            if (run.folder / name).exists():
                yield f"{name} is there although the year has no score"

    def results(self, run: YearLog) -> Mapping[str, bytes]:
        """Return how the year ended and, if it is scored, its store calls and its numbers."""
        return run.derived

    def receipts(self, run: YearLog) -> Iterable[Mapping[str, Any]]:
        """Return the call of every turn that a model of ours answered."""
        if "storekeeper" not in run.header.settings:
            return ()
        sent = (turn.sent for turn in run.transcript.turns if turn.sent is not None)
        return ({"attempts": [{"call_id": one.call_id, "text": "answered"}]} for one in sent)

    def extras(self, run: YearLog) -> Mapping[str, Iterable[str]]:
        """Return what is wrong with a ledger stored beside the year, and with suppliers' words of a model."""
        from experiments.years.ledger_file import YEAR_LEDGER, ledger_findings

        found: dict[str, Iterable[str]] = {}
        if os.path.lexists(run.folder / YEAR_LEDGER) and (run.folder / RESULT).is_file():
            found[YEAR_LEDGER] = ledger_findings(run.folder, read_year_result(run.folder))
        if "voice" in run.header.settings:
            desk = run.session.year.procurement
            voice = desk.voice if isinstance(desk, SupplierDesk) else None
            found[SUPPLIER_WORDS] = voice.findings() if isinstance(voice, RecordedWords) else ()
        return found


class YearReader:
    """Reads the transcript of a year."""

    def __init__(self, header: Header[YearSpec], seat: YearSeat) -> None:
        self._header, self._seat, self._lines = header, seat, TranscriptReader()

    def add(self, row: Row) -> None:
        """Take in a line."""
        self._lines.add(row)

    def done(self, folder: Path, torn: int) -> YearLog:
        """Return the year."""
        return YearLog(folder=folder, header=self._header, torn=torn, transcript=self._lines.done(), seat=self._seat)


def open_session(
    log: YearLog,
    write: Callable[..., None] = lambda *lines: None,
    world: World | None = None,
    seated: YearSeat | None = None,
) -> YearSitting:
    """Return the session of a year that was read back, its past carried out; without a ``world`` its own is built.

    ``seated`` is the seat of the log once it has sat down, if it has.
    """
    spec, seat, written = log.header.spec, log.seat, log.transcript
    voice = (seated or seat).supplier_voice(log.folder, log.header, is_playing=seated is not None)
    year = spec.build_year(world, SupplierDesk(voice))
    past = [] if written.opening is None else [written.opening, *written.lines]
    return YearSitting(year, seat.opening(year.setting), seat.limits, write, past, seat.guard())


def _outcome(run: YearLog, end: EndRecord) -> OutcomeRecord:
    """Return what ``outcome.json`` says."""
    session = run.session
    return OutcomeRecord(
        outcome=end.outcome,
        detail=end.detail,
        is_scored=end.outcome.is_scored,
        turns=session.num_turns,
        days=session.year.state.day,
        end=session.year.state.end,
        spending=spending_of(read_calls(run.folder / MODEL_CALLS)),
    )


def result_object(header: Header[YearSpec], year: Year) -> dict[str, Any]:
    """Return what ``result.json`` holds."""
    return {
        "agent": header.agent,
        "spec": header.spec.model_dump(mode="json"),
        "world_digest": header.digests[WORLD],
        "end": year.state.end,
        "state_digest": year_digest(year),
        "metrics": {name: {"value": m.value, "n": m.n} for name, m in year_metrics(year).items()},
        "tools": tool_mix(year.state),
        "days": year.state.history,
    }


def read_year_result(folder: Path) -> dict[str, Any]:
    """Return the numbers of the scored year in ``folder``."""
    found: dict[str, Any] = strict_loads((folder / RESULT).read_bytes())
    return found


def read_store_calls(folder: Path) -> list[Entry]:
    """Return the store calls of the scored year in ``folder``."""
    return [entry_from_json(row) for row in read_journal(folder / STORE_CALLS).rows]


def is_year(folder: Path) -> bool:
    """Whether ``folder`` holds a year; a header that cannot be read says nothing."""
    return holds(folder, MODE)


def read_year_header(folder: Path) -> Header[YearSpec]:
    """Return what the year in ``folder`` is a year of."""
    return read_header(folder, MODE, YearSpec)


def read_todays_header(folder: Path) -> Header[YearSpec]:
    """Return the header of a year that was played by the rules of this version.

    Raises
    ------
    RunError
        If they were of another version: that is another game under the same name, and no number of it belongs beside
        one of today's.
    """
    header = read_year_header(folder)
    try:
        header.spec.build_rules()
    except ValueError as error:
        raise RunError(f"{folder}: {error}") from error
    return header


def _json_line(value: object) -> bytes:
    return (strict_dumps(value) + "\n").encode()


def _end_findings(end: EndRecord, session: YearSitting) -> Iterator[str]:
    """Yield where the last line and the others disagree; what the others say leaves no choice."""
    found = session.outcome
    if found is not None and (end.outcome, end.detail) != (found, session.detail):
        yield f"{TRANSCRIPT} ends as {end.outcome} ({end.detail!r:.200}), its turns as {found} ({session.detail})"
    if found is None and (end.outcome in _FROM_SESSION or not _is_known(end)):
        yield f"{TRANSCRIPT} ends as {end.outcome} ({end.detail!r:.200}), and its turns could go on"


def _is_known(end: EndRecord) -> bool:
    """Whether the reason is one that is written; a provider's own words can be any."""
    if end.outcome is Outcome.AGENT_FAULT:
        return end.detail.startswith(OVERFLOWED)
    return end.outcome.is_scored == (end.detail in (LEFT, ENDED))
