"""A connection that does not wait for ever, and strangers who cannot take every place."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

from experiments.serving.guard import IS_ADMITTED

HEAD_SECONDS = 15.0
MAX_STRANGERS = 64
"""Connections of one address that have not shown a token."""


class PatientConnection(H11Protocol):
    """The library's connection with a time limit: from its beginning, or a request's first byte, to the head's end.

    Without it, connections that say nothing would take every place there is, and they need no token for that. Until
    the time is up they could still do so: of the connections of one address that have shown no token, the oldest one
    gives its place to the newest.
    """

    _timer: asyncio.TimerHandle | None = None
    _was_admitted = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a place and begin to wait."""
        super().connection_made(transport)
        self._began = self.loop.time()
        self._make_room()
        self._watch()

    @property
    def is_open(self) -> bool:
        """Whether nobody has begun to close it."""
        return not self.transport.is_closing()

    @property
    def is_stranger(self) -> bool:
        """Whether none of its requests had the token, and none is being answered."""
        if self.cycle is not None:
            self._was_admitted = self._was_admitted or bool(self.scope.get(IS_ADMITTED))
            if not self.cycle.response_complete:
                return False
        return not self._was_admitted

    def _make_room(self) -> None:
        host = self.client and self.client[0]
        open_ones = [one for one in self.connections if isinstance(one, PatientConnection) and one.is_open]
        strangers = [one for one in open_ones if one.is_stranger and (one.client and one.client[0]) == host]
        if len(strangers) > MAX_STRANGERS:
            min(strangers, key=lambda one: one._began).transport.close()

    def data_received(self, data: bytes) -> None:
        """Take in bytes; go on waiting if they did not complete a head."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop()
        super().connection_lost(exc)

    def _watch(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop()
        elif self._timer is None:
            self._timer = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
