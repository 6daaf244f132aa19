"""Refusals with an HTTP error: of a part of the request, and for what the agent itself wrote or may not say."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from experiments.fault_server.bad_answers import BadAnswer, FaultCall, changed, completion, good, refused, says, served

_OVERFLOW_MESSAGE = "This model's maximum context length is 8192 tokens; your messages hold 9001 tokens."
_SMALL_CONTEXT = 600
"""Tokens beside the prompt in a context that a default answer does not fit."""
_ATTACHED = {"google": {"thought_signature": "c2lnbmF0dXJl" * 20}}


def _rejects(*names: str) -> Callable[[FaultCall], BadAnswer]:
    def make(call: FaultCall) -> BadAnswer:
        present = next((name for name in names if name in call.body), None)
        if present is None:
            return good(call)
        return refused(400, f"Unsupported parameter: '{present}' is not supported with this model.", param=present)

    return make


def _no_high_effort(call: FaultCall) -> BadAnswer:
    asked = call.body.get("reasoning_effort") or (call.body.get("reasoning") or {}).get("effort")
    if asked not in ("xhigh", "max"):
        return good(call)
    return refused(
        400,
        f"Unsupported value: 'reasoning_effort' does not support '{asked}' with this model.",
        param="reasoning_effort",
    )


def _rejects_schema(status: int, message: str, *, also_plain: bool = False) -> Callable[[FaultCall], BadAnswer]:
    """Return a fault that refuses the JSON schema, perhaps plain JSON mode too, in words of its own."""

    def make(call: FaultCall) -> BadAnswer:
        asked = call.body.get("response_format") or {}
        refuses = asked.get("type") == "json_schema" or (also_plain and asked)
        return refused(status, message) if refuses else good(call)

    return make


def _no_system_role(call: FaultCall) -> BadAnswer:
    roles = {message.get("role") for message in call.body["messages"]}
    return refused(400, "System role not supported") if "system" in roles else good(call)


def _ranges(schema: Any) -> bool:
    if isinstance(schema, list):
        return any(map(_ranges, schema))
    if not isinstance(schema, dict):
        return False
    found = {"maxLength", "minLength", "maxItems", "minItems", "exclusiveMinimum", "exclusiveMaximum", "$ref", "$defs"}
    return bool(found & set(schema)) or any(map(_ranges, schema.values()))


def _plain_tools_only(call: FaultCall) -> BadAnswer:
    if _ranges([tool["function"]["parameters"] for tool in call.body.get("tools") or ()]):
        return refused(400, "Invalid JSON schema for tools: keyword maxLength is not supported", param="tools")
    return good(call)


def _no_room(call: FaultCall) -> BadAnswer:
    context = call.prompt_tokens + _SMALL_CONTEXT
    if call.output_limit <= _SMALL_CONTEXT:
        return good(call)
    return refused(
        400,
        f"This model's maximum context length is {context} tokens. However, you requested "
        f"{call.prompt_tokens + call.output_limit} tokens ({call.prompt_tokens} in the messages, {call.output_limit} "
        "in the completion). Please reduce the length of the messages or completion.",
        param="messages",
        type="invalid_request_error",
    )


def _answer_too_long(call: FaultCall) -> BadAnswer:
    if call.output_limit <= 1024:
        return good(call)
    return refused(400, f"max_tokens: {call.output_limit} > 1024, which is the maximum allowed number of output tokens")


def wants_attached(call: FaultCall) -> BadAnswer:
    """Attach a signature to every call and reasoning to every message, and refuse a turn that comes back without."""
    for message in call.body["messages"]:
        for made in message.get("tool_calls") or ():
            if made.get("extra_content") != _ATTACHED or not message.get("reasoning_content"):
                return refused(400, "Function call is missing a thought_signature; reasoning_content is missing")
    body, bill = completion(call, call.text, message={"reasoning_content": "Let me see."})
    for made in body["choices"][0]["message"].get("tool_calls") or ():
        made["extra_content"] = _ATTACHED
    return served(body, bill)


def _rejects_attached(call: FaultCall) -> BadAnswer:
    if any("reasoning_content" in message for message in call.body["messages"]):
        return refused(400, "property 'reasoning_content' is unsupported")
    return says(call, call.text, message={"reasoning_content": "Let me see."})


REJECTION: dict[str, Callable[[FaultCall], BadAnswer]] = {
    "reject_response_format": _rejects("response_format"),
    "reject_temperature": _rejects("temperature"),
    "reject_seed": _rejects("seed"),
    "reject_reasoning": _rejects("reasoning", "reasoning_effort"),
    "reject_max_tokens": _rejects("max_tokens"),
    "reject_effort": _no_high_effort,
    "reject_strict_schema": _rejects_schema(400, "Invalid parameter: 'response_format' of type 'json_schema'"),
    "reject_schema_500": _rejects_schema(500, "xgrammar failed to compile the json_schema"),
    "reject_schema_field": _rejects_schema(400, 'Unknown name "additionalProperties" at generation_config'),
    "reject_schema_404": _rejects_schema(
        404, "No endpoints found that can handle the requested parameters.", also_plain=True
    ),
    "reject_system_role": _no_system_role,
    "reject_attached": _rejects_attached,
    "reject_schema_ranges": _plain_tools_only,
    "no_room_for_answer": _no_room,
    "answer_limit_too_high": _answer_too_long,
    "reject_all": _rejects("response_format", "temperature", "seed", "reasoning", "reasoning_effort", "max_tokens"),
}


def _throws_away(code: str, message: str) -> Callable[[FaultCall], BadAnswer]:
    return lambda call: refused(400, message, type="invalid_request_error", code=code, failed_generation=call.text[:9])


def _malformed_call(call: FaultCall) -> BadAnswer:
    body, bill = completion(call, None, finish_reason="error")
    body["choices"][0]["native_finish_reason"] = "MALFORMED_FUNCTION_CALL"
    return served(body, bill)


AGENTS_OWN: dict[str, Callable[[FaultCall], BadAnswer]] = {
    "json_thrown_away": _throws_away("json_validate_failed", "Failed to generate JSON. Please adjust your prompt."),
    "call_thrown_away": _throws_away("tool_use_failed", "Failed to call a function. Please adjust your prompt."),
    "malformed_call": _malformed_call,
    "malformed_call_alone": lambda call: changed(
        call, None, choices=[{"index": 0, "finish_reason": "function_call_filter: MALFORMED_FUNCTION_CALL"}]
    ),
    "prompt_filtered": lambda call: refused(
        400,
        "The response was filtered due to the prompt triggering the content management policy.",
        code="content_filter",
        param="prompt",
    ),
    "moderated": lambda call: refused(403, "Your input was flagged", metadata={"reasons": ["self-harm"]}),
    "context_overflow": lambda call: refused(400, _OVERFLOW_MESSAGE, type="context_length_exceeded"),
    "context_overflow_200": lambda call: BadAnswer(json.dumps({"error": {"code": 400, "message": _OVERFLOW_MESSAGE}})),
    "context_overflow_gemini": lambda call: refused(
        400, "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576)."
    ),
    "context_overflow_500": lambda call: refused(500, "litellm.APIError: prompt is too long: 213462 tokens > 200000"),
    "context_overflow_413": lambda call: BadAnswer("", 413),
    "context_overflow_finish": lambda call: says(call, "", finish_reason="model_context_window_exceeded", num_tokens=0),
}
