"""A request through the ``openai`` client, with a time limit on the whole answer, and a server's list of models."""

from __future__ import annotations

import functools
import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from experiments.llm.errors import MalformedReply, TimedOut, from_exception
from experiments.llm.kept import sent_body
from experiments.llm.pacing import Timing
from experiments.llm.replies import put_together
from experiments.llm.requests import RequestBody, headers
from experiments.llm.settings import ModelSettings, Prices, shown_address
from experiments.llm.texts import Redactor, whole_characters

_NO_KEY = "none"
PROXIES = ("ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY")
"""Variables that name a proxy, in either case."""
_LEAST_WAIT_S = 0.001
_LARGEST_ANSWER = 64 * 2**20
"""Bytes after unpacking: an answer without an end would fill the memory before its time is over."""
_WRITTEN = {"Content-Type": "application/json", "X-Stainless-Raw-Response": "stream"}
"""The body is written already, and the answer is read in parts as it comes."""


class _Deadline(threading.local):
    """When the call of this thread has to be over; reads of its connection wait no longer than that.

    The socket's own time limit is for one read and starts again with every byte, so that headers sent drop by drop
    would hold a call for hours.
    """

    moment: float | None = None

    @property
    def is_over(self) -> bool:
        """Whether the moment has passed."""
        return self.moment is not None and time.monotonic() >= self.moment

    def watch(self, request: Any) -> None:
        """Look out for the connection that ``request`` opens."""
        request.extensions["trace"] = self._traced

    def _traced(self, event: str, info: Mapping[str, Any]) -> None:
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            stream = info["return_value"]
            stream.read = functools.partial(self._read, stream.read)

    def _read(self, read: Callable[..., bytes], max_bytes: int, timeout: float | None = None) -> bytes:
        if self.moment is not None:
            left = max(_LEAST_WAIT_S, self.moment - time.monotonic())
            timeout = left if timeout is None else min(timeout, left)
        return read(max_bytes, timeout)


def _connections(*, trust_env: bool, event_hooks: Any) -> Any:
    """Return the pool; a proxy of the environment that cannot be used is named.

    Raises
    ------
    ValueError
        If the environment names a proxy that needs a package, or is no address.
    """
    import openai

    try:
        # A redirect would hand the prompt to a server that the settings do not show.
        return openai.DefaultHttpxClient(trust_env=trust_env, follow_redirects=False, event_hooks=event_hooks)
    except (ImportError, ValueError) as error:
        names = [name for name in PROXIES if os.environ.get(name) or os.environ.get(name.lower())]
        why = shown_address(" ".join(str(error).split()))
        raise ValueError(
            f"the proxy in {' or '.join(names) or 'the environment'} cannot be used: {why}; "
            "unset it, name an http:// proxy, or install the package"
        ) from None


