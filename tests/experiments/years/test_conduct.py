"""What a transcript says of its agent, against the numbers the made-up model of ``agents.py`` was given."""

from __future__ import annotations

import pytest

from experiments.modes import check_folder
from experiments.years.conduct import (
    evictions,
    knowledge_by_day,
    num_idle_turns,
    spend_by_day,
    tool_errors,
)
from experiments.years.transcript import read_transcript
from tests.experiments.report.cases import HOSTILE
from tests.experiments.years.agents import Conducted, Idler, play


@pytest.fixture(scope="module")
def transcript(tmp_path_factory):
    folder = play(Conducted(), tmp_path_factory.mktemp("conducted"))
    assert check_folder(folder) == ([], [])
    return read_transcript(folder)


def test_unknown_prices_and_tokens_are_counted_and_not_summed(transcript):
    """Day 0: three turns of 1,000 prompt tokens, one without a price. Day 1: a turn without tokens, and the summary."""
    rows = spend_by_day(transcript)
    assert [row.day for row in rows] == [0, 1, 2, 3, 4, 5]
    first, second, third = rows[:3]
    assert first._asdict() == {
        "day": 0, "num_answers": 3, "known_microusd": 200, "num_unpriced": 1, "prompt_tokens": 3000,
        "cached_tokens": 1200, "completion_tokens": 30, "num_uncounted": 0,
    }  # fmt: skip
    assert (second.num_answers, second.known_microusd, second.num_unpriced) == (2, 150, 0)
    assert (second.prompt_tokens, second.completion_tokens, second.num_uncounted) == (0, 0, 2)
    assert (third.known_microusd, third.prompt_tokens) == (100, 1000)


def test_evictions_say_when_and_what(transcript):
    (row,) = evictions(transcript)
    assert (row.turn, row.day) == (3, 1)
    assert (row.eviction.first_turn, row.eviction.last_turn) == (0, 1)


def test_errors_are_counted_by_tool_and_code(transcript):
    rows = {row.tool: row for row in tool_errors(transcript)}
    assert rows["fly"].codes == {"unknown_tool": 1}
    assert rows["withdraw"].codes == {"invalid_arguments": 1}
    assert (rows["wait_for_next_day"].num_calls, rows["wait_for_next_day"].num_refused) == (6, 0)
    assert [row.num_refused for row in tool_errors(transcript)] == [1, 1, 0, 0, 0]
    assert num_idle_turns(transcript) == 1


def test_what_an_agent_knew_is_what_was_there_at_its_first_turn_of_the_day(transcript):
    known = {one.day: one for one in knowledge_by_day(transcript)}
    assert (known[0].turn, known[0].first_turn, known[0].memos, known[0].notes) == (0, 0, {}, {})
    assert known[1].turn == 3
    assert known[1].first_turn == 2  # turns 0 and 1 had just left
    assert list(known[1].memos.values()) == [HOSTILE]
    assert known[1].notes["summary"].text.startswith("So far")
    assert known[5].first_turn == 2
    assert known[5].notes["summary"].day == 1


def test_of_an_agent_outside_nothing_is_invented(tmp_path):
    transcript = read_transcript(play(Idler(), tmp_path))
    assert spend_by_day(transcript) == []
    assert evictions(transcript) == []
    assert {one.first_turn for one in knowledge_by_day(transcript)} == {None}
    assert [row.num_refused for row in tool_errors(transcript)] == [0]
