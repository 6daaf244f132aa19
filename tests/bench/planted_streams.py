"""Planted faults of a year: does the ledger name the stream that was spoiled, and does its part grow with the dose?

``python -m tests.bench.planted_streams [WORLDS] [DAYS]`` takes the plan of the planner that knows everything, spoils
one stream in three doses, makes another one a little different at random (so that there is something else to name), and
carries the mixed plans out. Faults are planted on the plan, so no merchant decides anew; what it could not
pay in consequence is part of the fault, and cut without a limit.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

import numpy as np

from commerce.config import FAIR, Rules
from commerce.merchants import play_year
from commerce.plan import StorePlan, extract
from commerce.plan.planned import NEVER, ListPrices
from commerce.procurement import pair_terms
from commerce.setting import Setting
from commerce.types import Fraud, IntArray, World
from commerce.world import generate_world
from commerce.year import Year
from oracle.store.regret import Mixture, NamedPlan, regret_ledger
from oracle.store.regret_streams import Stream, TwoYears
from oracle.store.year_players import build_year_player
from terms.intervals import share_bounds

Spoil = Callable[[Setting, StorePlan, float], StorePlan]


class PlantedFault(NamedTuple):
    """A fault, the stream it is in, and its doses."""

    name: str
    stream: Stream
    doses: tuple[float, ...]
    spoil: Spoil


def overpays(setting: Setting, plan: StorePlan, dose: float) -> StorePlan:
    """Pay more for everything."""
    return replace(plan, buys=plan.buys._replace(unit_fen=np.rint(plan.buys.unit_fen * (1 + dose)).astype(np.int64)))


def buys_from_frauds(setting: Setting, plan: StorePlan, dose: float) -> StorePlan:
    """Buy a share of everything from a fraud of its category that deceives in the goods, at the same ratio."""
    world, buys, rows = setting.world, plan.buys, []
    chosen = _share(len(buys.sku), dose, "frauds")
    for row, is_bad in enumerate(chosen.tolist()):
        sku, old, units = int(buys.sku[row]), int(buys.supplier[row]), int(buys.units[row])
        bad = [
            one for one in world.suppliers_by_category[int(world.skus.category[sku])]
            if world.suppliers[one].fraud in (Fraud.QTY_BAIT, Fraud.QUALITY_DOWNGRADE)
        ]  # fmt: skip
        if not is_bad or not bad:
            rows.append((old, int(buys.unit_fen[row]), int(buys.delivered[row]), int(buys.defective[row])))
            continue
        least = [pair_terms(world, setting.rules, one, sku).reservation for one in (old, bad[0])]
        is_short = world.suppliers[bad[0]].fraud is Fraud.QTY_BAIT
        delivered = max(1, units * 65 // 100) if is_short else units
        rows.append(
            (bad[0], max(1, round(int(buys.unit_fen[row]) / least[0] * least[1])), delivered, 0 if is_short else units)
        )
    supplier, unit_fen, delivered_units, defective = np.array(rows, dtype=np.int64).reshape(-1, 4).T.copy()
    changed = buys._replace(supplier=supplier, unit_fen=unit_fen, delivered=delivered_units, defective=defective)
    return replace(plan, buys=changed)


def never_withdraws(setting: Setting, plan: StorePlan, dose: float) -> StorePlan:
    """Leave the money in the wallet in the last share of the year."""
    kept = plan.withdrawals.day < (1 - dose) * setting.rules.num_days
    withdrawals = plan.withdrawals._make(column[kept] for column in plan.withdrawals)
    return replace(plan, withdrawals=withdrawals, patience=plan.patience._replace(wallet=setting.rules.num_days))


def never_reprices(setting: Setting, plan: StorePlan, dose: float) -> StorePlan:
    """Keep the first price, which is too high."""
    _, first = np.unique(plan.prices.sku, return_index=True)
    rows = np.sort(first)
    prices = ListPrices(*(column[rows] for column in plan.prices))
    return replace(plan, prices=prices._replace(fen=np.rint(prices.fen * (1 + dose)).astype(np.int64)))


def overstocks(setting: Setting, plan: StorePlan, dose: float) -> StorePlan:
    """Buy more of everything."""
    more = [np.rint(column * (1 + dose)).astype(np.int64) for column in (plan.buys.units, plan.buys.delivered)]
    return replace(plan, buys=plan.buys._replace(units=more[0], delivered=more[1]))


def ships_late(setting: Setting, plan: StorePlan, dose: float) -> StorePlan:
    """Ship a share of the orders when they are cancelled already."""
    late = _share(len(plan.lines.sku), dose, "late")
    return replace(plan, lines=plan.lines._replace(shipment=np.where(late, NEVER, plan.lines.shipment)))


FAULTS = (
    PlantedFault("overpays", Stream.PRICE_PAID, (0.05, 0.10, 0.20), overpays),
    PlantedFault("buys from frauds", Stream.SUPPLIER, (0.2, 0.4, 0.8), buys_from_frauds),
    PlantedFault("overstocks", Stream.ASSORTMENT, (0.5, 1.0, 2.0), overstocks),
    PlantedFault("never reprices", Stream.RETAIL_PRICE, (0.05, 0.10, 0.20), never_reprices),
    PlantedFault("ships late", Stream.SHIPPING, (0.1, 0.2, 0.4), ships_late),
    PlantedFault("never withdraws", Stream.CASH, (0.5, 0.6, 1.0), never_withdraws),
)


def _share(num: int, share: float, name: str) -> np.ndarray:
    """Return which rows are in a share of them; a larger share holds a smaller one."""
    return np.random.default_rng([len(name), num]).random(num) < share


def a_little_different(setting: Setting, plan: StorePlan, stream: Stream, seed: int) -> StorePlan:
    """Return the plan with the prices it pays or asks changed at random by a per cent or so."""
    rng = np.random.default_rng(seed)

    def shaken(fen: IntArray) -> IntArray:
        return np.maximum(1, np.rint(fen * (1 + 0.01 * rng.standard_normal(len(fen)))).astype(np.int64))

    if stream is Stream.PRICE_PAID:
        return replace(plan, buys=plan.buys._replace(unit_fen=shaken(plan.buys.unit_fen)))
    return replace(plan, prices=plan.prices._replace(fen=shaken(plan.prices.fen)))


def other_than(stream: Stream) -> Stream:
    """Return the stream that is a little different beside a fault in ``stream``."""
    return Stream.PRICE_PAID if stream is Stream.RETAIL_PRICE else Stream.RETAIL_PRICE


def good_plan(world: World, rules: Rules) -> StorePlan:
    """Return the plan of the planner that knows everything."""
    return extract(play_year(Year(world, rules), build_year_player("full-knowledge-planner", world, rules)))


class Carried:
    """Carries mixed plans out, each once: most are the same at every dose."""

    def __init__(self) -> None:
        self._made: dict[str, Mixture] = {}

    def __call__(self, work: Any, pieces: Sequence[Sequence[frozenset[Stream]]]) -> list[list[Mixture]]:
        """Do what ``map`` would do."""
        world, rules, played, reference = work.args
        two = TwoYears(Setting(world, rules), played, reference)
        return [[self._carry_out(work, two, group) for group in piece] for piece in pieces]

    def _carry_out(self, work: Any, two: TwoYears, group: frozenset[Stream]) -> Mixture:
        key = _decided(two.plan(group))
        if key not in self._made:
            (self._made[key],) = work([group])
        return self._made[key]._replace(streams=group)


def _decided(plan: StorePlan) -> str:
    """Return a digest of all that was decided; the numbers of the acts say nothing."""
    found = hashlib.sha256()
    for field in fields(plan):
        table = getattr(plan, field.name)
        for name, column in (table._asdict() if isinstance(table, tuple) else {"": table}).items():
            if name != "order":
                found.update(column.tobytes() if isinstance(column, np.ndarray) else repr(column).encode())
    return found.hexdigest()


def planted_in(seed: int, num_days: int, faults: Sequence[PlantedFault] = FAULTS) -> dict[str, list[dict[str, int]]]:
    """Return for each fault the part of each stream at its doses, in one world."""
    rules = FAIR.model_copy(update={"num_days": num_days})
    world = generate_world(seed, rules)
    setting, good, carried = Setting(world, rules), good_plan(world, rules), Carried()

    def parts_of(fault: PlantedFault, dose: float) -> dict[str, int]:
        spoiled = fault.spoil(setting, a_little_different(setting, good, other_than(fault.stream), seed), dose)
        names = NamedPlan(fault.name, spoiled), NamedPlan("unspoiled", good)
        return {row.stream: row.part_fen for row in regret_ledger(setting, *names, max_cut=1.0, spread=carried).rows}

    return {fault.name: [parts_of(fault, dose) for dose in fault.doses] for fault in faults}


class Named(NamedTuple):
    """In how many worlds a fault's stream had the largest part at each dose, and grew with it; parts in fen."""

    fault: str
    stream: str
    num_worlds: int
    named: tuple[int, ...]
    grew: int
    median_fen: tuple[float, ...]


