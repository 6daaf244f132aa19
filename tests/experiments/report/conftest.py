"""The report most tests read, built once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from experiments.report import ReportRun, SuiteComparison, build_report
from tests.experiments.report.cases import CHECK, FACTS, HOSTILE, mixed_runs
from tests.experiments.report.pages import Page

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser(chromium_path) -> Iterator[object]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def runs() -> tuple[ReportRun, ...]:
    """Return scripted, talking, silent and lost agents on two suites."""
    return mixed_runs()


@pytest.fixture(scope="session")
def mixed_html(runs) -> str:
    """Return the report about them."""
    comparison = SuiteComparison(
        "fresh",
        ranking=("patient", "exploit", runs[3].agent, "accept-any"),
        letters={"patient": "a", "exploit": "b", runs[3].agent: "b c", "accept-any": "c"},
        headings=("pair", "difference"),
        differences=(("patient - exploit", f"0.31 [0.20, 0.42] {HOSTILE}"),),
        matrix_headings=("", "agent", "1", "2"),
        matrix=(("1", f"patient {HOSTILE}", "", "≠"), ("2", "exploit", "34", "")),
        legend="≠ different",
        note="SE+, paired.",
    )
    talking = [replace(run, beliefs=FACTS) if run is runs[3] else run for run in runs]
    return build_report(talking, title=f"Report {HOSTILE}", comparisons=[comparison], checks=[CHECK])


@pytest.fixture(scope="session")
def mixed_page(mixed_html) -> Page:
    """Return the report about them, read strictly."""
    return Page(mixed_html)
