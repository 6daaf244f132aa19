"""Public wordings of vendors' errors, each read as what it is. Sources: the vendors' own documentation and public issues."""

# ruff: noqa: E501 - the wordings stand as they are known

from __future__ import annotations

import pytest

from experiments.llm import errors
from experiments.llm.complaints import answer_room, refused_part
from experiments.llm.errors import from_status

OVERFLOWS = [
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",  # OpenAI
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    '{"error": {"code": "context_length_exceeded", "message": "too much"}}',
    "Invalid 'messages[1].content': string too long. Expected a string with maximum length 1048576",
    "prompt is too long: 213462 tokens > 200000 maximum",  # Anthropic
    '{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size: too large"}}',
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",  # Gemini
    "The input token count exceeds the maximum number of tokens allowed 1048576.",
    "Input is too long for requested model.",  # Bedrock
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",  # xAI
    "Please reduce the length of the messages or completion.",  # Groq
    "This endpoint's maximum context length is 131072 tokens. However, you requested about 200000 tokens.",  # OpenRouter
    "the request exceeds the available context size, try increasing it",  # llama.cpp
    '{"error":{"code":400,"type":"exceed_context_size_error"}}',
    "Trying to keep the first 4501 tokens: tokens to keep from the initial prompt is greater than the context length",
    "prompt token count of 140000 exceeds the limit of 128000",  # Copilot
    "invalid params, context window exceeds limit (2013)",  # MiniMax
    "Your request exceeded model token limit: 262144 (requested: 300000)",  # Kimi
    "Prompt contains 130000 tokens, too large for model with 128000 maximum context length",  # Mistral
    "Range of input length should be [1, 129024]",  # DashScope
    "The input (516368 tokens) is longer than the model's context length (262144 tokens).",  # Together
    "Input length 131393 exceeds the maximum allowed input length of 131040 tokens.",  # Poolside
    "Input validation error: `inputs` must have less than 4095 tokens. Given: 5000",  # TGI
    "The prompt is too long: 140000, model maximum context length: 131072",  # Fireworks
    "The decoder prompt (length 5002) is longer than the maximum model length of 4096.",  # vLLM
    "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.",
    "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4500",  # Cohere
    "litellm.ContextWindowExceededError: Requested token count exceeds the model's maximum context length of 131072",
    "Prompt 超长",  # Zhipu
]


@pytest.mark.parametrize("status", [400, 413, 422, 500, 503])
@pytest.mark.parametrize("text", OVERFLOWS)
def test_a_full_context_is_the_agents_own_in_every_wording(text, status):
    assert type(from_status(status, text, {}, 0.0)) is errors.ContextOverflow


@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (413, "Request too large for model x on tokens per minute (TPM): Limit 6000, Requested 7000", errors.BadRequest),
        (429, "Request too large for gpt on tokens per min (TPM): Limit 200000, Requested 353175", errors.RateLimited),
        (429, '{"error": {"code": "insufficient_quota", "message": "You exceeded your quota"}}', errors.OutOfCredit),
        (429, "You exceeded your current quota, please retry in 32s. Quota exceeded for metric", errors.RateLimited),
        (400, "Your credit balance is too low to access the API.", errors.OutOfCredit),
        (402, "Insufficient Balance", errors.OutOfCredit),
        (400, "API key not valid. Please pass a valid API key.", errors.AuthenticationFailed),
        (400, "foo/bar is not a valid model ID", errors.ModelNotFound),
        (404, "The model `x` does not exist.", errors.ModelNotFound),
        (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser', errors.ToolsUnavailable),
        (400, "registry.ollama.ai/library/gemma3 does not support tools", errors.ToolsUnavailable),
        (404, "No endpoints found that support tool use.", errors.ToolsUnavailable),
        (400, '{"code": "json_validate_failed", "message": "Failed to generate JSON."}', errors.MalformedAnswer),
        (400, "Failed to validate JSON. Please adjust your prompt. See 'failed_generation'", errors.MalformedAnswer),
        (400, "Tool call validation failed: attempted to call tool 'x' which was not in request", errors.MalformedAnswer),
        (500, "error parsing tool call: raw='{', err=unexpected end of JSON input", errors.MalformedAnswer),
        (500, "Failed to parse tool call arguments as JSON", errors.MalformedAnswer),
        (400, "The response was filtered due to the prompt triggering Azure OpenAI's content management policy",
         errors.PromptFiltered),
        (400, '{"code": "data_inspection_failed", "message": "Input data may contain inappropriate content."}',
         errors.PromptFiltered),
        (400, "Content Exists Risk", errors.PromptFiltered),
        (403, "Your input was flagged", errors.PromptFiltered),
        (400, "Invalid prompt: your prompt was flagged as potentially violating our usage policy.", errors.PromptFiltered),
        (403, "You do not have access", errors.AuthenticationFailed),
        (400, "thinking is enabled but reasoning_content is missing in assistant tool call message", errors.BadRequest),
    ],
)  # fmt: skip
def test_words_go_before_the_status(status, text, kind):
    assert type(from_status(status, text, {}, 0.0)) is kind


