"""The transcript of a year: what an agent was told and what it did, one line a turn or a call, whoever the agent is.

The folder of a year::

    run.json           what it is: the header of every run, its spec a YearSpec (written first)
    transcript.jsonl   Opening, then TurnRecord, CallRecord, NoteRecord and DayRecord as they happened, and EndRecord
                       once a sitting has ended (the truth)
    model_calls.jsonl  every attempt at a model, with its money and latency; only where a model plays
    store_calls.jsonl  the store calls with digests of their answers, derived once the year has ended
    result.json        every number of the year; only if it ended by the agent's own doing
    outcome.json       OutcomeRecord: how the sitting ended

A line is written after its turn is done and holds nothing that depends on when it was written, so a year that was
killed and resumed has the bytes of an unbroken one; the end of a sitting that is not scored leaves the transcript again
when the year goes on. Latency and failed attempts are in ``model_calls.jsonl``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from experiments.llm.records import MALFORMED, PROMPT_FILTER, Record, ToolCall, Usage
from experiments.llm.spending import Spending
from experiments.storage.journal import errors_in_words, read_journal
from terms.strict_json import strict_loads

TRANSCRIPT, OUTCOME = "transcript.jsonl", "outcome.json"


class Outcome(StrEnum):
    """How an agent's year ended. The first four are the agent's own doing and are scored, the others excluded."""

    FINISHED = "finished"
    BANKRUPT = "bankrupt"
    AGENT_STOPPED = "agent_stopped"
    AGENT_FAULT = "agent_fault"
    PROVIDER_FAULT = "provider_fault"
    BUDGET = "budget"

    @property
    def is_scored(self) -> bool:
        """Whether the year counts in the score; another one counts in its n only."""
        return self not in (Outcome.PROVIDER_FAULT, Outcome.BUDGET)


class Opening(Record):
    """The first line: who plays, the two messages every agent is given, and the tools."""

    event: Literal["opening"] = "opening"
    agent: str
    messages: tuple[dict[str, Any], ...]
    tools: tuple[dict[str, Any], ...]


class Eviction(Record):
    """Whole groups (an assistant message with its results) that left the context before a turn, the oldest first."""

    num_groups: int
    first_turn: int
    last_turn: int
    tokens_before: int
    tokens_after: int


class Sent(Record):
    """What a model was sent for its turn. ``digest`` is over all messages, ``notes`` are those the harness added."""

    call_id: str
    digest: str
    num_messages: int
    tokens: int = Field(description="expected prompt tokens, schemas included")
    eviction: Eviction | None = None
    notes: tuple[str, ...] = ()


class Said(Record):
    """What an agent answered. Only ``tool_calls`` act; ``reasoning`` is private and is never sent again."""

    content: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    refusal: str | None = None
    reasoning: str | None = None
    replay: dict[str, Any] = Field(default_factory=dict)
    usage: Usage = Usage()
    microusd: int | None = Field(None, description="cost of the answer; None is unknown")

    @property
    def is_truncated(self) -> bool:
        """Whether the output limit cut it off; none of its calls is then carried out."""
        return self.finish_reason == "length"

    @property
    def is_filtered(self) -> bool:
        """Whether the provider's filter ended it, or stopped its prompt; none of its calls is then carried out."""
        return self.finish_reason in ("content_filter", PROMPT_FILTER)

    @property
    def is_malformed(self) -> bool:
        """Whether the server could take no call out of it."""
        return self.finish_reason == MALFORMED


class Told(Record):
    """The answer to one tool call. ``content`` is the very text: the JSON envelope with ok, data or error, notices."""

    call_id: str
    name: str
    content: str
    ok: bool
    code: str | None = Field(None, description="error code if not ok")
    day: int = Field(description="the moment after the call")
    clock: str

    @property
    def envelope(self) -> dict[str, Any]:
        """The answer as data."""
        found: dict[str, Any] = strict_loads(self.content, unique_keys=False)  # we wrote it, and a checksum covers it
        return found


class TurnRecord(Record):
    """One turn. ``day`` and ``clock`` are those at its start; ``told`` answers ``said.tool_calls`` in their order.

    ``sent`` is ``None`` for an agent that no model of ours drives. ``nudge`` is what a turn without calls is answered.
    """

    event: Literal["turn"] = "turn"
    turn: int
    day: int
    clock: str
    said: Said
    told: tuple[Told, ...] = ()
    sent: Sent | None = None
    key: str | None = Field(None, description="the name that a sender gave it, so that it is carried out once")
    nudge: str | None = None


class CallRecord(Record):
    """One call of an agent that says nothing: what it asked for, and the digest of what the store answered.

    A program asks thousands of times; its answers follow from its calls, so they are not written down.
    """

    event: Literal["call"] = "call"
    number: int = Field(description="counted from 0 over all store calls of the year")
    tool: str
    arguments: Any
    result: str = Field(description="digest of the answer")


