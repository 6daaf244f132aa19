"""A year in which one message was lost, against the same year without the loss: parts of noise, and how large they are.

``python -m tests.bench.lost_message [WORLDS] [DAYS]`` loses one message to suppliers at a time, several times in each
world. The noise of a world is the root mean square of what the assets then differ by; no part of the ledger of such a
year should be twice as large.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import Any

from commerce.config import FAIR, Rules
from commerce.merchants import build_merchant, play_year
from commerce.plan import extract
from commerce.types import World
from commerce.world import generate_world
from commerce.year import Result, Year
from oracle.store.regret import NamedPlan, regret_ledger

LOST = (3, 7, 12, 18, 25, 33)
"""Numbers of the messages that are lost, one a year."""
NUM_LEDGERS = 2


def year_without(world: World, rules: Rules, lost: int | None) -> Year:
    """Return the year of the rule-based merchant in which message number ``lost`` never arrived."""
    year, num = Year(world, rules), 0
    merchant = build_merchant("rule-based", world, rules)

    def call(tool: str, arguments: Mapping[str, Any]) -> Result:
        nonlocal num
        if tool == "chatbox":
            num += 1
            if num == lost:
                return year.call(tool, {})
        return year.call(tool, arguments)

    class Called:
        def __init__(self) -> None:
            self.call, self.stop = call, year.stop

    play_year(Called(), merchant)  # type: ignore[arg-type]
    return year


def largest_over_noise(seed: int, num_days: int) -> list[float]:
    """Return the largest part of some ledgers of one world, over its noise."""
    rules = FAIR.model_copy(update={"num_days": num_days})
    world = generate_world(seed, rules)
    whole, years = year_without(world, rules, None), [year_without(world, rules, lost) for lost in LOST]
    noise = math.sqrt(sum((year.final_fen - whole.final_fen) ** 2 for year in years) / len(years))
    found = []
    for year in years[:NUM_LEDGERS]:
        ledger = regret_ledger(whole.setting, NamedPlan("lost", extract(year)), NamedPlan("whole", extract(whole)))
        found.append(max(abs(row.part_fen) for row in ledger.rows) / noise)
    sys.stdout.write(f"world {seed}: noise {noise / 100:,.0f} yuan, parts over it {found}\n")
    sys.stdout.flush()
    return found


def main() -> None:
    """Print the table."""
    num_worlds, num_days = (int(text) for text in (sys.argv[1:] + ["6", "90"][len(sys.argv) - 1 :])[:2])
    found = [ratio for seed in range(200, 200 + num_worlds) for ratio in largest_over_noise(seed, num_days)]
    small = sum(ratio < 2 for ratio in found)
    sys.stdout.write(f"largest part below twice the noise in {small} of {len(found)} years\n")


if __name__ == "__main__":
    main()
