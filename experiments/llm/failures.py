"""The one seam where foreign failures become ours: exceptions of ``openai`` and its transport, and error bodies.

What the words say goes before the status: vendors answer a full context, a blocked prompt or a spent account with
almost any of them (:mod:`experiments.llm.complaints`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any

from experiments.llm import complaints, errors
from experiments.llm.errors import ContextOverflow, ModelCallError, ProviderError
from experiments.llm.records import Usage

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
            return errors.TimedOut(_cause(error, redact), maybe_billed=not _never_sent(error))
        case openai.APIConnectionError() | httpx2.DecodingError() | httpx2.TransportError():
            if _never_sent(error):
                return errors.NobodyThere(_cause(error, redact))
            return errors.ConnectionLost(_cause(error, redact), maybe_billed=True)
        case openai.OpenAIError() | httpx2.HTTPError() | httpx2.StreamError() | httpx2.InvalidURL():
            return errors.MalformedReply(_shorten(redact(f"{type(error).__name__}: {error}")), maybe_billed=True)
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
        kind = errors.ServerFault if status >= 500 else errors.BadRequest
    if status == 402 and wait is not None:
        # Too much money in flight, not an empty account: it passes as soon as calls settle.
        kind = errors.RateLimited
    return kind(detail, status=status, retry_after=wait)


def _agents_own(status: int, body: str, detail: str) -> ModelCallError | None:
    """Return the failures that are no provider's fault: what the agent wrote, or made so long, or may not say."""
    if status in (401, 402):
        return None
    if complaints.is_malformed_answer(body):
        return errors.MalformedAnswer(detail)
    if complaints.is_overflow(body):
        return ContextOverflow(detail)
    if status in (400, 403, 422, 451, 200) and complaints.is_filtered(body):
        return errors.PromptFiltered(detail)
    return None


def _by_words(status: int, body: str) -> type[ProviderError] | None:
    """Return the kind that the words name, where the status alone would mislead."""
    if status in (400, 403, 429) and complaints.is_out_of_credit(body):
        return errors.OutOfCredit
    if status == 400 and complaints.is_bad_key(body):
        return errors.AuthenticationFailed
    if status in (400, 404) and complaints.is_no_tools(body):
        return errors.ToolsUnavailable
    return errors.ModelNotFound if status == 400 and complaints.is_no_model(body) else None


def from_error_body(error: Any, usage: Usage) -> ModelCallError:
    """Return the error for an error object inside an answer with HTTP 200; what it was billed is kept with it."""
    text = str(error)
    detail = _shorten(text)
    code = error.get("code") if isinstance(error, Mapping) else None
    status = code if isinstance(code, int) and not isinstance(code, bool) else None
    own = _agents_own(status or 200, text, detail)
    if own is not None:
        return own
    kind = _by_words(status or 400, text) or _BY_STATUS.get(status or 0, errors.ErrorBody)
    if status is not None and 400 <= status < 500 and kind is errors.ErrorBody:
        kind = errors.BadRequest
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
