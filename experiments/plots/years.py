"""Charts of a store year and of how a model ran it. Each function draws on the axis it is given and returns it.

The row of a day is written at 08:00, so balances are those of the morning and sales those of the day before. Colours
default to matplotlib's own; the report passes its placeholders.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from experiments.plots.charts import name_above
from experiments.years.conduct import DaySpend, spend_by_day
from experiments.years.story import FraudRow, YearStory
from oracle.palette import PLAIN_PALETTE, Palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MONTHS_FROM = 90
"""A year of fewer days has day numbers below the axis."""
SMOOTH_DAYS = 7
_FEN_PER_THOUSAND = 100_000
_MICRO, _THOUSAND = 1e6, 1e3


def plot_assets(ax: Axes, story: YearStory, *, colors: Palette = PLAIN_PALETTE) -> Axes:
    """Draw bank, wallet and escrow together, and the same with the stock at cost on top."""
    days, parts = _days(story), [_column(story, name) for name in ("bank_fen", "wallet_fen", "escrow_fen")]
    assets = np.sum(parts, axis=0)
    ax.fill_between(days, assets, assets + _column(story, "stock_fen"), color=colors.series[0], alpha=0.25, linewidth=0)
    ax.plot(days, assets + _column(story, "stock_fen"), color=colors.series[0], linewidth=1, label="with stock at cost")
    ax.plot(days, assets, color=colors.ink, linewidth=2, label="assets")
    return over_time(ax, story, "thousand yuan", colors)


def plot_cash(ax: Axes, story: YearStory, *, colors: Palette = PLAIN_PALETTE) -> Axes:
    """Draw the bank, which alone pays, against the wallet and the escrow, which do not yet."""
    for name, color in zip(("escrow", "wallet", "bank"), colors.series, strict=False):
        ax.plot(_days(story), _column(story, f"{name}_fen"), color=color, linewidth=1.6, label=name)
    ax.axhline(0, color=colors.ink, linewidth=0.8)
    return over_time(ax, story, "thousand yuan", colors)


def plot_stock_age(ax: Axes, story: YearStory, *, colors: Palette = PLAIN_PALETTE) -> Axes:
    """Draw the mean age of the units in the warehouse; a day with an empty warehouse leaves a gap."""
    ages = [row["stock_age_days"] for row in story.days]
    ax.plot(_days(story), np.array(ages, dtype=float), color=colors.series[1], linewidth=1.6, label="mean age of stock")
    return over_time(ax, story, "days", colors)


def plot_storage_bill(ax: Axes, story: YearStory, *, colors: Palette = PLAIN_PALETTE) -> Axes:
    """Draw the daily storage bill in yuan."""
    bill = 1000 * _column(story, "storage_fen")
    ax.fill_between(
        _days(story), 0, bill, color=colors.series[0], alpha=0.6, linewidth=0, step="mid", label="storage bill"
    )
    return over_time(ax, story, "yuan a day", colors)


def plot_sales(ax: Axes, story: YearStory, *, colors: Palette = PLAIN_PALETTE) -> Axes:
    """Draw the revenue of each store, stacked, as a mean over the last :data:`SMOOTH_DAYS` days."""
    names = list(story.stores)
    days = _days(story)
    series = [
        _trailing_mean([row["sales"].get(name, {}).get("revenue_fen", 0) / _FEN_PER_THOUSAND for row in story.days])
        for name in names
    ]
    if series and len(days):
        shades = [colors.series[index % len(colors.series)] for index in range(len(names))]
        ax.stackplot(days - 1, *series, colors=shades, labels=[story.stores[name] for name in names], alpha=0.75)
    return over_time(ax, story, "thousand yuan a day", colors)


def plot_frauds(ax: Axes, story: YearStory, *, colors: Palette = PLAIN_PALETTE) -> Axes:
    """Draw what went to fraudulent suppliers, by fraud, before and after it could be known."""
    kinds = sorted({row.fraud for row in story.frauds})
    before = np.array([_paid(story.frauds, kind, is_after=False) for kind in kinds])
    after = np.array([_paid(story.frauds, kind, is_after=True) for kind in kinds])
    rows = np.arange(len(kinds))
    ax.barh(rows, before, color=colors.series[1], height=0.6, label="before its evidence")
    ax.barh(rows, after, left=before, color=colors.series[0], height=0.6, label="after")
    ax.set_yticks(rows, labels=[kind.replace("_", " ") for kind in kinds])
    ax.set_ylim(max(3, len(kinds)) - 0.4, -0.6)
    ax.set_xlim(left=0)
    ax.set_xlabel("yuan paid to fraudulent suppliers")
    ax.grid(visible=True, axis="x", color=colors.grid)
    ax.set_axisbelow(True)
    if kinds:
        name_above(ax)
    else:
        ax.text(0.5, 0.5, "none", ha="center", color=colors.muted, transform=ax.transAxes)
    return ax


def plot_tools(ax: Axes, story: YearStory, *, colors: Palette = PLAIN_PALETTE) -> Axes:
    """Draw the share of all calls and of all minutes that each tool took, most minutes on top."""
    calls, minutes = story.result["tools"]["calls"], story.result["tools"]["minutes"]
    tools = sorted(calls, key=lambda tool: (-minutes[tool], tool))
    rows = np.arange(len(tools))
    for shift, counts, color, name in (
        (-0.2, minutes, colors.series[1], "minutes"),
        (0.2, calls, colors.series[0], "calls"),
    ):
        total = max(1, sum(counts.values()))
        label = f"{name}, of {total:,}"
        ax.barh(rows + shift, [100 * counts[tool] / total for tool in tools], color=color, height=0.38, label=label)
    ax.set_yticks(rows, labels=tools)
    ax.set_ylim(max(1, len(tools)) - 0.4, -0.6)
    ax.set_xlabel("per cent")
    ax.grid(visible=True, axis="x", color=colors.grid)
    ax.set_axisbelow(True)
    if tools:
        name_above(ax)
    return ax


_FLAT = 0.06


def _days(story: YearStory) -> NDArray[np.int64]:
    return np.array([row["day"] for row in story.days], dtype=np.int64)


def _column(story: YearStory, name: str) -> NDArray[np.float64]:
    """Return an amount by day in thousand yuan."""
    return np.array([row[name] / _FEN_PER_THOUSAND for row in story.days], dtype=np.float64)


def _trailing_mean(values: Sequence[float]) -> NDArray[np.float64]:
    """Return the mean of each value and those before it, at most :data:`SMOOTH_DAYS` in all."""
    sums = np.cumsum([0.0, *values])
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(0, ends - SMOOTH_DAYS)
    means: NDArray[np.float64] = (sums[ends] - sums[starts]) / (ends - starts)
    return means


def _paid(rows: Sequence[FraudRow], kind: str, *, is_after: bool) -> float:
    return sum(row.paid for row in rows if row.fraud == kind and row.is_after_evidence == is_after)


def over_time(ax: Axes, story: YearStory, unit: str, colors: Palette) -> Axes:
    """Finish a chart over the days: events as numbered bands, promotions as bars along the foot, calendar, legend."""
    last = max(1, story.header.spec.num_days)
    foot = ax.get_xaxis_transform()
    for number, event in enumerate(story.events, 1):
        ax.axvspan(event.first_day, min(last, event.last_day + 1), color=colors.grid, alpha=0.6, linewidth=0, zorder=0)
        ax.text(event.first_day, 0.99, str(number), transform=foot, color=colors.muted, fontsize=9, va="top")
    for promotion in story.promotions:
        days = [promotion.first_day, min(last, promotion.last_day + 1)]
        ax.plot(days, [0.012, 0.012], transform=foot, color=colors.muted, linewidth=3.5, solid_capstyle="butt")
    ax.set_xlim(0, last)
    ax.set_ylabel(unit)
    ax.grid(visible=True, axis="y", color=colors.grid)
    ax.set_axisbelow(True)
    if max(map(abs, ax.get_ylim())) < _FLAT:
        ax.set_ylim(0, 1)  # nothing ever but 0
    mark_calendar(ax, story.calendar_year, last)
    if ax.get_legend_handles_labels()[1]:
        name_above(ax)
    return ax


def mark_calendar(ax: Axes, year: int, last: int) -> None:
    """Name the months of ``year`` under the axis of days, or the days themselves where there are few."""
    if last < MONTHS_FROM:
        ax.set_xlabel("day")
        ax.locator_params(axis="x", integer=True)
        return
    start = dt.date(year, 1, 1)
    firsts = [dt.date(year + month // 12, month % 12 + 1, 1) for month in range(0, last // 28 + 1, max(1, last // 180))]
    shown = [first for first in firsts if (first - start).days < last]
    ax.set_xticks([(first - start).days for first in shown], labels=[f"{first:%b}" for first in shown], ha="left")


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
