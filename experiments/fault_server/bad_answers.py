"""What the server sends back, and the parts every fault is built from. Pure: no sockets here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

PROMPT_MICROUSD, COMPLETION_MICROUSD = 3, 15
"""Price of one token in micro-dollars: $3 and $15 per million, so that every bill is a whole number."""
_BYTES_PER_TOKEN = 4
_OVERHEAD_TOKENS = 7


@dataclass(frozen=True)
class FaultCall:
    """One request as a fault sees it.

    ``text`` is what the bot says and ``tool_calls`` what it does; ``serial`` counts requests from 1; ``slow_s`` is how
    long slow answers take, and ``key`` the one that came with the request.
    """

    body: Mapping[str, Any]
    text: str
    serial: int
    slow_s: float
    tool_calls: tuple[dict[str, Any], ...] = ()
    key: str = ""

    @cached_property
    def prompt_tokens(self) -> int:
        """Length of the messages and tools in tokens of four bytes."""
        tools = token_count(json.dumps(self.body["tools"])) if "tools" in self.body else 0
        return token_count(json.dumps(self.body["messages"])) + tools + _OVERHEAD_TOKENS

    @property
    def output_limit(self) -> int:
        """Most tokens the request allows."""
        return int(self.body.get("max_completion_tokens") or self.body.get("max_tokens") or 1024)


def token_count(text: str) -> int:
    """Return the length of a text in tokens of four bytes."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN)


@dataclass(frozen=True)
class BadAnswer:
    """An HTTP answer. ``delivery`` says how much of it leaves the server; ``microusd`` is what it is billed."""

    body: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    delay_s: float = 0.0
    delivery: Literal["whole", "half", "nothing", "blanks first"] = "whole"
    microusd: int = 0


def completion(
    call: FaultCall,
    text: str | None,
    *,
    finish_reason: str = "stop",
    num_tokens: int | None = None,
    message: Mapping[str, Any] | None = None,
    usage: Mapping[str, Any] | None = None,
) -> tuple[dict[str, Any], int]:
    """Return a chat completion and its bill in micro-dollars; ``message`` and ``usage`` override parts of it."""
    acts = bool(call.tool_calls) and text == call.text  # a fault that changes the words loses the calls
    calls = {"tool_calls": list(call.tool_calls)} if acts else {}
    if acts and finish_reason == "stop":
        finish_reason = "tool_calls"
    num_written = token_count(text or "") + (token_count(json.dumps(call.tool_calls)) if acts else 0)
    completion_tokens = num_written if num_tokens is None else num_tokens
    bill = call.prompt_tokens * PROMPT_MICROUSD + completion_tokens * COMPLETION_MICROUSD
    said = {"role": "assistant", "content": text, "refusal": None, **calls, **(message or {})}
    counted = {
        "prompt_tokens": call.prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": call.prompt_tokens + completion_tokens,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
        "cost": bill / 1_000_000,
        **(usage or {}),
    }
    body = {
        "id": f"gen-{call.serial}",
        "object": "chat.completion",
        "created": 1_700_000_000 + call.serial,
        "model": call.body["model"],
        "provider": "Provider-A",
        "system_fingerprint": "fp-a",
        "choices": [
            {"index": 0, "finish_reason": finish_reason, "native_finish_reason": finish_reason, "message": said}
        ],
        "usage": counted,
    }
    return body, bill


def served(body: Mapping[str, Any], bill: int) -> BadAnswer:
    """Return a body with HTTP 200; values that are not JSON (NaN) are sent as Python writes them."""
    return BadAnswer(json.dumps(body), microusd=bill)


def says(call: FaultCall, text: str | None, **parts: Any) -> BadAnswer:
    """Return an ordinary answer whose content is ``text``; see :func:`completion` for the rest."""
    return served(*completion(call, text, **parts))


def refused(status: int, message: str, *, headers: Mapping[str, str] | None = None, **extra: Any) -> BadAnswer:
    """Return an error answer in the form vendors use; it costs nothing."""
    return BadAnswer(json.dumps({"error": {"message": message, "code": status, **extra}}), status, headers or {})


def streamed(made: BadAnswer) -> BadAnswer:
    """Return a whole answer in pieces: its text letter by letter in two, each call in two, the bill at the end."""
    if made.status != 200:
        return made
    body = json.loads(made.body)
    if not body.get("choices"):
        return made
    choice = body["choices"][0]
    message = dict(choice.get("message") or {})
    calls = message.pop("tool_calls", None) or []
    deltas: list[dict[str, Any]] = [{**message, "content": None}]
    text = message.get("content")
    if isinstance(text, str):
        deltas += [{"content": text[: len(text) // 2]}, {"content": text[len(text) // 2 :]}]
    for index, call in enumerate(calls):
        words = call["function"]["arguments"]
        first = {**call, "index": index, "function": {**call["function"], "arguments": words[:3]}}
        deltas += [{"tool_calls": [first]}, {"tool_calls": [{"index": index, "function": {"arguments": words[3:]}}]}]
    frame = {key: value for key, value in body.items() if key not in ("choices", "usage")}
    end = {key: value for key, value in choice.items() if key != "message"}
    pieces = [frame | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    pieces += [frame | {"choices": [{**end, "delta": {}}]}, frame | {"choices": [], "usage": body.get("usage")}]
    lines = "".join(f"data: {json.dumps(piece)}\n\n" for piece in pieces)
    return replace(made, body=lines + "data: [DONE]\n\n", content_type="text/event-stream")


def good(call: FaultCall) -> BadAnswer:
    """Return the bot's answer as it should be."""
    return says(call, call.text)


def delivered(answer: BadAnswer, delivery: Literal["half", "nothing", "blanks first"]) -> BadAnswer:
    """Return ``answer`` with a delivery that goes wrong."""
    return replace(answer, delivery=delivery)
