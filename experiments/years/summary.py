"""Metrics of a year in words, and over several years with a 95 % interval over worlds and the years it rests on.

A metric is the mean of the years' own values, as the published summaries have it, and a year in which it is undefined
is left out of its ``n``. Three are not:

- ``profit_per_call`` is the assets gained in all years over the tool calls of all years, ``sum(profit) / sum(calls)``,
  as in the published table, so a bankrupt year of few calls does not weigh like a whole one;
- ``is_bankrupt`` is a share of years;
- ``anchor_z`` is Stouffer's pooled test, ``sum(z) / sqrt(k)`` over ``k`` worlds (Stouffer et al. 1949, The American
  Soldier 1, p. 45), the years of one world averaged first because they are not independent; ``anchor_p`` is its
  two-sided p-value. A test statistic has no interval.

``few`` is the least number of worlds, or of runs in one, from which Student's 95 % interval held the truth in 93 % of
samples or more whoever played (``python -m tests.bench.coverage``). That of final assets needs eight: with a merchant
that is bankrupt in 30 % of its years five runs cover in 82 %.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commerce.metrics import Measure, two_sided_p
from experiments.stats.variance import variance_parts
from terms.estimates import UNDEFINED, Estimate, Ratio, estimate_ratios, estimate_share
from terms.intervals import FEW
from terms.metric import Better, Metric


def _year(name: str, label: str, definition: str, unit: str, better: Better = "neither", few: int = FEW) -> Metric[Any]:
    return Metric(name, definition, better, unit, "years", label=label, few=few)


YEAR_HEADLINE = ("final_assets", "is_bankrupt", "cse_plus_money", "se_plus", "dearer_paid", "bad_spend_pct")
"""Those a summary shows."""
YEAR_METRICS = {
    metric.name: metric
    for metric in (
        _year("final_assets", "Final assets", "bank, wallet and escrow at the end", "yuan", "higher"),
        _year(
            "luck_adjusted_assets",
            "Luck-adjusted assets",
            "final assets less what chance brought by demand and returns: the same mean, usually less spread",
            "yuan",
            "higher",
        ),
        _year("demand_windfall", "Windfall of demand", "units sold beyond those expected, at their income", "yuan"),
        _year(
            "returns_windfall", "Windfall of returns", "units returned short of those expected, at their margin", "yuan"
        ),
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
        _year("cse_plus_money", "CSE+ by money", "CSE+ weighted by what was spent", "share", "higher"),
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
            "dearer_buys",
            "Dearer than own quote",
            "buys above the lowest price that a supplier still to be bought from had quoted for the product before",
            "share",
            "lower",
        ),
        _year(
            "dearer_paid", "Paid above own quotes", "what these buys cost more than at those quotes", "yuan", "lower"
        ),
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
        _year(
            "routine_calls", "Routine calls", "waiting, shipping, stocking shelves, withdrawing; of all calls", "share"
        ),
        _year("polling_calls", "Polling calls", "looking at balance, stores, warehouse or returns", "share"),
        _year("negotiation_calls", "Negotiation calls", "messages to suppliers", "share"),
        _year("memory_calls", "Memory calls", "notes written and read", "share"),
        _year("repricing_calls", "Repricing calls", "changes of list prices", "share"),
        _year("storage_cost", "Storage", "storage bills of the whole year", "yuan", "lower"),
    )
}
BETTER = {name: metric.better for name, metric in YEAR_METRICS.items() if metric.better != "neither"}
"""Metrics of a year that agents can be compared on, and which way is better."""

SHARES = ("is_bankrupt",)
POOLED = ("profit_per_call",)
"""Ratios whose parts are summed over the years; ``n`` of such a measure is its denominator."""
TESTS = {"anchor_z": "anchor_p"}
"""Standard normal test statistics, each with the name of its p-value."""


def summarize_years(years: Sequence[Mapping[str, Measure]], worlds: Sequence[str]) -> dict[str, Estimate]:
    """Return every metric over ``years``; years of the same world (``worlds`` names it) count as repeats of one.

    Intervals are over worlds; where all years are of one world, over the runs in it.
    """
    if not years:
        return {}
    clusters = np.unique(np.array(worlds), return_inverse=True)[1].astype(np.intp)
    runs = np.arange(len(years)) if len(set(worlds)) == 1 else clusters
    found: dict[str, Estimate] = {}
    for name in years[0]:
        found[name] = _estimate(name, [year[name] for year in years], clusters if name in TESTS else runs)
    return {**found, **{p: _p_value(found[z]) for z, p in TESTS.items() if z in found}}


def _estimate(name: str, measures: Sequence[Measure], clusters: NDArray[np.intp]) -> Estimate:
    defined = np.array([measure.value is not None for measure in measures], dtype=np.float64)
    numbers = np.array([0.0 if measure.value is None else measure.value for measure in measures])
    if not defined.any():
        return UNDEFINED
    if name in SHARES:
        return estimate_share(numbers, defined, clusters)
    few = YEAR_METRICS[name].few if name in YEAR_METRICS else FEW
    if name in POOLED:
        weights = defined * np.array([float(measure.n) for measure in measures])
        return estimate_ratios([Ratio(numbers * weights, weights)], clusters, few=few)
    if name in TESTS:
        return _stouffer(numbers[defined != 0], clusters[defined != 0])
    return estimate_ratios([Ratio(numbers, defined)], clusters, few=few)


def _stouffer(z: NDArray[np.float64], clusters: NDArray[np.intp]) -> Estimate:
    """Return the pooled z of independent worlds; ``n`` counts years."""
    by_world = [float(z[clusters == world].mean()) for world in np.unique(clusters)]
    return Estimate(math.fsum(by_world) / math.sqrt(len(by_world)), None, None, len(z))


def _p_value(pooled: Estimate) -> Estimate:
    """Return the two-sided p-value of a pooled z."""
    if pooled.estimate is None:
        return UNDEFINED
    return Estimate(two_sided_p(pooled.estimate), None, None, pooled.n)


def year_estimates(results: Sequence[Mapping[str, Any]]) -> dict[str, Estimate]:
    """Return every metric over the years of ``results``, as in ``result.json``."""
    metrics = [{name: Measure(**entry) for name, entry in result["metrics"].items()} for result in results]
    return summarize_years(metrics, [result["world_digest"] for result in results])


def years_summary(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return every metric over the years of ``results`` (as in ``result.json``), and what each year was."""
    years = [
        {
            "agent": result["agent"],
            "spec": result["spec"],
            "end": result["end"],
            "final_assets": result["metrics"]["final_assets"]["value"],
        }
        for result in results
    ]
    return {**summary_to_json(year_estimates(results)), **_variance(results), "years": years}


def _variance(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return how the final assets vary between worlds and between runs in one, where any world has several runs."""
    by_world: dict[str, list[float]] = {}
    for result in results:
        by_world.setdefault(result["world_digest"], []).append(result["metrics"]["final_assets"]["value"])
    if len(by_world) == len(results):
        return {}
    return {"variance": {"final_assets": variance_parts(by_world).to_json_object()}}


def summary_to_json(summary: Mapping[str, Estimate]) -> dict[str, dict[str, float | int | None]]:
    """Return ``{metric: {estimate, low, high, n}}``."""
    return {name: dict(estimate._asdict()) for name, estimate in summary.items()}