class Transport:
    """A connection pool to one server. The SDK's own retries are off: two layers would multiply."""

    def __init__(self, settings: ModelSettings, key: str | None, timing: Timing) -> None:
        import openai

        self._settings = settings
        self._timing = timing
        self._redact = Redactor(key)
        self._deadline = _Deadline()
        # A loopback server is never meant to be reached through the environment's proxy.
        direct = urlsplit(settings.url).hostname in ("127.0.0.1", "localhost", "::1")
        hooks: Any = {"request": [self._deadline.watch]}
        self._client = openai.OpenAI(
            base_url=settings.url,
            api_key=key or _NO_KEY,
            max_retries=0,
            timeout=settings.timeout_s,
            default_headers=headers(settings),
            http_client=_connections(trust_env=not direct, event_hooks=hooks),
        )
        # The SDK fills these from the environment; nothing may go to a server that the settings do not show.
        self._client.organization = self._client.project = None

    def send(self, body: RequestBody, request_id: str, num_failed: int) -> str:
        """Return the text of an answer with HTTP 200, without the key.

        Raises
        ------
        ModelCallError
            For every other answer or none. Raised bare: a chained foreign exception would carry the request with it.
        """
        try:
            return self._redact(self._read(body, request_id, num_failed))
        except Exception as error:  # noqa: BLE001  # the border: what is not a failed call is raised again by from_exception
            failure = from_exception(error, self._timing.wall_clock(), self._redact)
        if isinstance(failure, TimedOut) and failure.maybe_billed and self._deadline.is_over:
            failure.detail = self._too_late
        failure.detail = self._redact(failure.detail)
        failure.args = (failure.detail,)
        raise failure

    def _read(self, body: RequestBody, request_id: str, num_failed: int) -> str:
        told = {"X-Client-Request-Id": request_id, "x-stainless-retry-count": str(num_failed)}
        deadline = self._deadline.moment = time.monotonic() + self._settings.timeout_s
        # The SDK's walk over typed messages, and writing all of them anew, took longer than all else of a long call.
        options: Any = {"headers": told | _WRITTEN, "security": {"bearer_auth": True}}
        response: Any = self._client.post("/chat/completions", cast_to=object, content=sent_body(body), options=options)
        with closing(response):
            answer = bytearray()
            for part in response.iter_bytes():
                answer += part
                if len(answer) > _LARGEST_ANSWER:
                    raise MalformedReply(f"an answer of more than {_LARGEST_ANSWER} bytes", maybe_billed=True)
                # Routers keep a slow connection alive with blanks, so that the socket's own time limit never fires.
                if time.monotonic() > deadline:
                    raise TimedOut(self._too_late, maybe_billed=True)
        text = answer.decode("utf-8-sig", "replace")
        return put_together(text) if body.get("stream") else text

    @property
    def _too_late(self) -> str:
        return f"no whole answer within {self._settings.timeout_s} s"

    def models(self) -> tuple[ListedModel, ...]:
        """Return the models that the server lists.

        Raises
        ------
        ModelCallError
            If it lists none that can be read.
        """
        self._deadline.moment = time.monotonic() + self._settings.timeout_s
        try:
            return read_models(self._redact(self._client.models.with_raw_response.list().text))
        except Exception as error:  # noqa: BLE001  # as above
            failure = from_exception(error, self._timing.wall_clock(), self._redact)
        raise failure

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


_CONTEXT_NAMES = ("context_length", "max_model_len", "context_window", "max_context_length")
_MICRO_A_MILLION = 10**12
_LONGEST_NAME = 200


class ListedModel(NamedTuple):
    """One model of the list; ``None`` is what the server does not say."""

    id: str
    context_tokens: int | None = None
    prices: Prices | None = None


def read_models(text: str) -> tuple[ListedModel, ...]:
    """Return the models of the answer to ``GET /models``.

    Raises
    ------
    MalformedReply
        If it is no such list.
    """
    try:
        rows = json.loads(text)["data"]
        return tuple(_read_row(row) for row in rows if isinstance(row.get("id"), str))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise MalformedReply(f"no list of models but {' '.join(text.split())[:100]!r}") from None


def _read_row(row: Mapping[str, Any]) -> ListedModel:
    meta = row.get("meta")
    told = [row.get(name) for name in _CONTEXT_NAMES] + [meta.get("n_ctx_train") if isinstance(meta, Mapping) else None]
    context = next((size for size in told if isinstance(size, int) and size > 0), None)
    return ListedModel(whole_characters(row["id"])[:_LONGEST_NAME], context, _read_prices(row.get("pricing")))


def _read_prices(told: object) -> Prices | None:
    """Return prices told in dollars a token, as routers do."""
    if not isinstance(told, Mapping):
        return None
    try:
        prompt, completion = (int(Decimal(str(told[name])) * _MICRO_A_MILLION) for name in ("prompt", "completion"))
        return Prices(prompt=prompt, completion=completion)
    except (KeyError, InvalidOperation, ValueError, OverflowError):
        return None
