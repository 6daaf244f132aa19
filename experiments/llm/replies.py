"""Reading the body of an answer with HTTP 200: a completion, or the failure that hides in it.

A streamed answer, lines of ``data: {...}``, each a piece of a choice, is first put together into the one it would have
been. Texts of a piece are appended to those before, calls by their ``index``; everything else is taken from the latest
piece that has it. A stream that ends without a finish reason was cut off in the middle and stays incomplete.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from commerce.argument_parser import MAX_DEPTH, TOO_DEEP, is_too_deep
from experiments.llm.errors import ContextOverflow, EmptyCompletion, MalformedReply, from_error_body
from experiments.llm.records import MALFORMED, Applied, Completion, ToolCall, Usage
from experiments.llm.requests import STANDARD_CALL, STANDARD_MESSAGE
from experiments.llm.spending import UsageReader
from experiments.llm.texts import whole_characters, whole_copy

LONGEST_TEXT = 200_000
"""Characters of a reply's text, or of the arguments of one call, that are kept; more never fitted an output limit."""
MOST_CALLS = 256
_LONGEST_NAME = 200
_KNOWN = frozenset({*STANDARD_MESSAGE, "reasoning", "annotations", "images"})
"""Parts of a message that are not attached to it: what the protocol has, and reasoning in plain words."""
_TEXT_PARTS = (None, "text", "output_text")

_CUT_OFF = ("max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded")
_FILTERED = ("safety", "refusal", "recitation", "blocklist", "prohibited_content", "spii", "content_filtered")
_BAD_CALLS = ("malformed_function_call", "unexpected_tool_call", "malformed_response", MALFORMED)
_COMMON = (
    dict.fromkeys(_CUT_OFF, "length")
    | dict.fromkeys(_FILTERED, "content_filter")
    | dict.fromkeys(_BAD_CALLS, MALFORMED)
)
_FULL = "model_context_window_exceeded"


def common_finish(reason: str | None) -> str | None:
    """Return a finish reason in the words of the common protocol, where a vendor's own says that a reply is not whole.

    These words mean that nothing in the reply is carried out; any other reason is passed on as it is.
    """
    word = (reason or "").lower().rpartition(": ")[2]
    return _COMMON.get(word, word if word in _COMMON.values() else reason)


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
    native = choice.get("native_finish_reason")
    finish, notices = common_finish(_text(choice, "finish_reason", usage)), reader.notices
    if isinstance(native, str) and common_finish(native) == MALFORMED:
        finish = MALFORMED
    if finish == MALFORMED:
        return _malformed_turn(choice, body, usage, notices)
    if choice.get("error") or finish == "error":
        raise from_error_body(choice.get("error") or "the choice's finish_reason is 'error'", usage)
    message = choice.get("message")
    if not isinstance(message, Mapping):
        _malformed(f"message={message!r} is not an object", usage)
    content, refusal = _content(message, usage), _text(message, "refusal", usage)
    calls = _tool_calls(message, usage, notices)
    said_nothing = not content and not calls and not refusal
    if said_nothing and choice.get("finish_reason") == _FULL:
        raise ContextOverflow(f"finish_reason is {_FULL}, and nothing was written", usage)
    if said_nothing and finish != "content_filter" and usage.completion_tokens == 0:
        raise _failed(EmptyCompletion, "not one token was generated", usage)
    whole = Completion(
        text=content,
        finish_reason=finish,
        refusal=refusal or None,
        reasoning_text=_reasoning(message),
        tool_calls=calls,
        replay=_replay(message, usage),
        usage=usage,
        applied=_applied(body),
    )
    return _within_length(whole, notices)


