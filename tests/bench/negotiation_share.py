"""The share of a planner's result that negotiation decides: ``python -m tests.bench.negotiation_share [NUM] [RULES]``.

Two planners that know the world and differ in nothing but what they pay: the floor of each supplier, or the first quote
of each talk. The share is 1 - assets at first quotes / assets at floors, on worlds 1, 2, ... of a rule set.
"""

from __future__ import annotations

import sys
import time
from typing import get_args

import numpy as np

from commerce.config import Rules, rules_named
from commerce.merchants import play_year
from commerce.world import generate_world
from commerce.year import Year
from oracle.store.full_knowledge import Pays
from oracle.store.year_players import full_knowledge_planner
from terms.intervals import mean_bounds, spread_of


def assets_yuan(seed: int, rules: Rules, pays: Pays) -> float:
    """Return the final assets of a planner that pays ``pays``."""
    world = generate_world(seed, rules)
    return play_year(Year(world, rules), full_knowledge_planner(world, rules, pays)).final_fen / 100


def main(num_worlds: int, rules: Rules) -> None:
    """Print the assets and the share of every world, then the mean share with its interval."""
    shares = []
    for seed in range(1, num_worlds + 1):
        start = time.process_time()
        floor, quote = (assets_yuan(seed, rules, pays) for pays in get_args(Pays))
        shares.append(1 - quote / floor)
        seconds = time.process_time() - start
        sys.stdout.write(f"{seed:3} {floor:14,.0f} {quote:14,.0f} {shares[-1]:7.1%} {seconds:6.1f} s\n")
        sys.stdout.flush()
    mean = float(np.mean(shares))
    low, high = mean_bounds(mean, spread_of(np.array(shares)))
    sys.stdout.write(f"{rules.name}: {mean:.1%} [{low:.1%}, {high:.1%}], {num_worlds} worlds\n")


if __name__ == "__main__":
    given = sys.argv[1:]
    main(int(given[0]) if given else 20, rules_named(given[1] if len(given) > 1 else "fair"))
