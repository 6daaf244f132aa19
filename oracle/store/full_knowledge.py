"""The beliefs of somebody who has read the hidden side of the world: demand, returns, floors, frauds, the calendar."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np

from commerce.config import Rules
from commerce.merchants.handover import Ask
from commerce.procurement import pair_terms
from commerce.setting import Setting
from commerce.types import FloatArray, IntArray, World
from oracle.store.knowledge import BuyingStyle, Shown, Supply
from oracle.store.store_model import StoreModel, true_model

Pays = Literal["oracle", "first-quote"]
"""Bids at the floor of every supplier, or takes the first quote of each talk."""


_DAYS_BEYOND = 60


class FullKnowledge:
    """See :class:`oracle.store.knowledge.MarketKnowledge`."""

    trial_days = 15

    def __init__(self, world: World, rules: Rules, pays: Pays = "oracle") -> None:
        self._setting, self._pays = Setting(world, rules), pays
        self.style = BuyingStyle.BIDS if pays == "oracle" else BuyingStyle.QUOTES
        self._models: dict[int, StoreModel] = {}
        self._orders: dict[int, int] = {}

    def prepare(self, look: Ask, ask: Ask, first_date: dt.date) -> None:
        """Nothing is to be found out."""

    def last_day(self, day: int) -> int:
        """Return the day on whose morning the year ends."""
        return self._setting.last_day

    @property
    def product_ids(self) -> Sequence[str]:
        """Product of each row."""
        return self._setting.world.skus.sku_id

    @property
    def kinds(self) -> Sequence[str]:
        """Names of the store types."""
        return [row.name for row in self._setting.world.store_types]

    def model(self, kind: int) -> StoreModel:
        """Return the truth about a store type."""
        if kind not in self._models:
            self._models[kind] = true_model(self._setting, kind)
        return self._models[kind]

    def operations_fen(self, kind: int) -> float:
        """Return what a store of a type costs a day."""
        return self._setting.world.store_types[kind].operations_fen

    def demand_factor(self, kind: int, first_day: int, num_days: int) -> float:
        """Return the mean demand factor of the days, promotions left out."""
        return float(self._factors[kind, first_day : first_day + num_days].mean())

    @cached_property
    def _factors(self) -> FloatArray:
        """Demand factors by store type and day, some days beyond the end of the year among them."""
        setting, kinds = self._setting, range(len(self.kinds))
        weekend = setting.rules.weekend_factor
        days = range(self._setting.last_day + _DAYS_BEYOND)
        return np.array(
            [
                [
                    setting.season(kind, day)
                    * setting.event_factor(kind, day)
                    * (weekend if setting.is_weekend(day) else 1)
                    for day in days
                ]
                for kind in kinds
            ]
        )

    @cached_property
    def _asked(self) -> FloatArray:
        """What each honest supplier is paid for each SKU in fen, shape (suppliers, SKUs); infinite if it sells none."""
        world, rules = self._setting.world, self._setting.rules
        asked = np.full((len(world.suppliers), self._setting.num_skus), np.inf)
        for category, rows in enumerate(world.suppliers_by_category):
            skus = np.flatnonzero(world.skus.category == category)
            for row in rows:
                if world.suppliers[row].is_honest:
                    terms = [pair_terms(world, rules, row, int(sku)) for sku in skus]
                    asked[row, skus] = [pair.reservation if self._pays == "oracle" else pair.opening for pair in terms]
        return asked

    def _left(self, supplier: int) -> int:
        who = self._setting.world.suppliers[supplier]
        return who.retirement_orders - self._orders.get(supplier, 0) if who.is_honest else 0

    def _trading(self, category: int) -> list[int]:
        return [row for row in self._setting.world.suppliers_by_category[category] if self._left(row) > 0]

    def unit_costs(self) -> FloatArray:
        """Return the mean of the two lowest prices of each SKU among suppliers that still trade."""
        world, costs = self._setting.world, np.full(self._setting.num_skus, np.inf)
        for category in range(len(world.categories)):
            if rows := self._trading(category):
                skus = np.flatnonzero(world.skus.category == category)
                costs[skus] = np.sort(self._asked[rows][:, skus], axis=0)[:2].mean(axis=0)
        return costs

    def supplies(self, skus: IntArray, units: FloatArray, most: int) -> list[tuple[Supply, IntArray]]:
        """Divide SKUs of one category among the suppliers that are cheapest together, added one by one."""
        world = self._setting.world
        rows = self._trading(int(world.skus.category[skus[0]]))
        if not rows:
            return []
        asked = self._asked[rows][:, skus]
        chosen: list[int] = []
        cheapest = np.full(len(skus), np.inf)
        for _ in range(min(most, len(rows))):
            totals = np.minimum(cheapest, asked) @ units
            best = int(totals.argmin())
            if best in chosen:
                break
            chosen.append(best)
            cheapest = np.minimum(cheapest, asked[best])
        owner = asked[chosen].argmin(axis=0)
        found = []
        for place, row in enumerate(chosen):
            mine = np.flatnonzero(owner == place)
            if len(mine):
                bids = asked[row, mine].astype(np.int64)
                found.append((Supply(world.suppliers[rows[row]].email, bids), mine))
        return found

    def bid(self, email: str, product_id: str, standing_fen: int) -> int:
        """Return the floor of the supplier."""
        world, rules = self._setting.world, self._setting.rules
        supplier, sku = world.supplier_index[email], world.skus.sku_id.index(product_id)
        return min(standing_fen, pair_terms(world, rules, supplier, sku).reservation)

    def orders_left(self, sku: int) -> int:
        """Return how many more orders the suppliers of a SKU's category take."""
        category = int(self._setting.world.skus.category[sku])
        return sum(self._left(row) for row in self._trading(category))

    def learn_sales(self, ask: Ask, shown: Mapping[int, Shown]) -> None:
        """Sales show nothing that was not known before."""

    def learn_talk(self, replies: Iterable[Mapping[str, Any]]) -> None:
        """Count the orders of each supplier, which retires after some."""
        for reply in replies:
            if any("order" in outcome for outcome in reply["outcomes"]):
                row = self._setting.world.supplier_index[reply["supplier"]]
                self._orders[row] = self._orders.get(row, 0) + 1

    def learn_deliveries(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Nothing that was not known before arrives."""
