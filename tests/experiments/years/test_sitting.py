"""A session as anything but a model drives it, and the transcript it leaves."""

from __future__ import annotations

import json

import pytest

from commerce.replay import DivergedError
from experiments.llm.errors import ServerFault
from experiments.llm.records import ToolCall
from experiments.modes import check_folder
from experiments.storage.journal import JournalWriter, encode_line
from experiments.years.briefing import make_opening
from experiments.years.limits import Limits
from experiments.years.run import run_year
from experiments.years.seats import PlainSeat
from experiments.years.sitting import YearSitting
from experiments.years.spec import YearSpec
from experiments.years.transcript import OUTCOME, TRANSCRIPT, Outcome, Said, read_transcript
from experiments.years.year_mode import RESULT
from terms.strict_json import strict_dumps
from tests.experiments.folders import findings_in, rewrite_log
from tests.experiments.storekeeper.helpers import BALANCE, WAIT, new_year


def said(*names, **more) -> Said:
    calls = tuple(ToolCall(id=f"c{place}", name=name, arguments="{}") for place, name in enumerate(names))
    return Said(tool_calls=calls, **more)


def session_with(lines, past=(), **limits) -> YearSitting:
    year = new_year()
    limits = Limits(**limits)
    opening = make_opening("agent", year.setting, limits)
    return YearSitting(year, opening, limits, lambda *new: lines.extend(new), past)


def test_answers_are_the_envelopes_of_the_store():
    answer = session_with([]).act(said(BALANCE))
    envelope = answer.told[0].envelope
    assert list(envelope) == ["notices", "ok", "data", "time"]
    assert (envelope["data"]["bank_balance"], envelope["time"]["clock"]) == (100_000, "08:10")


def test_two_calls_of_one_id_are_the_callers_mistake_and_change_nothing():
    session = session_with([])
    twice = Said(tool_calls=(ToolCall(id="a", name=WAIT, arguments="{}"),) * 2)
    with pytest.raises(ValueError, match="each id of a turn"):
        session.act(twice)
    assert (session.num_turns, session.year.state.day) == (0, 0)


@pytest.mark.parametrize(("reason", "code"), [("length", "truncated_reply"), ("content_filter", "filtered_reply")])
def test_no_call_of_a_reply_that_is_not_whole_is_carried_out(reason, code):
    session = session_with([])
    answer = session.act(said(WAIT, BALANCE, finish_reason=reason))
    assert [told.code for told in answer.told] == [code] * 2
    assert (session.entries, session.year.state.day, session.year.state.minute) == (
        [],
        0,
        session_with([]).year.state.minute,
    )


def test_nothing_follows_the_end():
    session = session_with([])
    session.act(said(WAIT, WAIT, WAIT))
    assert (session.outcome, session.detail) == (Outcome.FINISHED, "max_days_reached")
    with pytest.raises(ValueError, match="the session is over"):
        session.act(said(BALANCE))


def test_a_session_is_taken_up_where_it_was_left():
    lines = []
    session = session_with(lines)
    session.act(said(BALANCE, WAIT))
    session.act(said())
    again = session_with([], past=list(lines))
    assert (again.num_turns, again.year.time()) == (2, session.year.time())
    assert again.entries == session.entries
    assert [turn.turn for turn in again.past] == [0, 1]
    assert again.act(said()).nudge == session.act(said()).nudge


@pytest.mark.parametrize("extra", [1, 2])
def test_a_past_with_a_line_too_many_is_noticed(extra):
    lines = []
    session_with(lines).act(said(WAIT))
    with pytest.raises(DivergedError):
        session_with([], past=[*lines, *lines[-1:] * extra])


class Waiter:
    """An agent of three lines."""

    name = "waiter"

    def __init__(self, leaves_after=99):
        self._left = leaves_after

    def play(self, session):
        while not session.is_over and self._left:
            self._left -= 1
            session.act(said(WAIT))


class Faulty(Waiter):
    """An agent with a fault in its code."""

    def play(self, session):
        session.act(said(WAIT))
        raise KeyError("price")


def run(folder, agent, **more):
    seat = PlainSeat("waiter", agent, **more)
    return run_year(folder, YearSpec(num_days=3), seat).outcome


def test_any_agent_leaves_the_same_folder(tmp_path):
    assert run(tmp_path, Waiter()).outcome is Outcome.FINISHED
    story = read_transcript(tmp_path)
    assert (len(story.turns), [day.day for day in story.days], story.notes) == (3, [1, 2, 3], ())
    assert (story.opening.agent, story.outcome.spending.num_settled) == ("waiter", 0)
    assert story.turns[0].sent is None
    assert check_folder(tmp_path) == ([], [])


