"""The one palette of every chart: what each colour is for. The report passes placeholders that its page fills in."""

from __future__ import annotations

from typing import NamedTuple


class Palette(NamedTuple):
    """Roles of colour.

    ``accent`` is the series shown, ``ghost`` the others behind it, ``series`` several side by side; ``ink``, ``muted``
    and ``grid`` are lines, words and helping lines. In a waterfall ``level`` are totals, ``gain`` and ``loss`` steps up
    and down, ``shared`` the part nobody can avoid, ``line`` what joins them.
    """

    ink: str = "black"
    muted: str = "dimgrey"
    grid: str = "gainsboro"
    ghost: str = "lightgrey"
    accent: str = "tab:blue"
    series: tuple[str, ...] = ("tab:orange", "tab:blue", "tab:green", "tab:purple", "tab:olive", "tab:cyan")
    level: str = "#4c566a"
    gain: str = "#2a7f62"
    loss: str = "#b3413a"
    shared: str = "#9aa5b1"
    line: str = "0.6"


PLAIN_PALETTE = Palette()
