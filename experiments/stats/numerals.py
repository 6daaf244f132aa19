"""Numbers and intervals as text; imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TOO_FEW = "too few to say"


def number_text(value: float | None) -> str:
    """Return a number with the digits that carry meaning, and a dash for undefined."""
    if value is None:
        return "-"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.2f}"


def interval_text(low: float | None, high: float | None) -> str:
    """Return ``[low, high]``, or that there is too little to say."""
    return f"[{TOO_FEW}]" if low is None or high is None else f"[{number_text(low)}, {number_text(high)}]"


def needed_text(needed: Mapping[str, Any]) -> str:
    """Return how many blocks are needed with the interval of that number."""
    if needed["estimate"] is None and needed["low"] is None:
        return "-"
    estimate, low, high = ("no bound" if needed[part] is None else f"{needed[part]:,}" for part in needed)
    return f"{estimate} [{low}, {high}]"
