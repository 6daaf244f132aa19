"""Faults in the tool calls of an answer; a request without tools gets the answer as it should be."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from experiments.fault_server.bad_answers import BadAnswer, FaultCall, completion, good, says, served

Twist = Callable[[dict[str, Any]], Any]


def _with_calls(
    make: Callable[[list[dict[str, Any]]], Any], finish_reason: str = "tool_calls"
) -> Callable[[FaultCall], BadAnswer]:
    """Return a fault that sends other calls than the model made."""

    def fault(call: FaultCall) -> BadAnswer:
        if not call.tool_calls:
            return good(call)
        made = make([json.loads(json.dumps(one)) for one in call.tool_calls])
        body, bill = completion(call, call.text, message={"tool_calls": made}, finish_reason=finish_reason)
        return served(body, bill)

    return fault


def _arguments(twist: Callable[[str], Any], finish_reason: str = "tool_calls") -> Callable[[FaultCall], BadAnswer]:
    """Return a fault that sends other arguments in every call."""

    def make(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for one in calls:
            one["function"]["arguments"] = twist(one["function"]["arguments"])
        return calls

    return _with_calls(make, finish_reason)


def _whole_floats(text: str) -> str:
    """Write every whole number as ``25.0``, which some models always do."""
    return re.sub(r"(?<=[ :\[,])(\d+)(?=[,}\]])", r"\1.0", text)


def _as_text(call: FaultCall) -> BadAnswer:
    """Answer as a server without a tool parser does: the calls stand in the text."""
    if not call.tool_calls:
        return good(call)
    written = [{"name": one["function"]["name"], "arguments": json.loads(one["function"]["arguments"])}
               for one in call.tool_calls]  # fmt: skip
    return says(call, "\n".join(f"<tool_call>\n{json.dumps(one)}\n</tool_call>" for one in written))


def _renamed(name: str) -> Callable[[FaultCall], BadAnswer]:
    def make(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**one, "function": {**one["function"], "name": name}} for one in calls]

    return _with_calls(make)


def _without(key: str) -> Callable[[FaultCall], BadAnswer]:
    def make(calls: list[dict[str, Any]]) -> list[Mapping[str, Any]]:
        return [{name: value for name, value in one.items() if name != key} for one in calls]

    return _with_calls(make)


CALLS: dict[str, Callable[[FaultCall], BadAnswer]] = {
    "call_cut_off": _arguments(lambda text: text[: len(text) // 2], "length"),
    "call_whole_but_cut_off": _with_calls(lambda calls: calls, "length"),
    "call_malformed": _arguments(lambda text: text[:-1]),
    "call_fenced": _arguments(lambda text: f"```json\n{text}\n```"),
    "call_nan": _arguments(lambda text: '{"amount": NaN}'),
    "call_infinite": _arguments(lambda text: '{"amount": 1e400}'),
    "call_deep": _arguments(lambda text: f'{{"amount": {"[" * 950}{"]" * 950}}}'),
    "call_list": _arguments(lambda text: f"[{text}]"),
    "call_text": _arguments(json.dumps),
    "call_object": _arguments(json.loads),
    "call_whole_floats": _arguments(_whole_floats),
    "calls_as_text": _as_text,
    "call_unknown_key": _arguments(lambda text: json.dumps({**json.loads(text), "reason": "because"})),
    "call_unknown_tool": _renamed("buy_everything"),
    "call_without_name": _renamed(""),
    "call_without_function": _without("function"),
    "call_twice": _with_calls(lambda calls: calls * 2),
    "calls_wrong_type": _with_calls(lambda calls: "check_balance()"),
}
