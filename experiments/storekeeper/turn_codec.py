"""How turns are written for a server: as native tool calls, or as one JSON object a turn for models without tools."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from commerce.argument_parser import read_text
from experiments.llm.free_text import blank_thinking, find_objects, spoken_as
from experiments.llm.records import Completion, ToolCall
from experiments.years.sitting import Answer
from experiments.years.transcript import Said

WrittenMessage = dict[str, Any]
_BAD_NAME = re.compile(r"[^A-Za-z0-9_-]")
_CALL_MARKS = re.compile(
    r"<tool_calls?>|<\|?tool[_▁]calls?|<｜tool▁calls?|\[TOOL_CALLS\]|<\|python_tag\|>|<function[=_]|<\|START_ACTION\|>|"
    r"to=functions\.|functools\[|<invoke\b"
)
"""How families of models mark a call in their text."""
_SHOWN = 500
_MOST_ITEMS = 8


def turn_messages(said: Said, answer: Answer, tool_mode: str) -> tuple[WrittenMessage, ...]:
    """Return one turn as messages: what the model said, then the answer to each call, or the reminder."""
    if tool_mode == "json":
        told = "\n".join(one.content for one in answer.told) or answer.nudge or ""
        return ({"role": "assistant", "content": said.content or "(nothing)"}, {"role": "user", "content": told})
    message: WrittenMessage = {"role": "assistant", "content": said.content or (None if said.tool_calls else ".")}
    message |= said.replay
    if said.tool_calls:
        message |= {"tool_calls": [_written_call(call) for call in said.tool_calls]}
    if answer.nudge is not None:
        return message, {"role": "user", "content": answer.nudge}
    return message, *({"role": "tool", "tool_call_id": one.call_id, "content": one.content} for one in answer.told)


def _written_call(call: ToolCall) -> WrittenMessage:
    """Return a call as servers take it back: some refuse a history with a name or arguments that are none."""
    try:
        is_object = isinstance(read_text(call.arguments), dict)
    except ValueError:
        is_object = False
    arguments = call.arguments if is_object else json.dumps({"unreadable": call.arguments[:_SHOWN]})
    name = _BAD_NAME.sub("_", call.name)[:64] or "unnamed"
    function = {"name": name, "arguments": arguments}
    return {**call.attached, "id": call.id, "type": "function", "function": function}


def with_tail(messages: list[WrittenMessage], text: str | None) -> list[WrittenMessage]:
    """Return the messages with ``text`` at their end, in one user turn with what the user said last."""
    if text is None:
        return messages
    last = messages[-1]
    if last["role"] == "user":
        return [*messages[:-1], {**last, "content": f"{last['content']}\n\n{text}"}]
    return [*messages, {"role": "user", "content": text}]


def said_of(completion: Completion, tool_mode: str, microusd: int | None) -> Said:
    """Return what a completion says as a turn."""
    calls = completion.tool_calls if tool_mode == "native" else calls_in(completion.text or "")
    return Said(
        content=completion.text,
        tool_calls=calls,
        finish_reason=completion.finish_reason,
        refusal=completion.refusal,
        reasoning=completion.reasoning_text,
        replay=completion.replay,
        usage=completion.usage,
        microusd=microusd,
    )


def calls_in(text: str) -> tuple[ToolCall, ...]:
    """Return the calls written in a text: every sound JSON object with a ``name`` that is not only spoken of."""
    shown = blank_thinking(text)
    objects = find_objects(shown)
    found = [
        item.fields
        for place, item in enumerate(objects)
        if item.fields is not None and "name" in item.fields and spoken_as(shown, objects, place) == "own"
    ]
    return tuple(
        ToolCall(
            id=f"call_{place}",
            name=fields["name"].value if isinstance(fields["name"].value, str) else "",
            arguments=shown[fields["arguments"].start : fields["arguments"].end] if "arguments" in fields else "{}",
        )
        for place, fields in enumerate(found)
    )


def is_written_call(text: str | None, names: Collection[str]) -> bool:
    """Whether a text holds a tool call that a server's parser should have taken out: its marks, or a tool by name."""
    if not text:
        return False
    named = (item.fields["name"].value for item in find_objects(text) if item.fields and "name" in item.fields)
    return _CALL_MARKS.search(text) is not None or any(name in names for name in named if isinstance(name, str))


def call_schema(tools: Sequence[Mapping[str, Any]], text_limit: int | None) -> dict[str, Any]:
    """Return the schema of one call as JSON: any of the tools. Ranges are left to the store, which explains them."""
    functions = [tool["function"] for tool in tools]
    return {
        "anyOf": [
            {
                "type": "object",
                "properties": {
                    "name": {"const": function["name"]},
                    "arguments": _closed(function["parameters"], text_limit),
                },
                "required": ["name", "arguments"],
                "additionalProperties": False,
            }
            for function in functions
        ]
    }


def _closed(schema: Mapping[str, Any], text_limit: int | None) -> dict[str, Any]:
    """Return a tool's schema with every object closed, and with limits of length for small models that need them."""
    made = dict(schema)
    if "properties" in made:
        made["properties"] = {name: _closed(part, text_limit) for name, part in made["properties"].items()}
        made["additionalProperties"] = False
    if "items" in made:
        made["items"] = _closed(made["items"], text_limit)
    if text_limit is not None and made.get("type") == "string" and "enum" not in made:
        made["maxLength"] = text_limit
    if text_limit is not None and made.get("type") == "array":
        made["maxItems"] = _MOST_ITEMS
    made.pop("description", None)  # the tools stand in the briefing
    return made


def tool_lines(tools: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return the tools in words for a prompt: name, arguments (optional ones with a question mark), description."""
    lines = []
    for tool in tools:
        function = tool["function"]
        parameters = function["parameters"]
        needed = parameters.get("required", [])
        names = [name if name in needed else f"{name}?" for name in parameters["properties"]]
        lines.append({"name": function["name"], "arguments": ", ".join(names), "description": function["description"]})
    return lines
