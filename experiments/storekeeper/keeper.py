"""The loop: a model is sent its window, its calls are carried out, and the answers join the window.

Everything that decides what is sent follows from the lines of the transcript, so a resumed year first goes through its
past without asking anyone and compares the digest of each request with what was written. A call to the model has an id
that depends on the turn alone: an answer that was stored is never paid for again.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from commerce.replay import DivergedError
from experiments.llm.calls import name_call
from experiments.llm.client import Completer
from experiments.llm.errors import ContextOverflow, ToolsUnavailable
from experiments.llm.kept import keep_json
from experiments.llm.records import Completion
from experiments.llm.settings import Prices
from experiments.llm.spending import cost
from experiments.storekeeper.memory import REFLECTION, SUMMARY_NOTE, Recollection
from experiments.storekeeper.settings import Budget, StorekeeperSettings
from experiments.storekeeper.turn_codec import call_schema, is_written_call, said_of, turn_messages
from experiments.storekeeper.window import Gauge, Window
from experiments.years.briefing import render_briefing
from experiments.years.sitting import Answer, YearSitting
from experiments.years.transcript import Eviction, NoteRecord, Said, Sent, TurnRecord
from terms.strict_json import strict_dumps

_LOGGER = logging.getLogger(__name__)
MOST_WRITTEN = 2
"""Turns with a call as text that end a year in which no call came as it should."""
_IN_TEXT = "ask for calls as text with --model tool_mode=json"
_UNPARSED = f"the server hands tool calls back as text, so it has no tool parser for this model; {_IN_TEXT}"
TURN, SMALLER_TURN = "turn", "turn-smaller"
_WORDS_PER_TOKEN = 0.6
TurnsSoFar = deque[TurnRecord | NoteRecord]


class Request(NamedTuple):
    """What is about to be sent, and its size in units."""

    sent: Sent
    tail: str | None
    units: int


@dataclass(frozen=True)
class Storekeeper:
    """A model that runs years.

    Parameters
    ----------
    client
        Answers the messages; ``None`` for going through a past only.
    name
        Name of its row.
    seed
        Names the calls of the year.
    settings
        Its context and memory.
    max_output_tokens
        Longest answer, for which the context keeps room.
    prices
        Price list, used where the server states no cost.
    """

    client: Completer | None
    name: str
    seed: int
    settings: StorekeeperSettings = field(default_factory=StorekeeperSettings)
    max_output_tokens: int = 8_000
    prices: Prices | None = None

    def play(self, session: YearSitting) -> None:
        """Run the year to its end.

        Raises
        ------
        ProviderError, BudgetExceeded, Stopped
            The year can be taken up again later.
        ContextOverflow
            What the model did itself no longer fits its context.
        DivergedError
            The past asks for other requests than were sent.
        """
        _Play(self, session).run()

    def check(self, session: YearSitting) -> None:
        """Go through the past of ``session`` and make sure that every request would be sent again as it was."""
        _Play(self, session).go_through()


class _Play:
    def __init__(self, keeper: Storekeeper, session: YearSitting) -> None:
        self._keeper, self._settings, self._session = keeper, keeper.settings, session
        self._is_json = keeper.settings.tool_mode == "json"
        self._asking: dict[str, Any] = (
            {"schema": call_schema(session.tools, keeper.settings.text_limit), "schema_name": "call"}
            if self._is_json
            else {"tools": tuple(map(keep_json, session.tools))}
        )
        self._window = Window(Gauge(self._settings.tokenizer), session.opening.messages, strict_dumps(self._asking))
        self._memory = Recollection(keeper.settings)
        self._budget = keeper.settings.budget(keeper.max_output_tokens)
        self._turn = self._day = self._num_written = 0
        self._has_called = False
        self._tool_names = {tool["function"]["name"] for tool in session.tools}

    def run(self) -> None:
        past = self.go_through()
        while not self._session.is_over:
            request = self._prepare(past)
            said, request = self._ask(request)
            self._tell_written(said)
            self._take(request, said, self._session.act(said, request.sent))

    def go_through(self) -> TurnsSoFar:
        """Repeat the past; what is returned are notes that were written before a turn that never came."""
        past: TurnsSoFar = deque(self._session.past)
        while any(isinstance(line, TurnRecord) for line in past):
            request = self._prepare(past)
            record = past.popleft()
            if not isinstance(record, TurnRecord) or record.sent is None:
                raise DivergedError(f"turn {self._turn}: the transcript says {record}, the replay a request")
            if record.sent.call_id != request.sent.call_id:
                request = self._smaller(request)
            if record.sent != request.sent:
                raise DivergedError(f"turn {self._turn}: the transcript says {record.sent}, the replay {request.sent}")
            self._take(request, record.said, Answer(told=record.told, nudge=record.nudge))
        return past

    def _prepare(self, past: TurnsSoFar) -> Request:
        """Return the next request, after what has to be thought over or thrown out before it."""
        if self._memory.wants_reflection(self._day):
            self._write_note(REFLECTION, self._memory.to_reflect_on(), past)
        gone = self._make_room(self._budget, past)
        return self._request(TURN, gone)

    def _request(self, what: str, gone: Eviction | None) -> Request:
        tail = self._memory.tail()
        units = self._window.units(tail)
        sent = Sent(
            call_id=name_call(self._keeper.name, self._keeper.seed, self._turn, what),
            digest=self._window.digest(tail),
            num_messages=len(self._window.messages(tail)),
            tokens=self._window.gauge.expect(units),
            eviction=gone,
            notes=tuple(note for note in (self._window.head, tail) if note is not None),
        )
        return Request(sent, tail, units)

    def _make_room(self, budget: Budget, past: TurnsSoFar | None) -> Eviction | None:
        """Let turns leave the window; without a ``past`` to take it from there is no time for a summary."""
        tail = self._memory.tail()
        num = self._window.excess(budget, tail)
        if num == 0:
            return None
        if past is not None and self._memory.wants_summary():
            leaving = self._window.groups[:num]
            turns = range(leaving[0].turn, leaving[-1].turn + 1)
            self._write_note(SUMMARY_NOTE, self._memory.to_sum_up(turns), past)
        gone = self._window.evict(num, tail)
        self._memory.evicted(gone)
        self._window.head = self._memory.head()
        return gone

    def _smaller(self, request: Request) -> Request:
        """Return the request again with as little as may be sent: the server says that its context is full."""
        gone = self._make_room(Budget(0, 0, self._budget.keep), None)
        return self._request(SMALLER_TURN, gone or request.sent.eviction)

    def _write_note(self, kind: str, question: str, past: TurnsSoFar) -> None:
        """Let the model write for its memory, or take what it wrote."""
        if past and isinstance(past[0], NoteRecord):
            note = past.popleft()
            if not isinstance(note, NoteRecord) or (note.kind, note.turn) != (kind, self._turn):
                raise DivergedError(f"turn {self._turn}: the transcript says {note}, the replay a {kind}")
        else:
            note = self._ask_for_note(kind, question)
            self._session.note(note)
        self._memory.take(note)
        self._window.head = self._memory.head()

    def _ask_for_note(self, kind: str, question: str) -> NoteRecord:
        call_id = name_call(self._keeper.name, self._keeper.seed, self._turn, kind)
        try:
            reply = self._send_question(kind, question, call_id)
        except ContextOverflow:  # the latest part is worth most
            call_id = name_call(self._keeper.name, self._keeper.seed, self._turn, f"{kind}-smaller")
            reply = self._send_question(kind, question[-len(question) // 4 :], call_id)
        return NoteRecord(
            kind=kind,
            turn=self._turn,
            day=self._day,
            call_id=call_id,
            text=(reply.text or "(nothing)").strip(),
            usage=reply.usage,
            microusd=cost(reply.usage, self._keeper.prices),
        )

    def _send_question(self, kind: str, question: str, call_id: str) -> Completion:
        limit = self._settings.summary_tokens
        facts = {"words": int(limit * _WORDS_PER_TOKEN), "reflect_days": self._settings.reflect_days}
        told = render_briefing(kind, facts)
        shown = self._window.gauge.latest(question, self._settings.budget(limit).at, beside=told)
        messages = [{"role": "system", "content": told}, {"role": "user", "content": shown}]
        return self._complete(messages, call_id, {"max_output_tokens": limit})

    def _ask(self, request: Request) -> tuple[Said, Request]:
        try:
            reply = self._send(request)
        except ContextOverflow:
            if len(self._window.groups) <= self._budget.keep:
                raise
            request = self._smaller(request)
            reply = self._send(request)
        return said_of(reply, self._settings.tool_mode, cost(reply.usage, self._keeper.prices)), request

    def _send(self, request: Request) -> Completion:
        messages = self._window.messages(request.tail)
        how = {**self._asking, "max_output_tokens": self._keeper.max_output_tokens}
        try:
            return self._complete(messages, request.sent.call_id, how)
        except ToolsUnavailable as error:
            raise ToolsUnavailable(f"{error.detail}; {_IN_TEXT}", status=error.status) from None

    def _complete(self, messages: list[dict[str, Any]], call_id: str, how: Mapping[str, Any]) -> Completion:
        if self._keeper.client is None:
            raise DivergedError(f"the transcript lacks {call_id}, and there is no model to ask")
        return self._keeper.client.complete(messages, call_id=call_id, **how)

    def _tell_written(self, said: Said) -> None:
        """Speak up where calls come as text: without a parser at the server the model would seem to do nothing.

        Raises
        ------
        ToolsUnavailable
            At the second one, before any call came as it should.
        """
        if self._is_json or self._has_called or said.tool_calls or not is_written_call(said.content, self._tool_names):
            return
        if self._num_written + 1 == MOST_WRITTEN:
            raise ToolsUnavailable(_UNPARSED)
        _LOGGER.warning("%s: %s", self._keeper.name, _UNPARSED)

    def _take(self, request: Request, said: Said, answer: Answer) -> None:
        """Let the turn join the window and the memory."""
        self._has_called |= bool(said.tool_calls)
        self._num_written += is_written_call(said.content, self._tool_names)
        self._window.gauge.learn(request.units, said.usage.prompt_tokens)
        self._window.add(self._turn, turn_messages(said, answer, self._settings.tool_mode))
        self._memory.learn(self._turn, self._day, said, answer)
        if answer.told:
            self._day = answer.told[-1].day
        self._turn += 1
