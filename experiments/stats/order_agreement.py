r"""How far two measurements put the same agents in the same order.

Kendall's :math:`\tau_b` of the mean scores. The interval resamples blocks (scenarios), the same ones for every agent
and both measurements, and takes percentiles: it is about these agents, not about others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from terms.aliases import Floats
from terms.estimates import Estimate

NUM_RESAMPLES = 2000


def kendall_tau(first: Floats, second: Floats) -> float | None:
    r"""Return :math:`\tau_b` of two lists of scores, ``None`` where either holds only ties.

    Examples
    --------
    >>> kendall_tau(np.array([3.0, 2.0, 1.0, 0.0]), np.array([3.0, 2.0, 0.0, 1.0]))
    0.6666666666666666
    """
    pairs = np.triu_indices(len(first), 1)
    one, other = (np.sign(scores[pairs[0]] - scores[pairs[1]]) for scores in (first, second))
    scale = np.sqrt(np.abs(one).sum() * np.abs(other).sum())
    return float((one * other).sum() / scale) if scale else None


def order_agreement(
    first: Mapping[str, Sequence[float]],
    second: Mapping[str, Sequence[float]],
    *,
    rng: np.random.Generator,
    num_resamples: int = NUM_RESAMPLES,
) -> Estimate:
    r"""Return :math:`\tau_b` between the orders of ``first`` and ``second``, with a 95 % interval; ``n`` is the blocks.

    Parameters
    ----------
    first, second
        Scores by agent, each one a block; all agents of both have the same blocks in the same order.

    Raises
    ------
    ValueError
        If the agents differ, fewer than two are given, or numbers of blocks differ.
    """
    names = sorted(first)
    if names != sorted(second) or len(names) < 2:
        raise ValueError(f"agents={names} and {sorted(second)}; the same two or more must have both scores")
    if len({len(scores[name]) for scores in (first, second) for name in names}) > 1:
        raise ValueError("every agent needs a score in every block")
    tables = [np.array([scores[name] for name in names], dtype=float) for scores in (first, second)]
    n = tables[0].shape[1]
    picks = rng.integers(n, size=(num_resamples, n))
    drawn = [kendall_tau(*(table[:, pick].mean(axis=1) for table in tables)) for pick in picks]
    defined = [tau for tau in drawn if tau is not None]
    low, high = np.quantile(defined, [0.025, 0.975]) if defined else (None, None)
    tau = kendall_tau(*(table.mean(axis=1) for table in tables))
    return Estimate(tau, None if low is None else float(low), None if high is None else float(high), n)
