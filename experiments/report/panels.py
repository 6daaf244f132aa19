"""The charts of the report: one a question and suite, every agent of the suite in it, one of them in front."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from experiments.plots.charts import plot_profits
from experiments.plots.leaderboard import LeaderRow, plot_leaders, plot_stacks
from experiments.plots.overlays import Overlaid, plot_overlaid_curves, plot_overlaid_rows
from experiments.report.losing import TAKEN
from experiments.report.page import PAGE_PALETTE, Margins, SvgSheet
from experiments.report.page_facts import ENDINGS, PosteriorCheck, Waterfall
from experiments.report.published import PUBLISHED_EPISODES, PUBLISHED_MODELS
from experiments.report.sections import FAMILIES, RunView, SuiteView
from terms.estimates import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes


LARGEST = 1.5
"""Scales stop here in either direction: one absurd offer must not flatten every other curve."""
MOST_LEADERS = 24
"""Own rows of the first chart; all are in the table below it."""
_CHART_WIDTH = 440
_STEPS_SIZE, _STEPS_MARGINS = (440, 206), Margins(92, 40, 36, 8)
_CURVE_SIZE, _CURVE_MARGINS = (320, 186), Margins(54, 38, 8, 8)


def leader_charts(suites: Sequence[SuiteView], sheet: SvgSheet) -> dict[str, str]:
    """Draw SE+ of every run, best first, with the published models between them; returns SVG for wide and small."""
    groups = [suite.label for suite in suites]
    rows = [
        LeaderRow(view.run.agent, group, view.summary.overall["se_plus"], groups[group] if len(groups) > 1 else "")
        for group, suite in enumerate(suites)
        for view in suite.views
        if view.gate.is_valid and view.summary.overall["se_plus"].estimate is not None
    ]
    if not rows:
        return {}
    rows = sorted(rows, key=_by_value)[:MOST_LEADERS]
    rows += [
        LeaderRow(
            model.label,
            -1,
            Estimate(model.se_plus, None, None, PUBLISHED_EPISODES),
            f"AGR+ {model.agr_plus:.3f}, CSE+ {model.cse_plus:.3f}, published",
        )
        for model in PUBLISHED_MODELS
    ]
    rows.sort(key=_by_value)
    limits = (_limits([row.value for row in rows], top=0.8)[0], 1.0)
    label = _describe("SE+, best first", [row.label for row in rows], [row.value for row in rows])
    height = 50 + 17 * len(rows)

    def draw(width: int, columns: int) -> str:
        return sheet.draw(
            lambda ax: plot_leaders(
                ax,
                rows,
                groups,
                limits=limits,
                x_label="share of the surplus taken (SE+)",
                columns=columns,
                colors=PAGE_PALETTE,
            ),
            size=(width, height + 18 * -(-(len(groups) + 1) // columns)),
            margins=Margins(150, 40, 14, 8 + 18 * -(-(len(groups) + 1) // columns)),
            label=label,
        )

    return {"wide": draw(530, 2), "small": draw(350, 1)}


def _by_value(row: LeaderRow) -> float:
    return -(row.value.estimate or 0.0)


def loss_charts(suite: SuiteView, sheet: SvgSheet) -> dict[str, str]:
    """Draw what every agent of a suite took and how it lost the rest; returns SVG for wide and small, or nothing."""
    stacks = {view.run.agent: view.loss for view in suite.views if view.loss[TAKEN].n}
    return _stacked(stacks, sheet, "share of the surplus", "Surplus taken, and lost by how the talk ended")


def ending_charts(suite: SuiteView, sheet: SvgSheet, *, feasible: bool) -> dict[str, str]:
    """Draw how the talks of every agent ended; returns SVG for wide and small, or nothing."""
    parts = {view.run.agent: view.terminations(feasible=feasible) for view in suite.views}
    stacks = {agent: {ENDINGS[kind]: share for kind, share in found} for agent, found in parts.items() if found[0][1].n}
    which = "a deal was possible" if feasible else "no deal was possible"
    return _stacked(stacks, sheet, "share of the talks", f"Endings where {which}")


def _stacked(stacks: Mapping[str, Mapping[str, Estimate]], sheet: SvgSheet, x_label: str, title: str) -> dict[str, str]:
    if not stacks:
        return {}
    told = (_describe(agent, list(parts), list(parts.values())) for agent, parts in stacks.items())
    label = f"{title}. {' '.join(told)}"
    names = sum(
        any((parts[name].estimate or 0) > 0.0005 for parts in stacks.values()) for name in next(iter(stacks.values()))
    )

    def draw(width: int, columns: int) -> str:
        top = 12 + 17 * -(-names // columns)
        return sheet.draw(
            lambda ax: plot_stacks(ax, stacks, x_label=x_label, columns=columns, colors=PAGE_PALETTE),
            size=(width, 44 + 24 * len(stacks) + top),
            margins=Margins(140, 40, 14, top),
            label=label,
        )

    return {"wide": draw(530, 2), "small": draw(350, 1)}


def family_chart(suite: SuiteView, sheet: SvgSheet) -> str:
    """Draw SE+ against every family, one agent in front; "" where there is none."""
    series = {view.key: Overlaid(view.run.agent, view.family_surplus()) for view in suite.views}
    labels = [family.capitalize() for family in FAMILIES]
    return _overlaid_rows(series, labels, sheet, f"SE+ by family on {suite.label}", height=214)


def regret_chart(suite: SuiteView, sheet: SvgSheet) -> str:
    """Draw the regret rate by lot size of each run for money, one in front; "" where there is none."""
    rates = {view.key: (view.run.agent, view.regret_by_lot()) for view in suite.earners if view.regret_by_lot()}
    labels = max((list(lots) for _, lots in rates.values()), key=len, default=[])
    series = {key: Overlaid(name, list(lots.values())) for key, (name, lots) in rates.items() if list(lots) == labels}
    return _overlaid_rows(
        series, labels, sheet, f"Regret rate by lot size on {suite.label}", height=70 + 26 * len(labels)
    )


def _overlaid_rows(
    series: Mapping[str, Overlaid], labels: Sequence[str], sheet: SvgSheet, title: str, *, height: int
) -> str:
    limits = _limits([value for one in series.values() for value in one.values], top=1.0)
    if not any(value.estimate is not None for one in series.values() for value in one.values):
        return ""
    return sheet.draw_picked(
        next(iter(series)),
        lambda ax: plot_overlaid_rows(ax, labels, series, limits=limits, colors=PAGE_PALETTE),
        size=(_CHART_WIDTH, height),
        margins=Margins(86, 28, 14, 6),
        label=" ".join(_describe(f"{title}: {one.name}", labels, one.values) for one in series.values()),
    )


def concession_chart(suite: SuiteView, sheet: SvgSheet) -> str:
    """Draw the distance of the own offer from the own reservation by round, one agent in front; "" without offers."""
    series = {view.key: Overlaid(view.run.agent, view.fingerprint.concession_curve) for view in suite.views}
    label = "offer's distance from the own limit,\nshare of the price range"
    return _overlaid_curves(series, sheet, label, f"Concession curve on {suite.label}")


def belief_chart(suite: SuiteView, sheet: SvgSheet) -> str:
    """Draw the error of stated beliefs by round, with the exact posterior's where it was followed; "" without any."""
    series = {
        view.key: Overlaid(
            view.run.agent,
            view.run.beliefs.curves["be_type"]["stated"] if view.run.beliefs else view.belief_curve,
            view.run.beliefs.curves["be_type"]["exact"] if view.run.beliefs else (),
        )
        for view in suite.views
        if view.has_beliefs
    }
    return _overlaid_curves(series, sheet, "error of the stated belief (BE type)", f"Belief error on {suite.label}")


