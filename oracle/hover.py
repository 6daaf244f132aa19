"""What a mark of a chart says when pointed at: the words travel as its group id, of which pages make a title."""

from __future__ import annotations

from typing import TYPE_CHECKING

from terms.estimates import Estimate

if TYPE_CHECKING:
    from matplotlib.artist import Artist

HOVER = "hover: "
"""Begins the group id of a mark that says something."""


def set_hover(mark: Artist, words: str, key: str = "") -> None:
    """Let ``mark`` say ``words``; ``key`` names whose it is, where a page shows one of several."""
    mark.set_gid(f"{HOVER}{key}|{''.join(letter for letter in words if letter.isprintable())}")


def estimate_words(label: str, value: Estimate, digits: int = 3) -> str:
    """Return a number with its interval and n, in one line."""
    if value.estimate is None:
        return f"{label}: undefined, n = {value.n:,}"
    bounds = "" if value.low is None or value.high is None else f" [{value.low:,.{digits}f}, {value.high:,.{digits}f}]"
    return f"{label}: {value.estimate:,.{digits}f}{bounds}, n = {value.n:,}"


def signed_text(value: float) -> str:
    """Return a step with its sign, a true minus below 0."""
    return f"{value:+,.2f}".replace("-", "\N{MINUS SIGN}")
