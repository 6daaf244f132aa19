"""What a merchant did before with a supplier or in a product, from its own orders and what arrived of them."""

from __future__ import annotations

from typing import Any

from commerce.money import to_yuan
from commerce.setting import Setting
from commerce.state import Inbound, YearState

NUM_KEPT = 5
"""Latest dealings that are told."""


class Dealings:
    """The own purchase orders, found by supplier and by product."""

    def __init__(self, setting: Setting, state: YearState) -> None:
        self._setting, self._state = setting, state
        self._num_seen = 0
        self._places: dict[str, list[int]] = {}

    def with_supplier(self, email: str) -> list[dict[str, Any]]:
        """Return the latest orders from a supplier, the newest last."""
        return self._latest(email)

    def in_product(self, product_id: str) -> list[dict[str, Any]]:
        """Return the latest orders of a product from anybody, the newest last."""
        return self._latest(product_id)

    def _latest(self, name: str) -> list[dict[str, Any]]:
        world, purchases = self._setting.world, self._state.purchases
        for place in range(self._num_seen, len(purchases)):
            row = purchases[place]
            for key in (world.suppliers[row.supplier].email, world.skus.sku_id[row.sku]):
                self._places.setdefault(key, []).append(place)
        self._num_seen = len(purchases)
        return [_dealing(self._setting, purchases[place]) for place in self._places.get(name, ())[-NUM_KEPT:]]


def short_deliveries(setting: Setting, state: YearState) -> list[dict[str, Any]]:
    """Return today's receipts that fell short of what was ordered."""
    return [
        _dealing(setting, row)
        for row in state.purchases
        if row.received_day == state.day and row.delivered < row.quantity
    ]


def _dealing(setting: Setting, row: Inbound) -> dict[str, Any]:
    return {
        "purchase_order": row.order_id,
        "day": row.placed_day,
        "supplier": setting.world.suppliers[row.supplier].email,
        "product_id": setting.world.skus.sku_id[row.sku],
        "price": to_yuan(row.unit_price_fen),
        "ordered": row.quantity,
        "received": row.delivered if row.received_day >= 0 else None,
    }
