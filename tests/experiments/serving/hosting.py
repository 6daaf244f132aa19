"""Servers to test against: one in a thread of this process, one in a process of its own that can be killed."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from commerce.world import DEFAULT_SEED
from experiments.serving.server import hosting
from experiments.serving.settings import TOKEN_VARIABLE, ServeSettings, Token

SECRET = "correct-horse-battery-staple"
TOKEN = Token(SECRET)
ENVIRONMENT = {**os.environ, TOKEN_VARIABLE: SECRET}
WAIT = {"name": "wait_for_next_day"}


def hosted(settings: ServeSettings, **options: float) -> AbstractContextManager[str]:
    """Serve in a thread while the block lasts; yields the address."""
    return hosting(settings, TOKEN, **options)  # type: ignore[arg-type]


@contextmanager
def server_process(folder: Path, *options: object, port: int = 0) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run ``terms serve --http`` in a process of its own; yields it and its address, and kills it at the end."""
    seed = () if "--seed" in options else ("--seed", DEFAULT_SEED)
    arguments = ["serve", "--http", "--out", folder, "--host", f"127.0.0.1:{port}", *seed, *options]
    command = [sys.executable, "-c", "from experiments.cli import main; main()", *map(str, arguments)]
    process = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://"), f"the server said {address!r}"
        yield process, address
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def send(
    address: str, method: str, path: str, body: Any = None, *, secret: str | None = SECRET, **headers: str
) -> tuple[int, Any]:
    """Send one request, ``body`` as JSON or as the bytes it is; returns the status and the answer as data."""
    status, _, text = send_raw(address, method, path, body, secret=secret, **headers)
    return status, json.loads(text)


def send_raw(
    address: str, method: str, path: str, body: Any = None, *, secret: str | None = SECRET, **headers: str
) -> tuple[int, dict[str, str], bytes]:
    """Like :func:`send`, but return the headers and the very bytes."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=30)
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    given.setdefault("Content-Type", "application/json")
    if secret is not None:
        given["Authorization"] = f"Bearer {secret}"
    try:
        connection.request(method, path, body=data, headers=given)
        response = connection.getresponse()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
    finally:
        connection.close()


def turn(session: str, number: int, *calls: Any, **more: Any) -> dict[str, Any]:
    """Return the body of a turn."""
    return {"session": session, "turn": number, "tool_calls": list(calls), **more}


def open_session(address: str, agent: str = "a", run: int = 0) -> str:
    """Open a session and return its id."""
    status, info = send(address, "POST", "/v1/session", {"agent": agent, "run": run})
    assert status == 200, info
    return str(info["session"])
