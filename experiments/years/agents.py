"""Running an agent's year into its folder: played, resumed after any interruption, and checked without the agent.

The transcript is the truth. Whatever stopped the process, the same command carries out its turns again, finds the store
in the same state, and goes on; what the agent's model had already answered is in ``model_calls.jsonl`` and is not paid
for again. The other files follow from the transcript once the year has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from commerce.replay import Entry
from commerce.year import Year
from experiments.llm.calls import read_calls, spending_of
from experiments.llm.errors import BudgetExceeded, ContextOverflow, ProviderError
from experiments.llm.spending import Spending
from experiments.storage.files import exclusive_lock, write_atomically
from experiments.storage.journal import JournalWriter, encode_line, strict_dumps
from experiments.years.briefing import make_opening
from experiments.years.limits import Limits
from experiments.years.run import CALLS, RESULT, open_header, result_object
from experiments.years.session import Guard, YearAgent, YearSession
from experiments.years.spec import YearSpec
from experiments.years.transcript import (
    MODEL_CALLS,
    OUTCOME,
    TRANSCRIPT,
    DayRecord,
    Line,
    Outcome,
    OutcomeRecord,
    read_outcome,
    read_transcript,
)


class YearSeat(Protocol):
    """An agent before it sits down: settings only, so that it can be named and compared before a file is touched."""

    @property
    def name(self) -> str:
        """Name of its row."""
        ...

    @property
    def limits(self) -> Limits:
        """Limits of its sessions."""
        ...

    def briefing_extra(self, tools: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        """Return what its briefing says beside the rules; see :func:`experiments.years.briefing.briefing`."""
        ...

    def guard(self) -> Guard | None:
        """Return what stands before the store, if anything."""
        ...

    def seated(self, folder: Path, spec: YearSpec) -> AbstractContextManager[YearAgent]:
        """Sit down in the folder of a year: open files, connect, and yield the agent."""
        ...

    def check(self, session: YearSession, spec: YearSpec) -> None:
        """Make sure that the past of ``session`` is what this agent was sent; raises ``DivergedError``."""
        ...


@dataclass(frozen=True)
class PlainSeat:
    """The seat of an agent that keeps no files: any :class:`YearAgent`, or ``None`` for checking what it did."""

    name: str
    agent: YearAgent | None = None
    limits: Limits = field(default_factory=Limits)

    def briefing_extra(self, tools: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        """Return nothing beside the rules."""
        return {}

    def guard(self) -> Guard | None:
        """Return no guard."""
        return None

    @contextmanager
    def seated(self, folder: Path, spec: YearSpec) -> Iterator[YearAgent]:
        """Yield the agent."""
        if self.agent is None:
            raise TypeError(f"{self.name} has no agent and cannot play")
        yield self.agent

    def check(self, session: YearSession, spec: YearSpec) -> None:
        """Accept any past: what the agent was sent is its own affair."""

    @property
    def settings_object(self) -> dict[str, Any]:
        """Return what pins the agent beyond its name."""
        return {"limits": self.limits.model_dump(mode="json")}


DERIVED = (CALLS, RESULT)
"""What only a scored year has."""
LEFT, ENDED, OVERFLOWED = "the agent left before the end", "ended by the agent", "its context overflowed: "
"""What ``outcome.json`` says of a year that was scored although its session could have gone on."""
OnDay = Callable[[YearSpec, DayRecord], None]
"""Called with each morning that is reached, and at first with the last one of earlier sittings."""


def run_agent_year(
    folder: str | Path, spec: YearSpec, seat: YearSeat, on_day: OnDay = lambda spec, day: None
) -> OutcomeRecord:
    """Play the year of ``spec`` with the agent of ``seat`` into ``folder``, or finish it there.

    Returns
    -------
    OutcomeRecord
        How this sitting ended; only a scored one left a ``result.json``. A year that was scored is not played again.

    Raises
    ------
    RunError
        If ``folder`` holds another year.
    DivergedError
        If what is there cannot be reproduced.
    Stopped
        If the run is being interrupted; the same command goes on.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with exclusive_lock(folder):
        spec = spec.model_copy(update={"world_digest": spec.build_world().digest})
        open_header(folder, spec)
        before = read_outcome(folder)
        if before is not None and before.is_scored and (folder / RESULT).exists():
            return before
        (folder / OUTCOME).unlink(missing_ok=True)
        with JournalWriter(folder / TRANSCRIPT) as journal, seat.seated(folder, spec) as agent:

            def write(*lines: Line) -> None:
                journal.append(*map(_row, lines))
                for line in lines:
                    if isinstance(line, DayRecord):
                        on_day(spec, line)

            for day in read_transcript(folder).days[-1:]:
                on_day(spec, day)
            session = open_session(folder, spec, seat, write)
            outcome, detail = _play(agent, session)
        return conclude(folder, spec, session, outcome, detail)


def open_session(
    folder: Path, spec: YearSpec, seat: YearSeat, write: Callable[..., None] = lambda *lines: None
) -> YearSession:
    """Return the session of the year in ``folder``, its past carried out."""
    year = Year(spec.build_world(), spec.build_rules())
    plain = make_opening(seat.name, year.setting, seat.limits)
    opening = make_opening(seat.name, year.setting, seat.limits, seat.briefing_extra(plain.tools))
    written = read_transcript(folder)
    past = [] if written.opening is None else [written.opening, *written.lines]
    return YearSession(year, opening, seat.limits, write, past, seat.guard())


def _row(line: Line) -> dict[str, Any]:
    return line.model_dump(mode="json")


def _play(agent: YearAgent, session: YearSession) -> tuple[Outcome, str]:
    try:
        if not session.is_over:
            agent.play(session)
    except ProviderError as error:
        return Outcome.PROVIDER_FAULT, str(error)
    except BudgetExceeded as error:
        return Outcome.BUDGET, str(error)
    except ContextOverflow as error:
        return Outcome.AGENT_FAULT, f"{OVERFLOWED}{error}"
    if session.outcome is None:
        return Outcome.AGENT_STOPPED, LEFT
    return session.outcome, session.detail


def conclude(folder: Path, spec: YearSpec, session: YearSession, outcome: Outcome, detail: str) -> OutcomeRecord:
    """Write what follows from the transcript of a sitting that is over; ``outcome.json`` comes last."""
    record = outcome_record(folder, session, outcome, detail)
    if outcome.is_scored:
        session.year.stop()
        record = record.model_copy(update={"end": session.year.state.end})
        write_atomically(folder / CALLS, calls_bytes(session.entries))
        write_atomically(folder / RESULT, (strict_dumps(result_object(spec, session.year)) + "\n").encode())
    else:
        for name in DERIVED:
            (folder / name).unlink(missing_ok=True)
    write_atomically(folder / OUTCOME, outcome_bytes(record))
    return record


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
    return spending_of(read_calls(folder / MODEL_CALLS))


def calls_bytes(entries: Sequence[Entry]) -> bytes:
    """Return the content of ``calls.jsonl``."""
    return b"".join(encode_line(entry.to_json_object()) for entry in entries)


def outcome_bytes(record: OutcomeRecord) -> bytes:
    """Return the content of ``outcome.json``."""
    return (strict_dumps(record.model_dump(mode="json")) + "\n").encode()
