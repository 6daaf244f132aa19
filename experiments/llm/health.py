"""Whether a server can be used at all: failures that every further call would meet end a run after a few.

The first failure of each kind is told at once, as a warning of this module's logger: a run of an hour must not end with
the news that its key was wrong.
"""

from __future__ import annotations

import logging
import threading

from experiments.llm.errors import ModelCallError, ProviderError, ServerUnusable

MOST_LASTING = 3
"""Calls in a row that may be lost to a failure that lasts."""
_LOGGER = logging.getLogger(__name__)


class ServerHealth:
    """Counts for all threads of a client; ``where`` names the server in what is told."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._lock = threading.Lock()
        self._in_a_row = 0
        self._told: set[str] = set()
        self.has_answered = False

    def answered(self) -> None:
        """Take in that a call got its reply."""
        with self._lock:
            self._in_a_row, self.has_answered = 0, True

    def lost(self, error: ProviderError) -> ModelCallError:
        """Take in that a call was lost, and return what to raise for it."""
        with self._lock:
            self._in_a_row = self._in_a_row + 1 if error.is_lasting else 0
            is_over = self._in_a_row >= MOST_LASTING
        self.tell(type(error).__name__, f"{self._where}: {error}")
        return ServerUnusable(f"{self._where} cannot be used: {error}") if is_over else error

    def tell(self, kind: str, text: str) -> None:
        """Show a text to whoever runs this, once for each kind."""
        with self._lock:
            is_new = kind not in self._told
            self._told.add(kind)
        if is_new:
            _LOGGER.warning("%s", text)
