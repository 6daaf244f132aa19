"""The data of the journal browser: the calls of a year, numbered texts, answers cut to what a page can carry."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from experiments.report.year_conduct import conduct_payload
from experiments.report.year_texts import Texts, cut, told_text
from experiments.years.story import StoryCall, YearStory

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
    ``conduct`` is what :func:`experiments.report.year_conduct.conduct_payload` returns, ``None`` for a merchant.
    """
    texts = Texts()

    def row(call: StoryCall) -> list[int]:
        written = (cut(_json(call.arguments)), told_text(call.answer))
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
