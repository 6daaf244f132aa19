"""Charts that hold every agent at once; a page shows one of them in full and the others faint behind it.

Each mark carries the key of its agent and what it says when pointed at (:mod:`oracle.hover`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from experiments.plots.charts import Curve, curve_arrays
from oracle.hover import estimate_words, set_hover
from oracle.palette import PLAIN_PALETTE, Palette
from terms.estimates import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Overlaid(NamedTuple):
    """One agent's series: its name, its values, and those drawn dashed with it, as of the exact posterior."""

    name: str
    values: Sequence[Estimate]
    baseline: Sequence[Estimate] = ()


def plot_overlaid_rows(
    ax: Axes,
    labels: Sequence[str],
    series: Mapping[str, Overlaid],
    *,
    limits: tuple[float, float],
    colors: Palette = PLAIN_PALETTE,
) -> Axes:
    """Draw one row a label, first on top: the value of each agent of ``series``, by key, as a dot with its interval."""
    for key, (name, values, _) in series.items():
        for row, value in enumerate(values):
            if value.estimate is None:
                continue
            words = estimate_words(f"{name}, {labels[row]}", value)
            if value.low is not None and value.high is not None:
                (line,) = ax.plot([value.low, value.high], [row, row], color=colors.accent, linewidth=2.2)
                set_hover(line, words, key)
            (dot,) = ax.plot([value.estimate], [row], marker="o", markersize=6.5, color=colors.accent, clip_on=False)
            set_hover(dot, words, key)
    ax.set_yticks(range(len(labels)), labels=labels, parse_math=False)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.set_xlim(*limits)
    ax.locator_params(axis="x", nbins=5)
    ax.grid(visible=True, axis="x", color=colors.grid)
    ax.spines["left"].set_visible(False)
    return ax


def plot_overlaid_curves(
    ax: Axes,
    series: Mapping[str, Overlaid],
    *,
    limits: tuple[float, float],
    y_label: str,
    colors: Palette = PLAIN_PALETTE,
) -> Axes:
    """Draw the curve of each agent of ``series``, by key, over rounds, with its interval as a band."""
    longest = max((len(one.values) for one in series.values()), default=1)
    for key, (name, values, baseline) in series.items():
        if baseline:
            rounds, centre, _, _ = curve_arrays(baseline, first=1)
            (dashed,) = ax.plot(rounds, centre, color=colors.muted, linewidth=1.6, linestyle="--")
            set_hover(dashed, f"exact posterior beside {name}", key)
        rounds, centre, low, high = curve_arrays(values, first=1)
        set_hover(ax.fill_between(rounds, low, high, color=colors.accent, alpha=0.22, linewidth=0), "", key)
        (line,) = ax.plot(rounds, centre, color=colors.accent, linewidth=2.0)
        set_hover(line, name, key)
        _mark_points(ax, key, name, values, colors)
    ax.set_xlim(0.6, max(2, longest) + 0.4)
    ax.set_ylim(*limits)
    ax.set_xticks(np.arange(1, max(1, longest) + 1, max(1, longest // 10)))
    ax.set_xlabel("round")
    ax.set_ylabel(y_label)
    ax.grid(visible=True, axis="y", color=colors.grid)
    ax.spines["left"].set_visible(False)
    return ax


def _mark_points(ax: Axes, key: str, name: str, curve: Curve, colors: Palette) -> None:
    for number, value in enumerate(curve, start=1):
        if value.estimate is not None:
            (dot,) = ax.plot([number], [value.estimate], marker="o", markersize=4.5, color=colors.accent)
            set_hover(dot, estimate_words(f"{name}, round {number}", value), key)
