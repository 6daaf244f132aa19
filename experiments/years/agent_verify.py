"""Checking an agent's year without its model: carry out every turn again and derive everything that follows from it."""

from __future__ import annotations

from pathlib import Path

from experiments.runs.journal import strict_dumps
from experiments.storekeeper.seat import seat_of
from experiments.years.agents import (
    PlainSeat,
    YearSeat,
    calls_bytes,
    open_session,
    outcome_bytes,
    outcome_record,
)
from experiments.years.limits import Limits
from experiments.years.run import CALLS, RESULT, result_object
from experiments.years.session import YearSession
from experiments.years.spec import YearSpec
from experiments.years.transcript import OUTCOME, TRANSCRIPT, Outcome, OutcomeRecord, read_outcome, read_transcript

_FROM_SESSION = (Outcome.FINISHED, Outcome.BANKRUPT)


def verify_agent_year(folder: Path, spec: YearSpec) -> list[str]:
    """Return what is wrong with the year in ``folder``; raises ``DivergedError`` for a turn that is not reproduced.

    Every answer to the agent is derived again, and for a model every request: what stood in its context, what had left
    it, and what was added. A year that may still go on is checked as far as it went.
    """
    if torn := read_transcript(folder).torn:
        return [f"{TRANSCRIPT} ends in {torn} bytes of an unfinished line; run the same command again"]
    written = read_outcome(folder)
    if written is None:
        return [f"{OUTCOME} is missing; run the same command again"]
    seat = checking_seat(spec)
    session = open_session(folder, spec, seat)
    seat.check(session, spec)
    return _check_files(folder, spec, session, written)


def checking_seat(spec: YearSpec) -> YearSeat:
    """Return the seat of a stored year's agent, good for checking only."""
    settings = spec.agent_settings or {}
    if "storekeeper" in settings:
        return seat_of(spec)
    return PlainSeat(spec.merchant, limits=Limits.model_validate(settings.get("limits", {})))


def _check_files(folder: Path, spec: YearSpec, session: YearSession, written: OutcomeRecord) -> list[str]:
    found = session.outcome
    if (written.outcome in _FROM_SESSION or found in _FROM_SESSION) and written.outcome != found:
        return [f"{OUTCOME} says {written.outcome}, the turns say {found or 'that the year could go on'}"]
    expected = outcome_record(folder, session, written.outcome, written.detail)
    made: dict[str, bytes] = {}
    if written.is_scored:
        session.year.stop()
        expected = expected.model_copy(update={"end": session.year.state.end, "days": written.days})
        result = strict_dumps(result_object(spec, session.year)) + "\n"
        made = {CALLS: calls_bytes(session.entries), RESULT: result.encode()}
    made[OUTCOME] = outcome_bytes(expected)
    return [f"{name} is not what the turns give" for name, data in made.items() if _differs(folder / name, data)]


def _differs(path: Path, data: bytes) -> bool:
    return not path.is_file() or path.read_bytes() != data
