"""The report about agents at one table: a tournament, or any number of matches; one self-contained HTML file.

First who gets how much of the surplus and how much of it is made at all, then every pair. Ratings come with ties where
the tables are a whole round robin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import terms
from experiments.comparing.wording import PAIR_HEADINGS, family_sentence, pair_row
from experiments.matches.match_task import MatchRun, match_summary
from experiments.plots.charts import LONGEST_NAME
from experiments.plots.leaderboard import LeaderRow, plot_leaders, plot_stacks
from experiments.report.episode_answers import percent
from experiments.report.page import PAGE_PALETTE, Margins, SvgSheet, asset, content_policy, environment, write_page
from experiments.report.reporting import suite_title
from experiments.stats.matches import Ratings, rate
from terms.estimates import Estimate

LOST = "lost between them"
TABLE_METRICS = {
    "efficiency": "Deals made of possible ones",
    "first_share": "First seat's share",
    "second_share": "Second seat's share",
    "buyer_part_of_deals": "Buyer's part of a deal",
    "unwise_deals": "Deals where none should be",
    "rounds": "Rounds",
}
"""Columns of the table of pairs, and how each is named to a reader."""


class PlayedTable(NamedTuple):
    """One pair in one order of seats, with every metric of its talks."""

    first: str
    second: str
    metrics: Mapping[str, Estimate]
    invalidity: str | None

    @property
    def parts(self) -> dict[str, Estimate]:
        """Who got which share of the surplus, and what was lost."""
        first, second = self.metrics["first_share"], self.metrics["second_share"]
        rest = 1.0 - (first.estimate or 0.0) - (second.estimate or 0.0)
        return {"first seat": first, "second seat": second, LOST: Estimate(rest, None, None, first.n)}


def report_matches(runs: Sequence[MatchRun], path: Path, *, title: str) -> Path:
    """Write the report about matches to ``path``, whole or not at all, and return the path.

    Raises
    ------
    FileNotFoundError
        If the folder of ``path`` does not exist.
    ValueError
        If the same pair is given twice, or matches are of different suites.
    """
    return write_page(path, lambda: build_matches_report(runs, title=title))


def build_matches_report(runs: Sequence[MatchRun], *, title: str) -> str:
    """Return the report as one HTML document."""
    tables = _tables(runs)
    ratings = _ratings(runs)
    suite = suite_title(runs[0].header.spec)
    sheet = SvgSheet()
    figures = {"ratings": _rating_charts(ratings, sheet), "tables": _table_charts(tables, sheet)}
    css, script = asset("report.css") + sheet.css(), asset("dom.js", "choice.js")
    return (
        environment()
        .get_template("matches.html.j2")
        .render(
            title=title,
            policy=content_policy(css, script),
            css=css,
            script=script,
            suite=suite,
            lead=matches_headline(ratings, tables),
            tables=tables,
            ratings=ratings,
            letters={} if ratings is None else ratings.paired.letters,
            columns=TABLE_METRICS,
            headings=PAIR_HEADINGS,
            differences=[] if ratings is None else list(map(pair_row, ratings.paired.differences)),
            family="" if ratings is None else family_sentence(ratings.paired),
            figures=figures,
            notices=list(dict.fromkeys(notice for run in runs for notice in run.header.spec.notices)),
            num_talks=sum(len(run.matches) for run in runs),
            version=terms.__version__,
        )
    )


def matches_headline(ratings: Ratings | None, tables: Sequence[PlayedTable]) -> str:
    """Say in a sentence who gets most, and how much of what was possible came about."""
    made = [table.metrics["efficiency"] for table in tables if table.metrics["efficiency"].estimate is not None]
    if not made:
        return "No deal was possible, so there is nothing to divide."
    values = [value.estimate or 0.0 for value in made]
    if ratings is None:
        table = next(table for table in tables if table.metrics["efficiency"].estimate is not None)
        first, second = table.metrics["first_share"], table.metrics["second_share"]
        return (
            f"{table.first} and {table.second} make {percent(made[0])} of the deals that were possible; of the surplus "
            f"{table.first} gets {percent(first)} and {table.second} {percent(second)}."
        )
    best, last = ratings.agents[0], ratings.agents[-1]
    ties = f" (not told apart from {', '.join(best.ties)})" if best.ties else ""
    spread = f"{100 * min(values):.0f} to {100 * max(values):.0f} %" if min(values) < max(values) else percent(made[0])
    return (
        f"Of {len(ratings.agents)} agents {best.agent} gets most, {percent(best.rating)} of the surplus against the "
        f"others in both seats{ties}; {last.agent} least, {percent(last.rating)}. The pairs make {spread} of the deals "
        "that were possible."
    )


def _tables(runs: Sequence[MatchRun]) -> list[PlayedTable]:
    if not runs:
        raise ValueError("runs is empty; a report needs at least one match")
    pairs = [run.agents for run in runs]
    for run in runs:
        if pairs.count(run.agents) > 1:
            raise ValueError(f"runs has {run.agents[0]} against {run.agents[1]} twice; name each match once")
        if run.header.spec != runs[0].header.spec:
            raise ValueError(f"{run.folder} is on another suite than {runs[0].folder}; one report a suite")
    return [_table(run) for run in runs]


def _table(run: MatchRun) -> PlayedTable:
    summary: Mapping[str, Any] = match_summary(run)
    metrics = {name: Estimate(**entry) for name, entry in summary["metrics"].items()}
    return PlayedTable(*run.agents, metrics, summary["invalidity"])


def _ratings(runs: Sequence[MatchRun]) -> Ratings | None:
    """Return the ratings of a whole round robin, ``None`` of anything less."""
    pairs = {run.agents for run in runs}
    agents = {name for pair in pairs for name in pair}
    wanted = {(one, other) for one in agents for other in agents if one != other}
    if len(agents) < 2 or not wanted <= pairs:
        return None
    try:
        return rate({run.agents: run.matches for run in runs})
    except ValueError:  # nothing was possible in what all have played
        return None


def _rating_charts(ratings: Ratings | None, sheet: SvgSheet) -> dict[str, str]:
    if ratings is None:
        return {}
    rows = [
        LeaderRow(row.agent, 0, row.rating, f"ties with {', '.join(row.ties)}" if row.ties else "")
        for row in ratings.agents
    ]
    told = ", ".join(f"{row.label} {row.value.estimate:.2f}" for row in rows if row.value.estimate is not None)

    def draw(width: int) -> str:
        return sheet.draw(
            lambda ax: plot_leaders(
                ax, rows, ["rating"], limits=(0.0, 1.0), x_label="mean share of the surplus", colors=PAGE_PALETTE
            ),
            size=(width, 78 + 22 * len(rows)),
            margins=Margins(150, 40, 14, 26),
            label=f"Ratings, best first: {told}.",
        )

    return {"wide": draw(530), "small": draw(350)}


def _table_charts(tables: Sequence[PlayedTable], sheet: SvgSheet) -> dict[str, str]:
    stacks = {f"{each.first} / {each.second}": each.parts for each in tables if each.metrics["first_share"].n}
    if not stacks:
        return {}
    told = "; ".join(
        f"{name}: {', '.join(f'{part} {value.estimate or 0.0:.2f}' for part, value in parts.items())}"
        for name, parts in stacks.items()
    )

    def draw(width: int) -> str:
        return sheet.draw(
            lambda ax: plot_stacks(
                ax,
                stacks,
                x_label="share of the surplus",
                columns=3,
                longest=40 if width > 400 else LONGEST_NAME,
                colors=PAGE_PALETTE,
            ),
            size=(width, 70 + 22 * len(stacks)),
            margins=Margins(230 if width > 400 else 156, 40, 14, 26),
            label=f"How the surplus is split, first seat / second seat: {told}.",
        )

    return {"wide": draw(530), "small": draw(350)}
