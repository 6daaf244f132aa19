"""The loop around a model: what it is sent, what is done with its answers, and how it is taken up again."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commerce.replay import DivergedError
from experiments.llm.errors import BudgetExceeded, ContextOverflow, ServerFault, ToolsUnavailable
from experiments.llm.records import Completion, ToolCall
from experiments.storekeeper.settings import Memory, StorekeeperSettings
from experiments.years.transcript import DayRecord, NoteRecord, Outcome, TranscriptReader, TurnRecord
from tests.experiments.llm.scripted import ScriptedClient
from tests.experiments.storekeeper.helpers import (
    BALANCE,
    WAIT,
    assert_paired,
    calls,
    keeper_of,
    session_of,
    used,
)

PROSE = Completion(text="I will think about it.", finish_reason="stop")


def played(*replies, chosen=None, num_days=3, answer=None, **more):
    """Play a year with scripted replies; returns the client, the session and the lines written."""
    client, lines = ScriptedClient(*replies, answer=answer), []
    session = session_of(chosen, num_days, lines=lines)
    keeper_of(client, chosen, **more).play(session)
    return client, session, lines


SIGNED = {"extra_content": {"google": {"thought_signature": "c2ln"}}}


class TestWhatVendorsDo:
    def test_what_is_attached_to_a_turn_and_to_a_call_goes_back_unchanged(self):
        signed = ToolCall(id="x" * 900, name=BALANCE, arguments="{}", attached=SIGNED)
        first = Completion(
            text=None, finish_reason="tool_calls", tool_calls=(signed,), replay={"reasoning_content": "I think"}
        )
        idle = PROSE.model_copy(update={"replay": {"reasoning_details": [{"type": "x", "data": "y"}]}})
        client, _, lines = played(first, idle, calls(WAIT, WAIT, WAIT))
        one, _, two = client.requests[2]["messages"][2:5]
        assert one["reasoning_content"] == "I think"
        assert one["tool_calls"][0]["extra_content"] == SIGNED["extra_content"]
        assert one["tool_calls"][0]["id"] == "x" * 900
        assert two["reasoning_details"] == [{"type": "x", "data": "y"}]
        reader = TranscriptReader()
        for line in lines:
            reader.add(line.model_dump(mode="json"))
        assert [reader.done().opening, *reader.done().lines] == lines

    def test_calls_as_text_are_told_at_once_and_end_the_year_as_the_servers_fault(self, caplog):
        written = Completion(
            text='<tool_call>{"name": "check_balance", "arguments": {}}</tool_call>', finish_reason="stop"
        )
        with pytest.raises(ToolsUnavailable, match="--model tool_mode=json"):
            played(written, PROSE, written)
        assert [record.message for record in caplog.records if "no tool parser" in record.message]

    @pytest.mark.parametrize("text", ["[TOOL_CALLS] [...]", "<|python_tag|>x", 'I call {"name": "check_balance"} now'])
    def test_calls_are_known_by_the_marks_of_any_family_and_by_the_names_of_tools(self, text):
        with pytest.raises(ToolsUnavailable):
            played(*[Completion(text=text, finish_reason="stop")] * 2)

    def test_a_model_that_only_talks_has_stopped_by_itself(self):
        _, session, _ = played(*[Completion(text='{"name": "nobody"} and words', finish_reason="stop")] * 3)
        assert session.outcome is Outcome.AGENT_STOPPED

    def test_a_server_that_takes_no_tools_names_the_way_without(self):
        with pytest.raises(
            ToolsUnavailable, match="not support tools; ask for calls as text with --model tool_mode=json"
        ):
            played(ToolsUnavailable("x does not support tools"))

    def test_a_malformed_call_gets_a_nudge_and_is_then_the_agents_own(self):
        malformed = Completion(text=None, finish_reason="malformed")
        client, session, _ = played(*[malformed] * 3)
        assert "malformed and could not be read; write it again" in client.requests[1]["messages"][-1]["content"]
        assert session.outcome is Outcome.AGENT_STOPPED
        _, session, _ = played(malformed, calls(WAIT, WAIT, WAIT))
        assert session.outcome is Outcome.FINISHED

    def test_a_filtered_prompt_is_a_turn_of_its_own_kind_and_the_year_goes_on(self):
        stopped = Completion(text=None, finish_reason="prompt_filter")
        _, session, lines = played(stopped, calls(WAIT, WAIT, WAIT))
        assert lines[1].said.is_filtered
        assert session.outcome is Outcome.FINISHED


class TestTurns:
    def test_calls_of_a_turn_are_carried_out_in_their_order(self):
        client, session, lines = played(calls(BALANCE, WAIT, BALANCE, text="first"), calls(WAIT, WAIT))
        first = lines[1]
        assert [(told.call_id, told.day, told.clock) for told in first.told] == [
            ("c0", 0, "08:10"), ("c1", 1, "08:00"), ("c2", 1, "08:10"),
        ]  # fmt: skip
        assert session.outcome is Outcome.FINISHED
        second = client.requests[1]["messages"]
        assert [message["role"] for message in second] == ["system", "user", "assistant", "tool", "tool", "tool"]
        assert (second[2]["content"], second[3]["content"]) == ("first", first.told[0].content)
        assert len(client.requests[0]["tools"]) == 18

    def test_calls_after_the_end_are_answered_and_change_nothing(self):
        _, session, lines = played(calls(WAIT, WAIT, WAIT, BALANCE, WAIT))
        told = lines[1].told
        assert [one.code for one in told] == [None, None, None, "year_over", "year_over"]
        assert len(session.entries) == 3

    @pytest.mark.parametrize(
        ("call", "code"),
        [
            (("buy_everything", {}), "unknown_tool"),
            (("", {}), "unknown_tool"),
            ((BALANCE, '{"a":'), "malformed_arguments"),
            ((BALANCE, "[]"), "malformed_arguments"),
            ((BALANCE, '{"x": NaN}'), "malformed_arguments"),
            ((BALANCE, '{"x": 1}'), "invalid_arguments"),
            (("withdraw", '{"amount": "12"}'), "invalid_arguments"),
            (("chatbox", '{"uids": "[\\"a\\"]"}'), "invalid_arguments"),
        ],
    )
    def test_a_call_that_cannot_be_made_fails_alone_and_takes_no_time(self, call, code):
        client, _, lines = played(calls(call, BALANCE), calls(WAIT, WAIT, WAIT))
        refused, done = lines[1].told
        assert (refused.ok, refused.code, refused.clock) == (False, code, "08:00")
        assert (done.ok, done.clock) == (True, "08:10")
        written = client.requests[1]["messages"][2]["tool_calls"][0]["function"]
        assert isinstance(json.loads(written["arguments"]), dict)
        assert written["name"]

    @pytest.mark.parametrize("arguments", ['{"amount": 12', '{"amount": 12}'])
    def test_nothing_of_a_reply_that_was_cut_off_is_carried_out(self, arguments):
        """The whole arguments said 120: what reads well after the cut is no better than what does not."""
        cut = calls((BALANCE, {}), ("withdraw", arguments), finish_reason="length")
        _, session, lines = played(cut, calls(WAIT, WAIT, WAIT))
        assert [(one.code, one.clock) for one in lines[1].told] == [("truncated_reply", "08:00")] * 2
        assert len(session.entries) == 3

    def test_a_turn_without_calls_is_reminded_and_three_in_a_row_stop_the_year(self):
        client, session, lines = played(PROSE, PROSE, calls(BALANCE), PROSE, PROSE, PROSE)
        assert (session.outcome, session.detail) == (
            Outcome.AGENT_STOPPED, "3 turns in a row without a tool call",
        )  # fmt: skip
        assert [line.nudge is None for line in lines[1:]] == [False, False, True, False, False, False]
        assert lines[1].nudge.endswith("stop the year: 2 more.")
        assert_paired(client.requests[-1]["messages"])

    @pytest.mark.parametrize(
        "reply",
        [
            Completion(text=None, finish_reason="content_filter"),
            Completion(text=None, finish_reason="stop", refusal="I cannot help with a shop ruin."),
            Completion(text="", finish_reason="stop"),
        ],
    )
    def test_a_refusal_is_a_turn_of_its_own_and_the_year_goes_on(self, reply):
        client, session, lines = played(reply, calls(WAIT, WAIT, WAIT))
        assert session.outcome is Outcome.FINISHED
        assert lines[1].said.finish_reason == reply.finish_reason
        assert client.requests[1]["messages"][2]["content"]  # servers refuse an assistant message without any text

    def test_reasoning_that_used_the_limit_up_is_told_so(self):
        spent = Completion(text="", finish_reason="length", reasoning_text="My limit is 52, so")
        client, _, lines = played(spent, calls(WAIT, WAIT, WAIT))
        assert "cut off by the output limit" in lines[1].nudge
        assert "limit is 52" not in client.sent

    def test_the_turn_limit_stops_the_year(self):
        _, session, _ = played(calls(BALANCE), calls(BALANCE), chosen=StorekeeperSettings(max_turns=2))
        assert (session.outcome, session.detail) == (Outcome.AGENT_STOPPED, "the limit of 2 turns")

    def test_what_the_router_wants_back_goes_with_the_calls_it_belongs_to(self):
        details = [{"type": "reasoning.encrypted", "data": "x"}]
        client, _, _ = played(calls(BALANCE, replay={"reasoning_details": details}), calls(WAIT, WAIT, WAIT))
        assert client.requests[1]["messages"][2]["reasoning_details"] == details

    def test_a_morning_is_a_checkpoint_with_money_memos_and_cost(self):
        memo = ("operate_memory", {"action": "add", "title": "plan", "content": "wait"})
        _, _, lines = played(calls(memo, usage=used(500)), calls(WAIT), calls(WAIT, WAIT))
        days = [line for line in lines if isinstance(line, DayRecord)]
        assert [(day.turn, day.day, day.bank_fen, day.memos) for day in days] == [
            (1, 1, 10_000_000, {"plan": "wait"}), (2, 3, 10_000_000, {"plan": "wait"}),
        ]  # fmt: skip
        assert [(day.num_calls, day.known_microusd, day.num_unpriced) for day in days] == [(2, 500, 1), (4, 500, 2)]


class TestJsonMode:
    CHOSEN = StorekeeperSettings(tool_mode="json")

    def test_one_object_a_turn_is_a_call(self):
        text = '<think>{"name": "withdraw"}</think> {"name": "wait_for_next_day", "arguments": {}}'
        reply = Completion(text=text, finish_reason="stop")
        client, session, lines = played(reply, reply, reply, chosen=self.CHOSEN)
        assert session.outcome is Outcome.FINISHED
        assert [call.name for call in lines[1].said.tool_calls] == [WAIT]
        assert client.requests[0]["schema"]["anyOf"][0]["properties"]["name"] == {"const": "open_store"}
        assert client.requests[0]["tools"] == ()
        roles = [message["role"] for message in client.requests[2]["messages"]]
        assert roles == ["system", "user", "assistant", "user", "assistant", "user"]

    def test_prose_is_no_call_and_odd_objects_are_refused_as_they_are(self):
        replies = [
            Completion(text="wait_for_next_day", finish_reason="stop"),
            Completion(text='{"name": 3, "arguments": "x"}', finish_reason="stop"),
            Completion(text='{"name": "check_balance", "arguments": {"a"', finish_reason="length"),
            Completion(text='{"name": "wait_for_next_day"}' * 3, finish_reason="stop"),
        ]
        _, session, lines = played(*replies, chosen=self.CHOSEN)
        assert [[one.code for one in line.told] for line in lines if isinstance(line, TurnRecord)] == [
            [], ["unknown_tool"], [], [None] * 3,
        ]  # fmt: skip
        assert session.outcome is Outcome.FINISHED


def wants_note(messages):
    return "at most 600 words" in messages[0]["content"]


def busy(messages):
    """Return a reply that looks around a lot and ends a day every fifth turn, told by the length of the talk."""
    num = sum(message["role"] == "assistant" for message in messages)
    return calls(*[("list_products", {"page": num % 7 + 1, "page_size": 50})] * 2, *([WAIT] if num % 2 else []))


class TestEviction:
    def test_whole_turns_leave_and_the_newest_two_stay(self):
        chosen = StorekeeperSettings(context_tokens=40_000, evict_at=30_000, evict_to=15_000)
        client, _, lines = played(answer=busy, chosen=chosen, num_days=8)
        turns = [line for line in lines if isinstance(line, TurnRecord)]
        gone = [line.sent.eviction for line in turns if line.sent.eviction]
        assert len(gone) >= 2
        for eviction in gone:
            assert eviction.tokens_before >= 30_000
            assert (
                eviction.tokens_after <= 15_000 or eviction.last_turn - eviction.first_turn + 1 == eviction.num_groups
            )
        assert gone[0].first_turn == 0
        assert [b.first_turn for b in gone[1:]] == [a.last_turn + 1 for a in gone[:-1]]
        for request, turn in zip(client.requests, turns, strict=True):
            assert_paired(request["messages"])
            assert request["messages"][0] == session_of(chosen, 8).opening.messages[0]
            if turn.turn > 0:
                latest = [told.content for told in turns[turn.turn - 1].told]
                assert [message["content"] for message in request["messages"]][-len(latest) :] == latest

    def test_titles_of_notes_are_shown_again_after_an_eviction_only(self):
        memo = ("operate_memory", {"action": "add", "title": "prices of lamps", "content": "12"})
        script = iter([calls(memo, BALANCE)])
        client, _, _ = played(
            answer=lambda messages: next(script, None) or busy(messages),
            chosen=StorekeeperSettings(context_tokens=40_000, evict_at=30_000, evict_to=15_000),
            num_days=6,
        )
        firsts = [request["messages"][1]["content"] for request in client.requests]
        assert "prices of lamps" not in firsts[0] + firsts[1]
        assert "Titles of your notes: prices of lamps." in firsts[-1]
        assert firsts[-1].startswith(firsts[0])

    def test_the_servers_own_count_decides(self):
        """By hand: 1,000 characters told as 900 tokens are dear, the same told as 200 are cheap."""
        many, few = (
            played(
                answer=lambda messages, rate=rate: busy(messages).model_copy(
                    update={"usage": used(int(rate * len(json.dumps(messages))))}
                ),
                chosen=StorekeeperSettings(),
                num_days=8,
            )[2]
            for rate in (0.9, 0.2)
        )
        assert sum(bool(line.sent.eviction) for line in many if isinstance(line, TurnRecord)) > 0
        assert not any(line.sent.eviction for line in few if isinstance(line, TurnRecord))

    def test_a_context_that_overflows_all_the_same_is_tried_once_with_the_least(self):
        def overflows(messages):
            return ContextOverflow("maximum context length") if len(messages) > 9 else busy(messages)

        _client, session, lines = played(answer=overflows, num_days=4)
        assert session.outcome is Outcome.FINISHED
        smaller = [
            line for line in lines if isinstance(line, TurnRecord) and line.sent.call_id.endswith("turn-smaller")
        ]
        assert smaller
        assert smaller[0].sent.eviction is not None
        keeper_of(None).check(session_of(num_days=4, past=lines))
        with pytest.raises(ContextOverflow):
            played(answer=lambda messages: ContextOverflow("too long"))


@settings(max_examples=25, deadline=None)
@given(
    limit=st.integers(2_000, 60_000),
    reserve=st.integers(1, 70_000),
    memory=st.sampled_from(Memory),
    turns=st.lists(
        st.tuples(
            st.lists(st.sampled_from(["list", "balance", "bad", "nobody", "memo", "wait"]), max_size=4),
            st.sampled_from(["tool_calls", "length", "stop"]),
            st.sampled_from([None, 100, 5_000, 50_000]),
        ),
        min_size=1,
        max_size=14,
    ),
)
def test_every_request_pairs_calls_and_answers_at_any_context_limit(limit, reserve, memory, turns):
    kinds = {
        "list": ("list_products", {"page_size": 40}), "balance": BALANCE,
        "bad": (BALANCE, '{"x'), "nobody": ("!?", "[]"),
        "memo": ("operate_memory", {"action": "list"}), "wait": WAIT,
    }  # fmt: skip
    script = iter(turns)

    def answer(messages):
        if wants_note(messages):
            return Completion(text="my note", finish_reason="stop")
        names, finish, tokens = next(script, (["wait"] * 4, "tool_calls", None))
        usage = used(tokens) if tokens else used(0)
        return calls(*(kinds[name] for name in names), text="t", finish_reason=finish, usage=usage)

    chosen = StorekeeperSettings(
        memory=memory, context_tokens=limit, evict_at=max(2, limit * 15 // 16), evict_to=limit // 2, reflect_days=2
    )
    client, _session, lines = played(answer=answer, chosen=chosen, num_days=6, max_output_tokens=reserve)
    for request in client.requests:
        assert_paired(request["messages"])
    turn_requests = [request for request in client.requests if request["tools"]]
    turns_made = [line for line in lines if isinstance(line, TurnRecord)]
    assert len(turn_requests) == len(turns_made)
    for request, turn in zip(turn_requests, turns_made, strict=True):
        kept = sum(message["role"] == "assistant" for message in request["messages"])
        assert kept >= min(2, turn.turn)
        assert turn.sent.tokens < chosen.budget(reserve).at or kept <= 2 or turn.sent.eviction is not None
    keeper_of(None, chosen, max_output_tokens=reserve).check(session_of(chosen, 6, past=lines))


class TestMemories:
    TIGHT = {"context_tokens": 40_000, "evict_at": 30_000, "evict_to": 15_000}  # noqa: RUF012 - settings

    def test_a_summary_is_asked_for_before_turns_leave_and_kept_in_view(self):
        def answer(messages):
            if wants_note(messages):
                return Completion(
                    text=f"summary {messages[1]['content'].count('> list_products')}", finish_reason="stop"
                )
            return busy(messages)

        chosen = StorekeeperSettings(memory=Memory.SUMMARY, **self.TIGHT)
        client, _session, lines = played(answer=answer, chosen=chosen, num_days=8)
        notes = [line for line in lines if isinstance(line, NoteRecord)]
        gone = [line.sent.eviction for line in lines if isinstance(line, TurnRecord) and line.sent.eviction]
        assert len(notes) == len(gone) >= 2
        assert notes[0].text == f"summary {2 * gone[0].num_groups}"
        asked = [request for request in client.requests if request["call_id"].endswith("/summary")]
        assert f"Your summary so far:\n{notes[0].text}" in asked[1]["messages"][1]["content"]
        assert asked[0]["max_output_tokens"] == chosen.summary_tokens
        assert f"Your summary of what left:\n{notes[-1].text}" in client.requests[-1]["messages"][1]["content"]

    def test_each_week_is_looked_back_on_and_three_answers_stay_in_view(self):
        def answer(messages):
            if wants_note(messages):
                return Completion(text=f"lesson {messages[1]['content'].count('> wait')}", finish_reason="stop")
            return calls(WAIT)

        client, _, lines = played(answer=answer, chosen=StorekeeperSettings(memory=Memory.REFLECTION), num_days=31)
        notes = [line for line in lines if isinstance(line, NoteRecord)]
        assert [(note.day, note.text) for note in notes] == [(day, "lesson 7") for day in (7, 14, 21, 28)]
        shown = client.requests[-1]["messages"][1]["content"]
        assert shown.count("lesson 7") == 3

    def test_a_question_too_long_for_the_model_is_asked_with_its_latest_quarter(self):
        def answer(messages):
            if wants_note(messages) and len(messages[1]["content"]) > 2_000:
                return ContextOverflow("too long")
            return answer_to_all(messages)

        chosen = StorekeeperSettings(memory=Memory.REFLECTION, reflect_days=5)
        client, _, lines = played(answer=answer, chosen=chosen, num_days=12)
        asked = [request for request in client.requests if "reflection" in request["call_id"]]
        assert [request["call_id"].rsplit("/")[-1] for request in asked[:2]] == ["reflection", "reflection-smaller"]
        assert asked[0]["messages"][1]["content"].endswith(asked[1]["messages"][1]["content"])
        keeper_of(None, chosen).check(session_of(chosen, 12, past=lines))

    @pytest.mark.parametrize("memory", [Memory.SUMMARY, Memory.REFLECTION])
    def test_no_question_is_longer_than_the_context(self, memory):
        """What happened is more than a context of 5,000 tokens; the latest of it is asked about."""

        def answer(messages):
            if wants_note(messages):
                return Completion(text="note", finish_reason="stop")
            wait = [WAIT] if len(messages) % 4 == 2 else []
            return calls(*[("list_products", {"page_size": 8})] * 10, *wait)

        chosen = StorekeeperSettings(
            memory=memory, reflect_days=5, context_tokens=5_000, evict_at=4_600, evict_to=4_000, keep_groups=1
        )
        client, _, _ = played(answer=answer, chosen=chosen, num_days=7)
        asked = [request for request in client.requests if request["call_id"].rsplit("/")[-1] == memory.value]
        assert asked
        lengths = [sum(len(json.dumps(one["content"])) for one in request["messages"]) for request in asked]
        assert 11_000 < max(lengths) <= 3 * 4_000, "three characters a token, while no server says otherwise"

    def test_policies_play_the_same_draws(self):
        days = [
            [
                line.model_copy(update={"known_microusd": 0, "num_unpriced": 0})
                for line in lines
                if isinstance(line, DayRecord)
            ]
            for memory in Memory
            for lines in [played(answer=answer_to_all, chosen=StorekeeperSettings(memory=memory), num_days=9)[2]]
        ]
        assert len(days[0]) == 9
        assert all(found == days[0] for found in days)


def answer_to_all(messages):
    return Completion(text="note", finish_reason="stop") if wants_note(messages) else calls(WAIT)


class TestResume:
    def script(self):
        return [calls(BALANCE, usage=used(900)), PROSE, calls(WAIT, BALANCE), calls((BALANCE, "{")), calls(WAIT, WAIT)]

    @pytest.mark.parametrize("kept", range(1, 8))
    def test_a_year_goes_on_after_any_line_to_the_same_lines(self, kept):
        client, _, whole = played(*self.script())
        lines = whole[:kept]
        again, session = ScriptedClient(*self.script()), session_of(past=tuple(lines), lines=lines)
        again.replies = again.replies[session.num_turns :]
        keeper_of(again).play(session)
        assert lines == whole
        sent = [request["messages"] for request in client.requests]
        assert [request["messages"] for request in again.requests] == sent[len(sent) - len(again.requests) :]

    def test_a_note_whose_turn_never_came_is_not_asked_for_again(self):
        chosen = StorekeeperSettings(memory=Memory.REFLECTION, reflect_days=1)
        _, _, whole = played(answer=answer_to_all, chosen=chosen)
        cut = next(place for place, line in enumerate(whole) if isinstance(line, NoteRecord)) + 1
        lines = list(whole[:cut])
        client, session = ScriptedClient(answer=answer_to_all), session_of(chosen, past=tuple(lines), lines=lines)
        keeper_of(client, chosen).play(session)
        assert lines == whole
        assert not client.requests[0]["call_id"].endswith("reflection")

    @pytest.mark.parametrize("error", [ServerFault("503"), BudgetExceeded("the ceiling")])
    def test_a_failure_leaves_what_was_done(self, error):
        lines = []
        session = session_of(lines=lines)
        with pytest.raises(type(error)):
            keeper_of(ScriptedClient(calls(BALANCE), error)).play(session)
        assert [line.event for line in lines] == ["opening", "turn"]

    def test_another_prompt_memory_or_answer_is_noticed(self):
        _, _, whole = played(*self.script())
        with pytest.raises(DivergedError, match="opening"):
            session_of(StorekeeperSettings(max_turns=9), past=whole)
        changed = whole[1].model_copy(update={"sent": whole[1].sent.model_copy(update={"digest": "0" * 32})})
        with pytest.raises(DivergedError, match="turn 0"):
            keeper_of(None).check(session_of(past=[whole[0], changed, *whole[2:]]))
        told = whole[1].told[0].model_copy(update={"clock": "08:20"})
        with pytest.raises(DivergedError, match="line 2"):
            session_of(past=[whole[0], whole[1].model_copy(update={"told": (told,)}), *whole[2:]])
