"""A client of the HTTP service with nothing but the standard library: every turn is sent until it is answered.

>>> from experiments.serving.client import YearClient, turn_key
>>> turn_key(7, b'{"tool_calls":[]}') == turn_key(7, b'{"tool_calls":[]}') != turn_key(8, b'{"tool_calls":[]}')
True
"""

from __future__ import annotations

import hashlib
import http.client
import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self
from urllib.parse import quote, urlsplit

from commerce.types import Refusal
from commerce.year import Result
from experiments.serving.settings import MAX_BODY_BYTES, Token

_TRANSIENT = frozenset({408, 429, 500, 502, 503, 504})
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 5.0


class ServiceError(RuntimeError):
    """An answer that is not 200 and that no repeat will change; ``code`` and ``facts`` are the server's."""

    def __init__(self, status: int, error: Mapping[str, Any]) -> None:
        self.status, self.code = status, str(error.get("code", "unknown"))
        self.message = str(error.get("message", ""))
        self.facts = dict(error)
        super().__init__(f"{status} {self.code}: {self.message}")


class NoAnswerError(RuntimeError):
    """The server did not answer for as long as the client waits."""


class YearClient:
    """One year of one agent on a server.

    The key of a turn follows from its number and its content, so an agent that was killed and plays the same turns
    again from the first one is answered what it was answered before, and goes on where it was.

    Parameters
    ----------
    address
        As ``terms serve --http`` prints it.
    token
        See :func:`experiments.serving.settings.read_token`.
    agent, run
        Which year.
    timeout_s
        Seconds to wait for one answer.
    patience_s
        Seconds to go on trying, over all attempts at one request.
    """

    def __init__(
        self,
        address: str,
        token: Token,
        *,
        agent: str,
        run: int = 0,
        timeout_s: float = 60.0,
        patience_s: float = 120.0,
    ) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or parts.hostname is None:
            raise ValueError(f"address={address!r} must be like http://127.0.0.1:8765")
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(parts.hostname, parts.port, timeout=timeout_s)
        self._token, self._patience_s = token, patience_s
        self._agent, self._run = agent, run
        self._session = ""
        self.turn = 0
        self.info: dict[str, Any] = {}

    def open(self) -> dict[str, Any]:
        """Open the year or take it up again; returns the messages, the tools and the turn the server expects.

        The client itself begins at turn 0. An agent with a memory of its own sets ``turn`` to that of the server.
        """
        self.info = self._request("POST", "/v1/session", {"agent": self._agent, "run": self._run})
        self._session = self.info["session"]
        return self.info

    def act(self, calls: Sequence[Mapping[str, Any]], content: str | None = None) -> dict[str, Any]:
        """Play one turn of calls, each ``{"name", "arguments"}`` and if you like an ``"id"``; returns the answer.

        Raises
        ------
        ServiceError
            If the server refuses the turn; nothing was done.
        NoAnswerError
            If there was no answer; the same turn may be sent again.
        ValueError
            If the turn is larger than the server takes.
        """
        body = {"session": self._session, "turn": self.turn, "tool_calls": list(calls), "content": content}
        answer = self._request("POST", "/v1/actions", body, keyed=True)
        self.turn = answer["turn"]
        return answer

    def call(self, tool: str, arguments: Mapping[str, Any] | str | None = None) -> Result:
        """Play one call as a turn: what a merchant of :mod:`commerce.merchants` needs."""
        answer = self.act([{"name": tool, "arguments": arguments}])
        return read_result(answer["tool_responses"][0]["content"])

    def result(self) -> dict[str, Any]:
        """Return how the year ended."""
        return self._request("GET", f"/v1/result?session={quote(self._session)}")

    def finish(self) -> dict[str, Any]:
        """End the year early, or return how it ended."""
        return self._request("POST", "/v1/finish", {"session": self._session})

    def close(self) -> None:
        """Close the connection; the year stays as it is."""
        self._connection.close()

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _request(self, method: str, path: str, body: Any = None, *, keyed: bool = False) -> dict[str, Any]:
        data = None if body is None else json.dumps(body, separators=(",", ":")).encode()
        if data is not None and len(data) > MAX_BODY_BYTES:
            raise ValueError(f"a turn of {len(data):,} bytes is too large; at most {MAX_BODY_BYTES:,} are allowed")
        headers = {"Authorization": self._token.header(), "Content-Type": "application/json"}
        if keyed and data is not None:
            headers["Idempotency-Key"] = turn_key(self.turn, data)
        return self._until_answered(lambda: self._once(method, path, data, headers))

    def _until_answered(self, attempt: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        deadline, pause = time.monotonic() + self._patience_s, _FIRST_PAUSE_S
        while True:
            try:
                return attempt()
            except (OSError, http.client.HTTPException, ServiceError) as error:
                self._connection.close()
                if isinstance(error, ServiceError) and error.status not in _TRANSIENT:
                    raise
                if time.monotonic() + pause > deadline:
                    raise NoAnswerError(
                        f"no answer within {self._patience_s:g} s; the last attempt: {error}"
                    ) from error
            time.sleep(pause * random.uniform(0.5, 1.0))  # many clients must not come back at the same moment
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _once(self, method: str, path: str, data: bytes | None, headers: Mapping[str, str]) -> dict[str, Any]:
        self._connection.request(method, path, body=data, headers=dict(headers))
        response = self._connection.getresponse()
        text = response.read()
        try:
            found = json.loads(text)
        except ValueError:
            raise http.client.HTTPException(f"status {response.status} without JSON") from None
        if response.status != 200:
            raise ServiceError(response.status, found.get("error") or {})
        return dict(found)


def turn_key(turn: int, body: bytes) -> str:
    """Return the key of a turn; the same turn has the same key in another process."""
    return f"{turn}-{hashlib.sha256(body).hexdigest()[:32]}"


def read_result(content: str) -> Result:
    """Return the answer to a call as an agent in this process would get it."""
    found = json.loads(content)
    error = found.get("error")
    refusal = None if error is None else Refusal(error["code"], error["field"], error["message"])
    return Result(found["ok"], found["time"], found.get("data"), refusal, tuple(found["notices"]))
