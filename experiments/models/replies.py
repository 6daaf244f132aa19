"""Reading the body of an answer with HTTP 200: a completion, or the failure that hides in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from experiments.models.errors import EmptyCompletion, MalformedReply
from experiments.models.failures import from_error_body
from experiments.models.records import Applied, Completion, Usage
from experiments.models.texts import whole_characters
from experiments.models.usage import UsageReader


def read_reply(text: str) -> Completion:
    """Return the completion that ``text`` holds.

    Raises
    ------
    ProviderError
        If there is none: an error body, no choices, a web page, half a JSON, a field of the wrong type.
    ContextOverflow
        If the error body says so.
    """
    body = _parse(text)
    reader = UsageReader()
    usage = reader.read(body.get("usage"))
    if body.get("error"):
        raise from_error_body(body["error"], usage)
    choice = _first_choice(body, usage)
    finish = _text(choice, "finish_reason", usage)
    if choice.get("error") or finish == "error":
        raise from_error_body(choice.get("error") or "the choice's finish_reason is 'error'", usage)
    message = choice.get("message")
    if not isinstance(message, Mapping):
        _malformed(f"message={message!r} is not an object", usage)
    content, refusal = _content(message, usage), _text(message, "refusal", usage)
    if not content and not refusal and finish != "content_filter" and usage.completion_tokens == 0:
        raise _failed(EmptyCompletion, "not one token was generated", usage)
    return Completion(
        text=content,
        finish_reason=finish,
        refusal=refusal or None,
        reasoning_text=_reasoning(message),
        usage=usage,
        applied=_applied(body),
        notices=tuple(reader.notices),
    )


def _parse(text: str) -> Mapping[str, Any]:
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, Mapping):
        _malformed(f"not a JSON object but {' '.join(text.split())[:200]!r}", Usage())
    return body


def _first_choice(body: Mapping[str, Any], usage: Usage) -> Mapping[str, Any]:
    choices = body.get("choices")
    if not choices:
        raise _failed(EmptyCompletion, f"choices={choices!r}", usage)
    if not isinstance(choices, list) or not isinstance(choices[0], Mapping):
        _malformed(f"choices={choices!r} is not a list of objects"[:300], usage)
    choice: Mapping[str, Any] = choices[0]
    return choice


def _content(message: Mapping[str, Any], usage: Usage) -> str | None:
    content = message.get("content")
    if isinstance(content, list):
        # Some servers answer in parts; anything but text in them is not for us.
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return whole_characters("".join(part for part in parts if isinstance(part, str)))
    return _text(message, "content", usage)


def _reasoning(message: Mapping[str, Any]) -> str | None:
    found = (message.get(name) for name in ("reasoning", "reasoning_content"))
    return next((whole_characters(text) for text in found if isinstance(text, str) and text), None)


def _text(holder: Mapping[str, Any], name: str, usage: Usage) -> str | None:
    value = holder.get(name)
    if value is None:
        return None
    if isinstance(value, str):
        return whole_characters(value)
    return _malformed(f"{name}={value!r} is not a text"[:300], usage)


def _applied(body: Mapping[str, Any]) -> Applied:
    named = {"model": "model", "provider": "provider", "fingerprint": "system_fingerprint", "response_id": "id"}
    return Applied(**{ours: body[theirs] for ours, theirs in named.items() if isinstance(body.get(theirs), str)})


def _failed(
    kind: type[EmptyCompletion | MalformedReply], detail: str, usage: Usage
) -> EmptyCompletion | MalformedReply:
    return kind(detail, status=200, usage=usage, maybe_billed=usage.cost_microusd is None)


def _malformed(detail: str, usage: Usage) -> NoReturn:
    raise _failed(MalformedReply, detail, usage)