def _malformed_turn(choice: Mapping[str, Any], body: Mapping[str, Any], usage: Usage, notices: list[str]) -> Completion:
    """Return a turn whose calls the vendor could not take apart; some send no message with it, some an error."""
    message = choice.get("message")
    content = message.get("content") if isinstance(message, Mapping) else None
    text = whole_characters(content)[:LONGEST_TEXT] if isinstance(content, str) else None
    told = (*notices, "the server could not take the model's call or JSON apart")
    return Completion(text=text, finish_reason=MALFORMED, usage=usage, applied=_applied(body), notices=told)


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
        # Some servers answer in parts; anything but text in them, reasoning above all, is not for us.
        told = [part for part in content if isinstance(part, Mapping) and part.get("type") in _TEXT_PARTS]
        parts = [part.get("text") for part in told]
        return whole_characters("".join(part for part in parts if isinstance(part, str)))
    return _text(message, "content", usage)


def _tool_calls(message: Mapping[str, Any], usage: Usage, notices: list[str]) -> tuple[ToolCall, ...]:
    """Return the calls of a message, each with an id of its own; a call the vendor sent twice is one call."""
    raw = message.get("tool_calls") or []
    if not isinstance(raw, list) or not all(isinstance(call, Mapping) for call in raw):
        _malformed(f"tool_calls={raw!r} is not a list of objects"[:300], usage)
    found: dict[str, ToolCall] = {}
    for place, call in enumerate(raw):
        function = call.get("function")
        if not isinstance(function, Mapping):
            _malformed(f"tool_calls[{place}] has no function"[:300], usage)
        attached = _opaque({key: value for key, value in call.items() if key not in STANDARD_CALL}, usage)
        one = ToolCall(
            id=_id_of(call, place), name=_name_of(function), arguments=_arguments_of(function), attached=attached
        )
        if found.get(one.id) == one:
            notices.append(f"the call {one.id} came twice and counts once")
            continue
        while one.id in found:
            notices.append(f"two calls had the id {one.id}")
            one = one.model_copy(update={"id": f"{one.id}.{place}"})
        found[one.id] = one
    return tuple(found.values())


def _id_of(call: Mapping[str, Any], place: int) -> str:
    return whole_characters(str(call.get("id") or f"call_{place}"))[:LONGEST_TEXT]


def _name_of(function: Mapping[str, Any]) -> str:
    return whole_characters(str(function.get("name") or ""))[:_LONGEST_NAME]


def _arguments_of(function: Mapping[str, Any]) -> str:
    """Return the arguments as text; some servers send the object itself, or nothing where there are none."""
    raw = function.get("arguments")
    if raw is None or raw == "":
        return "{}"
    if is_too_deep(raw):
        return TOO_DEEP
    return whole_characters(raw if isinstance(raw, str) else json.dumps(raw))


def _within_length(reply: Completion, notices: list[str]) -> Completion:
    """Return a reply that fits a record; a longer one is cut and counts as cut off by the output limit."""
    lengths = [
        len(reply.text or ""),
        len(reply.reasoning_text or ""),
        *(len(one.arguments) for one in reply.tool_calls),
    ]
    if max(lengths) <= LONGEST_TEXT and len(reply.tool_calls) <= MOST_CALLS:
        return reply.model_copy(update={"notices": tuple(notices)})
    told = (
        f"a text of {max(lengths)} characters or {len(reply.tool_calls)} calls; cut to {LONGEST_TEXT} and {MOST_CALLS}"
    )
    calls = tuple(
        one.model_copy(update={"arguments": one.arguments[:LONGEST_TEXT]}) for one in reply.tool_calls[:MOST_CALLS]
    )
    return reply.model_copy(
        update={
            "text": None if reply.text is None else reply.text[:LONGEST_TEXT],
            "reasoning_text": None if reply.reasoning_text is None else reply.reasoning_text[:LONGEST_TEXT],
            "tool_calls": calls,
            "finish_reason": "length",
            "notices": (*notices, told),
        }
    )


def _reasoning(message: Mapping[str, Any]) -> str | None:
    found = (message.get(name) for name in ("reasoning", "reasoning_content"))
    return next((whole_characters(text) for text in found if isinstance(text, str) and text), None)


def _replay(message: Mapping[str, Any], usage: Usage) -> dict[str, Any]:
    return _opaque({name: value for name, value in message.items() if name not in _KNOWN and value}, usage)


