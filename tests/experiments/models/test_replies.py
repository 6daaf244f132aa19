"""Reading answers with HTTP 200: shapes of servers, and anything at all."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.models.errors import EmptyCompletion, MalformedReply, ModelCallError
from experiments.models.replies import read_reply


def body(message, **choice):
    return json.dumps({"choices": [{"message": message, "finish_reason": "stop", **choice}], "model": "m"})


def test_content_in_parts_is_joined_and_only_its_text():
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}, "c"]
    assert read_reply(body({"content": parts})).text == "ab"


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_reasoning_is_kept_apart(field):
    reply = read_reply(body({"content": "offer 45", field: "my limit is 52"}))
    assert reply.text == "offer 45"
    assert reply.reasoning_text == "my limit is 52"
    assert "52" not in repr(reply)


def test_an_empty_refusal_is_none():
    assert read_reply(body({"content": "x", "refusal": ""})).refusal is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", MalformedReply),
        ("[]", MalformedReply),
        ("5", MalformedReply),
        ("{", MalformedReply),
        ("[" * 100_000, MalformedReply),
        ("1" * 10_000, MalformedReply),
        ("{}", EmptyCompletion),
        ('{"choices": "abc"}', MalformedReply),
        ('{"choices": [5]}', MalformedReply),
        ('{"choices": [{}]}', MalformedReply),
        ('{"choices": [{"message": "hi"}]}', MalformedReply),
        (body({"content": 45}), MalformedReply),
        (body({"content": "x", "refusal": True}), MalformedReply),
        (body({"content": "x"}, finish_reason=3), MalformedReply),
    ],
)
def test_no_completion(text, kind):
    with pytest.raises(kind) as caught:
        read_reply(text)
    assert caught.value.maybe_billed
    assert len(str(caught.value)) < 500


def test_nothing_generated_is_not_the_models_silence():
    reply = json.loads(body({"content": ""}))
    assert read_reply(json.dumps(reply | {"usage": {"completion_tokens": 1}})).text == ""
    assert read_reply(json.dumps(reply)).text == ""  # nobody counted: the model's own silence
    with pytest.raises(EmptyCompletion):
        read_reply(json.dumps(reply | {"usage": {"completion_tokens": 0}}))


NAMES = [
    "choices",
    "message",
    "content",
    "refusal",
    "finish_reason",
    "usage",
    "error",
    "code",
    "model",
    "provider",
    "id",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "stop", "error", "\ud83d"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=20,
)
SHAPED = st.fixed_dictionaries(
    {"choices": st.lists(st.dictionaries(st.sampled_from(NAMES), JSON, max_size=5), max_size=2)},
    optional={"error": JSON},
)


@given(JSON | SHAPED)
def test_anything_is_a_completion_or_one_of_our_errors(value):
    try:
        reply = read_reply(json.dumps(value))
    except ModelCallError:
        return
    reply.model_dump_json().encode()  # it can be stored: whole characters, finite numbers
