"""Running a year into its folder: played, resumed after any interruption, and written down.

The transcript is the truth. Whatever stopped the process, the same command carries out its lines again, finds the store
in the same state, and goes on; what the agent's model had already answered is in ``model_calls.jsonl`` and is not paid
for again. The other files follow from the transcript once a sitting has ended.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from experiments.engine.folder import RunError
from experiments.engine.header import Header, make_header
from experiments.engine.run import LOGS, load_run, opened, write_derived
from experiments.llm.errors import BudgetExceeded, ContextOverflow, ProviderError
from experiments.storage.files import write_atomically
from experiments.storage.journal import JournalWriter
from experiments.years.seats import YearSeat, merchant_seat
from experiments.years.sitting import YearAgent, YearSitting
from experiments.years.spec import YearSpec
from experiments.years.transcript import (
    OUTCOME,
    TRANSCRIPT,
    DayRecord,
    EndRecord,
    Line,
    Outcome,
    OutcomeRecord,
    Transcript,
    read_outcome,
)
from experiments.years.year_mode import (
    DERIVED,
    LEFT,
    MODE,
    OVERFLOWED,
    YearLog,
    YearMode,
    open_session,
    read_year_header,
    read_year_result,
)

OnDay = Callable[[YearSpec, DayRecord], None]
"""Called with each morning that is reached, and at first with the last one of earlier sittings."""


class YearRun(NamedTuple):
    """A year in its folder: how its last sitting ended, and what ``result.json`` holds if it is scored."""

    folder: Path
    header: Header[YearSpec]
    outcome: OutcomeRecord
    result: dict[str, Any] | None


def run_year(
    folder: str | Path, spec: YearSpec, seat: YearSeat | str, on_day: OnDay = lambda spec, day: None
) -> YearRun:
    """Play the year of ``spec`` into ``folder``, or finish it there; one that was scored is not played again.

    Parameters
    ----------
    seat
        Who plays; a name is that of a built-in merchant.

    Raises
    ------
    RunError
        If ``folder`` holds another run.
    DivergedError
        If what is there cannot be reproduced.
    Stopped
        If the run is being interrupted; the same command goes on.
    """
    folder, who = Path(folder), merchant_seat(seat) if isinstance(seat, str) else seat
    mode = YearMode(lambda header: who)
    header = make_header(MODE, who.name, spec, mode.digests(spec), who.settings)
    with opened(mode, folder, header):
        log = reopened(mode, folder)
        if log.is_complete:
            return concluded(mode, log)
        for day in log.transcript.days[-1:]:
            on_day(spec, day)
        with JournalWriter(folder / TRANSCRIPT) as journal, who.sit(folder) as seated:

            def write(*lines: Line) -> None:
                journal.append(*(line.model_dump(mode="json") for line in lines))
                for line in lines:
                    if isinstance(line, DayRecord):
                        on_day(spec, line)

            session = open_session(log, write, seated=seated)
            seated.begin(session)
            end = _play(seated.start(log.header), session)
            session.end(end)
        return concluded(mode, just_played(log, session, end))


def reopened(mode: YearMode, folder: Path) -> YearLog:
    """Read a year back that is to go on: the end of a sitting that was not scored is none any more."""
    log = load_run(mode, folder)
    end = log.transcript.end
    if end is None or not end.outcome.is_scored:
        for name in (*DERIVED, OUTCOME, LOGS):
            (folder / name).unlink(missing_ok=True)
    if end is not None and not end.outcome.is_scored:
        lines = (folder / TRANSCRIPT).read_bytes()
        last = lines.rfind(b"\n")
        write_atomically(folder / TRANSCRIPT, lines[: lines.rfind(b"\n", 0, last) + 1])
        log = replace(log, transcript=replace(log.transcript, end=None), torn=0)
    return log


def just_played(log: YearLog, session: YearSitting, end: EndRecord) -> YearLog:
    """Return the year that ``session`` has carried on from ``log`` to its ``end``; its lines are in the session."""
    return replace(log, transcript=Transcript(session.opening, end=end), played=session)


def concluded(mode: YearMode, log: YearLog) -> YearRun:
    """Return a year whose sitting has ended; what follows from its transcript is written unless it is there."""
    folder, end = log.folder, log.transcript.end
    assert end is not None
    needed = (OUTCOME, LOGS, *(DERIVED if end.outcome.is_scored else ()))
    if not all((folder / name).exists() for name in needed):
        write_derived(mode, folder, log)
    return read_played(folder)


def read_played(folder: Path) -> YearRun:
    """Return the year in ``folder``, whose last sitting has ended."""
    header, outcome = read_year_header(folder), read_outcome(folder)
    if outcome is None:
        raise RunError(f"{folder} holds an unfinished year; run the same command again")
    return YearRun(folder, header, outcome, read_year_result(folder) if outcome.is_scored else None)


def _play(agent: YearAgent, session: YearSitting) -> EndRecord:
    try:
        if not session.is_over or session.past_calls:  # a merchant goes through its past, also through a whole one
            agent.play(session)
    except ProviderError as error:
        return EndRecord(outcome=Outcome.PROVIDER_FAULT, detail=str(error))
    except BudgetExceeded as error:
        return EndRecord(outcome=Outcome.BUDGET, detail=str(error))
    except ContextOverflow as error:
        return EndRecord(outcome=Outcome.AGENT_FAULT, detail=f"{OVERFLOWED}{error}")
    finally:
        session.flush()
    if session.outcome is None:
        return EndRecord(outcome=Outcome.AGENT_STOPPED, detail=LEFT)
    return EndRecord(outcome=session.outcome, detail=session.detail)
