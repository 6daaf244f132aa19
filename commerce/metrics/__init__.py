"""Metrics of one year (specification, section 4.5). Where the published code errs, the formula here is right.

The published ship-speed channel of returns is zero by construction because the speed factor is in every layer; here the
layers are natural ``r0``, defect ``r1 - r0``, price ``r2 - r1`` and speed ``r3 - r2``.
"""

from __future__ import annotations

from commerce.metrics.bargaining import bargaining_metrics
from commerce.metrics.fraud import fraud_metrics
from commerce.metrics.measure import Measure
from commerce.metrics.operations import asset_metrics, operations_metrics, tool_mix
from commerce.year import Year

__all__ = ["Measure", "tool_mix", "year_metrics"]


def year_metrics(year: Year) -> dict[str, Measure]:
    """Return every metric of a year by name."""
    return {
        **asset_metrics(year.setting, year.state),
        **bargaining_metrics(year.procurement.records(year.state.book)),
        **fraud_metrics(year.setting, year.state),
        **operations_metrics(year.state),
    }
