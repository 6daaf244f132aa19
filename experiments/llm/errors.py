"""What can go wrong with a model call.

::

    ModelCallError
    ├── ProviderError            no reply was had: the trial is excluded and counted, never scored
    │   ├── RateLimited        * HTTP 429, or 402 with Retry-After
    │   ├── ServerFault        * HTTP 408, 409, 5xx
    │   ├── TimedOut           * no complete answer within the time limit
    │   ├── ConnectionLost     * reset, or cut off in the middle
    │   ├── NobodyThere        * a ConnectionLost before anything was sent: refused, or no such host
    │   ├── ErrorBody          * HTTP 200 whose body is an error
    │   ├── EmptyCompletion    * HTTP 200 with no choice, or a choice for which nothing was generated
    │   ├── MalformedReply     * HTTP 200 that is not a chat completion (a web page, half a JSON, a wrong type)
    │   ├── BadRequest           the server refuses the request as written
    │   ├── AuthenticationFailed HTTP 401 or 403
    │   ├── OutOfCredit          HTTP 402
    │   ├── ModelNotFound        HTTP 404
    │   └── ToolsUnavailable     the server takes no tools, or hands calls back as plain text
    ├── ContextOverflow          the agent filled its context: its own fault, scored as such
    ├── MalformedAnswer          the server threw away what the model wrote, as no JSON or no call: an unreadable reply
    ├── PromptFiltered           a content filter stopped the prompt: a refusal
    ├── SettingRefused           the server refuses what names the row, the effort above all; ends the run
    ├── ServerUnusable           nothing but failures that cannot heal, a few in a row; ends the run
    ├── Stopped                  the user interrupts; raised before a call, its answers so far are kept
    └── BudgetExceeded           the spending ceiling; raised before a call, ends the run cleanly

``*`` marks a :class:`RetryableError`, which a retry may heal; the rest fails at once. The client turns a
:class:`MalformedAnswer` and a :class:`PromptFiltered` into the completion that they stand for.

Foreign failures become ours in one place (:func:`from_exception`, :func:`from_error_body`). What the words say goes
before the status: vendors answer a full context, a blocked prompt or a spent account with almost any of them
(:mod:`experiments.llm.complaints`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any, ClassVar

from experiments.llm.complaints import Complaint, complains_of, is_overflow
from experiments.llm.records import Usage


class ModelCallError(Exception):
    """Base of all that a client raises on purpose. ``detail`` says what happened, without any key.

    ``usage`` is what a failed attempt was billed, where the server said so; ``maybe_billed`` whether the server may
    have done, and charged for, work whose answer was lost.
    """

    usage: Usage | None = None
    maybe_billed: bool = False

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail

    def __str__(self) -> str:
        return self.detail


class ProviderError(ModelCallError):
    """The provider gave no reply.

    Parameters
    ----------
    detail
        What happened.
    status
        HTTP status, or the code inside an error body; ``None`` where there was no answer.
    retry_after
        Seconds the server asked to wait.
    usage, maybe_billed
        As in :class:`ModelCallError`.
    """

    is_retryable: ClassVar[bool] = False
    is_lasting: ClassVar[bool] = False
    """Whether every other call will meet it as well."""

    def __init__(
        self,
        detail: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        usage: Usage | None = None,
        maybe_billed: bool = False,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.retry_after = retry_after
        self.usage = usage
        self.maybe_billed = maybe_billed
        self.attempts = 0
        """Requests that were sent before giving up; set by the client."""

    def __str__(self) -> str:
        status = f" (status {self.status})" if self.status is not None else ""
        attempts = f" after {self.attempts} attempts" if self.attempts > 1 else ""
        return f"{type(self).__name__}{status}{attempts}: {self.detail}"


class RetryableError(ProviderError):
    """A failure that the same request may survive later."""

    is_retryable = True


class RateLimited(RetryableError):  # noqa: N818  # the tree reads as what happened
    """Too many requests, or too much money in flight."""


class ServerFault(RetryableError):  # noqa: N818
    """The server failed."""


class TimedOut(RetryableError):  # noqa: N818
    """No complete answer within the time limit."""


class ConnectionLost(RetryableError):  # noqa: N818
    """The connection was reset or cut."""


class NobodyThere(ConnectionLost):
    """Nobody takes connections at the address."""

    is_lasting = True


class ErrorBody(RetryableError):  # noqa: N818
    """HTTP 200 whose body says that the provider failed."""


class EmptyCompletion(RetryableError):  # noqa: N818
    """HTTP 200 without a choice, or with a choice for which not one token was generated."""


class MalformedReply(RetryableError):  # noqa: N818
    """HTTP 200 with something that is not a chat completion."""


class BadRequest(ProviderError):  # noqa: N818
    """The server refuses the request as written."""


class AuthenticationFailed(ProviderError):  # noqa: N818
    """The key is missing, wrong, or lacks permission."""

    is_lasting = True


class OutOfCredit(ProviderError):  # noqa: N818
    """The account has no credit left."""

    is_lasting = True


class ModelNotFound(ProviderError):  # noqa: N818
    """No such model, or no endpoint of it that takes this request."""

    is_lasting = True


class ToolsUnavailable(ProviderError):  # noqa: N818
    """The server takes no tools for this model, or hands its calls back as plain text."""

    is_lasting = True


class ContextOverflow(ModelCallError):  # noqa: N818
    """The conversation no longer fits the model's context.

    Not a :class:`ProviderError`: the agent's own conversation grew too long, so the episode counts against the agent.
    """

    def __init__(self, detail: str, usage: Usage | None = None) -> None:
        super().__init__(detail)
        self.usage = usage


class MalformedAnswer(ModelCallError):  # noqa: N818
    """The server threw away what the model wrote because it was no JSON of the schema, or no call."""


class PromptFiltered(ModelCallError):  # noqa: N818
    """A content filter stopped the prompt before any model read it."""


class SettingRefused(ModelCallError):  # noqa: N818
    """The server refuses a setting that the row is named by; without it the row would be of something else."""


class ServerUnusable(ModelCallError):  # noqa: N818
    """Call after call met a failure that cannot heal: a wrong key, no credit, no such model, nobody there."""


class Stopped(ModelCallError):  # noqa: N818
    """The run is being interrupted. Raised in place of sending anything more."""


class BudgetExceeded(ModelCallError):  # noqa: N818
    """The next call could pass the spending ceiling. Raised before anything is sent."""


_LONGEST_DETAIL = 600
_BY_STATUS: dict[int, type[ProviderError]] = {
    401: AuthenticationFailed,
    402: OutOfCredit,
    403: AuthenticationFailed,
    404: ModelNotFound,
    408: ServerFault,
    409: ServerFault,
    425: ServerFault,
    429: RateLimited,
}
_BY_WORDS: tuple[tuple[Complaint, tuple[int, ...], type[ProviderError]], ...] = (
    ("credit", (400, 403, 429), OutOfCredit),
    ("key", (400,), AuthenticationFailed),
    ("tools", (400, 404), ToolsUnavailable),
    ("model", (400,), ModelNotFound),
)


def from_exception(error: Exception, now: float, redact: Callable[[str], str] = lambda text: text) -> ModelCallError:
    """Return our error for any exception of ``openai`` or ``httpx2``; ours pass as they are.

    Parameters
    ----------
    error
        What the client raised.
    now
        Wall-clock time, seconds since the epoch, for a Retry-After that names a moment.
    redact
        Takes the key out of a text; before it is cut short, or half a key would stay.

    Raises
    ------
    Exception
        ``error`` itself, if it is no failure of a call but a programmer's mistake.
    """
    import httpx2
    import openai

    match error:
        case ModelCallError():
            return error
        case openai.APIStatusError():
            return from_status(error.status_code, redact(error.response.text), error.response.headers, now)
        case openai.APITimeoutError() | httpx2.TimeoutException():
            return TimedOut(_cause(error, redact), maybe_billed=not _never_sent(error))
        case openai.APIConnectionError() | httpx2.DecodingError() | httpx2.TransportError():
            if _never_sent(error):
                return NobodyThere(_cause(error, redact))
            return ConnectionLost(_cause(error, redact), maybe_billed=True)
        case openai.OpenAIError() | httpx2.HTTPError() | httpx2.StreamError() | httpx2.InvalidURL():
            return MalformedReply(_shorten(redact(f"{type(error).__name__}: {error}")), maybe_billed=True)
        case _:
            raise error


def _cause(error: Exception, redact: Callable[[str], str]) -> str:
    inner = error.__cause__ or error
    return _shorten(redact(f"{type(inner).__name__}: {inner}"))


def _never_sent(error: Exception) -> bool:
    """Whether the connection was not even made, so that nothing can have been billed."""
    import httpx2

    inner = error.__cause__ or error
    return isinstance(inner, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.PoolTimeout)


def from_status(status: int, body: str, headers: Mapping[str, str], now: float) -> ModelCallError:
    """Return the error for an answer with an HTTP error status. Providers do not bill these."""
    wait = retry_after(headers, now)
    if status == 413 and not body.strip():
        return ContextOverflow("HTTP 413: the request is too large")
    detail = _shorten((f"moved to {headers.get('location')}: " if 300 <= status < 400 else "") + body)
    own = _agents_own(status, body, detail)
    if own is not None:
        return own
    kind = _by_words(status, body) or _BY_STATUS.get(status)
    if kind is None:
        kind = ServerFault if status >= 500 else BadRequest
    if status == 402 and wait is not None:
        # Too much money in flight, not an empty account: it passes as soon as calls settle.
        kind = RateLimited
    return kind(detail, status=status, retry_after=wait)


def _agents_own(status: int, body: str, detail: str) -> ModelCallError | None:
    """Return the failures that are no provider's fault: what the agent wrote, or made so long, or may not say."""
    if status in (401, 402):
        return None
    if complains_of("malformed answer", body):
        return MalformedAnswer(detail)
    if is_overflow(body):
        return ContextOverflow(detail)
    if status in (400, 403, 422, 451, 200) and complains_of("filter", body):
        return PromptFiltered(detail)
    return None