@pytest.mark.parametrize(
    ("text", "room"),
    [
        ("This model's maximum context length is 4096 tokens. However, you requested 4500 tokens (2452 in the messages, "
         "2048 in the completion). Please reduce the length of the messages or completion.", 1644),
        ("This endpoint's maximum context length is 4,096 tokens. However, you requested about 4,500 tokens (2,452 of text "
         "input, 2,048 in the output).", 1644),
        ("'max_tokens' is too large: 2048. This model's maximum context length is 4096 tokens and your request has 2452 "
         "input tokens (2048 > 4096 - 2452).", 1644),
        ("You passed 2452 input tokens and requested 2048 output tokens. However, the model's context length is only 4096 "
         "tokens", 1644),
        ("input length and `max_tokens` exceed context limit: 2452 + 2048 > 4096, decrease input length", 1644),
        ("Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 2452 `inputs` tokens and "
         "2048 `max_new_tokens`", 1644),
        ("Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 4500 "
         "tokens: 2452 tokens from the input messages and 2048 tokens for the completion.", 1644),
        ("max_tokens: 2048 > 1024, which is the maximum allowed number of output tokens", 1024),
        ("max_tokens is too large: 2048. This model supports at most 1024 completion tokens", 1024),
        ("`max_tokens` must be less than or equal to `1024`, the maximum value for `max_tokens` is less than the "
         "`context_window` for this model", 1024),
        ("Invalid max_tokens value, the valid range of max_tokens is [1, 1024]", 1024),
        ("it has a maxOutputTokens value of 2048 but the supported range is from 1 (inclusive) to 1025 (exclusive)", 1024),
        ("prompt is too long: 213462 tokens > 200000 maximum", None),
        ("This model's maximum context length is 4096 tokens. However, you requested 7048 tokens (5000 in the messages, "
         "2048 in the completion).", None),
        ("This model's maximum context length is 4096 tokens. However, you requested 6138 tokens (4090 in the messages, "
         "2048 in the completion).", None),  # six tokens are no answer
    ],
)  # fmt: skip
def test_room_that_is_left_for_the_answer(text, room):
    assert answer_room(text, 2048) == room


BODY = {
    "model": "m", "messages": [{"role": "system", "content": "x"}, {"role": "user", "content": "y"}], "seed": 1,
    "temperature": 0, "max_tokens": 9, "reasoning_effort": "high", "response_format": {"type": "json_schema"},
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("reasoning_content is missing in assistant tool call message", None),
        ("The `reasoning_content` in the thinking mode must be passed back to the API.", None),
        ("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
         "max_tokens"),
        ("Unsupported value: 'temperature' does not support 0.0 with this model. Only the default (1) is.", "temperature"),
        ("invalid temperature: only 1 is allowed for this model", "temperature"),
        ("Unrecognized request argument supplied: reasoning_effort", "effort"),
        ("Unsupported value: 'reasoning_effort' does not support 'xhigh' with this model.", "effort"),
        ("This response_format type is unavailable now: not supported", "response_format"),
        ("Invalid JSON payload received. Unknown name \"additionalProperties\" at 'schema'", "response_format"),
        ("Invalid schema for response_format 'move': anyOf is not permitted", "response_format"),
        ("No endpoints found that can handle the requested parameters.", "response_format"),
        ("System role not supported", "system role"),
        ("Unsupported value: 'messages[0].role' does not support 'system' with this model.", "system role"),
        ("Developer instruction is not enabled for models/gemma-3-27b-it", "system role"),
        ("messages[0].role is not one of system, user, assistant", None),
        ('{"message": "seed is unknown here", "param": "stop"}', None),
        ('{"message": "unknown", "param": "response_format.json_schema"}', "response_format"),
        ("Internal server error", None),
    ],
)  # fmt: skip
def test_only_the_part_that_the_server_names_is_changed(text, part):
    assert refused_part(text, BODY) == part


def test_what_is_attached_is_refused_only_where_something_is():
    text = "property 'reasoning_content' is unsupported"
    assert refused_part(text, BODY) is None
    assert refused_part(text, BODY, ("reasoning_content",)) == "attached"
