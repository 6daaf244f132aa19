"""Ledger digests of a few years under both rule sets; ``python -m tests.goldens.years`` writes them anew.

A digest is over every posting of a year, so work on speed cannot change a fen unseen. ``calls`` are years of random
calls whose suppliers take any price: they do not move with the bargaining kernel. The others are merchants' years and
move when anything a merchant meets is changed on purpose; their change is then looked at and written down.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

from commerce.config import RULE_SETS
from commerce.merchants import play_year
from commerce.world import generate_world
from commerce.year import Year
from oracle.store.year_players import FULL_KNOWLEDGE_PLANNER, HONEST_PLANNER, build_year_player
from tests.commerce.builders import HonestCounter
from tests.commerce.fuzzing import Fuzzer

PATH = Path(__file__).with_suffix(".txt")
NUM_CALLS = 600
SHORT_DAYS, PLANNER_DAYS, FULL_DAYS = 45, 20, 365
_MERCHANTS = ("rule-based", "random-legal")
_PLANNERS = (HONEST_PLANNER, FULL_KNOWLEDGE_PLANNER)
_ODDITIES = ("first-quote", "price-gouger", "listing-hoarder", "fraud-seeker")
SHORT = [f"{rules} 3 {name} {SHORT_DAYS}" for rules in RULE_SETS for name in (*_MERCHANTS, *_ODDITIES)]
SHORT += [f"{rules} 3 {name} {PLANNER_DAYS}" for rules in RULE_SETS for name in _PLANNERS]
CALLS = [f"{rules} {seed} calls {FULL_DAYS}" for rules in RULE_SETS for seed in (1, 2)]
FULL = [f"{rules} {seed} {name} {FULL_DAYS}" for rules in RULE_SETS for seed in (1, 2, 4) for name in _MERCHANTS[:1]]


def golden_year(key: str) -> Year:
    """Play the year of ``key``, which is rule set, world seed, merchant and number of days."""
    name, seed, merchant, num_days = key.split()
    rules = RULE_SETS[name].model_copy(update={"num_days": int(num_days)})
    world = generate_world(int(seed), rules)
    if merchant != "calls":
        return play_year(Year(world, rules), build_year_player(merchant, world, rules))
    year = Year(world, rules, procurement=HonestCounter())
    fuzzer = Fuzzer(year, random.Random(int(seed)))
    fuzzer.open_shop()
    for _ in range(NUM_CALLS):
        year.call(*fuzzer.call())
    year.stop()
    return year


def golden_line(key: str) -> str:
    """Play the year of ``key`` and write it down in one line."""
    year = golden_year(key)
    ledger = year.state.ledger
    return f"{key}: {year.final_fen} fen, {ledger.num_postings} postings, {ledger.digest}"


def golden_lines() -> dict[str, str]:
    """Return the lines that were written down, by key."""
    lines = PATH.read_text(encoding="utf-8").splitlines()
    return {line.split(":")[0]: line for line in lines}


def main(keys: Iterable[str]) -> None:
    """Play every year of ``keys`` and write the lines."""
    PATH.write_text("".join(golden_line(key) + "\n" for key in keys), encoding="utf-8")


if __name__ == "__main__":
    main([*CALLS, *SHORT, *FULL])
