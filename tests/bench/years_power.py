"""How many worlds tell which merchants apart: ``python -m tests.bench.years_power [WORLDS] [WORKERS] [RULES]``.

Every merchant plays every world; a pair is compared by the difference of final assets in the same world. The table
holds, for each pair, the mean difference in thousands of yuan with its 95 % interval, its standard deviation by world,
the correlation, and how many worlds a paired test at the 5 % level needs to see that difference with 80 and with 90 %
power, with the 95 % interval of that number (:mod:`terms.sample_sizes`). Years are played in process and not recorded.
"""

from __future__ import annotations

import itertools
import multiprocessing
import sys
import time
from collections.abc import Mapping, Sequence

import numpy as np

from commerce.config import RULE_SETS
from commerce.merchants import build_merchant, play_year
from commerce.world import generate_world
from commerce.year import Year
from experiments.stats.numerals import needed_text
from terms.estimates import estimate_mean
from terms.sample_sizes import needed_for_difference

MERCHANTS_COMPARED = (
    "idle", "random-legal", "rule-based", "first-quote", "price-gouger", "listing-hoarder", "fraud-seeker",
)  # fmt: skip
FIRST_WORLD = 7_000_000
POWERS = (0.8, 0.9)


def play_world(job: tuple[int, str]) -> tuple[list[int], float]:
    """Return the final assets of every merchant in one world, in fen, and the processor time it took."""
    seed, name = job
    rules, start = RULE_SETS[name], time.process_time()
    world = generate_world(seed, rules)
    players = (build_merchant(merchant, world, rules) for merchant in MERCHANTS_COMPARED)
    return [play_year(Year(world, rules), player).final_fen for player in players], time.process_time() - start


def power_table(assets: Mapping[str, Sequence[float]]) -> str:
    """Return the table of all pairs; ``assets`` are in yuan, by merchant, one a world."""
    lines = [f"{'pair':34} {'difference, thousands':>32} {'sd':>8} {'r':>6}  worlds for 80 %, 90 % power"]
    for first, second in itertools.combinations(assets, 2):
        one, other = np.array(assets[first]), np.array(assets[second])
        blocks = (one - other) / 1e3
        found = estimate_mean(blocks)
        interval = "too few" if found.low is None else f"[{found.low:,.1f}, {found.high:,.1f}]"
        r = "-" if not (one.std() and other.std()) else f"{np.corrcoef(one, other)[0, 1]:.2f}"
        needed = ", ".join(needed_text(needed_for_difference(blocks, power=power)._asdict()) for power in POWERS)
        shown = f"{found.estimate:,.1f} {interval}"
        lines.append(f"{first + ' - ' + second:34} {shown:>32} {blocks.std(ddof=1):8,.1f} {r:>6}  {needed}")
    return "\n".join(lines)


def main() -> None:
    """Play and print."""
    num, workers = (int(text) for text in (*sys.argv[1:3], "20", "2")[:2])
    name = sys.argv[3] if len(sys.argv) > 3 else "fair"
    start = time.perf_counter()
    jobs = [(FIRST_WORLD + world, name) for world in range(num)]
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        done = pool.map(play_world, jobs, chunksize=1)
    played, seconds = num * len(MERCHANTS_COMPARED), sum(spent for _, spent in done)
    sys.stdout.write(
        f"{name} rules, {num} worlds, {played} years in {time.perf_counter() - start:.0f} s with {workers} processes; "
        f"{seconds / played:.2f} s of processor a year\n"
    )
    columns = np.array([assets for assets, _ in done]).T / 100
    assets = dict(zip(MERCHANTS_COMPARED, columns.tolist(), strict=True))
    for merchant, values in assets.items():
        found = estimate_mean(np.array(values))
        interval = "too few to say" if found.low is None else f"[{found.low:,.0f}, {found.high:,.0f}]"
        sys.stdout.write(f"{merchant:16} {found.estimate:14,.0f} {interval}\n")
    sys.stdout.write(power_table(assets) + "\n")


if __name__ == "__main__":
    main()
