"""What kind of bargains a suite holds: how often a deal is possible, how much there is to divide, and the tails.

The relative zopa is that of a feasible scenario over its price range ``R``. Quantiles have the distribution-free
interval of order statistics: of ``n`` values below the quantile at ``q`` lie Binomial(n, q).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from terms import Scenario
from terms.aliases import Floats
from terms.estimates import Estimate, estimate_mean, estimate_share

_QUANTILES = {"5 %": 0.05, "median": 0.5, "95 %": 0.95}
GeometryRow = tuple[str, str, Estimate, float | None]
"""Suite, quantity, its estimate, and the p-value of the same law as in the first suite."""


def geometry_rows(suites: Mapping[str, Sequence[Scenario]]) -> Iterator[GeometryRow]:
    """Yield the geometry of every suite."""
    from scipy.stats import ks_2samp

    widths = {name: relative_zopas(scenarios) for name, scenarios in suites.items()}
    first = next(iter(widths.values()), np.zeros(0))
    for name, scenarios in suites.items():
        ones, found = np.ones(len(scenarios)), widths[name]
        possible = np.array([float(scenario.zopa > 0) for scenario in scenarios])
        yield name, "feasible", estimate_share(possible, ones, np.arange(len(scenarios))), None
        is_other = found is not first and len(found) and len(first)
        p = float(ks_2samp(first, found).pvalue) if is_other else None
        yield name, "zopa / R", estimate_mean(found), p
        for label, share in _QUANTILES.items():
            yield name, f"zopa / R, {label}", quantile_estimate(found, share), None
        yield name, "R", estimate_mean([scenario.price_range for scenario in scenarios]), None


def relative_zopas(scenarios: Sequence[Scenario]) -> Floats:
    """Return the zopa over the price range of every feasible scenario, shape (feasible,)."""
    return np.array([scenario.zopa / scenario.price_range for scenario in scenarios if scenario.zopa > 0])


def quantile_estimate(values: Floats, share: float) -> Estimate:
    """Return a quantile with its 95 % interval of order statistics, none where they do not reach that far."""
    from scipy.stats import binom

    n = len(values)
    if not n:
        return Estimate(None, None, None, 0)
    ranked = np.sort(values)
    low, high = int(binom.ppf(0.025, n, share)) - 1, int(binom.ppf(0.975, n, share))
    value = float(np.quantile(ranked, share))
    if low < 0 or high >= n:
        return Estimate(value, None, None, n)
    return Estimate(value, float(ranked[low]), float(ranked[high]), n)
