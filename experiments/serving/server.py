"""The server: a socket on the loopback, the HTTP service and MCP behind one guard."""

from __future__ import annotations

import ipaddress
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from experiments.extras import need
from experiments.serving.served_years import ServedYears
from experiments.serving.settings import ServeSettings, Token

need("serve", "fastapi", "uvicorn", "mcp")

import uvicorn  # noqa: E402 - only after its absence was named
from starlette.routing import Route  # noqa: E402

from experiments.serving.guard import BODY_SECONDS, Guard, PatientConnection  # noqa: E402
from experiments.serving.http_app import build_app  # noqa: E402
from experiments.serving.mcp_server import briefing_text, build_server, find_by_address  # noqa: E402

if TYPE_CHECKING:
    from fastapi import FastAPI

MAX_CONNECTIONS = 256
_BACKLOG = 256
_KEEP_ALIVE_SECONDS = 30
_HEADER_BYTES = 16_384


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server at ``host``."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_host(host: str, *, is_exposed: bool) -> None:
    """Raise unless ``host`` is on the loopback or the operator said that others may come.

    Raises
    ------
    ValueError
        With what it would mean.
    """
    if not is_loopback(host) and not is_exposed:
        raise ValueError(
            f"host={host!r} lets other machines in: whoever has the token can play, and token and answers travel in "
            "the clear unless a proxy with TLS stands before the server. Add --expose if that is meant"
        )


def build_service(sessions: ServedYears, token: Token, *, body_seconds: float = BODY_SECONDS) -> Guard:
    """Return the whole service: HTTP, and MCP at ``/mcp``."""
    from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager

    mcp = build_server(find_by_address(sessions), briefing_text(sessions.settings))
    manager = StreamableHTTPSessionManager(mcp, json_response=True, stateless=True)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with manager.run():
            yield

    app = build_app(sessions, lifespan)
    app.router.routes.append(Route("/mcp", endpoint=StreamableHTTPASGIApp(manager), include_in_schema=False))
    return Guard(app, token, body_seconds=body_seconds)


def open_listener(host: str, port: int) -> tuple[socket.socket, str]:
    """Return a socket that takes connections at once, and its address; port 0 is any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio switches off Nagle's algorithm; else every answer takes 44 ms longer.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        raise
    shown = f"[{host}]" if family == socket.AF_INET6 else host
    return listener, f"http://{shown}:{listener.getsockname()[1]}"


def make_server(service: Guard) -> uvicorn.Server:
    """Return the server of a service, not yet running."""
    config = uvicorn.Config(
        service,
        lifespan="on",
        ws="none",
        http=PatientConnection,
        server_header=False,
        limit_concurrency=MAX_CONNECTIONS,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=10,
        h11_max_incomplete_event_size=_HEADER_BYTES,
        log_level="warning",
    )
    return uvicorn.Server(config)


@contextmanager
def hosting(
    settings: ServeSettings, token: Token, *, port: int = 0, body_seconds: float = BODY_SECONDS
) -> Iterator[str]:
    """Serve in a thread of this process while the block lasts; yields the address."""
    listener, address = open_listener("127.0.0.1", port)
    with listener, ServedYears(settings) as sessions:
        server = make_server(build_service(sessions, token, body_seconds=body_seconds))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield address
        finally:
            server.should_exit = True
            thread.join()


def serve_http(sessions: ServedYears, token: Token, *, host: str, port: int, announce: Callable[[str], None]) -> None:
    """Serve until interrupted; ``announce`` is called with the address once connections are taken."""
    listener, address = open_listener(host, port)
    with listener:
        announce(address)
        make_server(build_service(sessions, token)).run(sockets=[listener])
