"""Refusals: an action that cannot be done says why, names the field, and has changed nothing."""

from __future__ import annotations

from commerce.types import Refusal


class RefusedError(Exception):
    """An agent's action cannot be done. It is data for the agent and never escapes a year."""

    def __init__(self, code: str, field: str | None, message: str) -> None:
        super().__init__(message)
        self.refusal = Refusal(code, field, message)
