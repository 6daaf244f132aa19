"""What can go wrong with a model call.

::

    ModelCallError
    ├── ProviderError            no reply was had: the trial is excluded and counted, never scored
    │   ├── RateLimited        * HTTP 429, or 402 with Retry-After
    │   ├── ServerFault        * HTTP 408, 409, 5xx
    │   ├── TimedOut           * no complete answer within the time limit
    │   ├── ConnectionLost     * refused, reset, or cut off in the middle
    │   ├── ErrorBody          * HTTP 200 whose body is an error
    │   ├── EmptyCompletion    * HTTP 200 with no choice, or a choice for which nothing was generated
    │   ├── MalformedReply     * HTTP 200 that is not a chat completion (a web page, half a JSON, a wrong type)
    │   ├── BadRequest           the server refuses the request as written
    │   ├── Moderated            the prompt itself was blocked (HTTP 403 with moderation details)
    │   ├── AuthenticationFailed HTTP 401 or 403
    │   ├── OutOfCredit          HTTP 402
    │   └── ModelNotFound        HTTP 404
    ├── ContextOverflow          the agent filled its context: its own fault, scored as such
    ├── Stopped                  the user interrupts; raised before a call, its answers so far are kept
    └── BudgetExceeded           the spending ceiling; raised before a call, ends the run cleanly

``*`` marks a :class:`RetryableError`, which a retry may heal; the rest fails at once.
"""

from __future__ import annotations

from typing import ClassVar

from experiments.llm.records import Usage


class ModelCallError(Exception):
    """Base of all that a client raises on purpose. ``detail`` says what happened, without any key."""

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
    usage
        What the failed attempt was billed, where the server said so.
    maybe_billed
        Whether the server may have done, and charged for, work whose answer was lost.
    """

    is_retryable: ClassVar[bool] = False

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
    """The connection was refused, reset or cut."""


class ErrorBody(RetryableError):  # noqa: N818
    """HTTP 200 whose body says that the provider failed."""


class EmptyCompletion(RetryableError):  # noqa: N818
    """HTTP 200 without a choice, or with a choice for which not one token was generated."""


class MalformedReply(RetryableError):  # noqa: N818
    """HTTP 200 with something that is not a chat completion."""


class BadRequest(ProviderError):  # noqa: N818
    """The server refuses the request as written."""


class Moderated(ProviderError):  # noqa: N818
    """The prompt was blocked before any model read it."""


class AuthenticationFailed(ProviderError):  # noqa: N818
    """The key is missing, wrong, or lacks permission."""


class OutOfCredit(ProviderError):  # noqa: N818
    """The account has no credit left."""


class ModelNotFound(ProviderError):  # noqa: N818
    """No such model, or no endpoint of it that takes this request."""


class ContextOverflow(ModelCallError):  # noqa: N818
    """The conversation no longer fits the model's context.

    Not a :class:`ProviderError`: the agent's own conversation grew too long, so the episode counts against the agent.
    """


class Stopped(ModelCallError):  # noqa: N818
    """The run is being interrupted. Raised in place of sending anything more."""


class BudgetExceeded(ModelCallError):  # noqa: N818
    """The next call could pass the spending ceiling. Raised before anything is sent."""
