"""The report: one self-contained HTML file about one or more runs, and the charts in it for notebooks."""

from experiments.report.build import build_report, write_report
from experiments.report.model import ModelFacts, ReportRun, SuiteComparison, Waterfall

__all__ = ["ModelFacts", "ReportRun", "SuiteComparison", "Waterfall", "build_report", "write_report"]
