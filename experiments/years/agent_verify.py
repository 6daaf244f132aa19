"""Checking an agent's year without its model: carry out every turn again and derive everything that follows from it."""

from __future__ import annotations

from pathlib import Path

from experiments.storage.journal import strict_dumps
from experiments.storekeeper.seat import seat_of
from experiments.years.agents import (
    DERIVED,
    ENDED,
    LEFT,
    OVERFLOWED,
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
"""What only the turns can say."""


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
    if not _may_be(written, found):
        return [f"{OUTCOME} says {written.outcome}, the turns say {found or 'that the year could go on'}"]
    if found is None and not _is_known(written):
        return [f"{OUTCOME} says {written.detail!r:.200}, which no {written.outcome} is"]
    detail = written.detail if found is None else session.detail
    expected = outcome_record(folder, session, written.outcome, detail)
    made: dict[str, bytes] = {}
    if written.is_scored:
        session.year.stop()
        expected = expected.model_copy(update={"end": session.year.state.end})
        result = strict_dumps(result_object(spec, session.year)) + "\n"
        made = {CALLS: calls_bytes(session.entries), RESULT: result.encode()}
    made[OUTCOME] = outcome_bytes(expected)
    left = [name for name in DERIVED if name not in made and (folder / name).exists()]
    return [f"{name} is not what the turns give" for name, data in made.items() if _differs(folder / name, data)] + [
        f"{name} is there although {OUTCOME} says that the year has no score" for name in left
    ]


def _may_be(written: OutcomeRecord, found: Outcome | None) -> bool:
    """Whether a year can have ended as it is written; what the turns say leaves no choice."""
    if found is not None:
        return written.outcome == found
    return written.outcome not in _FROM_SESSION


def _is_known(written: OutcomeRecord) -> bool:
    """Whether the reason is one that is written; a provider's own words can be any."""
    if written.outcome is Outcome.AGENT_FAULT:
        return written.detail.startswith(OVERFLOWED)
    return written.is_scored == (written.detail in (LEFT, ENDED))


def _differs(path: Path, data: bytes) -> bool:
    return not path.is_file() or path.read_bytes() != data
