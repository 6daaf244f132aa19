"""Metrics over several years: a mean with its 95 % interval over worlds, and how many years it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from commerce.metrics import Measure
from terms.estimates import UNDEFINED, Estimate, Ratio, estimate_ratios, estimate_share

_SHARES = ("is_bankrupt",)


def summarize_years(years: Sequence[Mapping[str, Measure]], worlds: Sequence[str]) -> dict[str, Estimate]:
    """Return every metric over ``years``; years of the same world (``worlds`` names it) count as repeats of one.

    A year in which a metric is undefined is left out of its ``n``.
    """
    if not years:
        return {}
    clusters = np.unique(np.array(worlds), return_inverse=True)[1].astype(np.intp)
    return {name: _estimate(name, [year[name].value for year in years], clusters) for name in years[0]}


def _estimate(name: str, values: Sequence[float | None], clusters: Any) -> Estimate:
    defined = np.array([value is not None for value in values], dtype=np.float64)
    numbers = np.array([0.0 if value is None else value for value in values])
    if not defined.any():
        return UNDEFINED
    if name in _SHARES:
        return estimate_share(numbers, defined, clusters)
    return estimate_ratios([Ratio(numbers, defined)], clusters)


def summary_object(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return every metric over the years of ``results`` (as in ``result.json``), and what each year was."""
    metrics = [{name: Measure(**entry) for name, entry in result["metrics"].items()} for result in results]
    worlds = [result["spec"]["world_digest"] for result in results]
    years = [
        {"spec": result["spec"], "end": result["end"], "final_assets": result["metrics"]["final_assets"]["value"]}
        for result in results
    ]
    return {**summary_to_json(summarize_years(metrics, worlds)), "years": years}


def summary_to_json(summary: Mapping[str, Estimate]) -> dict[str, dict[str, float | int | None]]:
    """Return ``{metric: {estimate, low, high, n}}``."""
    return {name: dict(estimate._asdict()) for name, estimate in summary.items()}
