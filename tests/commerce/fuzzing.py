"""Random tool calls, well formed and malformed, in years that never stop being consistent.

``python -m tests.commerce.fuzzing 1000000`` runs the long version, in parts with a seed each that are told as they end.
"""

from __future__ import annotations

import json
import random
import sys
import time
from typing import Any

from commerce.audit import check_books
from commerce.config import FAIR, PAPER
from commerce.state import state_digest
from commerce.tools import TOOLS, WAIT
from commerce.world import generate_world
from commerce.year import Year
from tests.commerce.builders import stock_up

STRANGE: tuple[Any, ...] = (
    None, True, False, 0, -1, -3, 10**30, 1e-9, 1e12, 1e309, float("nan"), -0.0, 5.7, "", "5", "false", "NaN",
    "x" * 300, "\u0665", [], {}, [[]], ["a"], {"a": 1}, "store_001; drop", "'", "\x00",
)  # fmt: skip
NUM_SKUS = 60
PART = 100_000


class Fuzzer:
    """Draws calls that often make sense in the year they are made in."""

    def __init__(self, year: Year, rng: random.Random) -> None:
        self.year, self.rng = year, rng
        world = year.setting.world
        self._types = [world.store_types[i].name for i in (8, 10, 5)]
        keep = set(self._types)
        skus = [i for i, t in enumerate(world.skus.store_type) if world.store_types[t].name in keep]
        self._skus = [world.skus.sku_id[i] for i in rng.sample(skus, NUM_SKUS)]
        self._emails = list(world.supplier_index)
        self._categories = list(world.category_index)

    def open_shop(self) -> None:
        """Open three stores with something to sell, so that orders, returns and escrow are met often."""
        for store_type in self._types:
            self.year.call("open_store", {"store_type": store_type, "store_name": "S"})
        world = self.year.setting.world
        for sku in self._skus:
            row = world.sku_index[sku]
            stock_up(self.year, row, 200, 100)
            number = self._types.index(world.store_types[int(world.skus.store_type[row])].name) + 1
            item = {"product_id": sku, "quantity": 150, "retail_price": int(world.skus.reference_fen[row]) / 100}
            self.year.call("publish_to_store", {"store_id": f"store_{number:03d}", "plan": [item]})

    def sku(self) -> str:
        """A product id, mostly one of a few that are traded."""
        on_hand = self.year.state.on_hand.nonzero()[0]
        if len(on_hand) and self.rng.random() < 0.7:
            return self.year.setting.world.skus.sku_id[int(self.rng.choice(on_hand.tolist()))]
        return self.rng.choice(self._skus)

    def price(self, sku: str) -> float:
        """A price around the reference of ``sku``."""
        world = self.year.setting.world
        reference = int(world.skus.reference_fen[world.sku_index[sku]]) / 100
        return round(reference * self.rng.choice([0.01, 0.3, 0.7, 0.9, 1.0, 1.1, 2.0]) + 0.01, 2)

    def supplier(self, sku: str) -> str:
        """A supplier of ``sku``."""
        world = self.year.setting.world
        category = int(world.skus.category[world.sku_index[sku]])
        return world.suppliers[self.rng.choice(world.suppliers_by_category[category])].email

    def arguments(self, tool: str) -> dict[str, Any]:
        """Plausible arguments of ``tool``."""
        rng, sku = self.rng, self.sku()
        store = f"store_{rng.randint(1, max(1, len(self.year.state.stores)) + 1):03d}"
        move = rng.choice(["offer", "offer", "offer", "accept", "reject", "pay_vip_fee"])
        units = rng.choice([1, 2, 5, 20, 100])
        return {
            "open_store": {"store_type": rng.choice(self._types), "store_name": "S"},
            "close_store": {"store_id": store, "liquidate": rng.random() < 0.5},
            "check_store_status": rng.choice([{}, {"store_id": store}]),
            "list_products": {"category": rng.choice(self._categories), "page": rng.randint(1, 3)},
            "publish_to_store": {
                "store_id": store,
                "plan": [{"product_id": sku, "quantity": units, "retail_price": self.price(sku)}],
            },
            "set_prices": {"store_id": store, "prices": [{"product_id": sku, "price": self.price(sku)}]},
            "return_to_warehouse": {"store_id": store, "items": [{"product_id": sku, "quantity": units}]},
            "join_promotion": {
                "store_id": store,
                "event_name": rng.choice(self.year.setting.world.promotions).name,
                "discount_rate": rng.choice([0.05, 0.3, 0.5]),
            },
            "withdraw": rng.choice([{}, {"amount": 1.0}, {"amount": 1e6}]),
            "chatbox": {
                "uids": [self.supplier(sku)],
                "content": "hello",
                "actions": [
                    {"action": move}
                    if move == "pay_vip_fee"
                    else {"action": move, "sku_id": sku, "price": self.price(sku), "quantity": units}
                ],
            },
            "operate_memory": rng.choice(
                [{"action": "add", "title": str(units), "content": "c"}, {"action": "list"},
                 {"action": "delete", "title": str(units)}]
            ),
            "market_search": rng.choice([{}, {"category": rng.choice(self._categories)}]),
            "supplier_search": {"category": rng.choice(self._categories)},
            "ship_orders": rng.choice(
                [{"action": "list"}, {"action": "ship", "speed": rng.choice(["fast", "standard", "slow"])},
                 {"action": "ship", "shipment_ids": [units, units + 1]}]
            ),
            "trace_return_sources": rng.choice([{}, {"product_id": sku}]),
        }.get(tool, {})  # fmt: skip

    def call(self) -> tuple[str, Any]:
        """The next call."""
        rng = self.rng
        if rng.random() < 0.01:
            return rng.choice(["", "nope", "open_store ", "__init__", None]), rng.choice(STRANGE)
        weights = {WAIT: 6, "chatbox": 5, "publish_to_store": 5, "ship_orders": 4, "close_store": 0.1}
        tool = rng.choices(list(TOOLS), [weights.get(name, 1) for name in TOOLS])[0]
        arguments: Any = self.arguments(tool)
        if rng.random() < 0.25:
            arguments = self.mutated(arguments)
        if rng.random() < 0.05:
            text = json.dumps(arguments)
            arguments = rng.choice([text, text[:-2], "[" + text + "]", "not json", "{\"amount\": NaN}"])  # fmt: skip
        return tool, arguments

    def mutated(self, arguments: dict[str, Any]) -> Any:
        """Spoil one part of the arguments."""
        rng = self.rng
        if not arguments or rng.random() < 0.1:
            return rng.choice([{"unknown": 1}, rng.choice(STRANGE)])
        spoiled = dict(arguments)
        key = rng.choice(list(spoiled))
        value = spoiled[key]
        if isinstance(value, list) and value and isinstance(value[0], dict) and rng.random() < 0.8:
            spoiled[key] = [self.mutated(value[0]), *value]
        elif rng.random() < 0.2:
            del spoiled[key]
        else:
            spoiled[key] = rng.choice(STRANGE)
        return spoiled


