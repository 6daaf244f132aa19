"""How a command ends: which failures are expected, what is said about them, and the exit code."""

from __future__ import annotations

import signal

from experiments.cli.show import describe_errors, note

INTERRUPTED = 130
OVER_BUDGET = 4
NOTHING_SCORED = 3
BAD_INPUT = 2


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
        note(f"{error}\neverything finished is kept; the same command with a higher --budget-usd goes on from there")
        return OVER_BUDGET
    if isinstance(error, ServerUnusable):
        note(f"error: {error}\neverything finished is kept; once the server can be used, the same command goes on")
        return NOTHING_SCORED
    expected = (LocalModelError, SettingRefused, DamagedCacheError, UnusableCacheError, RunLockedError)
    # What came out of an agent has a note on it, and its author needs the traceback; a model's failures are ours.
    is_users = isinstance(error, ValueError | OSError) and not getattr(error, "__notes__", None)
    if not (is_users or isinstance(error, expected)):
        return None
    note(f"error: {describe_errors(error) if isinstance(error, ValidationError) else error}")
    return BAD_INPUT
