"""What is kept in view beside the window: titles of notes, summaries, reflections, the ledger."""

from __future__ import annotations

from typing import Any

from commerce.argument_parser import read_text
from experiments.storekeeper.purchases import TradeLedger
from experiments.storekeeper.settings import Memory, StorekeeperSettings
from experiments.years.session import Answer
from experiments.years.transcript import Eviction, NoteRecord, Said

SUMMARY, REFLECTION = "summary", "reflection"
_LONGEST_ANSWER = 1_500
_LONGEST_WEEK = 60_000
_HAS_LEDGER = (Memory.LEDGER, Memory.PRICE_LIMITS)


class Recollection:
    """The memory of one year, fed with every turn; it draws on nothing but what the agent was told."""

    def __init__(self, settings: StorekeeperSettings) -> None:
        self._settings = settings
        self._ledger = TradeLedger() if settings.memory in _HAS_LEDGER else None
        self._titles: dict[str, None] = {}
        self._gone: Eviction | None = None
        self._shown_titles: tuple[str, ...] = ()
        self._summary: str | None = None
        self._reflections: list[str] = []
        self._told: dict[int, str] = {}
        self._week: list[str] = []
        self._next_reflection = settings.reflect_days

    def learn(self, turn: int, day: int, said: Said, answer: Answer) -> None:
        """Take in a turn."""
        for call, told in zip(said.tool_calls, answer.told, strict=True):
            if told.name == "operate_memory" and told.ok:
                self._note_title(call.arguments)
            if self._ledger is not None:
                self._ledger.learn(told)
        if self._settings.memory is Memory.SUMMARY:
            self._told[turn] = turn_text(day, said, answer)
        elif self._settings.memory is Memory.REFLECTION:
            self._week.append(turn_text(day, said, answer))

    def _note_title(self, arguments: str) -> None:
        given: dict[str, Any] = read_text(arguments)
        title = str(given.get("title"))
        if given["action"] == "add":
            self._titles[title] = None
        elif given["action"] == "delete":
            self._titles.pop(title, None)

    def tail(self) -> str | None:
        """Return what stands at the end of the next request."""
        return None if self._ledger is None else self._ledger.text(self._settings.ledger_rows)

    def evicted(self, gone: Eviction) -> None:
        """Note that turns left the window."""
        first = gone.first_turn if self._gone is None else self._gone.first_turn
        self._gone = gone.model_copy(update={"first_turn": first})
        self._shown_titles = tuple(self._titles)
        for turn in range(gone.first_turn, gone.last_turn + 1):
            self._told.pop(turn, None)

    def take(self, note: NoteRecord) -> None:
        """Take in a text of the model's own."""
        if note.kind == SUMMARY:
            self._summary = note.text
            return
        self._reflections = [*self._reflections, note.text][-self._settings.keep_reflections :]
        self._next_reflection = note.day + self._settings.reflect_days
        self._week = []

    def head(self) -> str | None:
        """Return what stands behind the first user message, ``None`` while nothing has to be said."""
        parts = []
        if self._gone is not None:
            parts.append(f"Turns {self._gone.first_turn + 1} to {self._gone.last_turn + 1} left your context.")
            parts.append(f"Titles of your notes: {', '.join(self._shown_titles) or 'none'}.")
        if self._summary is not None:
            parts.append(f"Your summary of what left:\n{self._summary}")
        if self._reflections:
            parts.append("What you resolved to do better:\n" + "\n---\n".join(self._reflections))
        return "\n\n".join(parts) or None

    def wants_summary(self) -> bool:
        """Whether what leaves the window is to be summed up first."""
        return self._settings.memory is Memory.SUMMARY

    def wants_reflection(self, day: int) -> bool:
        """Whether it is time to look back."""
        return self._settings.memory is Memory.REFLECTION and day >= self._next_reflection

    def to_sum_up(self, turns: range) -> str:
        """Return the question that asks for a summary: the one so far and the turns about to leave."""
        before = self._summary or "(none yet)"
        gone = "\n".join(self._told[turn] for turn in turns if turn in self._told)
        return f"Your summary so far:\n{before}\n\nThe turns that are leaving:\n{gone}"

    def to_reflect_on(self) -> str:
        """Return the question that asks for a reflection: what was resolved before, and what happened since."""
        before = "\n---\n".join(self._reflections) or "(none yet)"
        week = "\n".join(self._week)[-_LONGEST_WEEK:]
        return f"What you resolved before:\n{before}\n\nWhat happened since:\n{week}"


def turn_text(day: int, said: Said, answer: Answer) -> str:
    """Return a turn in plain text, long answers cut."""
    lines = [f"Day {day}: {said.content}" if said.content else f"Day {day}:"]
    for call, told in zip(said.tool_calls, answer.told, strict=True):
        lines.append(f"> {call.name} {call.arguments[:_LONGEST_ANSWER]}")
        cut = "" if len(told.content) <= _LONGEST_ANSWER else " ..."
        lines.append(f"< {told.content[:_LONGEST_ANSWER]}{cut}")
    return "\n".join(lines)
