"""Checking a stored year without its agent: carry out every line again and derive everything that follows from it."""

from __future__ import annotations

from pathlib import Path

from commerce.replay import DivergedError
from experiments.engine.folder import RunError
from experiments.storage.journal import DamagedJournalError
from experiments.storekeeper.seat import storekeeper_seat
from experiments.years.limits import Limits
from experiments.years.run import (
    DERIVED,
    ENDED,
    LEFT,
    OVERFLOWED,
    RESULT,
    STORE_CALLS,
    calls_bytes,
    open_session,
    outcome_bytes,
    outcome_record,
    read_spec,
    result_object,
)
from experiments.years.seats import MerchantSeat, PlainSeat, YearSeat
from experiments.years.session import YearSession
from experiments.years.spec import YearSpec
from experiments.years.transcript import OUTCOME, TRANSCRIPT, Outcome, OutcomeRecord, read_outcome, read_transcript
from terms.strict_json import strict_dumps

_FROM_SESSION = (Outcome.FINISHED, Outcome.BANKRUPT)
"""What only the lines of the transcript can say."""


def verify_year(folder: str | Path) -> list[str]:
    """Return what is wrong with the year in ``folder``; an empty list means that every number was derived again.

    Every answer to the agent is derived again, and for a model every request: what stood in its context, what had left
    it, and what was added. A year that may still go on is checked as far as it went.
    """
    folder = Path(folder)
    try:
        return _check_year(folder, read_spec(folder))
    except (DamagedJournalError, DivergedError, RunError, ValueError) as error:
        return [str(error)]


def _check_year(folder: Path, spec: YearSpec) -> list[str]:
    if torn := read_transcript(folder).torn:
        return [f"{TRANSCRIPT} ends in {torn} bytes of an unfinished line; run the same command again"]
    written = read_outcome(folder)
    if written is None:
        return [f"{OUTCOME} is missing; run the same command again"]
    seat = checking_seat(spec)
    session = open_session(folder, spec, spec.build_world(), seat)
    seat.check(session, spec)
    return _check_files(folder, spec, session, written)


def checking_seat(spec: YearSpec) -> YearSeat:
    """Return the seat of a stored year's agent, good for checking only."""
    settings = spec.agent_settings
    if settings is None:
        return MerchantSeat(spec.merchant)
    if "storekeeper" in settings:
        return storekeeper_seat(spec)
    return PlainSeat(spec.merchant, limits=Limits.model_validate(settings.get("limits", {})))


def _check_files(folder: Path, spec: YearSpec, session: YearSession, written: OutcomeRecord) -> list[str]:
    found = session.outcome
    if not _may_be(written, found):
        return [f"{OUTCOME} says {written.outcome}, the transcript says {found or 'that the year could go on'}"]
    if found is None and not _is_known(written):
        return [f"{OUTCOME} says {written.detail!r:.200}, which no {written.outcome} is"]
    detail = written.detail if found is None else session.detail
    expected = outcome_record(folder, session, written.outcome, detail)
    made: dict[str, bytes] = {}
    if written.is_scored:
        session.year.stop()
        expected = expected.model_copy(update={"end": session.year.state.end})
        result = strict_dumps(result_object(spec, session.year)) + "\n"
        made = {STORE_CALLS: calls_bytes(session.entries), RESULT: result.encode()}
    made[OUTCOME] = outcome_bytes(expected)
    left = [name for name in DERIVED if name not in made and (folder / name).exists()]
    return [
        f"{name} is not what the transcript gives" for name, data in made.items() if _differs(folder / name, data)
    ] + [f"{name} is there although {OUTCOME} says that the year has no score" for name in left]


def _may_be(written: OutcomeRecord, found: Outcome | None) -> bool:
    """Whether a year can have ended as it is written; what the transcript says leaves no choice."""
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
