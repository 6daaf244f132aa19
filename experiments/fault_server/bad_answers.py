"""What the server sends back, the parts every fault is built from, and faults in what an answer says. No sockets here.

Each fault in the words twists what the bot would have said, or what it would have paid; one in the tool calls gives a
request without tools the answer as it should be.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
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


def changed(call: FaultCall, text: str | None, **parts: Any) -> BadAnswer:
    """Return an ordinary answer of which some parts beside the message are others."""
    body, bill = completion(call, text)
    return served(body | parts, bill)


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


_REFUSAL = "I'm sorry, but I can't help with that."
_EXAMPLE = '{"decision": "Offer", "price": 99, "message": "an example"}'


def _move(call: FaultCall) -> dict[str, Any]:
    """Return the bot's move; a bare word, when it saw no observation, becomes an offer of 45."""
    try:
        move = json.loads(call.text)
    except ValueError:
        move = {"decision": "Offer", "price": 45, "message": call.text}
    return dict(move)


def _clean(call: FaultCall) -> str:
    return json.dumps(_move(call))


def _fenced(text: str, language: str = "json") -> str:
    return f"```{language}\n{text}\n```"


def _priced(price: Any) -> Callable[[FaultCall], BadAnswer]:
    """Return a fault that offers ``price``, whatever the bot wanted to do."""
    return lambda call: says(call, json.dumps(_move(call) | {"decision": "Offer", "price": price}))


def _reasoned_to_the_limit(call: FaultCall) -> BadAnswer:
    spent = call.output_limit
    details = {"completion_tokens_details": {"reasoning_tokens": spent}}
    return says(
        call, "", finish_reason="length", num_tokens=spent, usage=details, message={"reasoning": "My limit is 52, so"}
    )


def _truncated(call: FaultCall) -> BadAnswer:
    text = json.dumps(_move(call) | {"decision": "Offer", "price": 45})
    return says(call, text[: text.index("45") + 1], finish_reason="length")


_WEIGHED = 'Maybe {"decision": "Accept", "price": null, "message": ""}? No.'


def _thinks(before: str, after: str = "") -> Callable[[FaultCall], BadAnswer]:
    """Return a fault that weighs another move inside the marks of a vendor."""
    return lambda call: says(call, f"{before.format(_WEIGHED)}{_clean(call)}{after}")


REPLIES: dict[str, Callable[[FaultCall], BadAnswer]] = {
    "fenced": lambda call: says(call, _fenced(_clean(call))),
    "fenced_capital": lambda call: says(call, _fenced(_clean(call), "JSON")),
    "fenced_bare": lambda call: says(call, _fenced(_clean(call), "")),
    "fences_example_first": lambda call: says(call, f"{_fenced(_EXAMPLE)}\nMy move:\n{_fenced(_clean(call))}"),
    "fences_example_last": lambda call: says(call, f"{_fenced(_clean(call))}\nAn example:\n{_fenced(_EXAMPLE)}"),
    "thinking_tags": lambda call: says(call, f"<think>my limit is 52, I could say 99</think>\n{_clean(call)}"),
    "thinking_unclosed": lambda call: says(call, f"<think>my limit is 52. {_clean(call)}", finish_reason="length"),
    "thinking_harmony": _thinks(
        "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>", "<|return|>"
    ),
    "thinking_harmony_bare": _thinks("analysis{}assistantfinal"),
    "thinking_kimi": _thinks("◁think▷{}◁/think▷"),
    "thinking_cohere": _thinks("<|START_THINKING|>{}<|END_THINKING|><|START_RESPONSE|>", "<|END_RESPONSE|>"),
    "thinking_apriel": _thinks("Here are my reasoning steps:\n{}\n[BEGIN FINAL RESPONSE]\n", "\n[END FINAL RESPONSE]"),
    "thinking_openthoughts": _thinks(
        "<|begin_of_thought|>{}<|end_of_thought|><|begin_of_solution|>", "<|end_of_solution|>"
    ),
    "quoted_in_a_sentence": lambda call: says(call, 'I could answer {"decision": "Accept"} but I refuse.'),
    "prose_around": lambda call: says(call, f"Here is my move: {_clean(call)} Good luck!"),
    "prose_only": lambda call: says(call, "I will not go to 100. My offer is 42."),
    "no_in_prose": lambda call: says(call, "Absolutely not."),
    "refusal": lambda call: says(call, None, message={"refusal": _REFUSAL}),
    "refusal_in_prose": lambda call: says(call, _REFUSAL),
    "content_filter": lambda call: says(call, None, finish_reason="content_filter"),
    "empty": lambda call: says(call, "", num_tokens=1),
    "blank": lambda call: says(call, " \n", num_tokens=1),
    "reasoning_only": _reasoned_to_the_limit,
    "truncated": _truncated,
    "duplicate": lambda call: says(call, f"{_clean(call)}\n{_clean(call)}"),
    "half_character": lambda call: says(call, json.dumps(_move(call) | {"message": "ok"}) + "\ud83d"),
    "json_list": lambda call: says(call, json.dumps([_move(call)])),
    "unknown_decision": lambda call: says(call, json.dumps(_move(call) | {"decision": "Ponder"})),
    "price_text": _priced("45"),
    "price_currency": _priced("$45.00"),
    "price_grouped": _priced("1,200.51"),
    "price_locale": _priced("45,50"),
    "price_locale_grouped": _priced("1.200,51"),
    "price_arabic_digits": _priced("٤٥"),
    "price_list": _priced([45]),
    "price_true": _priced(True),
    "price_null": _priced(None),
    "price_nan": _priced(float("nan")),
    "price_infinity": _priced(float("inf")),
    "price_minus_infinity": _priced(float("-inf")),
    "price_overflow": lambda call: says(call, '{"decision": "Offer", "price": 1e309, "message": ""}'),
    "price_negative": _priced(-5),
    "price_above_cap": lambda call: says(call, 'I could have offered 45. {"decision": "Offer", "price": 500}'),
}


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
