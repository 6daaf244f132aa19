"""A year driven turn by turn, and the one protocol of everything that can drive it.

A *turn* is what an agent says at once: any number of tool calls, carried out in the order given. Each turn becomes one
line of the transcript. What an agent may not do is data for it, never an exception: malformed, unknown or truncated
calls are answered with an error, and a turn without any call with a reminder; three of those in a row, or the turn
limit, end the year.

A program that speaks no text makes *bare calls* instead: each is one short line with a digest of its answer.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from commerce.argument_parser import read_text
from commerce.ledger import Account
from commerce.replay import DivergedError, Entry, recordable, result_digest
from commerce.types import EndReason, Refusal
from commerce.year import Result, Year
from experiments.llm.records import Record, ToolCall
from experiments.llm.texts import whole_characters
from experiments.years.limits import Limits
from experiments.years.transcript import (
    CallRecord,
    DayRecord,
    EndRecord,
    Line,
    NoteRecord,
    Opening,
    Outcome,
    Said,
    Sent,
    Told,
    TurnRecord,
)

TRUNCATED = "truncated_reply"
_CUT_OFF = Refusal(
    TRUNCATED, None, "the output limit cut this reply off; none of its calls was carried out, send them again"
)

FILTERED = "filtered_reply"
_FILTERED = Refusal(
    FILTERED,
    None,
    "a content filter ended this reply; none of its calls was carried out, send them again",
)


class YearAgent(Protocol):
    """Anything that can run a year: a model, a merchant, a program behind HTTP or MCP."""

    @property
    def name(self) -> str:
        """Name of its row in reports."""
        ...

    def play(self, session: YearSitting) -> None:
        """Call ``session.act`` (or, without words, ``session.call``) until ``session.is_over``.

        A session that was resumed begins with ``session.past`` and ``session.past_calls``: the state of the store is
        that after these lines, and the agent takes up its own memory from them. Leaving early stops the year; an
        exception of :mod:`experiments.llm.errors` is a provider's fault or a reached budget and leaves the year to be
        resumed.
        """
        ...


class CallGuard(Protocol):
    """Stands before the store and may refuse a call; it learns from every answer."""

    def refusal(self, name: str, arguments: str) -> Refusal | None:
        """Return why the call is not to be made, ``None`` to let it through."""
        ...

    def learn(self, told: Told) -> None:
        """Take in one answer."""
        ...


class Answer(Record):
    """What a turn is answered: one :class:`Told` for each call, in order, or the ``nudge`` of a turn without calls."""

    told: tuple[Told, ...] = ()
    nudge: str | None = None


class YearSitting:
    """One year with one agent.

    Parameters
    ----------
    year
        A year at its first morning.
    opening
        The agent's name, messages and tools; see :func:`experiments.years.briefing.make_opening`.
    limits
        Turn limits.
    write
        Called with the new lines of the transcript, those of one turn together.
    past
        Lines of an earlier, unfinished sitting; they are carried out again here and must be answered as before.
    guard
        Refuses calls before they reach the store.

    Attributes
    ----------
    entries
        The store calls so far, as ``store_calls.jsonl`` holds them.
    past
        Turns and notes of earlier sittings.
    past_calls
        Bare calls of earlier sittings with their answers.

    Raises
    ------
    DivergedError
        If the past cannot be reproduced.
    """

    def __init__(
        self,
        year: Year,
        opening: Opening,
        limits: Limits,
        write: Callable[..., None] = lambda *lines: None,
        past: Sequence[Line] = (),
        guard: CallGuard | None = None,
    ) -> None:
        self.year, self.opening, self.limits = year, opening, limits
        self.entries: list[Entry] = []
        self.num_turns = self._num_idle = 0
        self._known_microusd = self._num_unpriced = 0
        self._write, self._guard = write, guard
        self._unwritten: list[Line] = []
        self.past: tuple[TurnRecord | NoteRecord, ...] = ()
        self.past_calls: list[tuple[CallRecord, Result]] = []
        self._repeat(past)

    @property
    def tools(self) -> Sequence[Mapping[str, Any]]:
        """Function schemas of the tools."""
        return self.opening.tools

    @property
    def outcome(self) -> Outcome | None:
        """How the year ended, ``None`` while it goes on."""
        if self.year.state.end == EndReason.BANKRUPTCY:
            return Outcome.BANKRUPT
        if self.year.state.end == EndReason.CALENDAR:
            return Outcome.FINISHED
        return Outcome.AGENT_STOPPED if self._stop_reason() else None

    @property
    def is_over(self) -> bool:
        """Whether nothing can be done any more."""
        return self.outcome is not None

    @property
    def detail(self) -> str:
        """Why the session is over, for people."""
        return self.year.state.end or self._stop_reason() or ""

    def act(self, said: Said, sent: Sent | None = None, key: str | None = None) -> Answer:
        """Carry out one turn, write its line and return the answers.

        Raises
        ------
        ValueError
            If the session is over, or two calls of the turn have one id.
        """
        if self.is_over:
            raise ValueError(f"the session is over ({self.detail}); no turn can follow")
        self.flush()
        record = self._carry_out(said, sent, key)
        self._keep(record)
        return Answer(told=record.told, nudge=record.nudge)

    def call(self, tool: str, arguments: Mapping[str, Any] | str | None = None) -> Result:
        """Make one bare call; one after the end of the year is no part of it.

        Its line is written with the next morning, or by :meth:`flush`.
        """
        if self.year.is_over:
            return self.year.call(tool, arguments)
        day, arguments = self.year.state.day, recordable(arguments)
        result = self.year.call(tool, arguments)
        entry = Entry(len(self.entries), tool, arguments, result_digest(result))
        self.entries.append(entry)
        self._unwritten.append(CallRecord(**entry._asdict()))
        if self.year.state.day != day:
            self._unwritten.append(self._checkpoint(self.num_turns))
            self.flush()
        return result

    def end(self, end: EndRecord) -> None:
        """Write the last line of a sitting."""
        self.flush()
        self._write(end)

    def flush(self) -> None:
        """Write the bare calls that were not written yet."""
        lines, self._unwritten = self._unwritten, []
        if lines:
            self._write(*lines)

    def note(self, note: NoteRecord) -> None:
        """Write down a text that the agent's model made for its memory."""
        self.flush()
        self._count(note.microusd)
        self._write(note)

    def _stop_reason(self) -> str | None:
        if self._num_idle >= self.limits.max_idle_turns:
            return f"{self._num_idle} turns in a row without a tool call"
        if self.num_turns >= self.limits.max_turns:
            return f"the limit of {self.limits.max_turns} turns"
        return None

    def _carry_out(self, said: Said, sent: Sent | None, key: str | None) -> TurnRecord:
        ids = [call.id for call in said.tool_calls]
        if len(set(ids)) < len(ids):
            raise ValueError(f"tool_calls has ids {ids}; each id of a turn must be its own")
        start = self.year.time()
        refusal = _CUT_OFF if said.is_truncated else _FILTERED if said.is_filtered else None
        told = tuple(self._call(call, refusal) for call in said.tool_calls)
        self._num_idle = 0 if said.tool_calls else self._num_idle + 1
        nudge = None if said.tool_calls else self._nudge(said)
        self._count(said.microusd if sent else 0)
        record = TurnRecord(
            turn=self.num_turns,
            day=start["day"],
            clock=start["clock"],
            said=said,
            told=told,
            sent=sent,
            key=key,
            nudge=nudge,
        )
        self.num_turns += 1
        return record

    def _call(self, call: ToolCall, refusal: Refusal | None) -> Told:
        if refusal is None and self._guard is not None:
            refusal = self._guard.refusal(call.name, call.arguments)
        told = self._refuse(call, refusal) if refusal is not None else self._pass_on(call)
        if self._guard is not None:
            self._guard.learn(told)
        return told

    def _refuse(self, call: ToolCall, refusal: Refusal) -> Told:
        error = {"code": refusal.code, "field": refusal.field, "message": refusal.message}
        return _told(call, {"notices": [], "ok": False, "error": error, "time": self.year.time()})

    def _pass_on(self, call: ToolCall) -> Told:
        was_over = self.year.is_over
        arguments = _read(call.arguments)
        result = self.year.call(call.name, arguments)
        if not was_over:
            self.entries.append(Entry(len(self.entries), call.name, arguments, result_digest(result)))
        return _told(call, result.to_json_object())

    def _nudge(self, said: Said) -> str:
        why = "only tool calls act"
        if said.is_truncated:
            why = "your reply was cut off by the output limit before any tool call"
        elif said.is_malformed:
            why = "your tool call was malformed and could not be read; write it again"
        left = self.limits.max_idle_turns - self._num_idle
        return f"Nothing happened: {why}. Turns in a row without one that stop the year: {left} more."

    def _keep(self, record: TurnRecord) -> None:
        is_new_day = record.told and record.told[-1].day != record.day
        self._write(record, *([self._checkpoint(record.turn)] if is_new_day else []))

    def _checkpoint(self, turn: int) -> DayRecord:
        state, ledger = self.year.state, self.year.state.ledger
        return DayRecord(
            turn=turn,
            day=state.day,
            bank_fen=state.bank_fen,
            wallet_fen=ledger.balance(Account.WALLET),
            escrow_fen=ledger.balance(Account.ESCROW),
            units_on_hand=int(state.on_hand.sum()),
            memos=dict(state.memos),
            num_calls=sum(state.calls.values()),
            num_refused=sum(state.refused.values()),
            known_microusd=self._known_microusd,
            num_unpriced=self._num_unpriced,
        )

    def _count(self, microusd: int | None) -> None:
        self._known_microusd += microusd or 0
        self._num_unpriced += microusd is None

    def _repeat(self, past: Sequence[Line]) -> None:
        """Carry out the past again; only what was cut off after its last turn is written."""
        write, made = self._write, list[Line]()
        self._write = lambda *lines: made.extend(lines)
        for line in past:
            if isinstance(line, TurnRecord):
                self._keep(self._carry_out(line.said, line.sent, line.key))
            elif isinstance(line, CallRecord):
                self.past_calls.append((line, self.call(line.tool, line.arguments)))
            elif isinstance(line, NoteRecord):
                self.note(line)
        self.flush()
        self._write = write
        old = [line for line in past if not isinstance(line, Opening)]
        for number, (was, now) in enumerate(itertools.zip_longest(old, made[: len(old)])):
            if was != now:
                raise DivergedError(f"line {number + 2} of the transcript is not reproduced: {was} there, {now} now")
        if len(old) < len(past):
            first = past[0]
            if first != self.opening:
                raise DivergedError("the opening is not the one that would be written now")
        else:
            self._write(self.opening)
        if made[len(old) :]:
            self._write(*made[len(old) :])
        self.past = tuple(line for line in old if isinstance(line, TurnRecord | NoteRecord))


def _read(arguments: str) -> Any:
    """Return the arguments as data where they are one JSON object, else the text, which the year refuses as it is."""
    try:
        found = read_text(arguments)
    except ValueError:
        return arguments
    return found if isinstance(found, dict) else arguments


def _told(call: ToolCall, envelope: Mapping[str, Any]) -> Told:
    text = whole_characters(json.dumps(envelope, ensure_ascii=False, separators=(",", ":"), allow_nan=False))
    error = envelope.get("error")
    time = envelope["time"]
    return Told(
        call_id=call.id,
        name=call.name,
        content=text,
        ok=envelope["ok"],
        code=error["code"] if error else None,
        day=time["day"],
        clock=time["clock"],
    )
