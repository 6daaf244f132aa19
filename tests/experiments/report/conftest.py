"""The report most tests read, built once."""

from __future__ import annotations

import pytest

from experiments.report import ReportRun, SuiteComparison, build_report
from tests.experiments.report.cases import HOSTILE, mixed_runs
from tests.experiments.report.pages import Page


@pytest.fixture(scope="session")
def runs() -> tuple[ReportRun, ...]:
    """Return scripted, talking, silent and lost agents on two suites."""
    return mixed_runs()


@pytest.fixture(scope="session")
def mixed_html(runs) -> str:
    """Return the report about them."""
    comparison = SuiteComparison(
        "fresh",
        groups=(("patient",), ("exploit", runs[3].agent), ("accept-any",)),
        differences=(("patient", "exploit", f"0.31 [0.20, 0.42] {HOSTILE}"),),
        note="SE+, paired.",
    )
    return build_report(runs, title=f"Report {HOSTILE}", comparisons=[comparison])


@pytest.fixture(scope="session")
def mixed_page(mixed_html) -> Page:
    """Return the report about them, read strictly."""
    return Page(mixed_html)
