"""Building the request body, and leaving out what a server turns out to reject."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from experiments.llm.complaints import refused_part
from experiments.llm.kept import GrowingDigest, KeptJson
from experiments.llm.settings import ModelSettings
from experiments.llm.texts import whole_copy

Message = Mapping[str, Any]
RequestBody = dict[str, Any]

STANDARD_MESSAGE = frozenset(
    {"role", "content", "refusal", "tool_calls", "tool_call_id", "name", "function_call", "audio"}
)
STANDARD_CALL = frozenset({"id", "type", "function", "index"})
"""What the common protocol has in a message and in a call; the rest was attached by a vendor, who wants it back."""
_LAST_OF_SEVERAL_STEPS = {"response_format": "response_format.json_schema"}


def build_body(
    settings: ModelSettings,
    messages: Sequence[Message],
    *,
    schema: Mapping[str, Any] | None,
    schema_name: str,
    max_output_tokens: int | None,
    tools: Sequence[Mapping[str, Any]] = (),
) -> RequestBody:
    """Return the JSON body of a chat completion; nothing in it is shared with the caller but what is kept."""
    body: RequestBody = {
        "model": settings.model,
        "messages": [_own(message) for message in messages],
        "max_tokens": max_output_tokens or settings.max_output_tokens,
    }
    if tools:
        body["tools"] = [_own(tool) for tool in tools]
    if settings.temperature is not None:
        body["temperature"] = settings.temperature
    if settings.seed is not None:
        body["seed"] = settings.seed
    if schema is not None and settings.structured_output:
        json_schema = {"name": schema_name, "strict": True, "schema": whole_copy(schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": json_schema}
    if settings.prompt_cache:
        body["messages"] = _with_breakpoints(body["messages"])
    if settings.stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    extras = _openrouter_extras(settings) if settings.wire_dialect == "openrouter" else _openai_extras(settings)
    return body | extras | settings.extra_fields


def _own(part: Mapping[str, Any]) -> RequestBody:
    return part if isinstance(part, KeptJson) else whole_copy(part)


def _with_breakpoints(messages: list[RequestBody]) -> list[RequestBody]:
    """Mark the first and the last message as ends of what is worth caching, for vendors that cache on request only."""
    marked = [index for index in dict.fromkeys((0, len(messages) - 1)) if isinstance(messages[index]["content"], str)]
    for index in marked:
        part = {"type": "text", "text": messages[index]["content"], "cache_control": {"type": "ephemeral"}}
        messages[index] = {**messages[index], "content": [part]}
    return messages


def _openai_extras(settings: ModelSettings) -> RequestBody:
    return {} if settings.effort is None else {"reasoning_effort": settings.effort}


def _openrouter_extras(settings: ModelSettings) -> RequestBody:
    # Models with a short context otherwise get the middle of the conversation cut out without a word.
    extras: RequestBody = {"plugins": [{"id": "context-compression", "enabled": False}]}
    if settings.effort is not None:
        extras["reasoning"] = {"effort": settings.effort}
    if settings.reasoning_tokens is not None:
        extras["reasoning"] = {"max_tokens": settings.reasoning_tokens}
    if settings.provider is not None:
        extras["provider"] = settings.provider.model_dump(mode="json", exclude_none=True)
    return extras


def headers(settings: ModelSettings) -> dict[str, str]:
    """Return the headers that go with every request, the key apart."""
    return {"X-OpenRouter-Title": "terms-commerce"} if settings.wire_dialect == "openrouter" else {}


def request_digest(url: str, body: RequestBody) -> str:
    """Return the SHA-256 of the whole request: address and body, but neither key nor headers."""
    return GrowingDigest().of(url, body)


def reduced(body: RequestBody, steps: Iterable[str]) -> RequestBody:
    """Return ``body`` after ``steps`` down: each names a part that the server refuses, and how the call does without.

    A schema goes by plain JSON mode first and then by nothing; ``max_tokens`` by its newer name; a system message by
    the first user message.
    """
    made = dict(body)
    for step in sorted(steps):  # "response_format" goes before its own first step, which then finds nothing
        made = _REDUCTIONS[step](made) if step in _REDUCTIONS else _without(made, step)
    return made


def _without(body: RequestBody, name: str) -> RequestBody:
    return {key: value for key, value in body.items() if key != name}


def _in_json_mode(body: RequestBody) -> RequestBody:
    return body | {"response_format": {"type": "json_object"}} if "response_format" in body else body


def _newer_limit(body: RequestBody) -> RequestBody:
    limit = body.get("max_tokens")
    return body if limit is None else _without(body, "max_tokens") | {"max_completion_tokens": limit}


def _without_system(body: RequestBody) -> RequestBody:
    """Put the system messages before the words of the first user message."""
    messages = list(body["messages"])
    rules = [_words(message) for message in messages if message.get("role") == "system"]
    rest = [message for message in messages if message.get("role") != "system"]
    first = next((place for place, message in enumerate(rest) if message.get("role") == "user"), None)
    if not rules or first is None:
        return body
    rest[first] = {**rest[first], "content": "\n\n".join([*rules, _words(rest[first])])}
    return body | {"messages": rest}


def _words(message: Message) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(str(part.get("text") or "") for part in content)


def _without_breakpoints(body: RequestBody) -> RequestBody:
    flat = [
        {**message, "content": _words(message)} if isinstance(message.get("content"), list) else message
        for message in body["messages"]
    ]
    return body | {"messages": flat}


def _without_attached(body: RequestBody) -> RequestBody:
    return body | {"messages": [_standard(message) for message in body["messages"]]}


def _standard(message: Message) -> RequestBody:
    made = {key: value for key, value in message.items() if key in STANDARD_MESSAGE}
    if "tool_calls" in made:
        made["tool_calls"] = [
            {key: value for key, value in call.items() if key in STANDARD_CALL} for call in made["tool_calls"]
        ]
    return made


_REDUCTIONS: dict[str, Callable[[RequestBody], RequestBody]] = {
    "response_format.json_schema": _in_json_mode,
    "max_tokens": _newer_limit,
    "system role": _without_system,
    "cache_control": _without_breakpoints,
    "attached": _without_attached,
}


def steps_taken(body: RequestBody, steps: Iterable[str]) -> tuple[str, ...]:
    """Return those of ``steps`` that change ``body``, for the receipt."""
    taken = {step for step in steps if reduced(body, (step,)) != body}
    return tuple(sorted(taken - {earlier for last, earlier in _LAST_OF_SEVERAL_STEPS.items() if last in taken}))


def next_step(detail: str, sent: RequestBody) -> str | None:
    """Return the step down that the server's words ask for, ``None`` where they name nothing that can be changed.

    ``effort`` is no step: the row is named by it.
    """
    part = refused_part(detail, sent, attached_to(sent["messages"]))
    if part == "response_format" and sent["response_format"].get("type") == "json_schema":
        return "response_format.json_schema"
    return part


def attached_to(messages: Sequence[Message]) -> tuple[str, ...]:
    """Return the names of what vendors attached to the turns that are sent back."""
    found = {key for message in messages for key in message if key not in STANDARD_MESSAGE}
    for message in messages:
        for call in message.get("tool_calls") or ():
            found |= {key for key in call if key not in STANDARD_CALL}
    return tuple(sorted(found))
