"""Charts that lay agents over each other: assets of all by day, with the reference's, and what decisions cost.

Assets span from thousands to tens of millions of yuan, so their axis is logarithmic where the highest end is more than
:data:`WIDE` times the lowest and nobody ever falls below :data:`LOWEST` yuan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from experiments.plots.charts import chart_name, name_above
from experiments.plots.years import mark_calendar
from oracle.palette import PLAIN_PALETTE, Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDE = 8.0
DISTANT = 4.0
"""Times the highest assets, above which a bound is told and not drawn: it would flatten everything else."""
LOWEST = 100.0
_LINES = ("-", "--", ":")


class AssetsPath(NamedTuple):
    """The mean assets in yuan of one agent's years after each day; a year that ended stays at its end."""

    label: str
    yuan: tuple[float, ...]


class Ceiling(NamedTuple):
    """What could be reached at the end: the reference's path, and the bound on expected final assets if known."""

    reference: AssetsPath | None = None
    bound: float | None = None


NO_CEILING = Ceiling()


def plot_paths(
    ax: Axes,
    paths: Sequence[AssetsPath],
    ceiling: Ceiling = NO_CEILING,
    *,
    calendar_year: int = 2026,
    columns: int = 6,
    colors: Palette = PLAIN_PALETTE,
) -> Axes:
    """Draw the assets of all agents by day, the reference above them, and the band from it to the bound."""
    last = max((len(path.yuan) for path in paths), default=1)
    is_log = _is_wide(paths, ceiling)
    unit, name = _unit(paths, ceiling)
    reference = ceiling.reference
    if reference is not None and reference.label not in {path.label for path in paths}:
        days = np.arange(1, len(reference.yuan) + 1)
        shown = {"color": colors.muted, "linewidth": 1.4, "linestyle": (0, (5, 3))}
        ax.plot(days, np.array(reference.yuan) / unit, label=chart_name(reference.label), **shown)  # type: ignore[arg-type]
    top = max((max(path.yuan, default=0.0) for path in (*paths, *filter(None, [reference]))), default=0.0)
    is_far = ceiling.bound is not None and not is_log and ceiling.bound > DISTANT * top > 0
    if is_far:
        ax.plot([], [], color=colors.ink, linewidth=1, label=f"bound: {(ceiling.bound or 0.0) / unit:,.0f}, above")
    elif ceiling.bound is not None:
        ax.axhline(ceiling.bound / unit, color=colors.ink, linewidth=1, label="bound")
        if reference is not None:
            ends = [reference.yuan[-1] / unit, ceiling.bound / unit]
            ax.axhspan(*ends, color=colors.ghost, alpha=0.25, linewidth=0, label="reference to bound")
    for place, path in enumerate(paths):
        turn, color = divmod(place, len(colors.series))
        days = np.arange(1, len(path.yuan) + 1)
        style = {"color": colors.series[color], "linestyle": _LINES[turn % len(_LINES)], "linewidth": 2}
        ax.plot(days, np.array(path.yuan) / unit, label=chart_name(path.label), **style)  # type: ignore[arg-type]
    if is_far:
        lowest = min((min(path.yuan, default=0.0) for path in paths), default=0.0)
        ax.set_ylim(1.05 * min(0.0, lowest) / unit, 1.15 * top / unit)
    if is_log:
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    ax.set_xlim(0, last)
    ax.set_ylabel(name)
    ax.grid(visible=True, axis="y", color=colors.grid)
    mark_calendar(ax, calendar_year, last)
    name_above(ax, columns, "medium" if columns > 2 else "small")
    return ax


def _is_wide(paths: Sequence[AssetsPath], ceiling: Ceiling) -> bool:
    ends = [path.yuan[-1] for path in paths if path.yuan]
    ends += [ceiling.reference.yuan[-1]] if ceiling.reference is not None else []
    lowest = min((min(path.yuan) for path in paths if path.yuan), default=0.0)
    return lowest >= LOWEST and max(ends) > WIDE * min(ends)


def _unit(paths: Sequence[AssetsPath], ceiling: Ceiling) -> tuple[float, str]:
    tops = [max(path.yuan, default=0.0) for path in (*paths, *filter(None, [ceiling.reference]))]
    return (1e6, "million yuan") if max(tops, default=0.0) >= 1.5e6 else (1e3, "thousand yuan")


def plot_parts(
    ax: Axes,
    parts: Mapping[str, Mapping[str, float]],
    *,
    agents: Sequence[str] = (),
    columns: int = 6,
    colors: Palette = PLAIN_PALETTE,
) -> Axes:
    """Draw what each kind of decision cost each agent in thousand yuan; ``parts`` are by agent and kind.

    ``agents`` are those of the chart beside it, so that each keeps its colour.
    """
    ranked = list(agents or parts)
    kinds = list(next(iter(parts.values())))
    rows, height = np.arange(len(kinds)), 0.8 / len(parts)
    for place, (agent, costs) in enumerate(parts.items()):
        shift = (place - (len(parts) - 1) / 2) * height
        color = colors.series[ranked.index(agent) % len(colors.series)]
        ax.barh(
            rows + shift,
            [costs[kind] / 1e3 for kind in kinds],
            height=0.9 * height,
            color=color,
            label=chart_name(agent),
        )
    ax.axvline(0, color=colors.ink, linewidth=0.8)
    ax.set_yticks(rows, labels=kinds)
    ax.set_ylim(len(kinds) - 0.45, -0.55)
    ax.set_xlabel("thousand yuan behind the reference")
    ax.grid(visible=True, axis="x", color=colors.grid)
    ax.set_axisbelow(True)
    name_above(ax, columns, "medium" if columns > 2 else "small")
    return ax
