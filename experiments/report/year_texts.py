"""Texts on a page about years: each is there once, and cut to what a page can carry."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

ANSWER_LIMIT = 800
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
    return cut(json.dumps(kept, ensure_ascii=False))


def cut(text: str, limit: int = ANSWER_LIMIT) -> str:
    """Return ``text``, cut after ``limit`` characters with a word on how many more there were."""
    left_out = len(text) - limit
    return text if left_out <= 0 else f"{text[:limit]}\n[{left_out:,} more characters]"
