"""Years in memory: one merchant in several worlds, summarised."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from commerce.merchants import build_merchant, play_year
from commerce.metrics import Measure, tool_mix, year_metrics
from commerce.year import Year
from experiments.years.spec import YearSpec
from experiments.years.summary import summarize_years, summary_to_json


class PlayedYear(NamedTuple):
    """What one year came to."""

    spec: YearSpec
    end: str | None
    metrics: dict[str, Measure]
    tools: dict[str, dict[str, int]]


def play_years(spec: YearSpec, num_runs: int) -> Iterator[PlayedYear]:
    """Play ``num_runs`` years: run ``i`` in the world of seed ``world_seed + i`` with merchant seed ``+ i``."""
    for run in range(num_runs):
        one = spec.model_copy(
            update={"world_seed": spec.world_seed + run, "merchant_seed": spec.merchant_seed + run, "world_digest": ""}
        )
        world, rules = one.build_world(), one.build_rules()
        year = play_year(Year(world, rules), build_merchant(one.merchant, world, rules, one.merchant_seed))
        played = one.model_copy(update={"world_digest": world.digest})
        yield PlayedYear(played, year.state.end, year_metrics(year), tool_mix(year.state))


def summary_object(years: list[PlayedYear]) -> dict[str, Any]:
    """Return the JSON of several years: final assets in yuan, and every metric with its interval."""
    worlds = [year.spec.world_digest for year in years]
    metrics = summary_to_json(summarize_years([year.metrics for year in years], worlds))
    return {
        "final_assets": metrics["final_assets"]["estimate"],
        "metrics": metrics,
        "years": [
            {"spec": year.spec.to_json_object(), "end": year.end, "final_assets": year.metrics["final_assets"].value}
            for year in years
        ],
    }
