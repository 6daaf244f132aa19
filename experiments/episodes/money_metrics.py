r"""Negotiations in money, as rows and as arrays, and the commerce metrics, each with its interval.

With ``Pi_i`` the profit of negotiation i and ``Pi*_i`` the best feasible one, over the feasible ones,

.. math::
    regret = 1 - \sum_i \Pi_i / \sum_i \Pi^*_i, \qquad left_i = \Pi^*_i - \Pi_i,

so a few big lots weigh more. Its interval is that of a linearised ratio (:mod:`terms.estimates`), which stays honest
with few scenarios; that of the standard error is Bonett's (:mod:`terms.sample_sizes`).
Money is summed in whole cents and shown in dollars. Trials that the provider lost are left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from commerce.economics import EconomicsConfig, UnitEconomics, unit_economics
from terms import EpisodeRecord, Scenario
from terms.aliases import Floats
from terms.estimates import UNDEFINED, Estimate, Ratio, cluster_sums, estimate_ratios, estimate_share
from terms.intervals import spread_of
from terms.metric import Metric
from terms.sample_sizes import deviation_bounds


class MoneyRow(NamedTuple):
    """One scored negotiation in money; ``best_cents`` is ``None`` where no price suited both."""

    scenario_id: str
    perspective: str
    lot_size: int
    is_deal: bool
    profit_cents: int
    best_cents: int | None
    gross_margin: float | None


@dataclass(frozen=True)
class MoneyColumns:
    """Negotiations as arrays of shape (negotiations,); money in cents."""

    profit: Floats
    best: Floats
    deal: Floats
    feasible: Floats
    margin: Floats
    clusters: NDArray[np.intp]

    @classmethod
    def of(cls, rows: Sequence[MoneyRow]) -> MoneyColumns:
        """Return the columns of ``rows``; ``best`` is 0 where infeasible and ``margin`` nan without a deal."""
        names = np.array([row.scenario_id for row in rows], dtype=str)
        return cls(
            profit=np.array([row.profit_cents for row in rows], dtype=float),
            best=np.array([row.best_cents or 0 for row in rows], dtype=float),
            deal=np.array([row.is_deal for row in rows], dtype=float),
            feasible=np.array([row.best_cents is not None for row in rows], dtype=float),
            margin=np.array([np.nan if row.gross_margin is None else row.gross_margin for row in rows], dtype=float),
            clusters=np.unique(names, return_inverse=True)[1].astype(np.intp),
        )

    @property
    def ones(self) -> Floats:
        """A denominator that counts every negotiation."""
        return np.ones(len(self.profit))


def money_row(scenario: Scenario, price: float | None, economics: UnitEconomics) -> MoneyRow:
    """Return what a negotiation that closed at ``price``, or at none, came to under ``economics``."""
    return MoneyRow(
        scenario_id=scenario.scenario_id,
        perspective=economics.perspective.value,
        lot_size=economics.lot_size,
        is_deal=price is not None,
        profit_cents=economics.profit_cents(price),
        best_cents=economics.best_cents(scenario.counterpart_type.reservation_price),
        gross_margin=None if price is None else economics.gross_margin(price),
    )


def money_rows(
    records: Sequence[EpisodeRecord], scenarios: Mapping[str, Scenario], config: EconomicsConfig
) -> list[MoneyRow]:
    """Return the money of every scored record; ``scenarios`` are by id."""
    scored = [(scenarios[record.scenario_id], record) for record in records if not record.is_excluded]
    return [money_row(scenario, record.price, unit_economics(scenario, config)) for scenario, record in scored]


FEW_LOTS = 24
"""With fewer scenarios money has no interval: of 8 lots that of regret holds the truth 89 % of the time."""
MIN_SPREAD_SCENARIOS = 72
"""With fewer scenarios the standard error has no interval: how far profits spread is in the few large lots."""
LOT_EDGES = (1, 11, 21, 31, 41)


def _mean(values: Floats, weights: Floats, columns: MoneyColumns, scale: float = 1.0) -> Estimate:
    return estimate_ratios(
        [Ratio(np.where(weights != 0, values, 0.0) * scale, weights)], columns.clusters, few=FEW_LOTS
    )


def _times(estimate: Estimate, factor: float) -> Estimate:
    """Return a mean turned into a total."""
    value, low, high = (None if part is None else part * factor for part in estimate[:3])
    return Estimate(value, low, high, estimate.n)


def _mean_profit(c: MoneyColumns) -> Estimate:
    return _mean(c.profit, c.ones, c, 0.01)


def _total_profit(c: MoneyColumns) -> Estimate:
    return _times(_mean_profit(c), len(c.profit))


def _profit_se(c: MoneyColumns) -> Estimate:
    """Return the standard error of the mean profit, clustered by scenario."""
    n = len(c.profit)
    sums, counts = cluster_sums(c.profit / 100, c.clusters), cluster_sums(c.ones, c.clusters)
    if len(counts) < 2:
        return UNDEFINED._replace(n=n)
    influence = (sums - counts * (sums.sum() / n)) * (len(counts) / n)
    root = math.sqrt(len(counts))
    is_enough = len(counts) >= MIN_SPREAD_SCENARIOS and bool(np.isfinite(spread_of(influence).error))
    low, high = (bound / root for bound in deviation_bounds(influence)) if is_enough else (None, None)
    return Estimate(float(influence.std(ddof=1)) / root, low, high, n)


def _left(c: MoneyColumns) -> Estimate:
    return _mean(c.best - c.profit, c.feasible, c, 0.01)


def _total_left(c: MoneyColumns) -> Estimate:
    return _times(_left(c), float(c.feasible.sum()))


def _best(c: MoneyColumns) -> Estimate:
    return _times(_mean(c.best, c.feasible, c, 0.01), float(c.feasible.sum()))


def regret_rate(profit: Floats, best: Floats, feasible: Floats, clusters: NDArray[np.intp]) -> Estimate:
    """Return ``1 - sum(profit) / sum(best)`` over feasible entries; arrays of shape (entries,), spread by cluster."""
    n = int(np.count_nonzero(feasible))
    if n == 0 or float((best * feasible).sum()) <= 0:
        return UNDEFINED._replace(n=n)
    return estimate_ratios([Ratio((best - profit) * feasible, best * feasible)], clusters, few=FEW_LOTS)._replace(n=n)


# fmt: off
MONEY_METRICS: tuple[Metric[MoneyColumns], ...] = (
    Metric("total_profit", "sum of profits", "higher", "dollars", "all", _total_profit),
    Metric("mean_profit", "profit of a negotiation", "higher", "dollars", "all", _mean_profit),
    Metric("profit_se", "standard error of the mean profit", "neither", "dollars", "all", _profit_se),
    Metric("gross_margin", "profit before the fixed overhead over revenue, mean", "higher", "share", "deals",
                lambda c: _mean(c.margin, c.deal * ~np.isnan(c.margin), c)),
    Metric("negative_profit_rate", "profit below zero, with or without a deal", "lower", "share", "all",
                lambda c: estimate_share((c.profit < 0).astype(float), c.ones, c.clusters)),
    Metric("money_losing_deal_rate", "deal closed at a loss", "lower", "share", "deals",
                lambda c: estimate_share((c.profit < 0).astype(float), c.deal, c.clusters)),
    Metric("walkaway_rate", "no deal closed", "neither", "share", "all",
                lambda c: estimate_share(1 - c.deal, c.ones, c.clusters)),
    Metric("walkaway_correctness", "no deal closed where none is possible", "higher", "share", "infeasible",
                lambda c: estimate_share(1 - c.deal, 1 - c.feasible, c.clusters)),
    Metric("money_left", "best feasible profit less profit", "lower", "dollars", "feasible", _left),
    Metric("total_money_left", "sum of best feasible profit less profit", "lower", "dollars", "feasible",
                _total_left),
    Metric("best_profit", "sum of best feasible profits", "neither", "dollars", "feasible", _best),
    Metric("regret_rate", "1 - sum of profits / sum of best feasible profits", "lower", "share", "feasible",
                lambda c: regret_rate(c.profit, c.best, c.feasible, c.clusters)),
)
# fmt: on
MONEY_METRIC_BY_NAME = {metric.name: metric for metric in MONEY_METRICS}


def summarize_money(rows: Sequence[MoneyRow]) -> dict[str, Estimate]:
    """Return every metric over ``rows``."""
    columns = MoneyColumns.of(rows)
    return {metric.name: metric.compute(columns) for metric in MONEY_METRICS}


def money_object(rows: Sequence[MoneyRow]) -> dict[str, Any]:
    """Return every metric overall, by perspective and by lot size, as JSON types; undefined is null."""
    slices: dict[str, dict[str, list[MoneyRow]]] = {"perspectives": {}, "lot_sizes": {}}
    for row in rows:
        slices["perspectives"].setdefault(row.perspective, []).append(row)
        slices["lot_sizes"].setdefault(lot_label(row.lot_size), []).append(row)
    return {
        "overall": _as_json(rows),
        **{
            kind: {label: _as_json(part) for label, part in sorted(parts.items(), key=lambda item: item[0])}
            for kind, parts in slices.items()
        },
    }


def lot_label(lot_size: int) -> str:
    """Return the bin of a lot size, ``01-10`` to ``41-50`` and ``51+``, so that labels sort by size."""
    if lot_size > 50:
        return "51+"
    low = max(edge for edge in LOT_EDGES if edge <= lot_size)
    return f"{low:02d}-{low + 9:02d}"


def _as_json(rows: Sequence[MoneyRow]) -> dict[str, Any]:
    return {name: estimate._asdict() for name, estimate in summarize_money(rows).items()}
