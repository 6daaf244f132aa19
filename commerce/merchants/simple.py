"""Two merchants that mark the floor: one does nothing, one makes legal calls at random."""

from __future__ import annotations

import random
from typing import Any

from commerce.branching import View
from commerce.merchants.base import Call, open_stores
from commerce.tools import WAIT


class IdleMerchant:
    """Does nothing."""

    def __call__(self, call: Call) -> None:
        """Wait until the year is over."""
        while not call(WAIT, {}).is_over:
            pass

    def take_over(self, view: View) -> None:
        """Wait from here on."""
        if not view.is_over:
            self(view.call)


class RandomLegalMerchant:
    """Calls every tool at random with arguments that are legal as far as the merchant can tell."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    def __call__(self, call: Call) -> None:
        """Play until the year is over."""
        walk = _RandomWalk(call, random.Random(self._seed))
        while not walk.step():
            pass

    def take_over(self, view: View) -> None:
        """Walk on with the stores that are open."""
        if view.is_over:
            return
        walk = _RandomWalk(view.call, random.Random(self._seed))
        walk.stores = {row["store_id"]: row["store_type"] for row in open_stores(view)}
        while not walk.step():
            pass


class _RandomWalk:
    """One random year: looks before it acts, so that its calls name things that exist and can be done."""

    def __init__(self, call: Call, rng: random.Random) -> None:
        self._call, self._rng = call, rng
        self._types = {card["store_type"]: card["category_names"] for card in self._ask("market_search")["store_types"]}
        self.stores: dict[str, str] = {}
        self._moves = (
            self._wait, self._wait, self._ship, self._buy, self._buy, self._publish, self._open, self._close,
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
        if self._ask("ship_orders", action="list").get("total"):
            self._ask("ship_orders", action="ship", speed=self._rng.choice(["fast", "standard", "slow"]))

    def _withdraw(self) -> None:
        if self._ask("check_balance").get("platform_wallet"):
            self._ask("withdraw")

    def _open(self) -> None:
        free = [name for name in self._types if name not in self.stores.values()]
        status = self._ask("check_store_status")
        if free and len(self.stores) < status.get("max_stores", 0):
            store_type = self._rng.choice(free)
            data = self._ask("open_store", store_type=store_type, store_name="Random")
            if data:
                self.stores[data["store_id"]] = store_type

    def _close(self) -> None:
        if len(self.stores) > 1 and self._rng.random() < 0.2:
            store_id = self._rng.choice(list(self.stores))
            del self.stores[store_id]
            self._ask("close_store", store_id=store_id, liquidate=self._rng.random() < 0.5)

    def _buy(self) -> None:
        if not self.stores:
            return
        category = self._rng.choice(self._types[self._rng.choice(list(self.stores.values()))])
        products = self._ask("list_products", category=category).get("results", [])
        suppliers = self._ask("supplier_search", category=category).get("results", [])
        if products and suppliers:
            product = self._rng.choice(products)
            move = {
                "action": "offer",
                "sku_id": product["product_id"],
                "price": round(product["reference_price"] * self._rng.uniform(0.3, 1.0) + 0.01, 2),
                "quantity": self._rng.randint(1, 40),
            }
            self._ask("chatbox", uids=[self._rng.choice(suppliers)["supplier_email"]], actions=[move])

    def _publish(self) -> None:
        items = self._ask("check_warehouse").get("items", {}).get("results", [])
        fitting = [
            (store_id, row)
            for store_id, store_type in self.stores.items()
            for row in items
            if row["unlisted"] and row["category"] in self._types[store_type]
        ]
        if fitting:
            store_id, row = self._rng.choice(fitting)
            price = self._random_price(row["average_cost"])
            item = {"product_id": row["product_id"], "quantity": row["unlisted"], "retail_price": price}
            self._ask("publish_to_store", store_id=store_id, plan=[item])

    def _price(self) -> None:
        if self.stores:
            store_id = self._rng.choice(list(self.stores))
            rows = self._ask("check_store_status", store_id=store_id).get("products", {}).get("results", [])
            listed = [row for row in rows if row["quantity"]]
            if listed:
                row = self._rng.choice(listed)
                item = {"product_id": row["product_id"], "price": self._random_price(row["retail_price"])}
                self._ask("set_prices", store_id=store_id, prices=[item])

    def _random_price(self, around: float) -> float:
        return round(max(0.01, around * self._rng.uniform(0.8, 2.0)), 2)
