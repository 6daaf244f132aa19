"""Streamed answers: the same completion as an unstreamed one, and what a broken stream is."""

from __future__ import annotations

import json

import pytest

from experiments.llm import errors
from experiments.llm.pieces import put_together

TOOLS = [
    {"type": "function", "function": {"name": "take", "parameters": {"properties": {"number": {"type": "integer"}}}}}
]


@pytest.mark.parametrize(
    "fault", ["", "/fault:attached_wanted", "/fault:fenced", "/fault:refusal", "/fault:malformed_call"]
)
@pytest.mark.parametrize("tools", [(), TOOLS])
def test_a_streamed_answer_is_the_whole_one(connect, ask, fault, tools):
    whole, streamed = (ask(connect(f"bot{fault}", stream=stream), tools=tools) for stream in (False, True))
    apart = {"applied", "latency_s"}
    assert streamed.model_dump(exclude=apart) == whole.model_dump(exclude=apart)
    assert streamed.usage.cost_microusd is not None


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("bad_key", errors.AuthenticationFailed),
        ("drop_halfway", errors.ConnectionLost),
        ("error_body", errors.ErrorBody),
    ],
)
def test_a_failure_is_the_same_streamed(connect, ask, fault, kind):
    with pytest.raises(kind):
        ask(connect(f"bot/fault:{fault}", stream=True, max_retries=0))


def test_a_stream_without_an_end_is_no_answer():
    piece = json.dumps({"choices": [{"index": 0, "delta": {"content": "half"}, "finish_reason": None}]})
    text = f"data: {piece}\n\n"
    assert put_together(text) == text
    assert put_together('data: {"choices": [{"delta') == '{"choices": [{"delta'
    assert put_together('{"error": 1}') == '{"error": 1}'


def test_the_call_is_logged_with_what_was_streamed(connect, ask, server):
    ask(connect(stream=True))
    assert server.requests[-1]["body"]["stream_options"] == {"include_usage": True}
