"""What every request passes first: its connection, the token, the size and the time of its body, and a fence.

A connection does not wait for ever, and strangers cannot take every place; what goes wrong inside is told by a number.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import anyio
from uvicorn.protocols.http.h11_impl import H11Protocol

from experiments.serving.settings import MAX_BODY_BYTES, Token
from experiments.serving.wire import RequestError, log_error, logger
from terms.strict_json import strict_dumps

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

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


BODY_SECONDS = 15.0
OPEN_PATHS = ("/health", "/openapi.json")
IS_LOGGED, IS_ADMITTED = "terms.is_logged", "terms.is_admitted"
_MOST_READ_OVER = 64 * MAX_BODY_BYTES


class Guard:
    """Wraps an ASGI application.

    The whole body is read before the application sees the request, so nothing inside can hang on a slow sender. An
    exception that comes out is logged with a number, and the sender is told the number and nothing else.
    """

    def __init__(self, app: ASGIApp, token: Token, *, body_seconds: float = BODY_SECONDS) -> None:
        self._app, self._token, self._body_seconds = app, token, body_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        reply, started = _Reply(send), time.monotonic()
        try:
            self._check(scope)
            body = await self._read(scope, receive)
            await self._app(scope, _replayed(body, receive), reply)
        except RequestError as fault:
            await reply.fault(fault, rest=receive if fault.status in (401, 413) else None, seconds=self._body_seconds)
        except Exception as error:  # noqa: BLE001 - the fence: nothing of it may reach the sender
            if IS_LOGGED in scope:
                return  # answered inside
            told = internal_error(scope, error)
            if not reply.has_begun:
                await reply.fault(told)
        finally:
            taken = 1000 * (time.monotonic() - started)
            logger.info("%s %s %s %.1f ms", scope["method"], scope["path"], reply.status, taken)

    def _check(self, scope: Scope) -> None:
        headers = dict(scope["headers"])
        if scope["path"] not in OPEN_PATHS and not self._token.admits(headers.get(b"authorization")):
            raise RequestError(
                401, "unauthorized", "send the header `Authorization: Bearer TOKEN` with the right token"
            )
        scope[IS_ADMITTED] = scope["path"] not in OPEN_PATHS
        length = headers.get(b"content-length", b"0")
        if not (length.isascii() and length.isdigit()) or len(length) > 20 or int(length) > MAX_BODY_BYTES:
            raise _too_large()

    async def _read(self, scope: Scope, receive: Receive) -> bytes:
        if scope["method"] in ("GET", "HEAD"):
            return b""
        body = bytearray()
        with anyio.move_on_after(self._body_seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise RequestError(400, "disconnected", "the body was not sent whole")
                body += message.get("body", b"")
                if len(body) > MAX_BODY_BYTES:
                    raise _too_large()
                if not message.get("more_body", False):
                    return bytes(body)
        raise RequestError(408, "too_slow", f"the body did not arrive within {self._body_seconds:g} s")


def internal_error(scope: Scope, error: Exception) -> RequestError:
    """Log an exception and return what is told of it; the scope then says that this was done."""
    scope[IS_LOGGED] = True
    return log_error(f"{scope['method']} {scope['path']}", error)


def _too_large() -> RequestError:
    return RequestError(413, "too_large", f"a body has at most {MAX_BODY_BYTES} bytes")


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a channel that gives the body once and then what comes after it."""
    pending = [body]

    async def again() -> Message:
        if pending:
            return {"type": "http.request", "body": pending.pop(), "more_body": False}
        return await receive()

    return again


class _Reply:
    """The way back. Nothing may be cached; a fault is a whole answer."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status: int | None = None

    @property
    def has_begun(self) -> bool:
        """Whether something was sent."""
        return self.status is not None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message = {**message, "headers": [*message["headers"], (b"cache-control", b"no-store")]}
        await self._send(message)

    async def fault(self, fault: RequestError, rest: Receive | None = None, seconds: float = 0.0) -> None:
        """Answer with a fault.

        What is still to come of the body is read over for ``seconds`` before the connection is closed: else a sender
        in the middle of it would find a broken pipe instead of the answer.
        """
        body = strict_dumps(fault.to_json_object()).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        if fault.status == 401:
            headers.append((b"www-authenticate", b"Bearer"))
        if fault.status in (408, 413):
            headers.append((b"connection", b"close"))  # the rest of the body must not be read as a request
        await self({"type": "http.response.start", "status": fault.status, "headers": headers})
        await self({"type": "http.response.body", "body": body, "more_body": True})
        if rest is not None:
            with anyio.move_on_after(seconds):
                await _read_over(rest)
        await self({"type": "http.response.body", "body": b""})


async def _read_over(receive: Receive) -> None:
    num = 0
    while num <= _MOST_READ_OVER:
        message = await receive()
        num += len(message.get("body", b""))
        if not message.get("more_body", False):
            return
