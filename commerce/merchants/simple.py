"""Two merchants that mark the floor: one does nothing, one makes legal calls at random."""

from __future__ import annotations

import random
from typing import Any

from commerce.merchants.base import Call
from commerce.tools import WAIT


def idle_merchant(call: Call) -> None:
    """Wait until the year is over."""
    while not call(WAIT, {}).is_over:
        pass


class RandomLegalMerchant:
    """Calls every tool at random with arguments that are legal as far as the merchant can tell."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    def __call__(self, call: Call) -> None:
        """Play until the year is over."""
        walk = _RandomWalk(call, random.Random(self._seed))
        while not walk.step():
            pass


class _RandomWalk:
    """One random year: remembers what it has seen so that its calls name things that exist."""

    def __init__(self, call: Call, rng: random.Random) -> None:
        self._call, self._rng = call, rng
        self._types = self._ask("market_search").get("store_types", [])
        self._stores: list[tuple[str, str]] = []
        self._products: list[dict[str, Any]] = []
        self._suppliers: list[str] = []
        self._stock: list[dict[str, Any]] = []
        self._moves = (
            self._wait, self._wait, self._ship, self._look, self._buy, self._publish, self._open, self._close,
            self._price, self._withdraw,
        )  # fmt: skip

    def step(self) -> bool:
        """Make one move and say whether the year is over."""
        self._rng.choice(self._moves)()
        return self._over

    def _ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self._call(tool, arguments)
        self._over = result.is_over
        return dict(result.data or {})

    def _wait(self) -> None:
        self._ask(WAIT)

    def _ship(self) -> None:
        self._ask("ship_orders", action="ship", speed=self._rng.choice(["fast", "standard", "slow"]))

    def _withdraw(self) -> None:
        self._ask("withdraw")

    def _open(self) -> None:
        store_type = self._rng.choice(self._types)["store_type"]
        data = self._ask("open_store", store_type=store_type, store_name="Random")
        if data:
            self._stores.append((data["store_id"], store_type))

    def _close(self) -> None:
        if len(self._stores) > 1 and self._rng.random() < 0.2:
            store_id, _ = self._stores.pop(self._rng.randrange(len(self._stores)))
            self._ask("close_store", store_id=store_id, liquidate=self._rng.random() < 0.5)

    def _look(self) -> None:
        if self._stores:
            _, store_type = self._rng.choice(self._stores)
            category = self._rng.choice(self._ask("market_search", store_type=store_type)["category_names"] or [None])
            if category is not None:
                self._products = self._ask("list_products", category=category).get("results", [])
                found = self._ask("supplier_search", category=category).get("results", [])
                self._suppliers = [row["supplier_email"] for row in found]

    def _buy(self) -> None:
        if self._products and self._suppliers:
            product = self._rng.choice(self._products)
            move = {
                "action": "offer",
                "sku_id": product["product_id"],
                "price": round(product["reference_price"] * self._rng.uniform(0.3, 1.0) + 0.01, 2),
                "quantity": self._rng.randint(1, 40),
            }
            self._ask("chatbox", uids=[self._rng.choice(self._suppliers)], actions=[move])

    def _publish(self) -> None:
        self._stock = [
            row for row in self._ask("check_warehouse").get("items", {}).get("results", []) if row["unlisted"]
        ]
        if self._stock and self._stores:
            row = self._rng.choice(self._stock)
            item = {
                "product_id": row["product_id"],
                "quantity": row["unlisted"],
                "retail_price": round(max(0.01, row["average_cost"] * self._rng.uniform(0.8, 2.5)), 2),
            }
            self._ask("publish_to_store", store_id=self._rng.choice(self._stores)[0], plan=[item])

    def _price(self) -> None:
        if self._stock and self._stores:
            row = self._rng.choice(self._stock)
            price = round(max(0.01, row["average_cost"] * self._rng.uniform(0.8, 2.5)), 2)
            store_id = self._rng.choice(self._stores)[0]
            self._ask("set_prices", store_id=store_id, prices=[{"product_id": row["product_id"], "price": price}])
