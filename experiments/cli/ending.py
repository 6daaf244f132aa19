"""How a command ends: which failures are expected, what is said about them, and the exit code."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

from experiments.cli.show import describe_errors, note, one_line

DONE, FAILED, BAD_INPUT, NOTHING_SCORED, OVER_BUDGET, INTERRUPTED = 0, 1, 2, 3, 4, 130
EXIT_CODES = {
    DONE: "done",
    FAILED: "what was checked failed; or a fault in an agent of your own, with its traceback",
    BAD_INPUT: "bad input",
    NOTHING_SCORED: "nothing could be scored, or the server cannot be used",
    OVER_BUDGET: "spending ceiling reached",
    INTERRUPTED: "interrupted",
}
"""What every command's exit code means; after the last two the same command goes on."""


def exit_code(error: BaseException) -> int | None:
    """Say what ended the command and return its exit code; ``None`` if ``error`` is to be raised again."""
    if isinstance(error, KeyboardInterrupt | SystemExit):
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # all is on the disk: once more ends it without a traceback
        note("interrupted; everything finished is kept, the same command goes on from there")
        return INTERRUPTED
    from pydantic import ValidationError

    from experiments.llm.calls import DamagedCacheError, UnusableCacheError
    from experiments.llm.errors import BudgetExceeded, ServerUnusable, SettingRefused
    from experiments.players.local import LocalModelError
    from experiments.storage.files import RunLockedError

    if isinstance(error, BudgetExceeded):
        note(one_line(str(error)))
        note("everything finished is kept; the same command with a higher --budget-usd goes on from there")
        return OVER_BUDGET
    if isinstance(error, ServerUnusable):
        note(one_line(f"error: {error}"))
        note("everything finished is kept; once the server can be used, the same command goes on")
        return NOTHING_SCORED
    expected = (LocalModelError, SettingRefused, DamagedCacheError, UnusableCacheError, RunLockedError)
    # What came out of an agent has a note on it, and its author needs the traceback; a model's failures are ours.
    is_users = isinstance(error, ValueError | OSError) and not getattr(error, "__notes__", None)
    if not (is_users or isinstance(error, expected)):
        return None
    said = describe_errors(error) if isinstance(error, ValidationError) else _in_words(error)
    note(one_line(f"error: {_naming_option(said, sys.argv) if is_users else said}"))
    return BAD_INPUT


def _in_words(error: BaseException) -> str:
    """Return a failure in words, that of the system without its number."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        other = "" if error.filename2 is None else f" -> {os.fsdecode(error.filename2)!r}"
        name = error.filename if isinstance(error.filename, int) else os.fsdecode(error.filename)
        return f"{name!r}{other}: {error.strerror}"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error)


def _naming_option(said: str, args: Sequence[str]) -> str:
    """Put the option in front of what is said about its value, where it is not named: of a file that cannot be read."""
    for place, arg in enumerate(args):
        option, is_joined, value = arg.partition("=")
        if not option.startswith("--"):
            continue
        value = value if is_joined else " ".join(args[place + 1 : place + 2])
        parts = (value, os.path.normpath(value), value.partition(":")[2], value.partition("=")[2])
        is_about = any(repr(part) in said or (_is_telling(part) and part in said) for part in parts if part)
        if is_about and option.lstrip("-").replace("-", "_") not in said.replace("-", "_"):
            return f"{option}: {said}"
    return said


def _is_telling(value: str) -> bool:
    """Whether a value would stand in a message by no accident."""
    return len(value) >= 4 or not value.isalnum()
