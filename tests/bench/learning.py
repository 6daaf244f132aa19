"""What exact credit for every move is worth to a learner: ``python -m tests.bench.learning [SEEDS [UPDATES]]``.

Trains the small policy of :mod:`experiments.training.reinforce` with terminal, exact and shuffled credit and prints,
over seeds, the surplus share on held-out episodes along the way and how many episodes it took to stay at 95 % of the
own end; intervals are those of a mean over seeds.
"""

from __future__ import annotations

import sys

import numpy as np

from experiments.training.reinforce import Credit, CurvePoint, TrainSettings, episodes_to, train_policy
from terms.estimates import Estimate, estimate_mean


def shown(value: Estimate, digits: int = 3) -> str:
    """Return a mean with its interval, which eight seeds are needed for."""
    if value.estimate is None:
        return "-"
    ends = "" if value.low is None or value.high is None else f" [{value.low:.{digits}f}, {value.high:.{digits}f}]"
    return f"{value.estimate:.{digits}f}{ends}"


def main(num_seeds: int, num_updates: int) -> None:
    """Print a block for each credit."""
    for credit in Credit:
        curves = list[list[CurvePoint]]()
        for seed in range(num_seeds):
            settings = TrainSettings(
                credit=credit, seed=seed, num_updates=num_updates, validate_every=num_updates // 20
            )
            curves.append([point for _, point in train_policy(settings)])
        sys.stdout.write(f"{credit.value}, {num_seeds} seeds\n")
        for points in list(zip(*curves, strict=True))[::4]:
            share = estimate_mean([point.surplus_share for point in points])
            sys.stdout.write(f"  after {points[0].num_episodes:7,} episodes {shown(share)}\n")
        needed = [taken for curve in curves if (taken := episodes_to(curve)) is not None]
        sys.stdout.write(
            f"  95 % of the own end after {shown(estimate_mean(np.array(needed, dtype=float)), 0)} episodes\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main(*(int(word) for word in (*sys.argv[1:], "8", "600")[:2]))
