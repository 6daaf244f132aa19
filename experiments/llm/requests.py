"""Building the request body, and leaving out what a server turns out to reject."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from experiments.llm.settings import ModelSettings
from experiments.llm.texts import whole_copy

Message = Mapping[str, Any]
Body = dict[str, Any]

_REJECTABLE = {
    "response_format": re.compile(r"response[_ ]format|json[_ ]schema|structured[_ ]output", re.IGNORECASE),
    "temperature": re.compile(r"temperature", re.IGNORECASE),
    "seed": re.compile(r"\bseed\b", re.IGNORECASE),
    "reasoning": re.compile(r"reasoning", re.IGNORECASE),
    "reasoning_effort": re.compile(r"reasoning", re.IGNORECASE),
    "max_tokens": re.compile(r"max_tokens", re.IGNORECASE),
}
"""Parameters a call can do without, with what an error message about one says."""


def build_body(
    settings: ModelSettings,
    messages: Sequence[Message],
    *,
    schema: Mapping[str, Any] | None,
    schema_name: str,
    max_output_tokens: int | None,
    tools: Sequence[Mapping[str, Any]] = (),
) -> Body:
    """Return the JSON body of a chat completion; nothing in it is shared with the caller."""
    body: Body = {
        "model": settings.model,
        "messages": [whole_copy(message) for message in messages],
        "max_tokens": max_output_tokens or settings.max_output_tokens,
    }
    if tools:
        body["tools"] = [whole_copy(tool) for tool in tools]
    if settings.temperature is not None:
        body["temperature"] = settings.temperature
    if settings.seed is not None:
        body["seed"] = settings.seed
    if schema is not None and settings.structured_output:
        json_schema = {"name": schema_name, "strict": True, "schema": whole_copy(schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": json_schema}
    return body | (_openrouter_extras(settings) if settings.wire_dialect == "openrouter" else _openai_extras(settings))


def _openai_extras(settings: ModelSettings) -> Body:
    return {} if settings.effort is None else {"reasoning_effort": settings.effort}


def _openrouter_extras(settings: ModelSettings) -> Body:
    # Models with a short context otherwise get the middle of the conversation cut out without a word.
    extras: Body = {"plugins": [{"id": "context-compression", "enabled": False}]}
    if settings.effort is not None:
        extras["reasoning"] = {"effort": settings.effort}
    if settings.provider is not None:
        extras["provider"] = settings.provider.model_dump(mode="json", exclude_none=True)
    return extras


def headers(settings: ModelSettings) -> dict[str, str]:
    """Return the headers that go with every request, the key apart."""
    return {"X-OpenRouter-Title": "terms-commerce"} if settings.wire_dialect == "openrouter" else {}


def digest(url: str, body: Body) -> str:
    """Return the SHA-256 of the whole request: address and body, but neither key nor headers."""
    text = json.dumps({"url": url, "body": body}, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def without(body: Body, refused: Iterable[str]) -> Body:
    """Return ``body`` without the refused parameters; ``max_tokens`` goes by its newer name instead."""
    reduced = dict(body)
    for name in refused:
        value = reduced.pop(name, None)
        if name == "max_tokens" and value is not None:
            reduced["max_completion_tokens"] = value
    return reduced


def rejected_parameter(detail: str, sent: Body) -> str | None:
    """Return the dispensable parameter of ``sent`` that the error text complains of, or ``None``."""
    named = re.search(r"""["']param["']:\s*["']([a-z_]+)""", detail)
    if named is not None:
        return named[1] if named[1] in _REJECTABLE and named[1] in sent else None
    return next((name for name, said in _REJECTABLE.items() if name in sent and said.search(detail)), None)
