"""The one seam where foreign failures become ours: exceptions of ``openai`` and its transport, and error bodies.

Whatever the status, a text that says the context is full is the agent's :class:`ContextOverflow`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any

from experiments.llm import errors
from experiments.llm.errors import ContextOverflow, ModelCallError, ProviderError
from experiments.llm.records import Usage

_OVERFLOW = re.compile(
    r"context[_ ]length|context[_ ]window|maximum context|exceeds? the (available |model'?s )?context|"
    r"exceed_context_size|prompt is too long|input is too long|too many (input )?tokens",
    re.IGNORECASE,
)
_LONGEST_DETAIL = 600
_BY_STATUS: dict[int, type[ProviderError]] = {
    401: errors.AuthenticationFailed,
    402: errors.OutOfCredit,
    403: errors.AuthenticationFailed,
    404: errors.ModelNotFound,
    408: errors.ServerFault,
    409: errors.ServerFault,
    425: errors.ServerFault,
    429: errors.RateLimited,
}


def from_exception(error: Exception, now: float) -> ModelCallError:
    """Return our error for any exception of ``openai`` or ``httpx2``; ours pass as they are.

    Parameters
    ----------
    error
        What the client raised.
    now
        Wall-clock time, seconds since the epoch, for a Retry-After that names a moment.

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
            return from_status(error.status_code, error.response.text, error.response.headers, now)
        case openai.APITimeoutError() | httpx2.TimeoutException():
            return errors.TimedOut(_cause(error), maybe_billed=not _never_sent(error))
        case openai.APIConnectionError() | httpx2.DecodingError() | httpx2.TransportError():
            return errors.ConnectionLost(_cause(error), maybe_billed=not _never_sent(error))
        case openai.OpenAIError() | httpx2.HTTPError() | httpx2.StreamError() | httpx2.InvalidURL():
            return errors.MalformedReply(f"{type(error).__name__}: {error}"[:_LONGEST_DETAIL], maybe_billed=True)
        case _:
            raise error


def _cause(error: Exception) -> str:
    inner = error.__cause__ or error
    return f"{type(inner).__name__}: {inner}"[:_LONGEST_DETAIL]


def _never_sent(error: Exception) -> bool:
    """Whether the connection was not even made, so that nothing can have been billed."""
    import httpx2

    inner = error.__cause__ or error
    return isinstance(inner, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.PoolTimeout)


def from_status(status: int, body: str, headers: Mapping[str, str], now: float) -> ModelCallError:
    """Return the error for an answer with an HTTP error status. Providers do not bill these."""
    wait = retry_after(headers, now)
    if status not in _BY_STATUS and _OVERFLOW.search(body):
        return ContextOverflow(_shorten(body))
    kind = _BY_STATUS.get(status, errors.ServerFault if status >= 500 else errors.BadRequest)
    if status == 402 and wait is not None:
        # Too much money in flight, not an empty account: it passes as soon as calls settle.
        kind = errors.RateLimited
    if status == 403 and re.search(r"moderation|flagged|guardrail", body, re.IGNORECASE):
        kind = errors.Moderated
    moved = f"moved to {headers.get('location')}: " if 300 <= status < 400 else ""
    return kind(_shorten(moved + body), status=status, retry_after=wait)


def from_error_body(error: Any, usage: Usage) -> ModelCallError:
    """Return the error for an error object inside an answer with HTTP 200; what it was billed is kept with it."""
    detail = _shorten(str(error))
    if _OVERFLOW.search(detail):
        return ContextOverflow(detail)
    code = error.get("code") if isinstance(error, Mapping) else None
    status = code if isinstance(code, int) and not isinstance(code, bool) else None
    kind = _BY_STATUS.get(status or 0, errors.ErrorBody)
    if status is not None and 400 <= status < 500 and kind is errors.ErrorBody:
        kind = errors.BadRequest
    return kind(detail, status=status, usage=usage, maybe_billed=usage.cost_microusd is None)


def _shorten(text: str) -> str:
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
