"""The report about store years: one self-contained HTML file like that about runs."""

from __future__ import annotations

import gc
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import terms
from experiments.comparing.dimensions import DIMENSIONS, on_top_sentence
from experiments.engine.pool import without_collecting
from experiments.report.page import SvgSheet, asset, content_policy, environment, format_number, write_page
from experiments.report.viewer import to_script_json
from experiments.report.year_answers import NUM_TOLD, answer_years
from experiments.report.year_journal import ANSWER_LIMIT, SAID_LIMIT, conduct_view, journal_payload, shown_journals
from experiments.report.year_panels import answer_charts, year_figures
from experiments.years.spec import with_aids
from experiments.years.story import ExcludedYear, YearStory, read_excluded, read_story
from experiments.years.summary import YEAR_HEADLINE, YEAR_METRICS, years_summary
from terms.estimates import Estimate

MAX_FRAUD_ROWS = 200


@dataclass(frozen=True)
class YearGroup:
    """Years that differ in their world or seed alone: one column of the table of metrics.

    ``spread`` holds the standard deviations of the final assets between worlds and within one, where a world has more
    runs than one; ``None`` elsewhere.
    """

    label: str
    metrics: Mapping[str, Estimate]
    num_years: int
    num_worlds: int
    spread: Mapping[str, Estimate] | None


def report_years(folders: Sequence[Path], path: Path, *, title: str) -> Path:
    """Write the report about the years in ``folders`` to ``path``, whole or not at all, and return the path.

    Raises
    ------
    FileNotFoundError
        If the folder of ``path`` does not exist.
    ValueError
        If a year is unfinished, is not what its journal says, or is given twice.
    """
    return write_page(path, lambda: _read_and_build(folders, title))


def _read_and_build(folders: Sequence[Path], title: str) -> str:
    try:
        with without_collecting():
            found = [read_excluded(folder) or read_story(folder) for folder in folders]
        gc.freeze()  # what was read is needed to the end; looking through it for garbage takes a fifth of the time
        stories = [each for each in found if isinstance(each, YearStory)]
        return build_year_report(stories, [each for each in found if isinstance(each, ExcludedYear)], title=title)
    finally:
        gc.unfreeze()


def build_year_report(stories: Sequence[YearStory], excluded: Sequence[ExcludedYear] = (), *, title: str) -> str:
    """Return the report as one HTML document; years that were given twice raise.

    ``excluded`` are counted and named, and are in no other number.
    """
    for story in stories:
        if sum(other.header == story.header for other in stories) > 1:
            raise ValueError(f"runs has the year of {story.label} twice; name each year once")
    sheet = SvgSheet()
    parts, common = named_groups(stories)
    groups = {label: _group(label, part) for label, part in parts.items()}
    answers = answer_years(parts, {label: group.metrics for label, group in groups.items()})
    charts = answer_charts(answers, sheet)
    figures = [year_figures(story, sheet) for story in stories]
    css = asset("report.css", "year.css") + sheet.css()
    conducts = [conduct_view(story) for story in stories if story.transcript is not None]
    script = asset("dom.js", "choice.js", "year.js", *(["transcript.js"] if conducts else []))
    journals = shown_journals(stories)
    return (
        environment(metric=_metric_number, first_upper=lambda text: text[:1].upper() + text[1:])
        .get_template("year.html.j2")
        .render(
            title=title,
            policy=content_policy(css, script),
            css=css,
            script=script,
            groups=list(groups.values()),
            answers=answers,
            charts=charts,
            common=common,
            dimensions=DIMENSIONS,
            on_top=on_top_sentence(answers.dimensions),
            num_told=NUM_TOLD,
            had=what_happened(stories),
            metrics=YEAR_METRICS,
            headline=YEAR_HEADLINE,
            years=list(zip(stories, figures, strict=True)),
            max_fraud_rows=MAX_FRAUD_ROWS,
            excluded=excluded,
            conducts=conducts,
            said_limit=SAID_LIMIT,
            num_journals=len(journals),
            answer_limit=ANSWER_LIMIT,
            journal_json=to_script_json(journal_payload(journals)),
            version=terms.__version__,
        )
    )


def group_years(stories: Sequence[YearStory]) -> list[YearGroup]:
    """Return the years by agent, aids, rules and length, each group with every metric over its years."""
    return [_group(label, part) for label, part in named_groups(stories)[0].items()]


def named_groups(stories: Sequence[YearStory]) -> tuple[dict[str, list[YearStory]], str]:
    """Return the years by agent, aids, rules and length, and in words what of that all have in common."""
    parts: dict[tuple[str, str], list[YearStory]] = {}
    for story in stories:
        spec = story.header.spec
        game = f"{spec.rules_label} rules, {spec.num_days} days"
        parts.setdefault((with_aids(story.header.agent, spec), game), []).append(story)
    games = {game for _, game in parts}
    is_one = len(games) == 1
    return {who if is_one else f"{who}, {game}": part for (who, game), part in parts.items()}, "".join(
        games if is_one else ()
    )


def what_happened(stories: Sequence[YearStory]) -> dict[str, bool]:
    """Return which sections have anything to show."""
    days = [row for story in stories for row in story.days]
    return {
        "stock": any(row["stock_age_days"] is not None for row in days),
        "sales": any(row["sales"] for row in days),
        "frauds": any(story.frauds for story in stories),
        "suppliers": any(story.suppliers for story in stories),
    }


def _group(label: str, stories: Sequence[YearStory]) -> YearGroup:
    summary = years_summary([story.result for story in stories])
    metrics = {name: Estimate(**entry) for name, entry in summary.items() if name not in ("years", "variance")}
    parts = summary.get("variance", {}).get("final_assets")
    spread = {name: _root(Estimate(**parts[name])) for name in ("between", "within")} if parts else None
    return YearGroup(label, metrics, len(stories), len({story.result["world_digest"] for story in stories}), spread)


def _root(variance: Estimate) -> Estimate:
    """Return a standard deviation, which is in yuan, with the roots of the bounds of its variance."""
    value, low, high = (None if one is None else math.sqrt(one) for one in variance[:3])
    return Estimate(value, low, high, variance.n)


def _metric_number(value: float) -> str:
    """Write amounts without decimals and shares with three."""
    digits: Any = 0 if abs(value) >= 1000 else 1 if abs(value) >= 100 else 3
    return format_number(value, digits)