def test_each_morning_is_told_and_the_last_one_again_when_it_goes_on(tmp_path):
    seat = PlainSeat("waiter", Faulty())
    spec = YearSpec(num_days=3)
    told = []
    with pytest.raises(KeyError):
        run_year(tmp_path, spec, seat, lambda spec, day: told.append(day.day))
    run_year(tmp_path, spec, PlainSeat("waiter", Waiter()), lambda spec, day: told.append(day.day))
    assert told == [1, 1, 2, 3]


def test_an_agent_that_leaves_early_is_scored_as_stopped(tmp_path):
    left = run(tmp_path, Waiter(leaves_after=1))
    assert (left.outcome, left.detail, left.end) == (Outcome.AGENT_STOPPED, "the agent left before the end", "stopped")
    assert check_folder(tmp_path) == ([], [])


class Idle(Waiter):
    def play(self, session):
        session.act(said(WAIT))
        while not session.is_over:
            session.act(said())


class Unfortunate(Waiter):
    def play(self, session):
        session.act(said(WAIT))
        raise ServerFault("down")


@pytest.mark.parametrize("agent", [Waiter(), Waiter(leaves_after=1), Idle(), Unfortunate()])
def test_every_altered_digit_and_word_of_an_outcome_is_found(tmp_path, agent):
    run(tmp_path, agent)
    path = tmp_path / OUTCOME
    text = path.read_text()
    assert check_folder(tmp_path) == ([], [])
    for place in (place for place, char in enumerate(text) if char.isdigit()):
        path.write_text(text[:place] + ("1" if text[place] != "1" else "2") + text[place + 1 :])
        assert findings_in(tmp_path), text[place - 20 : place + 1]
    told = json.loads(text)
    for other in set(Outcome) - {told["outcome"]}:
        for is_scored in (True, False):
            path.write_bytes(outcome_bytes_of(told | {"outcome": other, "is_scored": is_scored}))
            assert findings_in(tmp_path), (other, is_scored)


def outcome_bytes_of(told) -> bytes:
    return (strict_dumps(told) + "\n").encode()


def test_a_score_beside_an_outcome_without_one_is_found(tmp_path):
    run(tmp_path, Unfortunate())
    (tmp_path / RESULT).write_text("{}")
    assert findings_in(tmp_path) == [f"{RESULT} is there although the year has no score"]


def test_an_end_whose_files_were_not_all_written_is_written_out_and_not_played_again(tmp_path):
    ended = run(tmp_path, Waiter(leaves_after=1))
    (tmp_path / OUTCOME).unlink()  # killed before the last of the files
    assert findings_in(tmp_path) == [f"{OUTCOME} is missing; run the same command again"]
    assert run(tmp_path, Unfortunate()) == ended
    assert check_folder(tmp_path) == ([], [])


def test_the_end_of_a_sitting_without_a_score_leaves_the_transcript_when_the_year_goes_on(tmp_path):
    assert not run(tmp_path / "lost", Unfortunate()).is_scored
    lost = read_transcript(tmp_path / "lost")
    assert lost.end.outcome is Outcome.PROVIDER_FAULT
    num = len(lost.turns)
    run(tmp_path / "lost", Waiter(3 - num))
    run(tmp_path / "whole", Waiter())
    for name in (TRANSCRIPT, OUTCOME, RESULT, "logs.json"):
        assert (tmp_path / "lost" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_turn_limit_is_part_of_what_the_year_is(tmp_path):
    assert run(tmp_path, Waiter(), limits=Limits(max_turns=2)).outcome is Outcome.AGENT_STOPPED
    assert check_folder(tmp_path) == ([], [])


def test_an_exception_of_the_agents_code_is_raised_and_the_turns_are_kept(tmp_path):
    with pytest.raises(KeyError):
        run(tmp_path, Faulty())
    assert len(read_transcript(tmp_path).turns) == 1
    assert findings_in(tmp_path) == ["transcript.jsonl: the year has not ended; run the same command again"]
    assert run(tmp_path, Waiter()).turns == 3


def test_a_transcript_without_an_opening_is_refused(tmp_path):
    run(tmp_path, Waiter())
    rewrite_log(tmp_path / TRANSCRIPT, lambda rows: rows[1:])
    with pytest.raises(ValueError, match="one opening"):
        read_transcript(tmp_path)
    assert "one opening" in findings_in(tmp_path)[0]


def test_an_empty_folder_and_a_torn_line_are_told(tmp_path):
    assert read_transcript(tmp_path).opening is None
    with JournalWriter(tmp_path / TRANSCRIPT) as journal:
        journal.append(make_opening("x", new_year().setting).model_dump(mode="json"))
    with (tmp_path / TRANSCRIPT).open("ab") as file:
        file.write(encode_line({"event": "day"})[:9])
    assert read_transcript(tmp_path).torn == 9
