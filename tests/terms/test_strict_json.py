"""What the strict reader refuses, and that everything it reads can be written again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terms.strict_json import strict_dumps, strict_loads

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("NaN", "NaN is not valid JSON"),
        ("[-Infinity]", "-Infinity is not valid JSON"),
        ("1e400", "1e400 is not a finite number"),
        ("9" * 301, "is not a finite number"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "the key 'c' stands twice in one object"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": 1', "delimiter"),
        ("", "Expecting value"),
    ],
)
def test_what_no_record_may_hold_is_refused(text, words):
    with pytest.raises(ValueError, match=words):
        strict_loads(text)


def test_lines_of_our_own_are_read_without_the_search_for_doubles():
    assert strict_loads('{"c": 1, "c": 2}', unique_keys=False) == {"c": 2}
    with pytest.raises(ValueError, match="finite"):
        strict_loads("[1e999]", unique_keys=False)


@pytest.mark.parametrize("value", [float("nan"), [float("inf")]])
def test_what_is_no_json_is_not_written(value):
    with pytest.raises(ValueError, match="JSON compliant"):
        strict_dumps(value)


@given(VALUES)
def test_what_is_written_reads_the_same(value):
    text = strict_dumps(value)
    assert strict_loads(text) == strict_loads(text, unique_keys=False) == value
    assert strict_dumps(strict_loads(text.encode())) == text
