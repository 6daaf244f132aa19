"""When a year ends though its calendar goes on."""

from __future__ import annotations

from pydantic import Field

from terms.config import Frozen


class Limits(Frozen):
    """Limits of a year: turns in all, and turns in a row without any tool call."""

    max_turns: int = Field(4000, ge=1, le=1_000_000)
    max_idle_turns: int = Field(3, ge=1)
