"""What can be wrong with a request: one exception class, with everything that is told about it."""

from __future__ import annotations

import logging
import secrets
from typing import Any

logger = logging.getLogger("terms.serve")


class RequestError(ValueError):
    """A request that is refused and has changed nothing.

    Parameters
    ----------
    status
        The HTTP status that says it.
    code
        A word for programs.
    message
        A sentence for people: the field, the value, what is allowed.
    field
        The field of the request that is wrong, if it is one.
    facts
        Further fields of the answer.
    """

    def __init__(self, status: int, code: str, message: str, *, field: str | None = None, **facts: Any) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.field, self.facts = status, code, message, field, facts

    def to_json_object(self) -> dict[str, Any]:
        """Return the body of the answer."""
        return {"error": {"code": self.code, "field": self.field, "message": self.message, **self.facts}}


def unknown_session(session_id: str) -> RequestError:
    """Return the fault of a session nobody opened."""
    shown = session_id if len(session_id) <= 80 else f"{session_id[:77]}..."
    return RequestError(404, "unknown_session", f"session={shown!r} was never opened here", field="session")


def wrong_turn(given: int, expected: int) -> RequestError:
    """Return the fault of a turn that is not the next one."""
    message = f"turn={given} is not the next turn, {expected}; nothing was done"
    return RequestError(409, "wrong_turn", message, field="turn", expected_turn=expected)


def log_error(where: str, error: Exception) -> RequestError:
    """Log an exception and return what is told of it: the number under which the log has it, and nothing else."""
    number = secrets.token_hex(6)
    logger.error("error %s in %s", number, where, exc_info=error)
    return RequestError(500, "internal_error", f"the server failed; its log has error {number}")
