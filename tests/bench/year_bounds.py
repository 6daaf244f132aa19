"""How close the planner comes to the bound of a year: ``python -m tests.bench.year_bounds NUM RULES [AGENT ...]``.

One line a world: what each agent ends with, less its windfall, the bound, and the bound over the first agent's; then
the mean ratio with its interval. Worlds have the seeds 1, 2, ...
"""

from __future__ import annotations

import sys
import time

import numpy as np

from commerce.config import Rules, rules_named
from commerce.merchants import play_year
from commerce.metrics import year_metrics
from commerce.types import World
from commerce.world import generate_world
from commerce.year import Year
from oracle.store.bound import year_bound
from oracle.store.year_players import build_year_player
from terms.intervals import mean_bounds, spread_of


def ends_of(agent: str, world: World, rules: Rules, seed: int) -> tuple[float, float]:
    """Return the final and the luck-adjusted assets of an agent's year."""
    metrics = year_metrics(play_year(Year(world, rules), build_year_player(agent, world, rules, seed)))
    final, adjusted = (metrics[name].value for name in ("final_assets", "luck_adjusted_assets"))
    if final is None or adjusted is None:
        raise RuntimeError(f"{agent} has no assets in world {seed}")
    return final, adjusted


def main(num_worlds: int, rules: Rules, agents: list[str]) -> None:
    """Print the table."""
    ratios, num_above = [], 0
    for seed in range(1, num_worlds + 1):
        world, start = generate_world(seed, rules), time.process_time()
        bound = year_bound(world, rules)
        seconds = time.process_time() - start
        ends = [ends_of(agent, world, rules, seed) for agent in agents]
        num_above += sum(adjusted > bound.upper for _, adjusted in ends)
        ratios.append(bound.upper / ends[0][0])
        shown = "  ".join(
            f"{agent} {final:,.0f} ({adj:,.0f})" for agent, (final, adj) in zip(agents, ends, strict=True)
        )
        line = f"{seed:3} {shown}  bound {bound.upper:,.0f} gap {bound.gap:.0e} {ratios[-1]:.3f} {seconds:.1f} s\n"
        sys.stdout.write(line)
        sys.stdout.flush()
    mean = float(np.mean(ratios))
    low, high = mean_bounds(mean, spread_of(np.array(ratios)))
    sys.stdout.write(
        f"{rules.name}: ratio {mean:.3f} [{low:.3f}, {high:.3f}], {num_worlds} worlds, {num_above} above\n"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), rules_named(sys.argv[2]), sys.argv[3:] or ["full-knowledge-planner"])