def _overlaid_curves(series: Mapping[str, Overlaid], sheet: SvgSheet, y_label: str, title: str) -> str:
    values = [value for one in series.values() for value in (*one.values, *one.baseline)]
    if not any(value.estimate is not None for value in values):
        return ""
    told = [_describe(f"{title}: {one.name}", _rounds(one.values), one.values) for one in series.values()]
    told += [
        _describe(f"Of the exact posterior beside {one.name}", _rounds(one.baseline), one.baseline)
        for one in series.values()
        if one.baseline
    ]
    return sheet.draw_picked(
        next(iter(series)),
        lambda ax: plot_overlaid_curves(
            ax, series, limits=_limits(values, top=0.0), y_label=y_label, colors=PAGE_PALETTE
        ),
        size=(_CHART_WIDTH, 250),
        margins=Margins(72, 40, 12, 10),
        label=" ".join(told),
    )


def check_panels(check: PosteriorCheck, sheet: SvgSheet) -> dict[str, str]:
    """Draw the two calibrations of the exact posterior on one suite; returns SVG by caption."""
    from oracle.plotting import plot_calibration, plot_frequencies

    places = [f"part {place} of {len(check.shares)}" for place in range(1, len(check.shares) + 1)]
    stated = [f"given {share.estimate or 0.0:.2f}" for share, _ in check.frequencies]
    return {
        "Reservation": sheet.draw(
            lambda ax: plot_calibration(check.shares, ax, colors=PAGE_PALETTE),
            size=_CURVE_SIZE,
            margins=_CURVE_MARGINS,
            label=_describe("Share of true reservations by part of the posterior", places, check.shares),
        ),
        "Stance": sheet.draw(
            lambda ax: plot_frequencies(check.frequencies, ax, colors=PAGE_PALETTE),
            size=_CURVE_SIZE,
            margins=_CURVE_MARGINS,
            label=_describe("Share of stances that were true", stated, [true for _, true in check.frequencies]),
        ),
    }


