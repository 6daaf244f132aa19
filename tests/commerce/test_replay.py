"""Years as calls: recorded and replayed; any alteration is found."""

from __future__ import annotations

import pytest

from commerce.config import PAPER
from commerce.merchants import build_merchant
from commerce.replay import DivergedError, Entry, entry_from_json, recordable, replay_calls, result_digest, year_digest
from commerce.year import Year
from tests.commerce.builders import default_world

RULES = PAPER.model_copy(update={"num_days": 25})


def recorded():
    year, entries = Year(default_world(), RULES), []

    def call(tool, arguments):
        result = year.call(tool, arguments)
        entries.append(Entry(len(entries), tool, arguments, result_digest(result)))
        return result

    build_merchant("rule-based", default_world(), RULES)(call)
    return year, entries


@pytest.fixture(scope="module")
def whole():
    return recorded()


def test_replay_reproduces_the_year(whole):
    year, entries = whole
    again = replay_calls(Year(default_world(), RULES), [entry_from_json(entry.to_json_object()) for entry in entries])
    assert year_digest(again) == year_digest(year)


def test_an_altered_entry_is_found(whole):
    _, entries = whole
    for change in ({"result": "0" * 16}, {"tool": "check_balance"}, {"arguments": {"category": "Furniture"}}):
        spoiled = [*entries[:5], entries[5]._replace(**change), *entries[6:]]
        with pytest.raises(DivergedError, match="call 5"):
            replay_calls(Year(default_world(), RULES), spoiled)


def test_what_is_not_json_is_stored_as_text_and_refused_the_same():
    assert recordable({"a": 1}) == {"a": 1}
    for strange in ({"amount": float("nan")}, {"amount": object()}, {1, 2}):
        text = recordable(strange)
        assert isinstance(text, str)
        result = Year(default_world(), RULES).call("withdraw", text)
        assert result.error.code in ("malformed_arguments", "invalid_arguments")
