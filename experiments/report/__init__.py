"""The report: one self-contained HTML file about one or more runs, and the charts in it for notebooks."""

from experiments.report.build import build_report, write_report
from experiments.report.page_facts import BeliefFacts, ModelFacts, PosteriorCheck, ReportRun, SuiteComparison, Waterfall

__all__ = [
    "BeliefFacts",
    "ModelFacts",
    "PosteriorCheck",
    "ReportRun",
    "SuiteComparison",
    "Waterfall",
    "build_report",
    "write_report",
]
