"""Charts of estimates. Each function draws on the axis it is given and returns it; an undefined value leaves a gap.

Colours default to matplotlib's own names so that the functions serve in notebooks; the report passes its placeholders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from oracle.palette import PLAIN_PALETTE, Palette
from terms.estimates import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Curve = Sequence[Estimate]
LONGEST_NAME = 26
"""Characters of a name in a legend or beside an axis."""


def plot_intervals(
    ax: Axes,
    labels: Sequence[str],
    estimates: Sequence[Estimate],
    *,
    others: Sequence[Sequence[Estimate]] = (),
    limits: tuple[float, float] = (0.0, 1.0),
    colors: Palette = PLAIN_PALETTE,
) -> Axes:
    """Draw one row a label, first on top: interval as a line, estimate as a dot, ``others`` as faint ticks behind."""
    for series in others:
        points = [(value.estimate, row) for row, value in enumerate(series) if value.estimate is not None]
        if points:
            ax.plot(*zip(*points, strict=True), linestyle="none", marker="|", markersize=9, color=colors.ghost)
    for row, value in enumerate(estimates):
        if value.estimate is None:
            ax.annotate(
                "undefined", (limits[0], row), (6, 0), textcoords="offset points", color=colors.muted, va="center"
            )
            continue
        if value.low is not None and value.high is not None:
            ax.plot([value.low, value.high], [row, row], color=colors.accent, linewidth=2.2, solid_capstyle="round")
        ax.plot([value.estimate], [row], marker="o", markersize=6, color=colors.accent, clip_on=False)
    ax.set_yticks(range(len(labels)), labels=labels, parse_math=False)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.set_xlim(*limits)
    ax.locator_params(axis="x", nbins=5)
    ax.grid(visible=True, axis="x", color=colors.grid)
    ax.spines["left"].set_visible(False)
    return ax


def plot_curves(  # noqa: PLR0913 - what is drawn, then how
    ax: Axes,
    curve: Curve,
    *,
    others: Sequence[Curve] = (),
    baseline: Curve = (),
    limits: tuple[float, float] | None = None,
    y_label: str = "",
    colors: Palette = PLAIN_PALETTE,
) -> Axes:
    """Draw ``curve`` by round (index 0 is round 1) with its interval as a band.

    ``others`` are faint behind it; ``baseline`` is dashed, with a band of its own.
    """
    for other in others:
        rounds, centre, _, _ = curve_arrays(other, first=1)
        ax.plot(rounds, centre, color=colors.ghost, linewidth=1.0)
    if baseline:
        rounds, centre, low, high = curve_arrays(baseline, first=1)
        ax.fill_between(rounds, low, high, color=colors.ghost, alpha=0.35, linewidth=0)
        ax.plot(rounds, centre, color=colors.muted, linewidth=1.6, linestyle="--")
    rounds, centre, low, high = curve_arrays(curve, first=1)
    ax.fill_between(rounds, low, high, color=colors.accent, alpha=0.22, linewidth=0)
    ax.plot(rounds, centre, color=colors.accent, linewidth=2.0, marker="o", markersize=3.5, clip_on=False)
    ax.set_xlim(0.6, max(2, len(curve)) + 0.4)
    if limits is not None:
        ax.set_ylim(*limits)
    ax.set_xticks(np.unique(np.linspace(1, max(1, len(curve)), 4).round()))
    ax.set_xlabel("round")
    ax.set_ylabel(y_label)
    ax.grid(visible=True, axis="y", color=colors.grid)
    ax.spines["left"].set_visible(False)
    return ax


def plot_profits(ax: Axes, parts: Mapping[str, tuple[Estimate, Estimate]], *, colors: Palette = PLAIN_PALETTE) -> Axes:
    """Draw one row a run, first on top: what it earned as a bar with its interval, what it left as a faint bar."""
    for row, (earned, left) in enumerate(parts.values()):
        value = earned.estimate or 0.0
        ax.barh(row, value, color=colors.accent, height=0.5)
        ax.barh(row, left.estimate or 0.0, left=max(value, 0.0), color=colors.ghost, height=0.5)
        if earned.low is not None and earned.high is not None:
            at = row + 0.36  # below the bar: on it the line could not be seen
            ax.plot([earned.low, earned.high], [at, at], color=colors.muted, linewidth=1.6, solid_capstyle="butt")
    ax.set_yticks(range(len(parts)), labels=list(parts), parse_math=False)
    ax.set_ylim(len(parts) - 0.4, -0.6)
    ax.locator_params(axis="x", nbins=5)
    ax.xaxis.set_major_formatter(lambda value, place: f"{value:,.0f}")
    ax.set_xlabel("dollars")
    ax.grid(visible=True, axis="x", color=colors.grid)
    ax.spines["left"].set_visible(False)
    return ax


def curve_arrays(curve: Curve, first: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the rounds or periods from ``first`` on, estimates and bounds, each of shape (len(curve),).

    They are nan where undefined, so that nothing is drawn there.
    """
    table = np.array([[value.estimate, value.low, value.high] for value in curve], dtype=float).reshape(-1, 3)
    return np.arange(first, first + len(curve)), table[:, 0], table[:, 1], table[:, 2]


def name_above(ax: Axes, columns: int = 2, size: str = "small", start: float = 0.0) -> None:
    """Put the legend above the axis, so many names side by side, each once; names are never read as formulas.

    ``start`` is where it begins, in widths of the axis from its left end.
    """
    handles, labels = ax.get_legend_handles_labels()
    marks = dict(zip(labels, handles, strict=True))
    legend = ax.legend(
        list(marks.values()),
        list(marks),
        loc="lower left",
        bbox_to_anchor=(start, 1.0),
        borderaxespad=0.2,
        ncols=columns,
        frameon=False,
        fontsize=size,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


def chart_name(label: str, longest: int = LONGEST_NAME) -> str:
    """Return a name as a chart can carry it: cut, and what does not print left out."""
    text = "".join(letter for letter in label if letter.isprintable())
    return text if len(text) <= longest else f"{text[: longest - 3]}..."
