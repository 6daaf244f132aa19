"""How an agent ran its year, read from the transcript: what it spent by day, what left its context, what was refused.

All pure functions of a :class:`~experiments.years.transcript.Transcript`. A cost or a count of tokens that a server did
not tell is unknown; it is counted and never summed as 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from experiments.llm.records import Usage
from experiments.years.transcript import DayRecord, Eviction, NoteRecord, Transcript, TurnRecord


class DaySpend(NamedTuple):
    """What the model calls of one simulated day took.

    ``known_microusd`` is the sum of the known costs, ``num_unpriced`` how many answers had none; tokens likewise, with
    ``num_uncounted`` answers whose tokens nobody told.
    """

    day: int
    num_answers: int
    known_microusd: int
    num_unpriced: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    num_uncounted: int


class Evicted(NamedTuple):
    """Groups that left the context before a turn."""

    turn: int
    day: int
    eviction: Eviction


class ToolErrors(NamedTuple):
    """The calls of one tool and why some were refused: error code to count."""

    tool: str
    num_calls: int
    codes: Mapping[str, int]

    @property
    def num_refused(self) -> int:
        """How many calls were refused."""
        return sum(self.codes.values())


class BeforeTheDay(NamedTuple):
    """What an agent had before it on the first turn of a day.

    ``memos`` are its notes at 08:00, ``notes`` the latest text of each kind that its model wrote for its memory.
    ``first_turn`` is the oldest turn still in its context, which then ran to the turn before ``turn``; both are
    unknown for an agent whose context is its own affair.
    """

    day: int
    turn: int
    first_turn: int | None
    memos: Mapping[str, str]
    notes: Mapping[str, NoteRecord]


def spend_by_day(transcript: Transcript) -> list[DaySpend]:
    """Return what each day's answers cost, in order; days without an answer of a model are left out."""
    answers: dict[int, list[tuple[Usage, int | None]]] = {}
    for turn in transcript.turns:
        if turn.sent is not None:
            answers.setdefault(turn.day, []).append((turn.said.usage, turn.said.microusd))
    for note in transcript.notes:
        answers.setdefault(note.day, []).append((note.usage, note.microusd))
    return [_spend(day, answers[day]) for day in sorted(answers)]


def _spend(day: int, answers: Sequence[tuple[Usage, int | None]]) -> DaySpend:
    costs = [cost for _, cost in answers if cost is not None]
    told = [usage for usage, _ in answers if usage.prompt_tokens is not None and usage.completion_tokens is not None]
    return DaySpend(
        day=day,
        num_answers=len(answers),
        known_microusd=sum(costs),
        num_unpriced=len(answers) - len(costs),
        prompt_tokens=sum(usage.prompt_tokens or 0 for usage in told),
        cached_tokens=sum(usage.cached_tokens or 0 for usage in told),
        completion_tokens=sum(usage.completion_tokens or 0 for usage in told),
        num_uncounted=len(answers) - len(told),
    )


def evictions(transcript: Transcript) -> list[Evicted]:
    """Return every eviction, in order."""
    return [
        Evicted(turn.turn, turn.day, turn.sent.eviction)
        for turn in transcript.turns
        if turn.sent is not None and turn.sent.eviction is not None
    ]


def tool_errors(transcript: Transcript) -> list[ToolErrors]:
    """Return the calls by tool, most refusals first; names that are no tool are counted as they were called."""
    calls: Counter[str] = Counter()
    codes: dict[str, Counter[str]] = {}
    for turn in transcript.turns:
        for told in turn.told:
            calls[told.name] += 1
            if told.code is not None:
                codes.setdefault(told.name, Counter())[told.code] += 1
    rows = [ToolErrors(tool, num, dict(codes.get(tool, Counter()).most_common())) for tool, num in calls.items()]
    return sorted(rows, key=lambda row: (-row.num_refused, -row.num_calls, row.tool))


def num_idle_turns(transcript: Transcript) -> int:
    """Return how many turns were without any call."""
    return sum(not turn.said.tool_calls for turn in transcript.turns)


def knowledge_by_day(transcript: Transcript) -> list[BeforeTheDay]:
    """Return what the agent had before it on each day on which it said something."""
    found: list[BeforeTheDay] = []
    memos: Mapping[str, str] = {}
    notes: dict[str, NoteRecord] = {}
    first = 0
    for line in transcript.lines:
        if isinstance(line, DayRecord):
            memos = line.memos
        elif isinstance(line, NoteRecord):
            notes = {**notes, line.kind: line}
        elif isinstance(line, TurnRecord):
            first = _first_turn(line, first)
            if not found or found[-1].day != line.day:
                found.append(BeforeTheDay(line.day, line.turn, None if line.sent is None else first, memos, notes))
    return found


def _first_turn(turn: TurnRecord, first: int) -> int:
    """Return the oldest turn in the context when ``turn`` was asked for."""
    eviction = None if turn.sent is None else turn.sent.eviction
    return first if eviction is None else eviction.last_turn + 1
