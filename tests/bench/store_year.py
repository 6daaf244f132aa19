"""How fast a store year runs: ``python -m tests.bench.store_year``.

Processor time, so that a busy machine does not matter much; what matters between two versions is the ratio to the
rule-based year of the same run, because machines drift.
"""

from __future__ import annotations

import cProfile
import io
import pstats
import resource
import sys
import time
from collections.abc import Callable
from typing import TypeVar

from commerce.branching import Branches, Repeated
from commerce.config import PAPER
from commerce.merchants import MERCHANTS, build_merchant, play_year
from commerce.metrics import year_metrics
from commerce.plan import execute, extract
from commerce.year import Year
from tests.commerce.builders import default_world, new_year, ok, stock_up

T = TypeVar("T")


def merchant_year(name: str) -> str:
    """Time, calls and final assets of one merchant's year."""
    start = time.process_time()
    year = play_year(Year(default_world()), build_merchant(name, default_world(), PAPER))
    seconds = time.process_time() - start
    calls = sum(year.state.calls.values())
    return f"{name:13} {seconds:6.2f} s  {calls:5d} calls  {year.state.day:3d} days  {year.final_fen / 100:12.2f} yuan"


def timed(run: Callable[[], T]) -> tuple[T, float]:
    """Return what ``run`` returns and the processor time it took."""
    start = time.process_time()
    return run(), time.process_time() - start


def plan_and_branch() -> str:
    """Time of what is done with a year that was played, beside the time it took to play."""
    world = default_world()
    year, played = timed(lambda: play_year(Year(world), build_merchant("rule-based", world, PAPER)))
    plan, reading = timed(lambda: extract(year))
    done, carried = timed(lambda: execute(world, PAPER, plan))
    assert done.year.state.ledger.digest == year.state.ledger.digest
    _, measured = timed(lambda: year_metrics(year))
    branches = Branches(year)
    _, first = timed(lambda: branches.morning(360))
    _, second = timed(lambda: branches.morning(355))
    _, rest = timed(lambda: branches.branch(350, Repeated(year)))
    rows = {"play": played, "extract": reading, "execute": carried, "metrics": measured, "go to day 360": first}
    rows |= {"go to day 355": second, "repeat from day 350": rest}
    return "".join(f"{name:20} {1e3 * seconds:7.0f} ms  {seconds / played:5.2f}\n" for name, seconds in rows.items())


def days_per_second(num_listed: int, num_days: int = 60) -> str:
    """Daily steps a second with ``num_listed`` SKUs on the shelves, shipped every day."""
    world = default_world()
    year = new_year(world, initial_fen=10**13, max_open_stores=12, num_days=400)
    per_type = -(-num_listed // 12)
    listed = 0
    for row, kind in enumerate(world.store_types):
        store = ok(year, "open_store", store_type=kind.name, store_name="S")["store_id"]
        plan = []
        for sku in year.setting.rows_of_type[row][:per_type].tolist():
            if listed < num_listed:
                listed += 1
                stock_up(year, sku, 2_000, 100)
                reference = int(world.skus.reference_fen[sku]) / 100
                plan.append(dict(product_id=world.skus.sku_id[sku], quantity=2_000, retail_price=reference))
        for part in range(0, len(plan), 500):
            ok(year, "publish_to_store", store_id=store, plan=plan[part : part + 500])
    start = time.process_time()
    for _ in range(num_days):
        ok(year, "wait_for_next_day")
        year.call("ship_orders", {"action": "ship"})
    return f"{listed:5d} listed SKUs  {num_days / (time.process_time() - start):8.0f} days a second"


def profile() -> str:
    """Where the time of a rule-based year goes."""
    profiler = cProfile.Profile()
    year, merchant = Year(default_world()), build_merchant("rule-based", default_world(), PAPER)
    profiler.runcall(play_year, year, merchant)
    text = io.StringIO()
    pstats.Stats(profiler, stream=text).strip_dirs().sort_stats("tottime").print_stats(15)
    return text.getvalue()


def main() -> None:
    """Print every figure."""
    default_world()
    for name in MERCHANTS:
        sys.stdout.write(merchant_year(name) + "\n")
    sys.stdout.write(plan_and_branch())
    sys.stdout.write(f"memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB\n")
    for num_listed in (1, 100, 2000):
        sys.stdout.write(days_per_second(num_listed) + "\n")
    sys.stdout.write(profile())


if __name__ == "__main__":
    main()