def _opaque(wanted: Mapping[str, Any], usage: Usage) -> dict[str, Any]:
    """Return what a vendor attached, as it is."""
    if is_too_deep(wanted):
        _malformed(f"{', '.join(wanted)} is nested deeper than {MAX_DEPTH}", usage)
    try:
        return {name: whole_copy(value) for name, value in wanted.items()}
    except ValueError as error:
        return _malformed(f"{', '.join(wanted)}: {error}", usage)


def _text(holder: Mapping[str, Any], name: str, usage: Usage) -> str | None:
    value = holder.get(name)
    if value is None:
        return None
    if isinstance(value, str):
        return whole_characters(value)
    return _malformed(f"{name}={value!r} is not a text"[:300], usage)


def _applied(body: Mapping[str, Any]) -> Applied:
    named = {"model": "model", "provider": "provider", "fingerprint": "system_fingerprint", "response_id": "id"}
    thinking = body.get("reasoning")
    said = {ours: body.get(theirs) for ours, theirs in named.items()}
    said["effort"] = body.get("reasoning_effort") or (thinking.get("effort") if isinstance(thinking, Mapping) else None)
    return Applied(**{name: whole_characters(text) for name, text in said.items() if isinstance(text, str)})


def _failed(
    kind: type[EmptyCompletion | MalformedReply], detail: str, usage: Usage
) -> EmptyCompletion | MalformedReply:
    return kind(detail, status=200, usage=usage, maybe_billed=usage.cost_microusd is None)


def _malformed(detail: str, usage: Usage) -> NoReturn:
    raise _failed(MalformedReply, detail, usage)


_APPENDED = ("content", "refusal", "reasoning", "reasoning_content")
_DONE = "[DONE]"


def put_together(text: str) -> str:
    """Return the body of the whole answer; a text that is no stream, such as an error's body, as it is."""
    pieces = [line[5:].strip() for line in text.splitlines() if line.startswith("data:")]
    if not pieces:
        return text
    whole: dict[str, Any] = {"choices": []}
    message: dict[str, Any] = {"role": "assistant", "content": None}
    finish: dict[str, Any] = {}
    for piece in pieces:
        if piece == _DONE:
            break
        try:
            found = json.loads(piece)
        except ValueError:
            return piece  # half a line: the connection was cut
        if not isinstance(found, Mapping):
            return piece
        choices = found.get("choices") or []
        whole |= {key: value for key, value in found.items() if key != "choices" and value is not None}
        for choice in choices[:1]:
            finish |= {key: value for key, value in choice.items() if key != "delta" and value is not None}
            _append(message, choice.get("delta") or {})
    if finish.get("finish_reason") is None and "error" not in whole:
        return text  # not one piece ended the answer
    calls = message.pop("tool_calls", None)
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    return json.dumps(whole | {"choices": [{**finish, "message": message}]})


def _append(message: dict[str, Any], delta: Mapping[str, Any]) -> None:
    for key, value in delta.items():
        if value is None:
            continue
        if key in _APPENDED and isinstance(value, str):
            message[key] = (message.get(key) or "") + value
        elif key == "reasoning_details" and isinstance(value, list):
            message[key] = [*(message.get(key) or ()), *value]
        elif key == "tool_calls" and isinstance(value, list):
            for place, call in enumerate(value):
                _append_call(message.setdefault("tool_calls", {}), call, place)
        else:
            message[key] = value


def _append_call(calls: dict[int, dict[str, Any]], piece: Mapping[str, Any], place: int) -> None:
    index = piece.get("index")
    call = calls.setdefault(index if isinstance(index, int) else place, {"function": {"name": "", "arguments": ""}})
    function = piece.get("function") or {}
    call["function"]["name"] += function.get("name") or ""
    call["function"]["arguments"] += function.get("arguments") or ""
    call |= {key: value for key, value in piece.items() if key not in ("function", "index") and value is not None}