class NoteRecord(Record):
    """A text that the agent's own model wrote for its memory between two turns: a summary or a reflection."""

    event: Literal["note"] = "note"
    kind: str
    turn: int = Field(description="the turn it was written before")
    day: int
    call_id: str
    text: str
    usage: Usage = Usage()
    microusd: int | None = None


class DayRecord(Record):
    """The checkpoint of a morning that was reached in turn ``turn``: money in fen, memos, and calls so far.

    ``known_microusd`` is what the answers of the transcript cost so far as it is known, ``num_unpriced`` how many had
    no price.
    """

    event: Literal["day"] = "day"
    turn: int
    day: int
    bank_fen: int
    wallet_fen: int
    escrow_fen: int
    units_on_hand: int
    memos: dict[str, str]
    num_calls: int
    num_refused: int
    known_microusd: int
    num_unpriced: int


class EndRecord(Record):
    """The last line: how a sitting ended, with the reason in words. Only the end of a scored year stays."""

    event: Literal["end"] = "end"
    outcome: Outcome
    detail: str


class OutcomeRecord(Record):
    """The content of ``outcome.json``. ``spending`` covers every attempt of every sitting, also the lost ones."""

    outcome: Outcome
    detail: str
    is_scored: bool
    turns: int
    days: int
    end: str | None = Field(description="the year's own end, None while it could go on")
    spending: Spending = Spending()


Line = Annotated[Opening | TurnRecord | CallRecord | NoteRecord | DayRecord | EndRecord, Field(discriminator="event")]
"""What one line of a transcript is."""
_LINE: TypeAdapter[Line] = TypeAdapter(Line)


@dataclass(frozen=True)
class Transcript:
    """A transcript read back.

    ``lines`` are all between opening and end in order, ``torn`` the bytes of an unfinished last line left out.
    """

    opening: Opening | None
    lines: Sequence[TurnRecord | CallRecord | NoteRecord | DayRecord] = ()
    end: EndRecord | None = None
    outcome: OutcomeRecord | None = None
    torn: int = 0
    turns: Sequence[TurnRecord] = field(init=False)
    notes: Sequence[NoteRecord] = field(init=False)
    days: Sequence[DayRecord] = field(init=False)

    def __post_init__(self) -> None:
        for name, kind in (("turns", TurnRecord), ("notes", NoteRecord), ("days", DayRecord)):
            object.__setattr__(self, name, tuple(line for line in self.lines if isinstance(line, kind)))


class TranscriptReader:
    """Reads a transcript, line by line."""

    def __init__(self) -> None:
        self._opening: Opening | None = None
        self._lines: list[TurnRecord | CallRecord | NoteRecord | DayRecord] = []
        self._end: EndRecord | None = None

    def add(self, row: Mapping[str, Any]) -> None:
        """Take in a line; raises ``ValueError`` for one that is none, or that does not belong where it stands."""
        line = _LINE.validate_python(row)
        if isinstance(line, Opening) != (self._opening is None):
            raise ValueError("a transcript has one opening, as its first line")
        if self._end is not None:
            raise ValueError("a line follows the end of the year")
        if isinstance(line, Opening):
            self._opening = line
        elif isinstance(line, EndRecord):
            self._end = line
        else:
            self._lines.append(line)

    def done(self, outcome: OutcomeRecord | None = None, torn: int = 0) -> Transcript:
        """Return the transcript."""
        return Transcript(self._opening, self._lines, self._end, outcome, torn)


def read_transcript(folder: str | Path) -> Transcript:
    """Return the transcript of the year in ``folder``; one without any has no opening.

    Raises
    ------
    DamagedJournalError
        If a whole line was altered.
    ValueError
        If a line is none of the records, or does not belong where it stands.
    """
    folder, reader = Path(folder), TranscriptReader()
    journal = read_journal(folder / TRANSCRIPT)
    for number, row in enumerate(journal.rows, 1):
        try:
            reader.add(row)
        except ValueError as error:
            raise ValueError(f"{folder / TRANSCRIPT}, line {number}: {errors_in_words(error)}") from error
    return reader.done(read_outcome(folder), journal.torn)


def read_outcome(folder: Path) -> OutcomeRecord | None:
    """Return how the year in ``folder`` ended, ``None`` if it was interrupted or never ran."""
    path = folder / OUTCOME
    if not path.is_file():
        return None
    try:
        return OutcomeRecord.model_validate(strict_loads(path.read_bytes()))
    except ValueError as error:
        raise ValueError(f"{path}: {errors_in_words(error)}") from error
