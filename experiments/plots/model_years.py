"""Charts of how a model ran a store year: what its answers cost and how many tokens they took, by simulated day."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.plots.years import over_time
from experiments.years.conduct import DaySpend, spend_by_day
from experiments.years.story import YearStory
from oracle.palette import PLAIN_PALETTE, Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MICRO = 1e6
_THOUSAND = 1e3


def spend_of(story: YearStory) -> list[DaySpend]:
    """Return what each day cost; nothing for a year that no model ran."""
    return [] if story.transcript is None else spend_by_day(story.transcript)


def plot_cost(ax: Axes, story: YearStory, *, colors: Palette = PLAIN_PALETTE) -> Axes:
    """Draw the known cost of each day in US dollars; a day with an answer of unknown price is marked at the foot."""
    rows = spend_of(story)
    days = np.array([row.day for row in rows], dtype=np.int64)
    ax.bar(days, [row.known_microusd / _MICRO for row in rows], width=1.0, align="edge", color=colors.series[1])
    unknown = [row.day + 0.5 for row in rows if row.num_unpriced]
    if unknown:
        marks = {"marker": "x", "markersize": 5, "linestyle": "none", "color": colors.series[0], "clip_on": False}
        ax.plot(unknown, np.zeros(len(unknown)), label="an answer of unknown price", **marks)  # type: ignore[arg-type]
    return over_time(ax, story, "US dollars a day", colors)


def plot_tokens(ax: Axes, story: YearStory, *, colors: Palette = PLAIN_PALETTE) -> Axes:
    """Draw the tokens of each day, stacked: prompt from the cache, other prompt, completion."""
    rows = spend_of(story)
    days = np.array([row.day for row in rows], dtype=np.int64)
    cached = np.array([row.cached_tokens for row in rows]) / _THOUSAND
    prompt = np.array([row.prompt_tokens for row in rows]) / _THOUSAND
    completion = np.array([row.completion_tokens for row in rows]) / _THOUSAND
    parts = ((cached, "prompt from cache"), (prompt - cached, "other prompt"), (completion, "completion"))
    foot = np.zeros(len(rows))
    for (part, label), color in zip(parts, colors.series, strict=False):
        ax.bar(days, part, bottom=foot, width=1.0, align="edge", color=color, label=label)
        foot = foot + part
    return over_time(ax, story, "thousand tokens a day", colors)
