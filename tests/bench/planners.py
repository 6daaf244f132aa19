"""What the players of a year end with: ``python -m tests.bench.planners RULES NUM NAME...``.

Final assets in yuan on worlds 1, 2, ..., their mean with its interval, the least, bankruptcies and processor seconds.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from commerce.config import Rules, rules_named
from commerce.merchants import play_year
from commerce.types import EndReason
from commerce.world import generate_world
from commerce.year import Year
from oracle.store.year_players import build_year_player
from terms.intervals import mean_bounds, spread_of


def main(rules: Rules, num_worlds: int, names: list[str]) -> None:
    """Play and print one line a year, then one line a player."""
    for name in names:
        assets, seconds, bankrupt = [], [], 0
        for seed in range(1, num_worlds + 1):
            world, start = generate_world(seed, rules), time.process_time()
            year = play_year(Year(world, rules), build_year_player(name, world, rules))
            assets.append(year.final_fen / 100)
            seconds.append(time.process_time() - start)
            bankrupt += year.state.end == EndReason.BANKRUPTCY
            overdrawn = year.state.totals.overdrawn_mornings
            sys.stdout.write(f"{name:24}{seed:4}{assets[-1]:16,.0f}{overdrawn:4} overdrawn{seconds[-1]:7.1f} s\n")
            sys.stdout.flush()
        mean = float(np.mean(assets))
        low, high = mean_bounds(mean, spread_of(np.array(assets)))
        sys.stdout.write(
            f"{name}, {rules.name}: mean {mean:,.0f} [{low:,.0f}, {high:,.0f}], least {min(assets):,.0f}, {bankrupt} "
            f"bankrupt, {np.mean(seconds):.1f} s, {num_worlds} worlds\n"
        )


if __name__ == "__main__":
    main(rules_named(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
