"""What comes back from a model call. Frozen, JSON-able, and free of foreign types."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

Tokens = int | None
MALFORMED = "malformed"
"""Finish reason of a reply that the server could not take apart: no JSON, or no call."""
PROMPT_FILTER = "prompt_filter"
"""Finish reason of a prompt that a content filter stopped."""


class Record(BaseModel):
    """Immutable; unknown keys and non-finite numbers are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Usage(Record):
    """Tokens and money of one attempt; ``None`` means the server did not say.

    ``cached_tokens`` and ``cache_write_tokens`` are part of ``prompt_tokens``, ``reasoning_tokens`` of
    ``completion_tokens``, whatever the vendor's convention: they are never added to a total.
    """

    prompt_tokens: Tokens = Field(None, ge=0)
    completion_tokens: Tokens = Field(None, ge=0)
    cached_tokens: Tokens = Field(None, ge=0)
    cache_write_tokens: Tokens = Field(None, ge=0)
    reasoning_tokens: Tokens = Field(None, ge=0)
    cost_microusd: int | None = Field(None, ge=0, description="millionths of a US dollar; None is unknown, not free")


class Applied(Record):
    """What the server says it used, which is not always what was asked."""

    model: str | None = None
    provider: str | None = None
    fingerprint: str | None = None
    response_id: str | None = None
    effort: str | None = None
    refused: tuple[str, ...] = Field((), description="parts of the request that the server refused, by the step down")


class ToolCall(Record):
    """One call a model asks for. ``arguments`` is the very text it wrote, which may be no JSON at all."""

    id: str
    name: str
    arguments: str
    attached: dict[str, Any] = Field(
        default_factory=dict,
        repr=False,
        exclude_if=lambda value: not value,
        description="what the vendor put beside it and wants back as it is, such as a signature",
    )


class Completion(Record):
    """One reply of a model, for better or worse.

    ``text`` is ``None`` where the model gave no content; ``refusal`` holds the model's stated refusal. The finish
    reason is the provider's word: ``stop``, ``length``, ``content_filter``, ``tool_calls``, or one of those above.
    ``reasoning_text`` is private: it must reach neither the counterpart nor a later prompt.
    """

    text: str | None
    finish_reason: str | None
    refusal: str | None = None
    reasoning_text: str | None = Field(None, repr=False)
    tool_calls: tuple[ToolCall, ...] = ()
    replay: dict[str, Any] = Field(
        default_factory=dict,
        repr=False,
        description="opaque parts of the message that the provider wants back as they are",
    )
    usage: Usage = Usage()
    applied: Applied = Applied()
    latency_s: float = Field(
        0.0, ge=0, description="seconds of the attempt that succeeded, waiting between tries not counted"
    )
    attempts: int = Field(1, ge=0, description="requests sent; 0 for a reply from the cache or the call log")
    notices: tuple[str, ...] = Field((), description="fall-backs and repairs of this call, for people")
    call_id: str = ""
    from_cache: bool = False
