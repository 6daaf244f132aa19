"""The figures about years: one of each kind a year, with its text alternative."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from experiments.plots.year_answers import plot_parts, plot_paths
from experiments.plots.years import (
    plot_assets,
    plot_cash,
    plot_cost,
    plot_frauds,
    plot_sales,
    plot_stock_age,
    plot_storage_bill,
    plot_tokens,
    plot_tools,
    spend_of,
)
from experiments.report.page import PAGE_PALETTE, Margins, SvgSheet
from experiments.report.year_answers import Answers
from experiments.years.story import YearStory

_OVER_TIME = Margins(58, 40, 10, 42)


class Panel(NamedTuple):
    """A kind of figure: its name, how it is drawn, its size and margins in CSS pixels, and what it says in words."""

    name: str
    plot: Callable[..., object]
    size: tuple[int, int]
    margins: Margins
    describe: Callable[[YearStory], str]


def year_figures(story: YearStory, sheet: SvgSheet) -> dict[str, str]:
    """Draw every figure of a year; returns SVG by name. Those of model calls are for years with such calls."""
    panels = (*PANELS, *CONDUCT_PANELS) if spend_of(story) else PANELS
    return {
        panel.name: sheet.draw(
            lambda ax, plot=panel.plot: plot(ax, story, colors=PAGE_PALETTE),  # type: ignore[misc]
            size=panel.size,
            margins=panel.margins,
            label=f"{story.label}: {panel.describe(story)}.",
        )
        for panel in panels
    }


def answer_charts(answers: Answers, sheet: SvgSheet) -> dict[str, str]:
    """Draw the charts about all agents, each wide and small: their assets over each other, and what decisions cost."""
    if not answers.paths:
        return {}
    ends = "; ".join(f"{path.label} {path.yuan[-1]:,.0f} yuan at last" for path in answers.paths)
    agents = [path.label for path in answers.paths]

    def paths(size: tuple[int, int], columns: int) -> str:
        rows = -(-(len(agents) + 3) // columns)
        return sheet.draw(
            lambda ax: plot_paths(
                ax,
                answers.paths,
                answers.ceiling,
                calendar_year=answers.calendar_year,
                columns=columns,
                colors=PAGE_PALETTE,
            ),
            size=(size[0], size[1] + 19 * rows),
            margins=Margins(60, 38, 14, 8 + 19 * rows),
            label=f"Assets by day: {ends}.",
        )

    charts = {"paths": paths((1090, 215), 5), "paths_small": paths((400, 230), 2)}
    if not answers.measured:
        return charts
    costs = {one.label: {words: part.estimate or 0.0 for words, part in one.parts.items()} for one in answers.measured}
    told = "; ".join(
        f"{who}: {', '.join(f'{kind} {cost:,.0f}' for kind, cost in by.items())}" for who, by in costs.items()
    )

    def parts(width: int, left: int, columns: int) -> str:
        rows = -(-len(costs) // columns)
        return sheet.draw(
            lambda ax: plot_parts(ax, costs, agents=agents, columns=columns, colors=PAGE_PALETTE),
            size=(width, 130 + 40 * len(costs) + 17 * rows),
            margins=Margins(left, 40, 20, 8 + 17 * rows),
            label=f"Yuan behind the reference by what was decided: {told}.",
        )

    return {**charts, "parts": parts(1090, 210, 5), "parts_small": parts(400, 190, 2)}


def _amounts(story: YearStory, *names: str) -> str:
    """Return the first, the largest and the last daily sum of ``names`` in words."""
    sums = [sum(row[name] for name in names) / 100 for row in story.days]
    return f"{sums[0]:,.0f} yuan at first, {max(sums):,.0f} at most, {sums[-1]:,.0f} at last" if sums else "no day"


def _cash_in_words(story: YearStory) -> str:
    return "; ".join(f"{name} {_amounts(story, f'{name}_fen')}" for name in ("bank", "wallet", "escrow"))


def _ages_in_words(story: YearStory) -> str:
    ages = [row["stock_age_days"] for row in story.days if row["stock_age_days"] is not None]
    return f"mean age of stock at most {max(ages):.0f} days, at last {ages[-1]:.0f}" if ages else "never any stock"


def _sales_in_words(story: YearStory) -> str:
    totals = {
        label: sum(row["sales"].get(name, {}).get("revenue_fen", 0) for row in story.days) / 100
        for name, label in story.stores.items()
    }
    return "revenue of the year: " + (
        "; ".join(f"{label} {yuan:,.0f} yuan" for label, yuan in totals.items()) or "none"
    )


def _frauds_in_words(story: YearStory) -> str:
    after = sum(row.paid for row in story.frauds if row.is_after_evidence)
    total = sum(row.paid for row in story.frauds)
    return f"{total:,.0f} yuan paid to fraudulent suppliers, {after:,.0f} of it after there was evidence"


def _cost_in_words(story: YearStory) -> str:
    rows = spend_of(story)
    unknown = sum(row.num_unpriced for row in rows)
    dearest = max(row.known_microusd for row in rows) / 1e6
    total = sum(row.known_microusd for row in rows) / 1e6
    return (
        f"known cost {total:,.4f} US dollars, {dearest:,.4f} on the dearest day, {unknown:,} answers of unknown price"
    )


def _tokens_in_words(story: YearStory) -> str:
    rows = spend_of(story)
    prompt, cached, completion = (
        sum(getattr(row, f"{name}_tokens") for row in rows) for name in ("prompt", "cached", "completion")
    )
    return f"{prompt:,} prompt tokens, {cached:,} of them from the cache, {completion:,} completion tokens"


def _tools_in_words(story: YearStory) -> str:
    calls = story.result["tools"]["calls"]
    return "calls: " + (", ".join(f"{tool} {count:,}" for tool, count in calls.items()) or "none")


PANELS = (
    Panel(
        "assets",
        plot_assets,
        (440, 240),
        _OVER_TIME,
        lambda story: "assets " + _amounts(story, "bank_fen", "wallet_fen", "escrow_fen"),
    ),
    Panel("cash", plot_cash, (440, 240), _OVER_TIME, _cash_in_words),
    Panel("stock_age", plot_stock_age, (440, 210), _OVER_TIME, _ages_in_words),
    Panel(
        "storage_bill",
        plot_storage_bill,
        (440, 210),
        _OVER_TIME,
        lambda story: "storage bill a day " + _amounts(story, "storage_fen"),
    ),
    Panel("sales", plot_sales, (440, 250), _OVER_TIME, _sales_in_words),
    Panel("frauds", plot_frauds, (440, 220), Margins(118, 40, 18, 30), _frauds_in_words),
    Panel("tools", plot_tools, (440, 340), Margins(138, 40, 14, 30), _tools_in_words),
)
CONDUCT_PANELS = (
    Panel("cost", plot_cost, (440, 230), _OVER_TIME, _cost_in_words),
    Panel("tokens", plot_tokens, (440, 250), _OVER_TIME, _tokens_in_words),
)
