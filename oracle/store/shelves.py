"""What a planning merchant does at its shelves: listing, repricing, taking off, in as few calls as possible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from commerce.merchants.handover import Ask
from commerce.types import IntArray

_BATCH = 500


class PlannedShelves:
    """Units and prices by row of the catalogue; ``unlisted`` are those of ``on_hand`` that no customer sees."""

    def __init__(self, ask: Ask, product_ids: Sequence[str]) -> None:
        self._ask, self._product_ids = ask, product_ids
        num = len(product_ids)
        self.on_hand, self.unlisted, self.price_fen = (np.zeros(num, dtype=np.int64) for _ in range(3))

    def arrange(self, store_id: str, skus: IntArray, price_fen: IntArray, is_listed: Any) -> None:
        """Price the SKUs of a store, show those that are to be listed, and take off the others."""
        self.price_fen[skus] = np.maximum(1, price_fen)
        is_shown = self.on_hand[skus] > self.unlisted[skus]
        self._take_off(store_id, skus[is_shown & ~is_listed])
        for rows in _batches(skus[is_shown & is_listed]):
            prices = [{"product_id": self._product_ids[row], "price": self._yuan(row)} for row in rows]
            self._ask("set_prices", store_id=store_id, prices=prices)
        self.publish(store_id, skus[is_listed])

    def publish(self, store_id: str, skus: IntArray) -> None:
        """Show the unlisted units of ``skus``."""
        for rows in _batches(skus[self.unlisted[skus] > 0]):
            plan = [
                {
                    "product_id": self._product_ids[row],
                    "quantity": int(self.unlisted[row]),
                    "retail_price": self._yuan(row),
                }
                for row in rows
            ]
            self._ask("publish_to_store", store_id=store_id, plan=plan)
            self.unlisted[rows] = 0

    def _take_off(self, store_id: str, skus: IntArray) -> None:
        for rows in _batches(skus):
            items = [
                {"product_id": self._product_ids[row], "quantity": int(self.on_hand[row] - self.unlisted[row])}
                for row in rows
            ]
            self._ask("return_to_warehouse", store_id=store_id, items=items)
            self.unlisted[rows] = self.on_hand[rows]

    def _yuan(self, row: int) -> float:
        return int(self.price_fen[row]) / 100


def _batches(skus: IntArray) -> list[list[int]]:
    rows = skus.tolist()
    return [rows[start : start + _BATCH] for start in range(0, len(rows), _BATCH)]
