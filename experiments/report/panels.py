"""The small multiples of the report: one panel a run, the other runs of its suite faint behind it, one scale."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from experiments.plots.charts import plot_curves, plot_intervals, plot_profits
from experiments.report.page import PAGE_PALETTE, Margins, SvgSheet
from experiments.report.page_facts import PosteriorCheck, Waterfall
from experiments.report.sections import FAMILIES, RunView
from terms.estimates import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes


LARGEST = 1.5
"""Scales stop here in either direction: one absurd offer must not flatten every other curve."""
_ROWS_SIZE, _ROWS_MARGINS = (320, 170), Margins(78, 24, 14, 4)
_STEPS_SIZE, _STEPS_MARGINS = (480, 230), Margins(54, 44, 8, 14)
_CURVE_SIZE, _CURVE_MARGINS = (320, 186), Margins(54, 38, 8, 8)


def family_panels(views: Sequence[RunView], sheet: SvgSheet) -> dict[str, str]:
    """Draw SE+ against every family; returns SVG by run key."""
    rows = {view.key: view.family_surplus() for view in views}
    limits = _limits([value for series in rows.values() for value in series], top=1.0)
    labels = [family.capitalize() for family in FAMILIES]

    def plot(view: RunView) -> Callable[[Axes], Axes]:
        others = [series for key, series in rows.items() if key != view.key]
        return lambda ax: plot_intervals(ax, labels, rows[view.key], others=others, limits=limits, colors=PAGE_PALETTE)

    return {
        view.key: sheet.draw(
            plot(view),
            size=_ROWS_SIZE,
            margins=_ROWS_MARGINS,
            label=_describe(f"SE+ of {view.run.agent} by family", labels, rows[view.key]),
        )
        for view in views
    }


def concession_panels(views: Sequence[RunView], sheet: SvgSheet) -> dict[str, str]:
    """Draw the distance of the own offer from the own reservation by round; returns SVG by run key."""
    curves = {view.key: view.fingerprint.concession_curve for view in views}
    return _curve_panels(views, sheet, curves, y_label="share of R", title="Concession curve")


def belief_panels(views: Sequence[RunView], sheet: SvgSheet) -> dict[str, str]:
    """Draw the belief error by round of the runs that state beliefs; returns SVG by run key."""
    stating = [view for view in views if view.has_beliefs]
    curves = {view.key: tuple(view.belief_curve) for view in stating}
    return _curve_panels(stating, sheet, curves, y_label="BE type", title="Belief error")


def posterior_panels(views: Sequence[RunView], sheet: SvgSheet) -> dict[str, str]:
    """Draw the error of stated beliefs by round with the exact posterior's beneath; returns SVG by run key."""
    followed = [(view, view.run.beliefs.curves["be_type"]) for view in views if view.run.beliefs is not None]
    limits = _limits([value for _, curves in followed for name in ("stated", "exact") for value in curves[name]], top=0)

    def plot(curves: Mapping[str, Sequence[Estimate]]) -> Callable[[Axes], Axes]:
        return lambda ax: plot_curves(
            ax, curves["stated"], baseline=curves["exact"], limits=limits, y_label="BE type", colors=PAGE_PALETTE
        )

    return {
        view.key: sheet.draw(
            plot(curves),
            size=_CURVE_SIZE,
            margins=_CURVE_MARGINS,
            label=_describe(f"Belief error of {view.run.agent}", _rounds(curves["stated"]), curves["stated"])
            + _describe(" Of the exact posterior", _rounds(curves["exact"]), curves["exact"]),
        )
        for view, curves in followed
    }


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


def regret_panels(views: Sequence[RunView], sheet: SvgSheet) -> dict[str, str]:
    """Draw the regret rate by lot size of each run for money; returns SVG by run key."""
    earning = [view for view in views if view.run.money is not None]
    rows = {view.key: list(view.regret_by_lot().values()) for view in earning}
    labels = {view.key: list(view.regret_by_lot()) for view in earning}
    limits = _limits([value for series in rows.values() for value in series], top=1.0)

    def plot(view: RunView) -> Callable[[Axes], Axes]:
        same = [series for key, series in rows.items() if key != view.key and labels[key] == labels[view.key]]
        return lambda ax: plot_intervals(
            ax, labels[view.key], rows[view.key], others=same, limits=limits, colors=PAGE_PALETTE
        )

    return {
        view.key: sheet.draw(
            plot(view),
            size=_ROWS_SIZE,
            margins=_ROWS_MARGINS,
            label=_describe(f"Regret rate of {view.run.agent} by lot size", labels[view.key], rows[view.key]),
        )
        for view in earning
        if rows[view.key]
    }


def _dollars(value: Estimate) -> str:
    return "an undefined amount" if value.estimate is None else f"{value.estimate:,.0f} dollars"


def waterfall_panels(waterfall: Waterfall, sheet: SvgSheet) -> dict[str, str]:
    """Draw the steps from the utility as played to the reference's; returns SVG by slice label."""
    from oracle.parts import in_words, left_to_right
    from oracle.plotting import plot_waterfall

    def plot(parts: Mapping[str, Estimate]) -> Callable[[Axes], Axes]:
        return lambda ax: plot_waterfall(parts, ax, target=waterfall.reference, title="", colors=PAGE_PALETTE)

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


def _curve_panels(
    views: Sequence[RunView], sheet: SvgSheet, curves: dict[str, tuple[Estimate, ...]], *, y_label: str, title: str
) -> dict[str, str]:
    limits = _limits([value for curve in curves.values() for value in curve], top=0.0)

    def plot(view: RunView) -> Callable[[Axes], Axes]:
        others = [curve for key, curve in curves.items() if key != view.key]
        return lambda ax: plot_curves(
            ax, curves[view.key], others=others, limits=limits, y_label=y_label, colors=PAGE_PALETTE
        )

    return {
        view.key: sheet.draw(
            plot(view),
            size=_CURVE_SIZE,
            margins=_CURVE_MARGINS,
            label=_describe(f"{title} of {view.run.agent}", _rounds(curves[view.key]), curves[view.key]),
        )
        for view in views
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
