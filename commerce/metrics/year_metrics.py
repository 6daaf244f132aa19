"""Every metric of one year."""

from __future__ import annotations

from commerce.metrics.bargaining import bargaining_metrics, own_quote_metrics
from commerce.metrics.fraud import fraud_metrics
from commerce.metrics.measure import Measure
from commerce.metrics.operations import asset_metrics, operations_metrics, purpose_shares
from commerce.year import Year


def year_metrics(year: Year) -> dict[str, Measure]:
    """Return every metric of a year by name."""
    return {
        **asset_metrics(year.setting, year.state),
        **bargaining_metrics(year.procurement.records(year.state.book)),
        **own_quote_metrics(None if year.past is None else year.past.quotes),
        **fraud_metrics(year.setting, year.state),
        **operations_metrics(year.state),
        **purpose_shares(year.state.calls),
    }
