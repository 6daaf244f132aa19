r"""How often one agent does better than another.

``P(X > Y)`` with ties counted half (Agarwal et al. 2021, Deep Reinforcement Learning at the Edge of the Statistical
Precipice), over all pairs of repeats. Paired, the two meet the same scenario, and the interval is the exact one of a
share of scenarios, which is wide enough for ties and repeats. Unpaired, every scenario of one meets every scenario of
the other: Mann and Whitney's statistic, whose interval adds up what each scenario contributes to either side, because
both agents play the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from terms.aliases import Floats
from terms.estimates import UNDEFINED, Estimate
from terms.intervals import mean_bounds, share_bounds, spread_of


def improvement(
    first: Mapping[str, Sequence[float]], second: Mapping[str, Sequence[float]], better: str
) -> tuple[Estimate, Estimate]:
    """Return how likely ``first`` does better than ``second``, paired and unpaired, over the blocks both have.

    Parameters
    ----------
    first, second
        By scenario, session or world, the outcomes of each repeat.
    better
        ``higher`` or ``lower``: which outcome is the better one.
    """
    shared = sorted(set(first) & set(second))
    if not shared:
        return UNDEFINED, UNDEFINED
    sign = -1.0 if better == "lower" else 1.0
    x, y = ([sign * np.asarray(side[block], dtype=np.float64) for block in shared] for side in (first, second))
    wins = np.array([_wins(mine, theirs).mean() for mine, theirs in zip(x, y, strict=True)])
    paired = float(wins.mean())
    return Estimate(paired, *share_bounds(paired, len(wins)), len(wins)), _unpaired(x, y)


def _wins(x: Floats, y: Floats) -> Floats:
    """Return 1 where an entry of ``x`` is above one of ``y``, one half where they are equal, shape (x, y)."""
    found: Floats = (np.sign(x[:, None] - y[None, :]) + 1) / 2
    return found


def _unpaired(x: Sequence[Floats], y: Sequence[Floats]) -> Estimate:
    blocks = len(x)
    ours = np.repeat(np.arange(blocks), [len(each) for each in x])
    theirs = np.repeat(np.arange(blocks), [len(each) for each in y])
    wins = _wins(np.concatenate(x), np.concatenate(y))
    value = float(wins.mean())
    counts = [np.bincount(side, minlength=blocks) for side in (ours, theirs)]
    mine = np.bincount(ours, weights=wins.mean(axis=1) - value, minlength=blocks) / counts[0].mean()
    other = np.bincount(theirs, weights=wins.mean(axis=0) - value, minlength=blocks) / counts[1].mean()
    low, high = mean_bounds(value, spread_of(value + mine + other))
    if not np.isfinite(low):
        return Estimate(value, None, None, blocks)
    return Estimate(value, max(0.0, float(low)), min(1.0, float(high)), blocks)
