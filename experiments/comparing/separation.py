"""Which metric tells which agents apart, in which regime, and how many scenarios it would take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from experiments.stats.families import rule_on
from experiments.stats.paired import (
    PAIRED,
    Comparison,
    Difference,
    Outcomes,
    check_shared,
    compared,
    join,
    measure_pairs,
    scenario_outcomes,
)
from terms import EpisodeRecord
from terms.metric_table import METRIC_BY_NAME


class Separation(NamedTuple):
    """Whether one metric tells two agents apart in one regime."""

    regime: str
    difference: Difference

    def to_json_object(self) -> dict[str, Any]:
        """Return the row as JSON types."""
        return {"metric": self.difference.metric, "regime": self.regime, "difference": self.difference.to_json_object()}


def compare_with_separation(
    outcomes: Mapping[str, Outcomes],
    runs: Mapping[str, Sequence[EpisodeRecord]],
    metric: str,
    better: str,
    *,
    delta: float | None = None,
    margin: float | None = None,
) -> tuple[Comparison, list[Separation]]:
    """Compare agents on ``metric`` and on every paired metric in every regime: all of it is one family of tests.

    ``delta`` and ``margin`` are differences of ``metric`` alone, so they say nothing about the other metrics.
    """
    check_shared(outcomes, metric)
    main = measure_pairs(outcomes, metric, better, delta=delta)
    regimes = sorted({episode.regime.value for episodes in runs.values() for episode in episodes})
    rows = [
        (regime, pair)
        for name in PAIRED
        for regime in regimes
        for pair in measure_pairs(_sliced(runs, name, regime), name, METRIC_BY_NAME[name].better)
    ]
    pairs = [*main, *(pair for _, pair in rows)]
    margins = [margin] * len(main) + [None] * len(rows)
    differences = join(pairs, rule_on([pair.measured for pair in pairs], margins))
    comparison = compared(outcomes, metric, better, differences[: len(main)], len(pairs))
    found = zip(rows, differences[len(main) :], strict=True)
    return comparison, [Separation(regime, difference) for (regime, _), difference in found]


def _sliced(runs: Mapping[str, Sequence[EpisodeRecord]], metric: str, regime: str) -> dict[str, Outcomes]:
    return {name: scenario_outcomes([e for e in rows if e.regime == regime], metric) for name, rows in runs.items()}
