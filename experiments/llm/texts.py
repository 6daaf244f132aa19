"""Text that crosses the border: without the key, and made of whole characters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

MASK = "[key removed]"
_SHORTEST = 8
"""A shorter placeholder such as ``x`` or ``none`` is no secret, and replacing it would garble every text."""


def whole_characters(text: str) -> str:
    """Return ``text`` with each half of a broken character replaced; it could be neither sent nor stored otherwise."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def whole_copy(value: Any) -> Any:
    """Return a copy of JSON data, all its texts made of whole characters.

    Raises
    ------
    ValueError
        If a number in it is not finite: it could be neither sent nor stored.
    """
    if isinstance(value, str):
        return whole_characters(value)
    if isinstance(value, Mapping):
        return {whole_characters(str(key)): whole_copy(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [whole_copy(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is not a JSON number")
    return value


class Redactor:
    """Replaces the key's value, also in its URL-quoted form. Its own ``repr`` shows nothing."""

    def __init__(self, key: str | None) -> None:
        known = key is not None and len(key) >= _SHORTEST
        self._forms = tuple(sorted({key, quote(key, safe="")}, key=len, reverse=True)) if known and key else ()

    def __call__(self, text: str) -> str:
        """Return ``text`` without the key."""
        for form in self._forms:
            text = text.replace(form, MASK)
        return text

    def __repr__(self) -> str:
        return "Redactor()"
