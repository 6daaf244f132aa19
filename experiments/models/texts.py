"""Text that crosses the border: without the key, and made of whole characters."""

from __future__ import annotations

from urllib.parse import quote

MASK = "[key removed]"
_SHORTEST = 8
"""A shorter placeholder such as ``x`` or ``none`` is no secret, and replacing it would garble every text."""


def whole_characters(text: str) -> str:
    """Return ``text`` with each half of a broken character replaced; it could be neither sent nor stored otherwise."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


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