def run_calls(num_calls: int, seed: int) -> dict[str, int]:
    """Make ``num_calls`` calls, checking every invariant after each; return counts of what happened."""
    rng = random.Random(seed)
    counts = {"calls": 0, "ok": 0, "years": 0, "days": 0, "orders": 0}
    worlds = {rules.name: generate_world(seed, rules) for rules in (PAPER, FAIR)}
    while counts["calls"] < num_calls:
        rules = rng.choice([PAPER, FAIR])
        year = Year(worlds[rules.name], rules.model_copy(update={"initial_fen": rng.choice([10**7, 10**9])}))
        fuzzer = Fuzzer(year, rng)
        if rng.random() < 0.8:
            fuzzer.open_shop()
        now = (year.state.day, year.state.minute)
        while counts["calls"] < num_calls and not year.is_over:
            result = year.call(*fuzzer.call())
            json.dumps(result.to_json_object(), allow_nan=False)
            check_books(year.setting, year.state)
            assert (result.data is None) != (result.error is None)
            assert (year.state.day, year.state.minute) >= now, "time ran backwards"
            now = (year.state.day, year.state.minute)
            counts["calls"] += 1
            counts["ok"] += result.ok
        counts["years"] += 1
        counts["days"] += year.state.day
        counts["orders"] += year.state.next_order - 1
        if year.is_over:
            before = state_digest(year.state)
            for _ in range(20):
                assert not year.call(*fuzzer.call()).ok
            assert state_digest(year.state) == before, "a call after the end changed something"
    return counts


if __name__ == "__main__":
    total, first_seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for number, start in enumerate(range(0, total, PART)):
        began = time.process_time()
        found = run_calls(min(PART, total - start), seed=first_seed + number)
        sys.stdout.write(
            f"seed {first_seed + number}: {found}, {time.process_time() - began:.0f} s of processor time\n"
        )
        sys.stdout.flush()
