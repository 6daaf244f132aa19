"""Agents in order of one number, and what their loss consists of: one row an agent, best on top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from experiments.plots.charts import LONGEST_NAME, chart_name, name_above
from oracle.hover import estimate_words, set_hover
from oracle.palette import PLAIN_PALETTE, Palette
from terms.estimates import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class LeaderRow(NamedTuple):
    """One row: whose number it is, on which group of episodes, and more to say when pointed at.

    A ``group`` of -1 is a published reference, whose interval nobody stated.
    """

    label: str
    group: int
    value: Estimate
    words: str = ""


def plot_leaders(  # noqa: PLR0913 - what is drawn, then how
    ax: Axes,
    rows: Sequence[LeaderRow],
    groups: Sequence[str],
    *,
    limits: tuple[float, float],
    x_label: str,
    columns: int = 3,
    colors: Palette = PLAIN_PALETTE,
) -> Axes:
    """Draw each row's value with its interval in the colour of its group; published references are hollow."""
    for place, row in enumerate(rows):
        value, is_own = row.value, row.group >= 0
        if value.estimate is None:
            continue
        color = colors.series[(row.group + 1) % len(colors.series)] if is_own else colors.muted
        words = f"{estimate_words(row.label, value)}{'; ' if row.words else ''}{row.words}"
        if value.low is not None and value.high is not None:
            (line,) = ax.plot([value.low, value.high], [place, place], color=color, linewidth=2.4)
            set_hover(line, words)
        name = groups[row.group] if is_own else "published"
        look = {"marker": "o" if is_own else "D", "markersize": 7 if is_own else 5.5, "linestyle": "none"}
        fill = {} if is_own else {"markerfacecolor": "none"}
        (dot,) = ax.plot([value.estimate], [place], color=color, label=name, clip_on=False, **look, **fill)  # type: ignore[arg-type]
        set_hover(dot, words)
    ax.set_yticks(range(len(rows)), labels=[chart_name(row.label) for row in rows], parse_math=False)
    for tick, row in zip(ax.get_yticklabels(), rows, strict=True):
        tick.set_color(colors.ink if row.group >= 0 else colors.muted)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlim(*limits)
    ax.set_xlabel(x_label)
    ax.grid(visible=True, axis="x", color=colors.grid)
    ax.spines["left"].set_visible(False)
    name_above(ax, columns, "medium", start=-0.36)
    return ax


def plot_stacks(
    ax: Axes,
    stacks: Mapping[str, Mapping[str, Estimate]],
    *,
    x_label: str,
    columns: int = 3,
    longest: int = LONGEST_NAME,
    colors: Palette = PLAIN_PALETTE,
) -> Axes:
    """Draw one bar an agent, made of its parts in the order given; a part that is 0 for everybody is left out."""
    names = [
        name
        for name in next(iter(stacks.values()), {})
        if any(parts[name].estimate and parts[name].estimate > 0.0005 for parts in stacks.values())  # type: ignore[operator]
    ]
    order = (1, 0, 4, 3, 5, 2)
    shades = [*(colors.series[place] for place in order), colors.muted, colors.ghost]
    for row, (agent, parts) in enumerate(stacks.items()):
        left = 0.0
        for place, name in enumerate(names):
            size = max(0.0, parts[name].estimate or 0.0)
            bar = ax.barh(row, size, left=left, color=shades[place % len(shades)], height=0.66, label=name)
            set_hover(bar[0], estimate_words(f"{agent}, {name}", parts[name]))
            left += size
    ax.set_yticks(range(len(stacks)), labels=[chart_name(agent, longest) for agent in stacks], parse_math=False)
    ax.set_ylim(len(stacks) - 0.45, -0.55)
    ax.set_xlim(left=0)
    ax.set_xlabel(x_label)
    ax.grid(visible=True, axis="x", color=colors.grid)
    ax.spines["left"].set_visible(False)
    name_above(ax, columns, "medium", start=-0.36)
    return ax
