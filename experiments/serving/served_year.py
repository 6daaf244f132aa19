"""One year that an outside agent plays: on disk before it is answered, every turn carried out once.

A turn is kept with the key its sender gave it. The same key again is answered with the same bytes and does nothing,
also after the process was killed: the transcript says what was done, and a year follows from its turns.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from commerce.argument_parser import TOO_DEEP, is_too_deep
from commerce.money import to_yuan
from experiments.engine.header import make_header
from experiments.engine.run import opened
from experiments.llm.records import ToolCall
from experiments.llm.texts import whole_characters
from experiments.serving.settings import ServeSettings
from experiments.serving.wire import (
    MAX_KEY,
    ActionsAnswer,
    CallRequest,
    RequestError,
    SessionInfo,
    ToolResponse,
    YearResult,
    wrong_turn,
)
from experiments.serving.worlds import Worlds
from experiments.storage.journal import JournalWriter
from experiments.years.run import concluded, just_played, reopened
from experiments.years.spec import WORLD
from experiments.years.transcript import TRANSCRIPT, EndRecord, Line, Outcome, OutcomeRecord, Said, TurnRecord
from experiments.years.year_mode import ENDED, MODE, YearMode, open_session
from terms.strict_json import strict_dumps


class Kept(NamedTuple):
    """A turn that was carried out: its number, a digest of what was asked, and the body of the answer."""

    turn: int
    digest: str
    answer: bytes

    def is_repeated_by(self, said: Said, turn: int | None) -> bool:
        """Whether the same is said again; ``turn`` is ``None`` where the sender does not count."""
        return self.digest == turn_digest(said) and turn in (None, self.turn)


def said_by(calls: Sequence[CallRequest], content: str | None, key: str) -> Said:
    """Return what the agent said in the turn of ``key``. A call without an id is named after its place.

    Raises
    ------
    RequestError
        If two calls have one id, or the key is none.
    """
    if not (1 <= len(key) <= MAX_KEY and key.isascii() and key.isprintable()):
        raise RequestError(422, "invalid_request", f"a key is 1 to {MAX_KEY} printable ASCII characters", field="key")
    made = tuple(_tool_call(call, place) for place, call in enumerate(calls))
    ids = [call.id for call in made]
    for place, one in enumerate(ids):
        if one in ids[:place]:
            message = f"tool_calls.{place}.id={one!r} is that of another call of this turn"
            raise RequestError(422, "invalid_request", message, field=f"tool_calls.{place}.id")
    text = None if content is None else whole_characters(content)
    return Said(content=text, tool_calls=made)


def _tool_call(call: CallRequest, place: int) -> ToolCall:
    text = call.arguments if isinstance(call.arguments, str) else _json(call.arguments)
    own = f"call_{place}" if call.id is None else whole_characters(call.id)
    return ToolCall(id=own, name=whole_characters(call.name), arguments=whole_characters(text))


def _json(arguments: Any) -> str:
    """Return the text of the arguments; left out they are an empty object, as everywhere."""
    if is_too_deep(arguments):
        return TOO_DEEP
    return json.dumps({} if arguments is None else arguments, ensure_ascii=False, separators=(",", ":"))


def turn_digest(said: Said) -> str:
    """Return what tells this turn from another one that is sent with the same key."""
    text = strict_dumps([said.content, [call.model_dump() for call in said.tool_calls]])
    return hashlib.sha256(text.encode()).hexdigest()


def keep(record: TurnRecord, outcome: Outcome | None) -> Kept:
    """Return what is kept of a turn.

    It follows from the transcript alone, so the answer has the same bytes after a restart. ``outcome`` is that of the
    year after the turn.
    """
    answer = ActionsAnswer(
        turn=record.turn + 1,
        tool_responses=[ToolResponse(tool_call_id=told.call_id, content=told.content) for told in record.told],
        nudge=record.nudge,
        done=outcome is not None,
        outcome=outcome,
    )
    body = strict_dumps(answer.model_dump(mode="json")).encode()
    return Kept(record.turn, turn_digest(record.said), body)


def keep_all(records: Sequence[TurnRecord], outcome: Outcome | None) -> dict[str, Kept]:
    """Return what is kept of all turns so far, by key; only the last can have ended the year.

    A turn that was played in this process has no key, and nobody can send it again.
    """
    last = len(records) - 1
    return {
        record.key: keep(record, outcome if place == last else None)
        for place, record in enumerate(records)
        if record.key is not None
    }


BUSY_SECONDS = 30.0


class ServedYear:
    """The year of one agent and run. Safe to use from any number of threads; turns wait for each other.

    Parameters
    ----------
    settings
        What the operator decided.
    agent, run
        Which year it is.
    worlds
        Where its world is from.

    Attributes
    ----------
    last_used
        When it was last asked for anything, as ``time.monotonic`` says it.

    Raises
    ------
    RunLockedError
        If another process has it.
    RunError
        If its folder holds another year.
    """

    def __init__(self, settings: ServeSettings, agent: str, run: int, worlds: Worlds | None = None) -> None:
        self.id = f"{agent}:{run}"
        self._settings, self._agent, self._run = settings, agent, run
        self._worlds = worlds or Worlds()
        self._folder = settings.folder(agent, run)
        self._one_turn = threading.Lock()
        self._kept: dict[str, Kept] = {}
        self._journal: JournalWriter | None = None
        self._is_stale = self._is_closed = False
        self.last_used = time.monotonic()
        with ExitStack() as held:
            held.callback(self._close_journal)
            self._mode = YearMode(lambda header: self._seat)
            self._seat, spec = settings.seat(agent), settings.spec(agent, run)
            digests = {WORLD: self._worlds.get(spec).digest}
            header = make_header(MODE, self._seat.name, spec, digests, self._seat.settings)
            held.enter_context(opened(self._mode, self._folder, header))
            self._restore()
            self._held = held.pop_all()

    def close(self) -> None:
        """Let go of the folder; everything is in it."""
        self._held.close()

    def let_go(self) -> bool:
        """Close unless a turn is being carried out; returns whether it is closed now."""
        if not self._one_turn.acquire(blocking=False):
            return False
        try:
            self._is_closed = True
            self.close()
        finally:
            self._one_turn.release()
        return True

    @property
    def next_turn(self) -> int:
        """The number of the turn that comes next."""
        return self._session.num_turns

    @property
    def is_over(self) -> bool:
        """Whether the year has ended."""
        return self._outcome is not None

    def info(self) -> SessionInfo:
        """Return what the agent is told about its year."""
        with self._alone():
            opening = self._session.opening
            return SessionInfo(
                session=self.id,
                agent=self._agent,
                run=self._run,
                turn=self.next_turn,
                max_turns=self._settings.limits.max_turns,
                done=self.is_over,
                messages=[*opening.messages],
                tools=[*opening.tools],
            )

    def act(
        self, calls: Sequence[CallRequest], key: str, *, turn: int | None = None, content: str | None = None
    ) -> bytes:
        """Carry out a turn, or find the answer it was given before, and return the body of the answer.

        ``turn`` is the number that the agent gives its turn, ``None`` if it does not count.

        Raises
        ------
        RequestError
            If the key belongs to another turn, the turn is not the next one, or the year is over; nothing was done.
        """
        said = said_by(calls, content, key)
        with self._alone():
            kept = self._kept.get(key)
            if kept is None:
                return self._carry_out(said, key, turn)
            if kept.is_repeated_by(said, turn):
                return kept.answer
        raise RequestError(422, "key_reused", "this key came with another turn; every turn needs its own", field="key")

    def finish(self) -> YearResult:
        """End the year if it goes on, and return its public numbers."""
        with self._alone():
            if self._outcome is None:
                self._finish(EndRecord(outcome=Outcome.AGENT_STOPPED, detail=ENDED))
        return self.result()

    def result(self) -> YearResult:
        """Return the public numbers of a year that is over."""
        if self._outcome is None:
            raise RequestError(409, "year_not_over", "the year goes on; POST /v1/finish ends it", field="session")
        year = self._session.year
        return YearResult(
            session=self.id,
            outcome=self._outcome.outcome,
            detail=self._outcome.detail,
            turns=self.next_turn,
            day=year.state.day,
            final_assets=to_yuan(year.final_fen),
            multiplier=year.final_fen / year.setting.rules.initial_fen,
            calls=dict(year.state.calls),
            refused=dict(year.state.refused),
        )

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._one_turn.acquire(timeout=BUSY_SECONDS):
            raise RequestError(503, "busy", "another turn of this session is still being carried out", field="session")
        try:
            if self._is_closed:  # between being found and being used; asked again, it is found on disk
                raise RequestError(503, "busy", "the server is making room; send it again", field="session")
            if self._is_stale:
                self._restore()
            yield
        finally:
            self.last_used = time.monotonic()
            self._one_turn.release()

    def _carry_out(self, said: Said, key: str, turn: int | None) -> bytes:
        if self._outcome is not None:
            raise RequestError(409, "year_over", f"the year is over: {self._outcome.detail}", field="session")
        if turn is not None and turn != self.next_turn:
            raise wrong_turn(turn, self.next_turn)
        self._is_stale = True  # until all is on disk: if that fails, memory is no longer the truth
        self._session.act(said, key=key)
        self._conclude_if_over()
        self._is_stale = False
        return self._kept[key].answer

    def _restore(self) -> None:
        """Take the year up from its folder: carry out the transcript again and keep its answers."""
        self._close_journal()
        self._log = reopened(self._mode, self._folder)
        self._journal = JournalWriter(self._folder / TRANSCRIPT)
        self._session = open_session(self._log, self._write, self._worlds.get(self._log.header.spec))
        self._seat.begin(self._session)
        end = self._log.transcript.end
        turns = [line for line in self._session.past if isinstance(line, TurnRecord)]
        self._kept = keep_all(turns, self._session.outcome)
        self._outcome: OutcomeRecord | None = None
        if end is not None:
            self._conclude(end)
        else:
            self._conclude_if_over()
        self._is_stale = False

    def _write(self, *lines: Line) -> None:
        assert self._journal is not None
        self._journal.append(*(line.model_dump(mode="json") for line in lines))
        for line in lines:
            if isinstance(line, TurnRecord) and line.key is not None:
                self._kept[line.key] = keep(line, self._session.outcome)

    def _close_journal(self) -> None:
        if self._journal is not None:
            journal, self._journal = self._journal, None
            journal.close()

    def _conclude_if_over(self) -> None:
        if self._session.outcome is not None:
            self._finish(EndRecord(outcome=self._session.outcome, detail=self._session.detail))

    def _finish(self, end: EndRecord) -> None:
        self._is_stale = True  # the year in memory is stopped before its end is on disk
        self._session.end(end)
        self._conclude(end)
        self._is_stale = False

    def _conclude(self, end: EndRecord) -> None:
        log = just_played(self._log, self._session, end)
        self._outcome = concluded(self._mode, log).outcome
        self._session.year.stop()
