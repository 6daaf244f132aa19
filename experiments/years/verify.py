"""Checking a stored year without its merchant: replay every call and derive every number again."""

from __future__ import annotations

from pathlib import Path

from commerce.replay import DivergedError, replay
from commerce.year import Year
from experiments.episodes.folder import RunError
from experiments.storage.journal import DamagedJournalError, read_journal, strict_dumps
from experiments.years.agent_verify import verify_agent_year
from experiments.years.run import CALLS, RESULT, read_calls, read_spec, result_object


def verify_year(folder: str | Path) -> list[str]:
    """Return what is wrong with the year in ``folder``; an empty list means that every number was derived again."""
    folder = Path(folder)
    try:
        spec = read_spec(folder)
        if spec.agent_settings is not None:
            return verify_agent_year(folder, spec)
        if torn := read_journal(folder / CALLS).torn:
            return [f"{CALLS} ends in {torn} bytes of an unfinished line; run the same command again"]
        year = replay(Year(spec.build_world(), spec.build_rules()), read_calls(folder))
    except (DamagedJournalError, DivergedError, RunError, ValueError) as error:
        return [str(error)]
    path = folder / RESULT
    if not path.is_file():
        return [f"{RESULT} is missing; run the same command again"]
    year.stop()
    if path.read_bytes() != (strict_dumps(result_object(spec, year)) + "\n").encode():
        return [f"{RESULT} is not what the calls give"]
    return []
