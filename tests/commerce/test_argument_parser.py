"""What an agent's text means depends on nothing but the text."""

from __future__ import annotations

import json
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commerce.argument_parser import MAX_DEPTH, MAX_DIGITS, TOO_DEEP, is_too_deep, read_arguments, read_text
from commerce.config import PAPER
from commerce.refusals import RefusedError
from commerce.replay import Entry, recordable, replay_calls, result_digest
from commerce.year import Year
from terms.strict_json import strict_dumps
from tests.commerce.builders import default_world

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def nested(depth: int) -> str:
    return '{"a":' + "[" * (depth - 1) + "]" * (depth - 1) + "}"


def deeper(levels: int, work):
    return work() if levels == 0 else deeper(levels - 1, work)


def refusal_of(arguments) -> tuple[str, str]:
    with pytest.raises(RefusedError) as caught:
        read_arguments(arguments)
    return caught.value.refusal.code, caught.value.refusal.message


@settings(max_examples=50, deadline=None)
@given(JSON)
def test_it_reads_what_json_is(value):
    text = json.dumps(value)
    assert strict_dumps(read_text(text)) == strict_dumps(value)
    assert not is_too_deep(value)


@pytest.mark.parametrize("number", ["1e400", "-1e400", "NaN", "Infinity", "-Infinity", "9" * 400 + ".5"])
def test_a_number_that_cannot_be_written_again_is_no_number(number):
    assert refusal_of(f'{{"amount": {number}}}')[0] == "malformed_arguments"


def test_digits_have_a_limit_of_our_own():
    assert read_text("9" * MAX_DIGITS) == 10**MAX_DIGITS - 1
    assert f"{MAX_DIGITS + 1} digits" in refusal_of(f'{{"amount": {"9" * (MAX_DIGITS + 1)}}}')[1]


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 900, 970, 980, 60_000])
def test_what_is_nested_too_deeply_is_told_the_same_wherever_it_is_read(depth):
    expected = ("malformed_arguments", f"the arguments are not JSON: they are nested deeper than {MAX_DEPTH}")
    levels = sys.getrecursionlimit() // 2
    assert refusal_of(nested(depth)) == deeper(levels, lambda: refusal_of(nested(depth))) == expected
    value = []
    for _ in range(depth):
        value = [value]
    assert refusal_of({"a": value}) == expected
    assert recordable({"a": value}) == TOO_DEEP
    assert refusal_of(TOO_DEEP) == expected


def test_the_depth_that_is_allowed_and_brackets_in_texts():
    assert read_text(nested(MAX_DEPTH))
    assert read_text(r'{"a": "[[[[\"' + "[{" * 100 + '"}')["a"].startswith("[[[[")
    assert is_too_deep(read_text(nested(MAX_DEPTH))) is False


@pytest.mark.parametrize("text", ['{"amount": 1e400}', nested(970), nested(100), '{"amount": "\\ud800"}'])
def test_a_year_with_odd_arguments_is_recorded_and_replayed(text):
    rules = PAPER.model_copy(update={"num_days": 3})
    arguments = recordable(text)
    entry = Entry(0, "withdraw", arguments, result_digest(Year(default_world(), rules).call("withdraw", arguments)))
    assert strict_dumps(entry.to_json_object())
    deeper(100, lambda: replay_calls(Year(default_world(), rules), [entry]))
