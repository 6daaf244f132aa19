"""Reading answers with HTTP 200, streamed ones too: shapes of servers, and anything at all."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commerce.argument_parser import TOO_DEEP
from experiments.llm import errors
from experiments.llm.errors import EmptyCompletion, MalformedReply, ModelCallError
from experiments.llm.replies import LONGEST_TEXT, MOST_CALLS, put_together, read_reply


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


@pytest.mark.parametrize(
    ("word", "common"),
    [("max_tokens", "length"), ("MAX_TOKENS", "length"), ("LENGTH", "length"), ("SAFETY", "content_filter"),
     ("content_filter", "content_filter"), ("stop", "stop"), ("tool_use", "tool_use"), ("STOP", "STOP")],
)  # fmt: skip
def test_a_vendors_word_for_a_reply_that_is_not_whole_is_the_common_one(word, common):
    assert read_reply(body({"content": "x"}, finish_reason=word)).finish_reason == common


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


def calling(*calls, **message):
    """Return the body of a reply that makes calls."""
    message = {"role": "assistant", "content": None, "tool_calls": list(calls), **message}
    return json.dumps({"choices": [{"finish_reason": "tool_calls", "message": message}], "usage": {}})


def call(id="a", name="withdraw", arguments="{}", **more):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}, **more}


class TestToolCalls:
    def test_calls_keep_their_order_ids_and_the_very_text_of_their_arguments(self):
        reply = read_reply(calling(call("x", arguments='{"a": 1, "a": NaN'), call("y", "wait")))
        assert [one.id for one in reply.tool_calls] == ["x", "y"]
        assert reply.tool_calls[0].arguments == '{"a": 1, "a": NaN'
        assert (reply.text, reply.finish_reason) == (None, "tool_calls")

    @pytest.mark.parametrize(
        ("arguments", "text"), [({"a": 1}, '{"a": 1}'), (None, "{}"), ("", "{}"), ([1], "[1]"), ("\ud83d", "\ufffd")]
    )
    def test_arguments_that_are_no_text_become_text(self, arguments, text):
        assert read_reply(calling(call(arguments=arguments))).tool_calls[0].arguments == text

    def test_a_call_that_came_twice_counts_once(self):
        reply = read_reply(calling(call("x"), call("x"), call("y")))
        assert [one.id for one in reply.tool_calls] == ["x", "y"]
        assert reply.notices == ("the call x came twice and counts once",)

    def test_other_calls_of_one_id_get_an_id_each(self):
        reply = read_reply(calling(call("x"), call("x", "wait"), call(None), call(None)))
        assert [one.id for one in reply.tool_calls] == ["x", "x.1", "call_2", "call_3"]

    @pytest.mark.parametrize("calls", ["text", [1], [{"id": "a"}], [{"function": "withdraw"}], {"a": 1}])
    def test_what_is_no_list_of_calls_is_malformed(self, calls):
        body = json.loads(calling())
        body["choices"][0]["message"]["tool_calls"] = calls
        with pytest.raises(MalformedReply):
            read_reply(json.dumps(body))

    def test_a_call_without_tokens_or_text_is_not_empty(self):
        body = json.loads(calling(call()))
        body["usage"] = {"completion_tokens": 0}
        assert read_reply(json.dumps(body)).tool_calls

    def test_what_the_router_wants_back_is_kept(self):
        details = [{"type": "reasoning.encrypted", "data": "abc"}]
        reply = read_reply(calling(call(), reasoning_details=details))
        assert reply.replay == {"reasoning_details": details}

    def test_half_a_character_in_what_the_router_wants_back_is_replaced(self):
        details = [{"\ud800": ["a\udc00", {"n": 1.5, "none": None}]}]
        whole = [{"\ufffd": ["a\ufffd", {"n": 1.5, "none": None}]}]
        assert read_reply(calling(call(), reasoning_details=details)).replay == {"reasoning_details": whole}

    @pytest.mark.parametrize("value", ["NaN", "-Infinity", "1e400", "[" * 40 + "]" * 40])
    def test_what_could_neither_be_stored_nor_sent_again_is_malformed(self, value):
        text = calling(call(), reasoning_details=[{"x": "HERE"}]).replace('"HERE"', value)
        with pytest.raises(MalformedReply, match="reasoning_details"):
            read_reply(text)

    def test_arguments_as_an_object_that_no_store_takes_are_refused_by_it(self):
        deep = calling(call(arguments={"a": "HERE"})).replace('"HERE"', "[" * 900 + "]" * 900)
        assert read_reply(deep).tool_calls[0].arguments == TOO_DEEP

    def test_half_a_character_in_what_the_server_says_of_itself_is_replaced(self):
        applied = read_reply('{"id": "\\ud800", "choices": [{"message": {"content": "x"}}]}').applied
        assert applied.response_id == "\ufffd"

    def test_endless_arguments_and_calls_are_cut_and_never_carried_out(self):
        reply = read_reply(calling(call(arguments='{"a": "' + "x" * LONGEST_TEXT + '"}')))
        assert len(reply.tool_calls[0].arguments) == LONGEST_TEXT
        assert reply.finish_reason == "length"
        many = read_reply(calling(*(call(str(number)) for number in range(MOST_CALLS + 1))))
        assert (len(many.tool_calls), many.finish_reason) == (MOST_CALLS, "length")


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
