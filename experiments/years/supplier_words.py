"""A model that words what suppliers have answered, and the file its words are kept in.

The narrator sees one answer at a time: what the supplier does and the sentences of its template; never a floor, who is
honest, or a word of the buyer. Each of its lines is written down before it is said, so a year reads the same when it is
carried out again, resumed, verified or reported, without the model. What it said of no act of the year is found by
``verify``; whether words may stand for an act is decided by :mod:`commerce.procurement.spoken`, each time anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from commerce.procurement.spoken import SaidAct
from experiments.llm.calls import name_call
from experiments.llm.client import Completer
from experiments.llm.errors import ContextOverflow, ProviderError
from experiments.llm.free_text import blank_thinking
from experiments.llm.records import Record
from experiments.players.model_voice import NARRATOR
from experiments.storage.journal import JournalWriter, read_journal
from experiments.years.briefing import render_briefing

SUPPLIER_WORDS = "supplier_words.jsonl"
"""Name of the file in the folder of a year."""
_MAX_OUTPUT_TOKENS = 300


class SupplierLine(Record):
    """What the narrator said for one answer; ``words`` is ``None`` where it said nothing usable."""

    supplier: str
    day: int
    minute: int
    said: str
    words: str | None

    @property
    def key(self) -> tuple[str, int, int, str]:
        """Which answer it is for."""
        return self.supplier, self.day, self.minute, self.said


class RecordedWords:
    """The voice of a year that is carried out again: says what is written down, and nothing of its own."""

    def __init__(self, folder: Path) -> None:
        rows = read_journal(folder / SUPPLIER_WORDS).rows
        self._lines = {line.key: line.words for line in map(SupplierLine.model_validate, rows)}
        self._unsaid = set(self._lines)

    def __call__(self, act: SaidAct) -> str | None:
        """Return the words for an act, ``None`` if there are none."""
        key = _key(act)
        self._unsaid.discard(key)
        return self._lines.get(key)

    def findings(self) -> Iterator[str]:
        """Yield what is written down and belongs to no answer of the year, once it was carried out."""
        if self._unsaid:
            supplier, day, _, said = min(self._unsaid)
            num = len(self._unsaid)
            yield f"{SUPPLIER_WORDS} has words for {num} answers that nobody gave: {supplier} on day {day}, {said!r}"

    def _is_known(self, act: SaidAct) -> bool:
        return _key(act) in self._lines

    def _keep(self, line: SupplierLine) -> None:
        self._lines[line.key] = line.words


class SupplierNarrator(RecordedWords):
    """The voice of a year that is being played: asks a model once for each answer, and writes its words down.

    Raises
    ------
    BudgetExceeded
        When asked and the spending ceiling is reached; nothing was sent.
    """

    def __init__(self, folder: Path, client: Completer, seed: int) -> None:
        super().__init__(folder)
        self._folder, self._client, self._seed = folder, client, seed

    def __call__(self, act: SaidAct) -> str | None:
        """Return the words for an act, from the file or else from the model."""
        if not self._is_known(act):
            line = SupplierLine(
                supplier=act.supplier, day=act.day, minute=act.minute, said=act.said, words=self._ask(act)
            )
            with JournalWriter(self._folder / SUPPLIER_WORDS) as journal:
                journal.append(line.model_dump(mode="json"))
            self._keep(line)
        return super().__call__(act)

    def _ask(self, act: SaidAct) -> str | None:
        messages = [
            {"role": "system", "content": render_briefing("supplier", {})},
            {"role": "user", "content": json.dumps({"decision": act.decision, "text": act.said})},
        ]
        call_id = name_call(NARRATOR, self._seed, act.day, f"{act.supplier}@{act.minute}")
        try:
            reply = self._client.complete(messages, call_id=call_id, max_output_tokens=_MAX_OUTPUT_TOKENS)
        except (ProviderError, ContextOverflow):
            return None
        if reply.text is None or reply.refusal or reply.finish_reason not in ("stop", None):
            return None
        return " ".join(blank_thinking(reply.text).split()) or None


def _key(act: SaidAct) -> tuple[str, int, int, str]:
    return act.supplier, act.day, act.minute, act.said