def _by_words(status: int, body: str) -> type[ProviderError] | None:
    """Return the kind that the words name, where the status alone would mislead."""
    named = (kind for what, statuses, kind in _BY_WORDS if status in statuses and complains_of(what, body))
    return next(named, None)


def from_error_body(error: Any, usage: Usage) -> ModelCallError:
    """Return the error for an error object inside an answer with HTTP 200; what it was billed is kept with it."""
    text = str(error)
    detail = _shorten(text)
    code = error.get("code") if isinstance(error, Mapping) else None
    status = code if isinstance(code, int) and not isinstance(code, bool) else None
    own = _agents_own(status or 200, text, detail)
    if own is not None:
        return own
    kind = _by_words(status or 400, text) or _BY_STATUS.get(status or 0, ErrorBody)
    if status is not None and 400 <= status < 500 and kind is ErrorBody:
        kind = BadRequest
    return kind(detail, status=status, usage=usage, maybe_billed=usage.cost_microusd is None)


def _shorten(text: str) -> str:
    text = "".join(char if char.isprintable() else " " for char in text)  # it may be shown on a terminal
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_DETAIL else text[:_LONGEST_DETAIL] + " ..."


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds the server asks to wait: Retry-After as seconds or as a date, or OpenRouter's reset time.

    A date is read against the server's own clock where the answer carries one.
    """
    text = headers.get("retry-after")
    if text is None:
        reset = _finite(headers.get("x-ratelimit-reset"))  # milliseconds since the epoch; other vendors write "1s"
        return None if reset is None or reset < 1e12 else max(0.0, reset / 1000 - now)
    seconds = _finite(text)
    if seconds is not None:
        return max(0.0, seconds)
    moment = _moment(text)
    if moment is None:
        return None
    server_now = _moment(headers.get("date"))
    return max(0.0, moment - (now if server_now is None else server_now))


def _finite(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _moment(text: str | None) -> float | None:
    try:
        date = parsedate_to_datetime(text or "")
    except ValueError:
        return None
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
