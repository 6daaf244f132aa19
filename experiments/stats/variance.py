r"""How much outcomes vary between scenarios (or worlds), and how much between repeats of the same one.

With ``r_i`` repeats of block ``i`` of ``G``, ``N`` in all, mean squares between and within the blocks and
``r_0 = (N - sum r_i^2 / N) / (G - 1)``, the parts are ``within = MSW`` and ``between = (MSB - MSW) / r_0``, never below
0 (one-way random effects; Searle, Casella and McCulloch, Variance Components, 1992, chapter 3). Intervals are those of
the jackknife over blocks, on the logarithm where the part is positive; without repeats nothing is within.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from terms.aliases import Floats
from terms.estimates import UNDEFINED, Estimate
from terms.intervals import mean_bounds, spread_of


class VarianceParts(NamedTuple):
    """Variance between and within blocks and the share between, in squared units; ``n`` counts the blocks."""

    between: Estimate
    within: Estimate
    share_between: Estimate
    num_repeats: int

    def to_json_object(self) -> dict[str, Any]:
        """Return the parts as JSON types; ``num_repeats`` counts outcomes."""
        parts = {"between": self.between, "within": self.within, "share_between": self.share_between}
        return {**{name: part._asdict() for name, part in parts.items()}, "num_repeats": self.num_repeats}


def variance_parts(outcomes: Mapping[str, Sequence[float]]) -> VarianceParts:
    """Split the variance of ``outcomes``, by block the outcomes of its repeats; undefined without repeats.

    Of a single block only the variance within is defined.
    """
    blocks = [np.asarray(values, dtype=np.float64) for values in outcomes.values() if len(values)]
    counts = np.array([len(block) for block in blocks], dtype=np.float64)
    num_repeats = int(counts.sum())
    if len(blocks) == 1 and num_repeats > 1:
        return VarianceParts(UNDEFINED._replace(n=1), _variance_of(blocks[0]), UNDEFINED._replace(n=1), num_repeats)
    if len(blocks) < 2 or num_repeats == len(blocks):
        unknown = UNDEFINED._replace(n=len(blocks))
        return VarianceParts(unknown, unknown, unknown, num_repeats)
    sums = np.array([block.sum() for block in blocks])
    squares = np.array([np.square(block - block.mean()).sum() for block in blocks])
    whole = _parts(counts, sums, squares)
    left_out = _leave_one_out(counts, sums, squares) if len(blocks) > 2 else None
    between, within, share = (
        _jackknife(value, None if left_out is None else left_out[:, place], len(blocks))
        for place, value in enumerate(whole)
    )
    return VarianceParts(between, within, share, num_repeats)


def _variance_of(values: Floats) -> Estimate:
    """Return the variance of the repeats of one block, ``n`` of them, with the interval of a normal law.

    Repeats that all came out alike have no interval: it would be of zero width, and they say nothing of the next one.
    """
    from scipy.stats import chi2

    squares, freedom = float(np.square(values - values.mean()).sum()), len(values) - 1
    if squares == 0.0:
        return Estimate(0.0, None, None, len(values))
    most, least = float(chi2.ppf(0.975, freedom)), float(chi2.ppf(0.025, freedom))
    return Estimate(squares / freedom, squares / most, squares / least, len(values))


def _parts(counts: Floats, sums: Floats, squares: Floats) -> Floats:
    """Return between, within and the share between of blocks given by their sizes, sums and squared deviations."""
    total, groups = counts.sum(), len(counts)
    within = squares.sum() / max(1.0, total - groups)
    grand = sums.sum() / total
    mean_square = (counts * np.square(sums / counts - grand)).sum() / (groups - 1)
    size = (total - np.square(counts).sum() / total) / (groups - 1)
    between = max(0.0, (mean_square - within) / size)
    share = between / (between + within) if between + within > 0 else np.nan
    return np.array([between, within, share])


def _leave_one_out(counts: Floats, sums: Floats, squares: Floats) -> Floats:
    kept = ~np.eye(len(counts), dtype=bool)
    return np.array([_parts(counts[row], sums[row], squares[row]) for row in kept])


def _jackknife(value: float, left_out: Floats | None, n: int) -> Estimate:
    if not np.isfinite(value):
        return UNDEFINED._replace(n=n)
    if left_out is None or value <= 0 or not (left_out > 0).all():
        return Estimate(float(value), None, None, n)
    logs = n * np.log(value) - (n - 1) * np.log(left_out)
    low, high = mean_bounds(float(np.log(value)), spread_of(logs))
    if not np.isfinite(low):
        return Estimate(float(value), None, None, n)
    return Estimate(float(value), float(np.exp(low)), float(np.exp(high)), n)
