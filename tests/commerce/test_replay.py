"""Years as calls: recorded, replayed, resumed; any alteration is found."""

from __future__ import annotations

import pytest

from commerce.config import PAPER
from commerce.merchants import build_merchant
from commerce.replay import DivergedError, RecordedYear, entry_from_json, recordable, replay, year_digest
from commerce.year import Year
from tests.commerce.builders import default_world

RULES = PAPER.model_copy(update={"num_days": 25})


def recorded(past=()):
    entries = list(past)
    year = RecordedYear(Year(default_world(), RULES), entries.append, list(past))
    build_merchant("rule-based", default_world(), RULES)(year.call)
    year.finish()
    return year.year, entries


@pytest.fixture(scope="module")
def whole():
    return recorded()


def test_replay_reproduces_the_year(whole):
    year, entries = whole
    again = replay(Year(default_world(), RULES), [entry_from_json(entry.to_json_object()) for entry in entries])
    assert year_digest(again) == year_digest(year)


@pytest.mark.parametrize("num_kept", [0, 1, 90, -1])
def test_a_resumed_year_is_the_same_year(whole, num_kept):
    year, entries = whole
    again, all_entries = recorded(entries[:num_kept])
    assert all_entries == entries
    assert year_digest(again) == year_digest(year)


def test_an_altered_entry_is_found(whole):
    _, entries = whole
    for change in ({"result": "0" * 16}, {"tool": "check_balance"}, {"arguments": {"category": "Furniture"}}):
        spoiled = [*entries[:5], entries[5]._replace(**change), *entries[6:]]
        with pytest.raises(DivergedError, match="call 5"):
            replay(Year(default_world(), RULES), spoiled)
        with pytest.raises(DivergedError, match="call 5"):
            recorded(spoiled)


def test_another_merchant_cannot_go_on(whole):
    _, entries = whole
    year = RecordedYear(Year(default_world(), RULES), list().append, entries)
    with pytest.raises(DivergedError, match="call 0"):
        build_merchant("idle", default_world(), RULES)(year.call)


def test_a_merchant_that_stops_earlier_is_another_merchant(whole):
    _, entries = whole
    year = RecordedYear(Year(default_world(), RULES), list().append, entries)
    year.call(entries[0].tool, entries[0].arguments)
    with pytest.raises(DivergedError, match="call 1"):
        year.finish()


def test_what_is_not_json_is_stored_as_text_and_refused_the_same():
    assert recordable({"a": 1}) == {"a": 1}
    for strange in ({"amount": float("nan")}, {"amount": object()}, {1, 2}):
        text = recordable(strange)
        assert isinstance(text, str)
        result = Year(default_world(), RULES).call("withdraw", text)
        assert result.error.code in ("malformed_arguments", "invalid_arguments")
