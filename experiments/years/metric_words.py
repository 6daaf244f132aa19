"""What the metrics of a year mean, in the order of the report. ``HEADLINE`` are those its summary shows.

Of several years each is the mean of the years' values, unless its meaning says otherwise
(:mod:`experiments.years.summary`).
"""

from __future__ import annotations

from typing import NamedTuple


class MetricWords(NamedTuple):
    """A metric in words."""

    label: str
    unit: str
    meaning: str


HEADLINE = ("final_assets", "multiplier", "is_bankrupt", "se_plus", "bad_spend_pct", "controllable_return_rate")
METRICS = {
    "final_assets": MetricWords("Final assets", "yuan", "bank, wallet and escrow at the end"),
    "multiplier": MetricWords("Multiplier", "times", "final assets over the initial balance"),
    "is_bankrupt": MetricWords("Bankrupt", "share of years", "ten mornings in a row with the bank below zero"),
    "final_day": MetricWords("Last day", "day", "the day on which the year ended"),
    "profit_per_call": MetricWords(
        "Profit per call", "yuan", "assets gained in all years over tool calls in all years"
    ),
    "end_stock_at_cost": MetricWords("End stock at cost", "yuan", "goods left over, worth nothing in the score"),
    "end_stock_at_salvage": MetricWords("End stock at salvage", "yuan", "what liquidating them would have brought"),
    "peak_drawdown": MetricWords("Drawdown", "yuan", "largest fall of the assets from an earlier peak"),
    "drawdown_over_maximum": MetricWords("Drawdown over maximum", "share", "the same over the maximum of the year"),
    "drawdown_over_peak": MetricWords("Drawdown over peak", "share", "largest fall over the peak before it"),
    "se_plus": MetricWords("SE+", "share", "surplus efficiency with honest suppliers, 0 without a deal"),
    "cse_plus": MetricWords("CSE+", "share", "the same over deals alone"),
    "agr_plus": MetricWords("AGR+", "share", "concluded negotiations with honest suppliers that ended in a deal"),
    "se_plus_money": MetricWords("SE+ by money", "share", "SE+ weighted by the reference price"),
    "cse_plus_money": MetricWords("CSE+ by money", "share", "CSE+ weighted by what was spent"),
    "agr_plus_money": MetricWords("AGR+ by money", "share", "AGR+ weighted by the reference price"),
    "open_negotiations": MetricWords("Unfinished negotiations", "count", "left open, in no other number"),
    "surplus_lift": MetricWords("Surplus lift", "share", "SE+ of the later half less that of the earlier"),
    "agreement_lift": MetricWords("Agreement lift", "share", "AGR+ of the later half less that of the earlier"),
    "fraud_lift": MetricWords("Fraud lift", "share", "fraudulent deals, later half less earlier; below 0 is learning"),
    "anchor_regret": MetricWords("AnchorRegret", "share", "mean excess over the best earlier price of the same pair"),
    "anchor_ratio": MetricWords("AnchorRatio", "times", "AnchorRegret over its mean when the prices are shuffled"),
    "anchor_z": MetricWords(
        "AnchorRegret, z", "deviations", "how far below the shuffled mean; pooled: sum(z) / sqrt(k)"
    ),
    "anchor_p": MetricWords("AnchorRegret, p", "probability", "two-sided p-value of that z"),
    "bad_spend_pct": MetricWords("BadSpend", "per cent", "money paid to fraudulent suppliers, of all spent on goods"),
    "fraud_loss": MetricWords("Fraud loss", "yuan", "loss against the same purchases at own honest prices"),
    "bad_spend_before_evidence": MetricWords("Paid before evidence", "yuan", "to frauds that could not be known yet"),
    "bad_spend_after_evidence": MetricWords("Paid after evidence", "yuan", "to frauds that could be known"),
    "short_deliveries_heeded": MetricWords("Short deliveries heeded", "share", "suppliers never used again after one"),
    "natural_return_rate": MetricWords("Natural returns", "share", "expected returns nobody could avoid"),
    "defect_return_rate": MetricWords("Returns by defects", "share", "expected returns of defective units"),
    "price_return_rate": MetricWords("Returns by price", "share", "expected returns due to the own price"),
    "speed_return_rate": MetricWords("Returns by speed", "share", "expected returns due to the shipping speed"),
    "controllable_return_rate": MetricWords("Controllable returns", "share", "the price and the speed part together"),
    "realized_return_rate": MetricWords("Realised returns", "share", "units that came back, of all sold"),
    "on_time_ship_rate": MetricWords("On-time shipping", "share", "orders shipped before their deadline"),
    "mean_stock_age_days": MetricWords("Stock age", "days", "mean over the days with stock"),
    "overdrawn_mornings": MetricWords("Overdrawn mornings", "count", "mornings with the bank below zero"),
    "coverable_mornings": MetricWords("Coverable mornings", "count", "those that the wallet could have covered"),
    "storage_cost": MetricWords("Storage", "yuan", "storage bills of the whole year"),
}
