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
"""

from __future__ import annotations

from typing import ClassVar

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
