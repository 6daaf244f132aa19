"""Running a year into its folder: played, resumed after any interruption, and written down.

The transcript is the truth. Whatever stopped the process, the same command carries out its lines again, finds the store
in the same state, and goes on; what the agent's model had already answered is in ``model_calls.jsonl`` and is not paid
for again. The other files follow from the transcript once the year has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from commerce.metrics import tool_mix, year_metrics
from commerce.replay import Entry, entry_from_json, year_digest
from commerce.types import World
from commerce.year import Year
from experiments.engine.folder import RunError, differing_leaves
from experiments.llm.calls import MODEL_CALLS, spending_of
from experiments.llm.calls import read_calls as read_model_calls
from experiments.llm.errors import BudgetExceeded, ContextOverflow, ProviderError
from experiments.llm.spending import Spending
from experiments.storage.files import exclusive_lock, write_atomically
from experiments.storage.journal import JournalWriter, encode_line, encode_lines, read_journal
from experiments.years.seats import YearSeat, merchant_seat
from experiments.years.session import YearAgent, YearSession
from experiments.years.spec import YearSpec
from experiments.years.transcript import (
    OUTCOME,
    TRANSCRIPT,
    DayRecord,
    Line,
    Outcome,
    OutcomeRecord,
    read_outcome,
    read_transcript,
)
from terms.strict_json import strict_dumps, strict_loads

HEADER, STORE_CALLS, RESULT = "year.json", "store_calls.jsonl", "result.json"
DERIVED = (STORE_CALLS, RESULT)
"""What only a scored year has."""
LEFT, ENDED, OVERFLOWED = "the agent left before the end", "ended by the agent", "its context overflowed: "
"""What ``outcome.json`` says of a year that was scored although its session could have gone on."""
OnDay = Callable[[YearSpec, DayRecord], None]
"""Called with each morning that is reached, and at first with the last one of earlier sittings."""


class YearRun(NamedTuple):
    """A year in its folder: how its last sitting ended, and what ``result.json`` holds if it is scored."""

    folder: Path
    spec: YearSpec
    outcome: OutcomeRecord
    result: dict[str, Any] | None


def run_year(
    folder: str | Path, spec: YearSpec, seat: YearSeat | None = None, on_day: OnDay = lambda spec, day: None
) -> YearRun:
    """Play the year of ``spec`` into ``folder``, or finish it there.

    Parameters
    ----------
    seat
        Who plays, by default the merchant that ``spec`` names. A year that was scored is not played again.

    Raises
    ------
    RunError
        If ``folder`` holds another year.
    DivergedError
        If what is there cannot be reproduced.
    Stopped
        If the run is being interrupted; the same command goes on.
    """
    folder, seat = Path(folder), seat or merchant_seat(spec.merchant)
    folder.mkdir(parents=True, exist_ok=True)
    with exclusive_lock(folder):
        world = spec.build_world()
        spec = spec.model_copy(update={"world_digest": world.digest})
        open_header(folder, spec)
        before = read_outcome(folder)
        if before is not None and before.is_scored and (folder / RESULT).exists():
            return YearRun(folder, spec, before, read_year_result(folder))
        (folder / OUTCOME).unlink(missing_ok=True)
        with JournalWriter(folder / TRANSCRIPT) as journal, seat.seated(folder, spec) as agent:

            def write(*lines: Line) -> None:
                journal.append(*(line.model_dump(mode="json") for line in lines))
                for line in lines:
                    if isinstance(line, DayRecord):
                        on_day(spec, line)

            for day in read_transcript(folder).days[-1:]:
                on_day(spec, day)
            session = open_session(folder, spec, world, seat, write)
            outcome, detail = _play(agent, session)
        return conclude(folder, spec, session, outcome, detail)


def open_session(
    folder: Path, spec: YearSpec, world: World, seat: YearSeat, write: Callable[..., None] = lambda *lines: None
) -> YearSession:
    """Return the session of the year in ``folder``, its past carried out."""
    year = Year(world, spec.build_rules())
    written = read_transcript(folder)
    past = [] if written.opening is None else [written.opening, *written.lines]
    return YearSession(year, seat.opening(year.setting), seat.limits, write, past, seat.guard())


def _play(agent: YearAgent, session: YearSession) -> tuple[Outcome, str]:
    try:
        if not session.is_over or session.past_calls:  # a merchant goes through its past, also through a whole one
            agent.play(session)
    except ProviderError as error:
        return Outcome.PROVIDER_FAULT, str(error)
    except BudgetExceeded as error:
        return Outcome.BUDGET, str(error)
    except ContextOverflow as error:
        return Outcome.AGENT_FAULT, f"{OVERFLOWED}{error}"
    finally:
        session.flush()
    if session.outcome is None:
        return Outcome.AGENT_STOPPED, LEFT
    return session.outcome, session.detail


def conclude(folder: Path, spec: YearSpec, session: YearSession, outcome: Outcome, detail: str) -> YearRun:
    """Write what follows from the transcript of a sitting that is over; ``outcome.json`` comes last."""
    record, result = outcome_record(folder, session, outcome, detail), None
    if outcome.is_scored:
        session.year.stop()
        record = record.model_copy(update={"end": session.year.state.end})
        result = result_object(spec, session.year)
        write_atomically(folder / STORE_CALLS, calls_bytes(session.entries))
        write_atomically(folder / RESULT, (strict_dumps(result) + "\n").encode())
    else:
        for name in DERIVED:
            (folder / name).unlink(missing_ok=True)
    write_atomically(folder / OUTCOME, outcome_bytes(record))
    return YearRun(folder, spec, record, result)


def outcome_record(folder: Path, session: YearSession, outcome: Outcome, detail: str) -> OutcomeRecord:
    """Return what ``outcome.json`` says."""
    return OutcomeRecord(
        outcome=outcome,
        detail=detail,
        is_scored=outcome.is_scored,
        turns=session.num_turns,
        days=session.year.state.day,
        end=session.year.state.end,
        spending=year_spending(folder),
    )


def year_spending(folder: Path) -> Spending:
    """Return what the model calls of the year in ``folder`` cost, every sitting counted."""
    return spending_of(read_model_calls(folder / MODEL_CALLS))


def calls_bytes(entries: Sequence[Entry]) -> bytes:
    """Return the content of ``store_calls.jsonl``."""
    return encode_lines(entry.to_json_object() for entry in entries)


def outcome_bytes(record: OutcomeRecord) -> bytes:
    """Return the content of ``outcome.json``."""
    return (strict_dumps(record.model_dump(mode="json")) + "\n").encode()


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


def read_year_result(folder: Path) -> dict[str, Any]:
    """Return the numbers of the scored year in ``folder``."""
    found: dict[str, Any] = strict_loads((folder / RESULT).read_bytes())
    return found


def read_store_calls(folder: Path) -> list[Entry]:
    """Return the store calls of the scored year in ``folder``."""
    return [entry_from_json(row) for row in read_journal(folder / STORE_CALLS).rows]


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
