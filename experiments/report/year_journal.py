"""The data of the journal and transcript browsers: calls, turns, and what an agent knew when, with numbered texts.

Each text is there once, and cut to what a page can carry.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from experiments.llm.spending import Spending
from experiments.report.page import cut
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
from experiments.years.story import StoryCall, YearStory
from experiments.years.transcript import Told, Transcript, TurnRecord

ANSWER_LIMIT = 800
SAID_LIMIT = 3000
"""Characters of what an agent said or thought. Answers of the store are cut earlier: the journal has them, too."""
MAX_EVICTION_ROWS = 200
NO_TEXT = -1


class Texts:
    """Texts in the order in which they were met; a text is referred to by its place."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def place(self, text: str | None) -> int:
        """Return the place of ``text``, :data:`NO_TEXT` for none."""
        return NO_TEXT if text is None else self._places.setdefault(text, len(self._places))

    @property
    def strings(self) -> list[str]:
        """All texts by place."""
        return list(self._places)


def told_text(envelope: Mapping[str, Any]) -> str:
    """Return an answer without the clock, which its row has, and without an empty list of notices; cut."""
    kept = {key: value for key, value in envelope.items() if key != "time" and (key != "notices" or value)}
    return cut(_json(kept), ANSWER_LIMIT)


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
        [*_answered(told, texts), texts.place(cut(call.arguments, ANSWER_LIMIT))]
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


CALLS_LIMIT = 20_000
"""Years whose calls would take the page beyond this many have no journal on it."""


def shown_journals(stories: Sequence[YearStory], limit: int = CALLS_LIMIT) -> list[YearStory]:
    """Return the first years whose calls together are within ``limit``; the first is always among them."""
    shown: list[YearStory] = []
    total = 0
    for story in stories:
        total += len(story.calls)
        if shown and total > limit:
            break
        shown.append(story)
    return shown


def journal_payload(stories: Sequence[YearStory]) -> dict[str, Any]:
    """Return plain JSON data: ``strings``, and by year its label, mornings and calls.

    A call is ``[day, clock, tool, ok, arguments, answer]``, all but the first and fourth as places in ``strings``.
    ``conduct`` is what :func:`experiments.report.year_journal.conduct_payload` returns, ``None`` for a merchant.
    """
    texts = Texts()

    def row(call: StoryCall) -> list[int]:
        written = (cut(_json(call.arguments), ANSWER_LIMIT), told_text(call.answer))
        return [call.day, texts.place(call.clock), texts.place(call.tool), int(call.is_ok), *map(texts.place, written)]

    years = [
        {
            "label": story.label,
            "mornings": _mornings(story),
            "calls": [row(call) for call in story.calls],
            "conduct": None if story.transcript is None else conduct_payload(story.transcript, texts),
        }
        for story in stories
    ]
    return {"years": years, "strings": texts.strings}


def _mornings(story: YearStory) -> list[list[float]]:
    """Return day, bank, wallet, escrow, units sold the day before and their revenue, in yuan."""
    return [
        [
            row["day"],
            *(row[name] / 100 for name in ("bank_fen", "wallet_fen", "escrow_fen")),
            sum(sale["units"] for sale in row["sales"].values()),
            sum(sale["revenue_fen"] for sale in row["sales"].values()) / 100,
        ]
        for row in story.days
    ]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
