"""The acts of a plan on shelves and prices, many SKUs at once, and the listing of goods that lay too long."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from commerce.decisions import LIST_ALL, TAKE_ALL, TAKE_UNITS
from commerce.plan.planned import ListPrices, ShelfActs, StorePlan
from commerce.setting import Setting
from commerce.state import StoreState, YearState
from commerce.types import IntArray

_ALL = np.iinfo(np.int64).max


class Shelves:
    """Shelves and prices of a year that a plan is carried out in."""

    def __init__(self, setting: Setting, state: YearState, plan: StorePlan) -> None:
        self._setting, self._state = setting, state
        self._patience = plan.patience.shelf
        self._price = first_prices(setting, plan.prices)
        self._lain_for = np.zeros(setting.num_skus, dtype=np.int64)

    def set_prices(self, prices: ListPrices) -> None:
        """Set list prices; goods that are not listed come to the shelf at them later."""
        self._price[prices.sku] = prices.fen
        for store, mine in self._by_store(prices.sku):
            places = self._setting.place[prices.sku[mine]]
            store.price_fen[places] = np.where(store.price_fen[places] > 0, prices.fen[mine], 0)

    def act(self, acts: ShelfActs) -> int:
        """List and take off units as far as they are there; return how many listings found nothing."""
        units = np.where((acts.act == LIST_ALL) | (acts.act == TAKE_ALL), _ALL, acts.units)
        takes = acts.act >= TAKE_UNITS
        if not takes.any():
            return len(units) - self._list(acts.sku, units)
        self._take(acts.sku[takes], units[takes])
        listings = ~takes
        return int(np.count_nonzero(listings)) - self._list(acts.sku[listings], units[listings])

    def lose_patience(self) -> None:
        """List what has lain unlisted longer than this merchant ever let it; call once at each day end."""
        unlisted = self._state.unlisted
        self._lain_for = np.where(unlisted > 0, self._lain_for + 1, 0)
        skus = np.flatnonzero(self._lain_for > self._patience)
        if len(skus):
            self._list(skus, unlisted[skus])
            self._lain_for[skus[unlisted[skus] == 0]] = 0

    def _list(self, skus: IntArray, wanted: IntArray) -> int:
        """Return how many of ``skus`` were there to be listed."""
        state, num = self._state, 0
        for store, mine in self._by_store(skus):
            units = np.minimum(wanted[mine], state.unlisted[skus[mine]])
            rows, units = skus[mine][units > 0], units[units > 0]
            places = self._setting.place[rows]
            state.unlisted[rows] -= units
            store.shelf[places] += units
            store.price_fen[places] = self._price[rows]
            store.trailing_fen[places] = np.where(
                store.trailing_fen[places] == 0, self._price[rows], store.trailing_fen[places]
            )
            num += len(rows)
        return num

    def _take(self, skus: IntArray, wanted: IntArray) -> None:
        for store, mine in self._by_store(skus):
            rows = skus[mine]
            places = self._setting.place[rows]
            units = np.minimum(wanted[mine], store.shelf[places])
            store.shelf[places] -= units
            self._state.unlisted[rows] += units
            store.price_fen[places] = np.where(store.shelf[places] > 0, store.price_fen[places], 0)

    def _by_store(self, skus: IntArray) -> Iterator[tuple[StoreState, IntArray]]:
        types = self._setting.world.skus.store_type[skus]
        for store in self._state.open_stores:
            mine = np.flatnonzero(types == store.store_type)
            if len(mine):
                yield store, mine


def first_prices(setting: Setting, prices: ListPrices) -> IntArray:
    """Return the first price of each SKU, its reference price if it has none: goods may come earlier than planned."""
    found = setting.world.skus.reference_fen.copy()
    found[prices.sku[::-1]] = prices.fen[::-1]
    return found
