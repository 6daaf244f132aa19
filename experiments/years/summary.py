r"""Metrics over several years, each with its 95 % interval over worlds, and how many years it rests on.

A metric is the mean of the years' own values, as the published summaries have it, and a year in which it is undefined
is left out of its ``n``. Three are not:

- ``profit_per_call`` is the assets gained in all years over the tool calls of all years, ``sum(profit) / sum(calls)``,
  as in the published table, so a bankrupt year of few calls does not weigh like a whole one;
- ``is_bankrupt`` is a share of years;
- ``anchor_z`` is Stouffer's pooled test, ``sum(z) / sqrt(k)`` over ``k`` worlds (Stouffer et al. 1949, The American
  Soldier 1, p. 45), the years of one world averaged first because they are not independent; ``anchor_p`` is its
  two-sided p-value. A test statistic has no interval.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commerce.metrics import Measure, two_sided_p
from experiments.stats.variance import variance_parts
from experiments.years.metric_words import YEAR_METRICS
from terms.estimates import UNDEFINED, Estimate, Ratio, estimate_ratios, estimate_share
from terms.intervals import FEW

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


def years_summary(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return every metric over the years of ``results`` (as in ``result.json``), and what each year was."""
    metrics = [{name: Measure(**entry) for name, entry in result["metrics"].items()} for result in results]
    worlds = [result["world_digest"] for result in results]
    years = [
        {
            "agent": result["agent"],
            "spec": result["spec"],
            "end": result["end"],
            "final_assets": result["metrics"]["final_assets"]["value"],
        }
        for result in results
    ]
    return {**summary_to_json(summarize_years(metrics, worlds)), **_variance(results), "years": years}


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
