"""The report about bankroll sessions: one self-contained HTML file like that about runs, its figures on one scale."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import terms
from commerce.bankroll import PeriodRecord
from experiments.comparing.sessions import check_same_world
from experiments.plots.sessions import plot_balances, plot_mean_balances, plot_survival
from experiments.report.episode_answers import NUM_EPISODES_TOLD
from experiments.report.money_answers import dollars
from experiments.report.page import (
    PAGE_PALETTE,
    Margins,
    SvgSheet,
    asset,
    content_policy,
    environment,
    format_number,
    write_page,
)
from experiments.report.published import PUBLISHED_BALANCES
from experiments.report.viewer import to_script_json
from experiments.sessions.folder import SessionsRun
from experiments.sessions.gap_file import NOT_CHECKED, WORTH, read_gap
from experiments.sessions.summary import SESSION_METRICS, balance_curve, sessions_summary, survival_curve
from terms.estimates import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REFERENCE = "ruin-aware reference"
_SIZE, _MARGINS = (400, 220), Margins(58, 38, 8, 8)
_STEPS_SIZE, _STEPS_MARGINS = (560, 240), Margins(58, 44, 8, 14)
SESSION_HEADLINE = (
    "terminal_balance", "survival_rate", "mean_period_profit", "periods_survived", "max_drawdown", "lower_tail_mean",
    "memory_premium",
)  # fmt: skip
LEDGER_LIMIT = 40
"""Sessions of a run whose periods the page holds."""


@dataclass(frozen=True)
class SessionsView:
    """Sessions of one agent with everything derived from them; ``gap`` is what ``terms bankroll --gap`` found."""

    key: str
    run: SessionsRun
    metrics: Mapping[str, Estimate]
    summary: Mapping[str, Any]
    gap: Mapping[str, Estimate] | None
    worth: Mapping[str, Estimate] | None

    @property
    def agent(self) -> str:
        """Who played."""
        return self.run.header.agent

    @property
    def label(self) -> str:
        """On what."""
        return self.run.header.spec.label

    @property
    def title(self) -> str:
        """On what, in words."""
        spec = self.run.header.spec
        suppliers = {"iid": "new suppliers", "pool": "a pool of suppliers", "persistent": "one supplier"}
        rules = spec.bankroll
        whom = suppliers.get(rules.supplier_mode, rules.supplier_mode)
        role = f"as {spec.chain.perspective}, seed {spec.chain.seed}"
        return f"{rules.num_sessions} sessions of {rules.horizon} periods with {whom}, {role}"


def report_sessions(runs: Sequence[SessionsRun], path: Path, *, title: str) -> Path:
    """Write the report about sessions to ``path``, whole or not at all, and return the path.

    Raises
    ------
    FileNotFoundError
        If the folder of ``path`` does not exist.
    ValueError
        If the same sessions are given twice.
    """
    return write_page(path, lambda: build_sessions_report(runs, title=title))


def build_sessions_report(runs: Sequence[SessionsRun], *, title: str) -> str:
    """Return the report as one HTML document; the same agent on the same sessions twice raises."""
    from oracle.parts import SENTENCES, Part, in_words, left_to_right

    labels = [(run.header.agent, run.header.spec.label) for run in runs]
    for agent, label in labels:
        if labels.count((agent, label)) > 1:
            raise ValueError(f"runs has agent={agent!r} on {label} twice; name each run once")
    for label in {label for _, label in labels}:
        check_same_world([run for run in runs if run.header.spec.label == label])
    views = sorted((_view(run, f"run-{index}") for index, run in enumerate(runs)), key=_balance, reverse=True)
    sheet = SvgSheet()
    figures: dict[str, Any] = {
        "means": mean_charts(views, sheet),
        "first_gap": gap_panels(views, sheet),
        "balances": balance_panels(views, sheet),
        "survival": survival_panels(views, sheet),
        "gap": gap_panels(views, sheet),
    }
    css = asset("report.css") + sheet.css()
    script = asset("dom.js", "choice.js", "bankroll.js")
    return (
        environment(metric=_metric_number)
        .get_template("bankroll.html.j2")
        .render(
            title=title,
            policy=content_policy(css, script),
            css=css,
            script=script,
            views=views,
            lead=sessions_headline(views),
            told=costliest_periods(views),
            published=PUBLISHED_BALANCES,
            sentences=SENTENCES,
            headline=SESSION_HEADLINE,
            session_metrics=SESSION_METRICS,
            figures=figures,
            parts=in_words(left_to_right(Part), REFERENCE),
            worth_words=WORTH,
            not_checked=NOT_CHECKED,
            num_labels=len({view.label for view in views}),
            ledger_limit=LEDGER_LIMIT,
            ledger_json=to_script_json({"runs": [_ledger(view) for view in views]}),
            version=terms.__version__,
        )
    )


def _view(run: SessionsRun, key: str) -> SessionsView:
    summary = sessions_summary(run.header, run.sessions, run.memoryless)
    fields = Estimate._fields
    metrics = {name: Estimate(*(entry[part] for part in fields)) for name, entry in summary["metrics"].items()}
    gap, worth = read_gap(run)
    return SessionsView(key, run, metrics, summary, gap, worth)


class ToldPeriod(NamedTuple):
    """A period that cost much: whose, in which session, what was met, and dollars left of what was to be had."""

    agent: str
    session: int
    period: PeriodRecord
    dollars: float


def sessions_headline(views: Sequence[SessionsView]) -> str:
    """Say in a sentence who ends with most, and who is ruined how often."""
    scored = [view for view in views if view.metrics["terminal_balance"].estimate is not None]
    if not scored:
        return "No session has a result."
    best, last = scored[0], scored[-1]
    start = best.run.header.spec.bankroll.initial_cents / 100
    text = f"From {start:,.0f} dollars {_ends(best)}"
    return f"{text}, the most of {len(scored)} agents; {_ends(last)}." if len(scored) > 1 else f"{text}."


def _ends(view: SessionsView) -> str:
    sessions = view.run.sessions
    ruined = sum(session.time_to_ruin is not None for session in sessions)
    fate = f"{'none' if ruined == 0 else ruined} of {len(sessions)} sessions ruined"
    return f"{view.agent} comes to {dollars(view.metrics['terminal_balance'])}, {fate}"


def costliest_periods(views: Sequence[SessionsView]) -> list[ToldPeriod]:
    """Return the periods that left most on the table, of as many agents as there are."""
    found = [
        ToldPeriod(view.agent, session.session + 1, period, (period.best_cents - period.profit_cents) / 100)
        for view in views
        for session in view.run.sessions
        for period in session.periods
        if period.best_cents is not None and period.best_cents > period.profit_cents
    ]
    found.sort(key=lambda told: -told.dollars)
    agents = len({told.agent for told in found})
    kept: list[ToldPeriod] = []
    for told in found:
        if agents < NUM_EPISODES_TOLD or told.agent not in {one.agent for one in kept}:
            kept.append(told)
    return kept[:NUM_EPISODES_TOLD]


def _balance(view: SessionsView) -> tuple[bool, float]:
    value = view.metrics["terminal_balance"].estimate
    return value is not None, value or 0.0


def _ledger(view: SessionsView) -> dict[str, Any]:
    sessions = [
        {"number": each.session + 1, "end": each.end.value, "periods": [_row(period) for period in each.periods]}
        for each in view.run.sessions[:LEDGER_LIMIT]
    ]
    return {"label": f"{view.agent}, {view.label}", "sessions": sessions}


def _row(period: PeriodRecord) -> list[Any]:
    """Return the cells of a period: what was met, what came of it, and cash, amounts in dollars."""
    return [
        period.period,
        period.supplier,
        period.regime.replace("_", " "),
        period.termination.replace("_", " "),
        period.price,
        period.rounds,
        period.profit_cents / 100,
        None if period.best_cents is None else period.best_cents / 100,
        period.cost_cents / 100,
        period.cash_cents / 100,
    ]


def _metric_number(value: float) -> str:
    """Write amounts with two decimals and shares with three."""
    return format_number(value, 2 if abs(value) >= 10 else 3)


def balance_panels(views: Sequence[SessionsView], sheet: SvgSheet) -> dict[str, str]:
    """Draw the balances of every run on one scale; returns SVG by run key."""
    cents = [cash for view in views for session in view.run.sessions for cash in session.cash_path_cents]
    cents += [0, *(view.run.header.spec.bankroll.ruin_cents for view in views)]
    low, high = math.floor(min(cents) / 5000) * 50, math.ceil(max(cents) / 5000) * 50

    def plot(view: SessionsView) -> Callable[[Axes], Axes]:
        ruin = view.run.header.spec.bankroll.ruin_cents / 100
        return lambda ax: plot_balances(ax, view.run.sessions, ruin=ruin, limits=(low, high), colors=PAGE_PALETTE)

    return {
        view.key: sheet.draw(plot(view), size=_SIZE, margins=_MARGINS, label=_balances_in_words(view)) for view in views
    }


def _balances_in_words(view: SessionsView) -> str:
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


def mean_charts(views: Sequence[SessionsView], sheet: SvgSheet) -> dict[str, str]:
    """Draw the mean balances of all runs over each other; returns SVG for wide and small."""
    several = len({view.label for view in views}) > 1
    curves = {
        f"{view.agent}, {view.label}" if several else view.agent: balance_curve(view.run.sessions) for view in views
    }
    curves = {name: curve for name, curve in curves.items() if curve}
    if not curves:
        return {}
    label = "; ".join(f"{name} {_number(curve[-1])} dollars at last" for name, curve in curves.items())
    rows = -(-len(curves) // (3 if len(curves) > 2 else 2))

    def draw(width: int, height: int) -> str:
        return sheet.draw(
            lambda ax: plot_mean_balances(ax, curves, colors=PAGE_PALETTE),
            size=(width, height + 18 * rows),
            margins=Margins(58, 38, 20, 8 + 18 * rows),
            label=f"Mean balances: {label}.",
        )

    return {"wide": draw(530, 270), "small": draw(350, 240)}


def survival_panels(views: Sequence[SessionsView], sheet: SvgSheet) -> dict[str, str]:
    """Draw the survival curve of every run, the others faint behind it; returns SVG by run key."""
    curves = {view.key: survival_curve(view.run.sessions) for view in views}

    def plot(view: SessionsView) -> Callable[[Axes], Axes]:
        others = [curve for key, curve in curves.items() if key != view.key]
        return lambda ax: plot_survival(ax, view.run.sessions, others=others, colors=PAGE_PALETTE)

    found = {}
    for view in views:
        last = curves[view.key][-1]
        interval = "" if last.low is None or last.high is None else f", interval {last.low:.2f} to {last.high:.2f}"
        label = f"Survival of {view.agent}: {_number(last, 2)} after period {len(curves[view.key]) - 1}{interval}."
        found[view.key] = sheet.draw(plot(view), size=_SIZE, margins=_MARGINS, label=label)
    return found


def gap_panels(views: Sequence[SessionsView], sheet: SvgSheet) -> dict[str, str]:
    """Draw the gap of every run that was split, as steps to the reference; returns SVG by run key."""
    from oracle.parts import in_words, left_to_right
    from oracle.plotting import plot_waterfall

    def plot(parts: Mapping[str, Estimate]) -> Callable[[Axes], Axes]:
        def draw(ax: Axes) -> Axes:
            plot_waterfall(parts, ax, target="ruin-aware", title="", colors=PAGE_PALETTE)
            ax.set_xlabel("final balance (dollars)")
            return ax

        return draw

    found = {}
    for view in views:
        if view.gap is not None:
            words = ", ".join(
                f"{name} {_number(view.gap[part])}"
                for part, name in in_words(left_to_right(view.gap), REFERENCE).items()
            )
            label = f"Final balance of {view.agent} in dollars: {words}."
            found[view.key] = sheet.draw(plot(view.gap), size=_STEPS_SIZE, margins=_STEPS_MARGINS, label=label)
    return found


def _number(value: Estimate, digits: int = 0) -> str:
    return "undefined" if value.estimate is None else f"{value.estimate:,.{digits}f}"
