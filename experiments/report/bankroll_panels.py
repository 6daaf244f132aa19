"""The figures about sessions: one panel a run on one scale, each with its text alternative."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from experiments.plots.sessions import plot_balances, plot_survival
from experiments.report.figures import PAGE_PALETTE, Margins, SvgSheet
from experiments.sessions.folder import SessionsRun
from experiments.sessions.summary import balance_curve, survival_curve
from terms.estimates import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REFERENCE = "ruin-aware reference"
_SIZE, _MARGINS = (400, 220), Margins(58, 38, 8, 8)
_STEPS_SIZE, _STEPS_MARGINS = (560, 240), Margins(58, 44, 8, 14)


class RunPanels(Protocol):
    """What a panel needs of a run."""

    @property
    def key(self) -> str:
        """Name of its panels."""
        ...

    @property
    def agent(self) -> str:
        """Who played."""
        ...

    @property
    def run(self) -> SessionsRun:
        """The sessions."""
        ...

    @property
    def gap(self) -> Mapping[str, Estimate] | None:
        """Parts of its gap, if it was split."""
        ...


def balance_panels(views: Sequence[RunPanels], sheet: SvgSheet) -> dict[str, str]:
    """Draw the balances of every run on one scale; returns SVG by run key."""
    cents = [cash for view in views for session in view.run.sessions for cash in session.cash_path_cents]
    cents += [0, *(view.run.header.spec.bankroll.ruin_cents for view in views)]
    low, high = math.floor(min(cents) / 5000) * 50, math.ceil(max(cents) / 5000) * 50

    def plot(view: RunPanels) -> Callable[[Axes], Axes]:
        ruin = view.run.header.spec.bankroll.ruin_cents / 100
        return lambda ax: plot_balances(ax, view.run.sessions, ruin=ruin, limits=(low, high), colors=PAGE_PALETTE)

    return {
        view.key: sheet.draw(plot(view), size=_SIZE, margins=_MARGINS, label=_balances_in_words(view)) for view in views
    }


def _balances_in_words(view: RunPanels) -> str:
    curve = balance_curve(view.run.sessions)
    ruins = [session.time_to_ruin for session in view.run.sessions if session.time_to_ruin is not None]
    if not curve:
        return f"Balances of {view.agent}: no session has a result."
    marks = f"ruined after period {', '.join(map(str, sorted(ruins)))}" if ruins else "none ruined"
    middle = curve[len(curve) // 2]
    return (
        f"Mean balance of {view.agent}: {_number(curve[0])} dollars at first, {_number(middle)} half way, "
        f"{_number(curve[-1])} at the end; {len(view.run.sessions)} sessions, {marks}."
    )


def survival_panels(views: Sequence[RunPanels], sheet: SvgSheet) -> dict[str, str]:
    """Draw the survival curve of every run, the others faint behind it; returns SVG by run key."""
    curves = {view.key: survival_curve(view.run.sessions) for view in views}

    def plot(view: RunPanels) -> Callable[[Axes], Axes]:
        others = [curve for key, curve in curves.items() if key != view.key]
        return lambda ax: plot_survival(ax, view.run.sessions, others=others, colors=PAGE_PALETTE)

    found = {}
    for view in views:
        last = curves[view.key][-1]
        interval = "" if last.low is None or last.high is None else f", interval {last.low:.2f} to {last.high:.2f}"
        label = f"Survival of {view.agent}: {_number(last, 2)} after period {len(curves[view.key]) - 1}{interval}."
        found[view.key] = sheet.draw(plot(view), size=_SIZE, margins=_MARGINS, label=label)
    return found


def gap_panels(views: Sequence[RunPanels], sheet: SvgSheet) -> dict[str, str]:
    """Draw the gap of every run that was split, as steps to the reference; returns SVG by run key."""
    from oracle.parts import in_words
    from oracle.plotting import plot_waterfall

    def plot(parts: Mapping[str, Estimate]) -> Callable[[Axes], Axes]:
        def draw(ax: Axes) -> Axes:
            plot_waterfall(parts, ax, target="ruin-aware", title="", colors=PAGE_PALETTE)
            ax.set_ylabel("final balance (dollars)")
            return ax

        return draw

    found = {}
    for view in views:
        if view.gap is not None:
            words = ", ".join(
                f"{name} {_number(view.gap[part])}" for part, name in in_words(view.gap, REFERENCE).items()
            )
            label = f"Final balance of {view.agent} in dollars: {words}."
            found[view.key] = sheet.draw(plot(view.gap), size=_STEPS_SIZE, margins=_STEPS_MARGINS, label=label)
    return found


def _number(value: Estimate, digits: int = 0) -> str:
    return "undefined" if value.estimate is None else f"{value.estimate:,.{digits}f}"
