"""Putting the page together: figures, tables, viewer data, one file that asks nothing of the network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import terms
from experiments.episodes.money_metrics import MONEY_METRIC_BY_NAME
from experiments.episodes.records import MAX_UNUSABLE_SHARE
from experiments.report.episode_answers import answer_episodes
from experiments.report.money_answers import product_rows
from experiments.report.page import SvgSheet, asset, content_policy, environment, write_page
from experiments.report.page_facts import PosteriorCheck, ReportRun, SuiteComparison, Waterfall, check_inputs
from experiments.report.panels import (
    belief_chart,
    check_panels,
    concession_chart,
    ending_charts,
    family_chart,
    leader_charts,
    loss_charts,
    profit_panel,
    regret_chart,
    waterfall_panels,
)
from experiments.report.published import PUBLISHED_MODELS, PUBLISHED_REGRET, PUBLISHED_SOURCE
from experiments.report.sections import (
    BINS,
    FAMILIES,
    LEADERBOARD,
    PENALTIES,
    PROFITS,
    REPLY_FAULTS,
    RunView,
    SuiteView,
    suite_pairs,
    suite_views,
)
from experiments.report.viewer import VIEWER_LIMIT, Encoder, to_script_json
from terms import fingerprints
from terms.estimates import Estimate
from terms.metrics import METRIC_BY_NAME, METRICS

HEAT_STEPS = 20
BELIEF_NAMES = {
    "stated": "As stated",
    "exact": "Exact posterior",
    "excess": "Excess",
    "distance": "Distance to the posterior",
}
"""Columns of :class:`experiments.report.page_facts.BeliefFacts`, and how each is named to a reader."""


def build_report(  # noqa: PLR0913 - everything a page can show
    runs: Sequence[ReportRun],
    *,
    title: str,
    comparisons: Sequence[SuiteComparison] = (),
    waterfalls: Sequence[Waterfall] = (),
    checks: Sequence[PosteriorCheck] = (),
    max_unusable_share: float = MAX_UNUSABLE_SHARE,
    viewer_limit: int = VIEWER_LIMIT,
) -> str:
    """Return the report as one HTML document.

    Parameters
    ----------
    runs
        One a row; agent and suite together must be unique. Suites appear in the order given.
    title
        Heading and window title.
    comparisons
        At most one verdict a suite; without one the leaderboard is sorted by SE+ and says that ranks are not tested.
    waterfalls
        Decompositions, each a figure; without any the section is left out.
    checks
        At most one a suite, where the exact posterior was followed; without any the section is left out.
    max_unusable_share
        A run with a larger share of unusable replies and lost trials is flagged invalid.
    viewer_limit
        Largest number of episodes a run brings to the viewer; the page states how many were left out.

    Raises
    ------
    ValueError
        If there is no run, a label is used twice, or a comparison names an agent that is not there.
    """
    from oracle.parts import SENTENCES, Part, in_words, left_to_right

    check_inputs(runs, comparisons, checks)
    views = [RunView(run, f"run-{index}", max_unusable_share) for index, run in enumerate(runs)]
    suites = suite_views(views, comparisons)
    figures, chart_css = _figures(suites, waterfalls, checks)
    css, script = asset("report.css") + chart_css, asset("dom.js", "choice.js", "report.js")
    payload = Encoder().payload([view.run for suite in suites for view in suite.views], viewer_limit)
    template = environment(heat=_heat_step, money_rows=product_rows).get_template("report.html.j2")
    return template.render(
        **_vocabulary(),
        sentences=SENTENCES,
        answers=answer_episodes(suites, waterfalls, viewer_limit),
        places={view.key: place for place, view in enumerate(view for suite in suites for view in suite.views)},
        title=title,
        policy=content_policy(css, script),
        css=css,
        script=script,
        figures=figures,
        views=views,
        suites=suites,
        waterfalls=waterfalls,
        checks=checks,
        parts=in_words(part for part in left_to_right(Part) if part != Part.CAUTION),
        num_reviewed=sum(len(view.run.reviews) for view in views),
        pairs=suite_pairs(suites),
        viewer_json=to_script_json(payload),
        viewer_limit=viewer_limit,
        max_unusable_share=max_unusable_share,
    )


def _vocabulary() -> dict[str, Any]:
    """Return what the template needs to know about the game."""
    return {
        "version": terms.__version__,
        "metrics": METRICS,
        "metric_by_name": METRIC_BY_NAME,
        "leaderboard": LEADERBOARD,
        "families": FAMILIES,
        "bins": BINS,
        "published": PUBLISHED_MODELS,
        "published_source": PUBLISHED_SOURCE,
        "published_flaw": terms.PUBLISHED_FLAW,
        "published_regret": PUBLISHED_REGRET,
        "penalties": PENALTIES,
        "reply_names": REPLY_FAULTS,
        "thresholds": fingerprints,
        "belief_names": BELIEF_NAMES,
        "profits": PROFITS,
        "money_metrics": MONEY_METRIC_BY_NAME,
    }


def write_report(path: str | Path, runs: Sequence[ReportRun], *, title: str, **options: Any) -> Path:
    """Write :func:`build_report` to ``path``, whole or not at all, and return the path; ``options`` as there.

    Raises
    ------
    FileNotFoundError
        If the folder does not exist.
    """
    return write_page(Path(path), lambda: build_report(runs, title=title, **options))


def _figures(
    suites: Sequence[SuiteView], waterfalls: Sequence[Waterfall], checks: Sequence[PosteriorCheck]
) -> tuple[dict[str, Any], str]:
    """Draw every chart; returns SVG by section and suite key, and the sheet they share."""
    sheet = SvgSheet()
    figures: dict[str, Any] = {"leaders": leader_charts(suites, sheet)}
    figures["losses"] = {suite.key: loss_charts(suite, sheet) for suite in suites}
    figures["endings"] = {
        suite.key: [ending_charts(suite, sheet, feasible=feasible) for feasible in (True, False)] for suite in suites
    }
    charts: dict[str, Callable[[SuiteView, SvgSheet], str]] = {
        "families": family_chart,
        "concession": concession_chart,
        "belief": belief_chart,
        "regret": regret_chart,
        "profit": lambda suite, sheet: profit_panel(suite.earners, sheet),
    }
    for name, draw in charts.items():
        figures[name] = {suite.key: draw(suite, sheet) for suite in suites}
    figures["first_waterfalls"] = [
        (waterfall, figure)
        for waterfall in sorted(waterfalls, key=_gap_of, reverse=True)
        if (figure := next(iter(waterfall_panels(waterfall, sheet).values()), None)) is not None
    ]
    for index, waterfall in enumerate(waterfalls):
        figures[f"waterfall-{index}"] = waterfall_panels(waterfall, sheet)
    for check in checks:
        figures[f"check-{check.suite}"] = check_panels(check, sheet)
    return figures, sheet.css()


def _gap_of(waterfall: Waterfall) -> float:
    return next(iter(waterfall.slices.values()))["gap"].estimate or 0.0


def _heat_step(estimate: Estimate) -> int:
    """Return the shade of a cell, 0 to :data:`HEAT_STEPS`; a negative surplus has the shade of 0."""
    return round(HEAT_STEPS * min(1.0, max(0.0, estimate.estimate or 0.0)))
