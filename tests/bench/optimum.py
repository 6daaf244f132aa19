"""What the Bayes optimum earns on a short fresh suite and how long it thinks: ``python -m tests.bench.optimum``.

The long table, regime known and unknown, with and without cues, is ``terms train-oracle --episodes-per-cell 500``.
"""

from __future__ import annotations

import sys

from oracle.shipped import earned_on_fresh_episodes

NUM_PER_CELL = 25


def main() -> None:
    """Play a few episodes of three families, regime known and unknown, and print earnings with standard errors."""
    for family in ("taciturn", "candid", "adversarial"):
        earned_on_fresh_episodes(family, "overlap", n_per_cell=1, seed=0)  # compiles
        for prior in ("overlap", "unknown"):
            checks = earned_on_fresh_episodes(family, prior, n_per_cell=NUM_PER_CELL, seed=0)
            each = 1e3 * checks[0].seconds / sum(check.n for check in checks)
            for check in checks:
                sys.stdout.write(
                    f"{family:12} {prior:8} {check.opener:18} n = {check.n:4}  {each:5.1f} ms an episode  "
                    f"U/E[zopa] {check.utility_share:.3f} +- {check.utility_share_se:.3f}  "
                    f"SE+ {check.surplus_efficiency:.3f} +- {check.surplus_efficiency_se:.3f}\n"
                )


if __name__ == "__main__":
    main()
