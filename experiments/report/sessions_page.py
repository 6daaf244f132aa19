"""The report about bankroll sessions: one self-contained HTML file like that about runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import terms
from commerce.bankroll import PeriodRecord
from experiments.comparing.sessions import check_same_world
from experiments.report.bankroll_panels import REFERENCE, balance_panels, gap_panels, survival_panels
from experiments.report.figures import SvgSheet
from experiments.report.page import asset, content_policy, environment, format_number, write_page
from experiments.report.viewer import to_script_json
from experiments.sessions.folder import SessionsRun
from experiments.sessions.gap_file import NOT_CHECKED, WORTH, read_gap
from experiments.sessions.summary import SESSION_METRICS, sessions_summary
from terms.estimates import Estimate

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
    from oracle.parts import Part, in_words

    labels = [(run.header.agent, run.header.spec.label) for run in runs]
    for agent, label in labels:
        if labels.count((agent, label)) > 1:
            raise ValueError(f"runs has agent={agent!r} on {label} twice; name each run once")
    for label in {label for _, label in labels}:
        check_same_world([run for run in runs if run.header.spec.label == label])
    views = sorted((_view(run, f"run-{index}") for index, run in enumerate(runs)), key=_balance, reverse=True)
    sheet = SvgSheet()
    figures = {
        "balances": balance_panels(views, sheet),
        "survival": survival_panels(views, sheet),
        "gap": gap_panels(views, sheet),
    }
    css = asset("report.css") + sheet.css()
    script = asset("dom.js", "bankroll.js")
    return (
        environment(metric=_metric_number)
        .get_template("bankroll.html.j2")
        .render(
            title=title,
            policy=content_policy(css, script),
            css=css,
            script=script,
            views=views,
            headline=SESSION_HEADLINE,
            session_metrics=SESSION_METRICS,
            figures=figures,
            parts=in_words(Part, REFERENCE),
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
