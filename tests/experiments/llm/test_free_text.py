"""Finding JSON objects in text: positions, broken extents, private reasoning."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.llm.free_text import blank_thinking, find_objects, spoken_as

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=5), JSON_VALUES, max_size=4), st.integers(0, 3), st.booleans())
def test_a_sound_object_is_found_with_the_place_of_every_value(content, indent, is_ascii):
    text = "before " + json.dumps(content, indent=indent, ensure_ascii=is_ascii) + " after"
    (found,) = find_objects(text)
    assert found.fields is not None
    assert {key: value.value for key, value in found.fields.items()} == content
    assert json.loads(text[found.start : found.end]) == content
    for key, value in found.fields.items():
        assert json.loads(text[value.start : value.end]) == content[key]


@given(st.dictionaries(st.text(max_size=5), JSON_VALUES, min_size=1, max_size=4), st.data())
def test_a_truncated_object_holds_no_object_of_its_own(content, data):
    text = json.dumps({"decision": "Offer", "inner": {"decision": "Accept"}, **content})
    cut = data.draw(st.integers(1, len(text) - 1))
    found = find_objects(text[:cut])
    assert found[0].fields is None
    # A cut inside a string leaves its brackets bare, so something may seem to begin there; it never says anything.
    assert not any(item.fields for item in found)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": 1', "never closed"),
        ('{"a": 1, "a": 2}', "occurs twice"),
        ('{"a" 1}', "':' is missing"),
        ('{"a": 1 "b": 2}', "',' is missing"),
        ("{'a': 1}", "double quotes"),
        ('{"a": 1,}', "double quotes"),
        ('[{"a": 1}]', "list"),
        ('[ {"a": 1}, {"a": 2}', "never closed"),
        ('{"a":' * 50_000, "never closed"),
        ('{"a":' * 50_000 + "1" + "}" * 50_000, "recursion"),
    ],
)
def test_broken_objects_say_how(text, problem):
    (found,) = find_objects(text)
    assert found.fields is None
    assert problem in found.problem


def test_a_raw_line_break_in_a_string_is_read_and_noted():
    (found,) = find_objects('{"a": "one\ntwo"}')
    assert found.fields is not None
    assert found.fields["a"].value == "one\ntwo"
    assert found.is_lenient


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("<think>52</think>x", "x"),
        ("<THINKING>a\nb</THINKING>x", "x"),
        ("<reasoning effort='high'>52</reasoning> x", "x"),
        ("[THINK]52[/THINK]x", "x"),
        ("52</think>x", "x"),
        ("<think>a<think>b</think>c</think>x", "x"),
        ("x<think>52", "x"),
        ("<think>1</think>x<think>2</think>", "x"),
        ("[thinking] x", "[thinking] x"),
        ("◁think▷52◁/think▷x", "x"),
        ("◁think▷52", ""),
        ("<|START_THINKING|>52<|END_THINKING|><|START_RESPONSE|>x<|END_RESPONSE|>", "x"),
        ("<|begin_of_thought|>52<|end_of_thought|>\n<|begin_of_solution|>x<|end_of_solution|>", "x"),
        ("Here are my reasoning steps:\n52\n[BEGIN FINAL RESPONSE]\nx\n[END FINAL RESPONSE]", "x"),
        ("Here are my reasoning steps:\n52", ""),
        ("52\n[BEGIN FINAL RESPONSE]\nx", "x"),
        ("<|channel|>analysis<|message|>52<|end|><|start|>assistant<|channel|>final<|message|>x<|return|>", "x"),
        ("<|channel|>analysis<|message|>52<|end|><|start|>assistant<|channel|>commentary<|message|>53<|call|>", ""),
        ("<|channel|>analysis<|message|>52", ""),
        ("<|channel|>final <|constrain|>json<|message|>x", "x"),
        ("<|channel>thought\n52<channel|>x", "x"),
        ("analysisWe need 52.assistantfinalx", "x"),
        ("analysisWe need 52", ""),
        ("analysis of the market: x", "analysis of the market: x"),
        ("<seed:think>52</seed:think>x", "x"),
        ("<|think|>52<|/think|>x", "x"),
        ("<unused94>thought 52<unused95>x", "x"),
        ("Here is my thought process: 52 Here is my response: x", "x"),
        ("Here is my response: x", "Here is my response: x"),
        ("```thinking\n52\n```\nx", "x"),
        ("<think>52 [BEGIN FINAL RESPONSE] 53</think>x", "x"),
        ("a < think > b", "a < think > b"),
    ],
)
def test_thinking_is_blanked_and_positions_stay(text, visible):
    blanked = blank_thinking(text)
    assert len(blanked) == len(text)
    assert blanked.strip() == visible


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("{}", "own"), ("My answer: {}", "own"), ("Here is my move: {} Good luck!", "own"), ("# Final\n{}", "own"),
        ("**My answer:** {}", "own"), ("I thought about it. {}", "own"), ("```json\n{}\n```\nbut careful", "own"),
        ("I choose {}", "own"), ("Here is the call {}", "own"),
        ("我的回答：{}", "own"), ("My answer is {}.", "own"), ("{} and nothing else", "own"),
        ("I could answer {} but I refuse", "example"), ("I might say: {}", "example"), ("For example: {}", "example"),
        ("I will not answer: {}", "example"), ("I won't say {}", "example"), ("{} but I refuse", "example"),
        ("My move: {} is not what I want", "example"), ("I refuse to send {}", "example"),
        ("They would like me to say {}", "inside"), ("To say {} now is early", "inside"),
        ("My answer is {} if you agree", "inside"),
        ("There is no way I will send {}.", "example"), ("I cannot answer {}.", "example"),
        ("Should I send {}? No.", "example"), ("What if the answer is {}", "example"), ("{} - no, too dear", "example"),
        ("Maybe the right move is {}, I am not sure.", "example"), ("Thought: the answer is {}", "example"),
        ("Thinking: {}", "example"), ("Wrong: {}", "example"), ("One option: {}", "example"), ("~~{}~~", "example"),
        ("The other side hopes that my reply is {}", "example"), ("Later I would send: {}", "example"),
        ("It is too early for the move {}", "example"), ("The expected format is: {}", "example"),
        ("我不会回答：{}", "example"), ("Ich werde nicht antworten: {}", "example"),
        ("The price will not fall, so my answer is {}", "own"), ("I could wait, but I send {}", "own"),
        ("I will not go higher; here is my move: {}", "own"), ("Reasoning: it is fair.\n{}", "own"),
        ("<output>{}</output>", "own"), ("<|begin_of_box|>{}<|end_of_box|>", "own"),
        ("<tool_call>{}</tool_call>", "own"), ("Therefore {}", "own"), ("Let's answer: {}", "own"),
    ],
)  # fmt: skip
def test_what_a_sentence_only_speaks_of_is_told_from_an_answer(text, how):
    text = text.replace("{}", '{"a": 1}')
    assert spoken_as(text, find_objects(text), 0) == how


PIECES = st.sampled_from([*'<>/{}[]":,a1 \n', "<think>", "</think>", '{"a":1}'])


@given(st.lists(PIECES, max_size=40).map("".join))
def test_nothing_raises_and_objects_do_not_overlap(text):
    found = find_objects(blank_thinking(text))
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert all(0 <= item.start < item.end <= len(text) for item in found)
