"""The data of the journal browser: the calls of a year, numbered texts, answers cut to what a page can carry."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from experiments.years.story import Call, YearStory

ANSWER_LIMIT = 800
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
    """
    numbers: dict[str, int] = {}

    def place(text: str) -> int:
        return numbers.setdefault(text, len(numbers))

    def row(call: Call) -> list[int]:
        texts = (_cut(_json(call.arguments)), _cut(_json(_told(call))))
        return [call.day, place(call.clock), place(call.tool), int(call.is_ok), *map(place, texts)]

    years = [
        {"label": story.label, "mornings": _mornings(story), "calls": [row(call) for call in story.calls]}
        for story in stories
    ]
    return {"years": years, "strings": list(numbers)}


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


def _told(call: Call) -> dict[str, Any]:
    """Return the answer without the clock, which the row has, and without an empty list of notices."""
    return {key: value for key, value in call.answer.items() if key != "time" and (key != "notices" or value)}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _cut(text: str) -> str:
    left_out = len(text) - ANSWER_LIMIT
    return text if left_out <= 0 else f"{text[:ANSWER_LIMIT]}\n[{left_out:,} more characters]"
