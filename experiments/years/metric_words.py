"""What the metrics of a year mean, in the order of the report. ``YEAR_HEADLINE`` are those its summary shows.

Of several years each is the mean of the years' values, unless its meaning says otherwise
(:mod:`experiments.years.summary`). ``few`` is the least number of worlds, or of runs in one, from which the 95 %
interval held the truth in 93 % of samples or more, whoever played: ``python -m tests.bench.coverage`` measures it. That
of final assets needs eight: with a merchant that is bankrupt in 30 % of its years five runs cover in 84 %.
"""

from __future__ import annotations

from typing import Any

from terms.intervals import FEW
from terms.metric import Better, Metric


def _year(name: str, label: str, definition: str, unit: str, better: Better = "neither", few: int = FEW) -> Metric[Any]:
    return Metric(name, definition, better, unit, "years", label=label, few=few)


YEAR_HEADLINE = ("final_assets", "multiplier", "is_bankrupt", "se_plus", "bad_spend_pct", "controllable_return_rate")
YEAR_METRICS = {
    metric.name: metric
    for metric in (
        _year("final_assets", "Final assets", "bank, wallet and escrow at the end", "yuan", "higher"),
        _year("multiplier", "Multiplier", "final assets over the initial balance", "times", "higher"),
        _year("is_bankrupt", "Bankrupt", "ten mornings in a row with the bank below zero", "share of years", "lower"),
        _year("final_day", "Last day", "the day on which the year ended", "day"),
        _year(
            "profit_per_call",
            "Profit per call",
            "assets gained in all years over tool calls in all years",
            "yuan",
            "higher",
            few=3,
        ),
        _year("end_stock_at_cost", "End stock at cost", "goods left over, worth nothing in the score", "yuan"),
        _year("end_stock_at_salvage", "End stock at salvage", "what liquidating them would have brought", "yuan"),
        _year("peak_drawdown", "Drawdown", "largest fall of the assets from an earlier peak", "yuan"),
        _year("drawdown_over_maximum", "Drawdown over maximum", "the same over the maximum of the year", "share"),
        _year("drawdown_over_peak", "Drawdown over peak", "largest fall over the peak before it", "share", "lower"),
        _year("se_plus", "SE+", "surplus efficiency with honest suppliers, 0 without a deal", "share", "higher"),
        _year("cse_plus", "CSE+", "the same over deals alone", "share", "higher", few=3),
        _year(
            "agr_plus", "AGR+", "concluded negotiations with honest suppliers that ended in a deal", "share", "higher"
        ),
        _year("se_plus_money", "SE+ by money", "SE+ weighted by the reference price", "share"),
        _year("cse_plus_money", "CSE+ by money", "CSE+ weighted by what was spent", "share"),
        _year("agr_plus_money", "AGR+ by money", "AGR+ weighted by the reference price", "share"),
        _year("open_negotiations", "Unfinished negotiations", "left open, in no other number", "count"),
        _year("surplus_lift", "Surplus lift", "SE+ of the later half less that of the earlier", "share", few=3),
        _year("agreement_lift", "Agreement lift", "AGR+ of the later half less that of the earlier", "share", few=3),
        _year("fraud_lift", "Fraud lift", "fraudulent deals, later half less earlier; below 0 is learning", "share"),
        _year("anchor_regret", "AnchorRegret", "mean excess over the best earlier price of the same pair", "share"),
        _year(
            "anchor_ratio",
            "AnchorRatio",
            "AnchorRegret over its mean when the prices are shuffled",
            "times",
            "lower",
            few=5,
        ),
        _year("anchor_z", "AnchorRegret, z", "how far below the shuffled mean; pooled: sum(z) / sqrt(k)", "deviations"),
        _year("anchor_p", "AnchorRegret, p", "two-sided p-value of that z", "probability"),
        _year(
            "bad_spend_pct",
            "BadSpend",
            "money paid to fraudulent suppliers, of all spent on goods",
            "per cent",
            "lower",
        ),
        _year("fraud_loss", "Fraud loss", "loss against the same purchases at own honest prices", "yuan", "lower"),
        _year("bad_spend_before_evidence", "Paid before evidence", "to frauds that could not be known yet", "yuan"),
        _year("bad_spend_after_evidence", "Paid after evidence", "to frauds that could be known", "yuan"),
        _year("short_deliveries_heeded", "Short deliveries heeded", "suppliers never used again after one", "share"),
        _year("natural_return_rate", "Natural returns", "expected returns nobody could avoid", "share", few=4),
        _year("defect_return_rate", "Returns by defects", "expected returns of defective units", "share"),
        _year("price_return_rate", "Returns by price", "expected returns due to the own price", "share"),
        _year("speed_return_rate", "Returns by speed", "expected returns due to the shipping speed", "share"),
        _year(
            "controllable_return_rate",
            "Controllable returns",
            "the price and the speed part together",
            "share",
            "lower",
        ),
        _year("realized_return_rate", "Realised returns", "units that came back, of all sold", "share"),
        _year("on_time_ship_rate", "On-time shipping", "orders shipped before their deadline", "share", "higher"),
        _year("mean_stock_age_days", "Stock age", "mean over the days with stock", "days"),
        _year("overdrawn_mornings", "Overdrawn mornings", "mornings with the bank below zero", "count"),
        _year("coverable_mornings", "Coverable mornings", "those that the wallet could have covered", "count"),
        _year("storage_cost", "Storage", "storage bills of the whole year", "yuan", "lower"),
    )
}
BETTER = {name: metric.better for name, metric in YEAR_METRICS.items() if metric.better != "neither"}
"""Metrics of a year that agents can be compared on, and which way is better."""
