"""All years that are being served, by agent and run."""

from __future__ import annotations

import re
import threading
import time

from commerce.replay import DivergedError
from experiments.engine.folder import RunError
from experiments.serving.served_year import ServedYear
from experiments.serving.settings import AGENT_NAME, MAX_RUN, ServeSettings
from experiments.serving.wire import RequestError, logger, unknown_session
from experiments.serving.worlds import Worlds
from experiments.storage.files import ClosesItself, RunLockedError

IDLE_SECONDS = 60.0
"""A year that is played more often than that keeps its place: taking it up again means to carry out all its turns."""


class ServedYears(ClosesItself):
    """The years of one server. Sessions are found on disk again after a restart; closing leaves everything there.

    ``workers`` processes build their worlds; without any they are built here.
    """

    def __init__(self, settings: ServeSettings, workers: int = 0) -> None:
        self.settings = settings
        self._worlds = Worlds(workers)
        self._worlds.warm_up()
        self._changed = threading.Condition()
        self._years: dict[str, ServedYear] = {}
        self._coming: set[str] = set()

    def open(self, agent: str, run: int) -> ServedYear:
        """Return the year of ``agent`` and ``run``, begun now if there is none.

        Raises
        ------
        RequestError
            If the agent's name cannot be one or is not one that may play, or too many years are going on.
        """
        if not re.fullmatch(AGENT_NAME, agent) or not 0 <= run <= MAX_RUN:
            message = (
                f"agent={agent!r:.80}, run={run}: a name needs up to 64 letters, digits, . _ - and run 0 to {MAX_RUN}"
            )
            raise RequestError(422, "invalid_request", message, field="agent")
        if self.settings.agents and agent not in self.settings.agents:
            raise RequestError(403, "unknown_agent", f"agent={agent!r} may not play here", field="agent")
        name = f"{agent}:{run}"
        with self._changed:
            while name in self._coming:  # one year at a time is taken up under each name, and nobody else waits for it
                self._changed.wait()
            if name in self._years:
                return self._years[name]
            self._make_room()
            self._coming.add(name)
        try:
            year = self._take_up(agent, run)
            with self._changed:
                self._years[name] = year
        finally:
            with self._changed:
                self._coming.discard(name)
                self._changed.notify_all()
        return year

    def get(self, session: str) -> ServedYear:
        """Return a year that was opened before, by this server or by one before it."""
        with self._changed:
            found = self._years.get(session)
        if found is not None:
            return found
        agent, _, run = session.rpartition(":")
        is_name = re.fullmatch(AGENT_NAME, agent) and re.fullmatch("0|[1-9][0-9]{0,3}", run)
        if not is_name or not self.settings.folder(agent, int(run)).is_dir():
            raise unknown_session(session)
        return self.open(agent, int(run))

    def close(self) -> None:
        """Let go of all folders."""
        with self._changed:
            for year in self._years.values():
                year.close()
            self._years.clear()
        self._worlds.close()

    def _take_up(self, agent: str, run: int) -> ServedYear:
        try:
            return ServedYear(self.settings, agent, run, self._worlds)
        except RunLockedError:
            raise RequestError(409, "in_use", "another process of the operator has the folder of this year") from None
        except (RunError, DivergedError) as error:
            logger.error("the year of %s, run %d: %s", agent, run, error)  # with paths and seeds: for the operator
            message = "its folder holds a year of other settings or of another version; the operator's log says more"
            raise RequestError(409, "other_year", message) from None

    def _make_room(self) -> None:
        """Let go of a year that is over, else of the one that was left alone longest; both are found on disk again."""
        limit, now = self.settings.max_sessions, time.monotonic()
        if len(self._years) + len(self._coming) < limit:
            return
        for name, year in sorted(self._years.items(), key=lambda item: (not item[1].is_over, item[1].last_used)):
            if (year.is_over or now - year.last_used >= IDLE_SECONDS) and year.let_go():
                del self._years[name]
                return
        raise RequestError(429, "too_many_sessions", f"{limit} years are going on, the limit of this server")