def profit_panel(views: Sequence[RunView], sheet: SvgSheet) -> str:
    """Draw what each run earned and left on the table, best first, on one scale; "" without a run for money."""
    parts = {
        view.run.agent: (view.run.money["overall"]["total_profit"], view.run.money["overall"]["total_money_left"])
        for view in views
        if view.run.money is not None
    }
    if not parts:
        return ""
    words = [f"{agent} earned {_dollars(earned)} and left {_dollars(left)}" for agent, (earned, left) in parts.items()]
    height = 56 + 34 * len(parts)
    return sheet.draw(
        lambda ax: plot_profits(ax, parts, colors=PAGE_PALETTE),
        size=(440, height),
        margins=Margins(120, 38, 22, 8),
        label=f"Profit and money left on the table: {'; '.join(words)}.",
    )


def _dollars(value: Estimate) -> str:
    return "an undefined amount" if value.estimate is None else f"{value.estimate:,.0f} dollars"


def waterfall_panels(waterfall: Waterfall, sheet: SvgSheet) -> dict[str, str]:
    """Draw the steps from the utility as played to the reference's; returns SVG by slice label."""
    from oracle.parts import in_words, left_to_right
    from oracle.plotting import plot_waterfall

    def plot(parts: Mapping[str, Estimate]) -> Callable[[Axes], Axes]:
        return lambda ax: plot_waterfall(parts, ax, target=f"the {waterfall.reference}", title="", colors=PAGE_PALETTE)

    return {
        label: sheet.draw(
            plot(parts),
            size=_STEPS_SIZE,
            margins=_STEPS_MARGINS,
            label=_describe(
                f"Utility of {waterfall.agent}, {label}",
                list(in_words(left_to_right(parts)).values()),
                [parts[name] for name in left_to_right(parts)],
            ),
        )
        for label, parts in waterfall.slices.items()
        if any(value.estimate for value in parts.values())  # nothing earned and nothing lost is no picture
    }


def _rounds(curve: Sequence[Estimate]) -> list[str]:
    return [f"round {number}" for number in range(1, len(curve) + 1)]


def _limits(values: Sequence[Estimate], *, top: float) -> tuple[float, float]:
    """Return a scale that holds 0, ``top`` and every estimate, to a tenth; a band of two episodes may run off it."""
    points = [value.estimate for value in values if value.estimate is not None]
    low = max(-LARGEST, min([0.0, *points]))
    high = min(LARGEST, max([top, *points]))
    return math.floor(low * 10) / 10, max(0.1, math.ceil(high * 10) / 10)


def _describe(title: str, labels: Sequence[str], values: Sequence[Estimate]) -> str:
    parts = [
        f"{label} {'undefined' if value.estimate is None else f'{value.estimate:.2f}'}"
        for label, value in zip(labels, values, strict=True)
    ]
    return f"{title}: {', '.join(parts)}."
