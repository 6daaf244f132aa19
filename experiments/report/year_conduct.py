"""The data of the transcript browser and of what an agent knew when: rows of numbers and places of texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from experiments.llm.spending import Spending
from experiments.report.year_texts import Texts, cut, told_text
from experiments.years.conduct import (
    BeforeTheDay,
    Evicted,
    ToolErrors,
    evictions,
    knowledge_by_day,
    num_idle_turns,
    spend_by_day,
    tool_errors,
)
from experiments.years.story import YearStory
from experiments.years.transcript import Told, Transcript, TurnRecord

MAX_EVICTION_ROWS = 200
SAID_LIMIT = 3000
"""Characters of what an agent said or thought. Answers of the store are cut earlier: the journal has them, too."""


class ConductView(NamedTuple):
    """The tables of one agent's year.

    ``cost_usd`` is the known cost of the answers in the transcript, ``num_unpriced`` how many of ``num_answers`` have
    none; ``spending`` covers every attempt of every sitting.
    """

    label: str
    outcome: str
    detail: str
    num_turns: int
    num_idle: int
    num_refused: int
    num_calls: int
    has_model: bool
    cost_usd: float
    num_unpriced: int
    num_answers: int
    spending: Spending
    evictions: Sequence[Evicted]
    num_evictions: int
    errors: Sequence[ToolErrors]


def conduct_view(story: YearStory) -> ConductView:
    """Return the tables of a year that an agent ran."""
    transcript = story.transcript
    assert transcript is not None
    assert transcript.outcome is not None
    spend, gone, errors = spend_by_day(transcript), evictions(transcript), tool_errors(transcript)
    return ConductView(
        label=story.label,
        outcome=transcript.outcome.outcome.replace("_", " "),
        detail=transcript.outcome.detail.replace("_", " "),
        num_turns=len(transcript.turns),
        num_idle=num_idle_turns(transcript),
        num_refused=sum(row.num_refused for row in errors),
        num_calls=sum(row.num_calls for row in errors),
        has_model=bool(spend),
        cost_usd=sum(row.known_microusd for row in spend) / 1e6,
        num_unpriced=sum(row.num_unpriced for row in spend),
        num_answers=sum(row.num_answers for row in spend),
        spending=transcript.outcome.spending,
        evictions=gone[:MAX_EVICTION_ROWS],
        num_evictions=len(gone),
        errors=[row for row in errors if row.num_refused],
    )


def conduct_payload(transcript: Transcript, texts: Texts) -> dict[str, Any]:
    """Return plain JSON data: ``turns`` and ``knowledge``.

    A turn is ``[turn, day, clock, content, reasoning, nudge, calls, eviction, sent, cost]``: texts as places or -1,
    ``eviction`` as ``[groups, first turn, last turn, tokens before, tokens after]`` or ``None``, ``sent`` as
    ``[messages, expected tokens, prompt tokens, completion tokens, added notes]`` or ``None``, ``cost`` in
    micro-dollars, ``None`` for unknown. A call is ``[tool, ok, answer, arguments]``. Knowledge is ``[day, turn, first
    turn in the context or None, memos, notes]`` with memos as ``[title, content]`` and notes as ``[kind, day, text]``.
    """
    return {
        "turns": [_turn(turn, texts) for turn in transcript.turns],
        "knowledge": [_knowledge(one, texts) for one in knowledge_by_day(transcript)],
    }


def _turn(turn: TurnRecord, texts: Texts) -> list[Any]:
    said = turn.said
    calls = [
        [*_answered(told, texts), texts.place(cut(call.arguments))]
        for call, told in zip(said.tool_calls, turn.told, strict=True)
    ]
    return [
        turn.turn,
        turn.day,
        texts.place(turn.clock),
        texts.place(None if not said.content else cut(said.content, SAID_LIMIT)),
        texts.place(None if not said.reasoning else cut(said.reasoning, SAID_LIMIT)),
        texts.place(turn.nudge),
        calls,
        _eviction(turn),
        _sent(turn, texts),
        said.microusd,
    ]


def _answered(told: Told, texts: Texts) -> list[int]:
    return [texts.place(told.name), int(told.ok), texts.place(told_text(told.envelope))]


def _eviction(turn: TurnRecord) -> list[int] | None:
    gone = None if turn.sent is None else turn.sent.eviction
    if gone is None:
        return None
    return [gone.num_groups, gone.first_turn, gone.last_turn, gone.tokens_before, gone.tokens_after]


def _sent(turn: TurnRecord, texts: Texts) -> list[Any] | None:
    if turn.sent is None:
        return None
    usage = turn.said.usage
    notes = [texts.place(cut(note, SAID_LIMIT)) for note in turn.sent.notes]
    return [turn.sent.num_messages, turn.sent.tokens, usage.prompt_tokens, usage.completion_tokens, notes]


def _knowledge(one: BeforeTheDay, texts: Texts) -> list[Any]:
    memos = [[texts.place(title), texts.place(cut(content, SAID_LIMIT))] for title, content in one.memos.items()]
    notes = [[texts.place(kind), note.day, texts.place(cut(note.text, SAID_LIMIT))] for kind, note in one.notes.items()]
    return [one.day, one.turn, one.first_turn, memos, notes]