def tallied(worlds: Sequence[dict[str, list[dict[str, int]]]]) -> list[Named]:
    """Return what became of each fault over the worlds."""
    found = []
    for fault in FAULTS:
        rows = [world[fault.name] for world in worlds]
        own = np.array([[parts[fault.stream] for parts in row] for row in rows])
        named = np.array([[max(parts, key=parts.__getitem__) == fault.stream for parts in row] for row in rows])
        grew = (np.diff(own, axis=1) > 0).all(axis=1)
        medians = tuple(np.median(own, axis=0).tolist())
        found.append(
            Named(fault.name, fault.stream, len(rows), tuple(named.sum(axis=0).tolist()), int(grew.sum()), medians)
        )
    return found


def main() -> None:
    """Print each world as it ends, and then the table."""
    num_worlds, num_days = (int(text) for text in (sys.argv[1:] + ["60", "60"][len(sys.argv) - 1 :])[:2])
    worlds = []
    for seed in range(100, 100 + num_worlds):
        worlds.append(planted_in(seed, num_days))
        sys.stdout.write(json.dumps({"world": seed, **worlds[-1]}) + "\n")
        sys.stdout.flush()
    for row in tallied(worlds):
        shares = [
            f"{num}/{row.num_worlds} [{low:.3f}, {high:.3f}]"
            for num in (*row.named, row.grew)
            for low, high in [share_bounds(num / row.num_worlds, row.num_worlds)]
        ]
        told = f"named {', '.join(shares[:-1])}; grew {shares[-1]}; median parts {row.median_fen} fen"
        sys.stdout.write(f"{row.fault:18}{row.stream:14}{told}\n")


if __name__ == "__main__":
    main()
