"""When to send, and whether to send at all.

The rate limit, a pause all threads share after HTTP 429, and the wait between tries; and failures that every further
call would meet, which end a run after a few. The first failure of each kind is told at once, as a warning of this
module's logger: a run of an hour must not end with the news that its key was wrong.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from experiments.llm.errors import ModelCallError, ProviderError, ServerUnusable

_FIRST_WAIT_S = 0.5
_LONGEST_UNASKED_WAIT_S = 30.0


@dataclass(frozen=True)
class Timing:
    """Clocks, sleep and jitter, so that tests can wait without waiting."""

    clock: Callable[[], float] = time.monotonic
    wall_clock: Callable[[], float] = time.time
    sleep: Callable[[float], object] = time.sleep
    rng: random.Random = field(default_factory=random.Random)


def wait_before_retry(error: ProviderError, num_failed: int, rng: random.Random) -> float:
    """Return seconds to wait: what the server asked, else 0.5 s doubled for each failed try, at most 30 s; jittered.

    The jitter shortens an own wait by up to half and lengthens an asked one by up to a quarter of the own wait, so that
    threads refused together do not come back together and none comes back too early.
    """
    own: float = min(_FIRST_WAIT_S * 2.0 ** (num_failed - 1), _LONGEST_UNASKED_WAIT_S)
    if error.retry_after is None:
        return own * (1 - rng.random() / 2)
    return error.retry_after + own * rng.random() / 4


class Pacer:
    """Spaces requests evenly to keep a rate, for all threads of a client."""

    def __init__(self, requests_per_minute: float | None, timing: Timing) -> None:
        self._interval = 60 / requests_per_minute if requests_per_minute else 0.0
        self._timing = timing
        self._lock = threading.Lock()
        self._next = self._paused_until = float("-inf")

    def wait(self) -> None:
        """Return when the next request may be sent."""
        while True:
            with self._lock:
                now = self._timing.clock()
                start = max(self._next, self._paused_until)
                if start <= now:
                    self._next = now + self._interval
                    return
            self._timing.sleep(start - now)

    def pause(self, seconds: float) -> None:
        """Let no thread send for ``seconds``; a shorter pause does not cut a longer one."""
        with self._lock:
            self._paused_until = max(self._paused_until, self._timing.clock() + seconds)


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
