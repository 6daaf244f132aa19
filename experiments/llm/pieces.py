"""A streamed answer put together into the one it would have been: lines of ``data: {...}``, each a piece of a choice.

Texts of a piece are appended to those before, calls by their ``index``; everything else is taken from the latest piece
that has it. A stream that ends without a finish reason was cut off in the middle and stays incomplete.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

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
