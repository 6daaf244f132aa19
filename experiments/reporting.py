"""From run folders to the report: comparisons per suite, facts for the appendix, one file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments.report import ReportRun, SuiteComparison, write_report
from experiments.runs.folder import Run
from experiments.stats import Difference, compare

BOOTSTRAP_SEED = 0


def report_on(runs: Sequence[Run], path: Path, *, title: str) -> Path:
    """Write the report about ``runs`` to ``path`` and return it."""
    by_suite: dict[str, list[Run]] = {}
    for run in runs:
        by_suite.setdefault(suite_label(run), []).append(run)
    comparisons = [suite_comparison(label, group) for label, group in by_suite.items() if len(group) > 1]
    write_report(path, [report_run(run) for run in runs], title=title, comparisons=comparisons)
    return path


def suite_label(run: Run) -> str:
    """Return the suite's name, with the start of its digest so that two suites of one name stay apart."""
    return f"{run.header.suite.label} ({run.header.suite_digest[:6]})"


def report_run(run: Run) -> ReportRun:
    """Describe one run for the report."""
    header = run.header
    notices = list(header.suite.notices)
    if not run.is_complete:
        notices.append(f"{header.agent}: {len(run.records)} of {header.num_episodes} episodes were played")
    return ReportRun(
        agent=header.agent,
        suite=suite_label(run),
        episodes=run.records,
        notices=tuple(notices),
        config={
            "suite": header.suite.label,
            "suite digest": header.suite_digest[:16],
            "data digest": (header.data_digest or "none")[:16],
            **header.versions,
        },
    )


def suite_comparison(label: str, runs: Sequence[Run]) -> SuiteComparison:
    """Compare the runs of one suite on SE+, paired on the same luck."""
    comparison = compare({run.header.agent: run.records for run in runs}, rng=np.random.default_rng(BOOTSTRAP_SEED))
    return SuiteComparison(
        suite=label,
        groups=comparison.groups,
        differences=tuple(_sentence(d) for d in comparison.differences if d.estimate is not None),
        note="SE+, paired on the same scenarios, 95 % bootstrap intervals, Holm-corrected t-tests",
    )


def _sentence(difference: Difference) -> tuple[str, str, str]:
    estimate = difference.estimate or 0.0
    better, worse = (difference.first, difference.second) if estimate >= 0 else (difference.second, difference.first)
    sign = 1 if estimate >= 0 else -1
    bounds = sorted(sign * (bound or 0.0) for bound in (difference.low, difference.high))
    verdict = "different" if difference.is_significant else "not told apart"
    needed = "" if difference.needed is None else f", {difference.needed} scenarios would show it"
    return better, worse, f"{abs(estimate):.3f} [{bounds[0]:.3f}, {bounds[1]:.3f}], n={difference.n}: {verdict}{needed}"
