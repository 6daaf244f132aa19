"""What does not change during a year: the world under a rule set, with its derived arrays."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from commerce.config import Rules
from commerce.demand import base_demand, sub_cap_share
from commerce.streams import keyed_uniform, stream_keys
from commerce.types import Event, FloatArray, IntArray, KeyArray, PriceResponse, World

_RESPONSES = list(PriceResponse)


@lru_cache(maxsize=4096)
def calendar_date(year: int, day: int) -> dt.date:
    """Return the date of a day of ``year``, counted from 0."""
    return dt.date(year, 1, 1) + dt.timedelta(days=day)


@lru_cache(maxsize=4096)
def calendar_text(year: int, day: int) -> str:
    """Return the date of a day of ``year`` as YYYY-MM-DD."""
    return calendar_date(year, day).isoformat()


@dataclass(frozen=True)
class Setting:
    """A world and the rules it is played under. Arrays run over all SKUs unless they say otherwise."""

    world: World
    rules: Rules

    def date(self, day: int) -> dt.date:
        """Return the calendar date of a day."""
        return calendar_date(self.world.year, day)

    def iso_date(self, day: int) -> str:
        """Return the calendar date of a day as text."""
        return calendar_text(self.world.year, day)

    @cached_property
    def sure_days(self) -> int:
        """Days that a year with a drawn end has at least."""
        return int(self.rules.sure_share * self.rules.num_days)

    @cached_property
    def last_day(self) -> int:
        """Day on whose morning the year ends.

        A drawn end comes a geometric number of mornings after the sure days, at the latest after ``num_days``; it is
        drawn by the world, so all agents meet the same.
        """
        rules = self.rules
        if rules.ending == "told":
            return rules.num_days
        chance_to_go_on, left = 1 - rules.end_hazard, keyed_uniform(self.world.seed, "year_end")
        wait = 1 + math.floor(math.log1p(-left) / math.log(chance_to_go_on)) if chance_to_go_on else 1
        return min(rules.num_days, self.sure_days + wait)

    def is_weekend(self, day: int) -> bool:
        """Whether ``day`` is a Saturday or Sunday."""
        return self.date(day).weekday() >= 5

    def season(self, store_type: int, day: int) -> float:
        """Return the seasonal demand factor."""
        return self.world.store_types[store_type].season[self.date(day).month - 1]

    def event_factor(self, store_type: int, day: int) -> float:
        """Return the product of the demand factors of the events of ``day``."""
        return math.prod((event.demand.get(store_type, 1.0) for event in self._events.get(day, ())), start=1.0)

    def delay_factor(self, store_type: int, day: int) -> float:
        """Return the largest delay of the events of ``day`` for goods of ``store_type``."""
        return max([1.0, *(event.delay for event in self._events.get(day, ()) if event.delays(store_type))])

    @cached_property
    def _events(self) -> dict[int, list[Event]]:
        """Events of each day that has one."""
        found: dict[int, list[Event]] = {}
        for event in self.world.events:
            for day in range(event.first_day, event.last_day + 1):
                found.setdefault(day, []).append(event)
        return found

    @cached_property
    def num_skus(self) -> int:
        """Number of SKUs."""
        return len(self.world.skus.sku_id)

    @cached_property
    def base(self) -> FloatArray:
        """Base demand in units a day."""
        per_category = [
            base_demand(
                row.monthly_sales_min,
                row.monthly_sales_max,
                self.world.store_types[row.store_type].demand_scale,
                self.rules,
            )
            for row in self.world.categories
        ]
        return np.array(per_category)[self.world.skus.category]

    @cached_property
    def elasticity(self) -> FloatArray:
        """Elasticity k."""
        return np.array([row.elasticity for row in self.world.categories])[self.world.skus.category]

    @cached_property
    def response(self) -> IntArray:
        """Rows of :class:`commerce.types.PriceResponse`."""
        rows = [_RESPONSES.index(row.response) for row in self.world.categories]
        return np.array(rows, dtype=np.int64)[self.world.skus.category]

    @cached_property
    def freight_fen(self) -> IntArray:
        """Standard freight of one unit."""
        return np.array(self.rules.freight_fen, dtype=np.int64)[self.world.skus.size]

    @cached_property
    def storage_fen(self) -> IntArray:
        """Storage of one young unit for one night."""
        return np.array(self.rules.storage_fen, dtype=np.int64)[self.world.skus.size]

    @cached_property
    def demand_keys(self) -> KeyArray:
        """Stream keys of the demand rounding."""
        return stream_keys(self.world.seed, "demand", self.world.skus.sku_id)

    @cached_property
    def return_keys(self) -> KeyArray:
        """Stream keys of the returns."""
        return stream_keys(self.world.seed, "returns", self.world.skus.sku_id)

    @cached_property
    def rows_of_type(self) -> tuple[IntArray, ...]:
        """SKUs of each store type, ascending; a store's arrays run over these."""
        types = self.world.skus.store_type
        return tuple(np.flatnonzero(types == index) for index in range(len(self.world.store_types)))

    @cached_property
    def place(self) -> IntArray:
        """Place of each SKU among those of its store type."""
        places = np.zeros(self.num_skus, dtype=np.int64)
        for rows in self.rows_of_type:
            places[rows] = np.arange(len(rows))
        return places

    @cached_property
    def capacity_weight(self) -> FloatArray:
        """Part of its store's capacity that one unit takes up: 1, or its value over the mean one of the store type."""
        weights = np.ones(self.num_skus)
        if self.rules.capacity_unit == "value":
            for rows in filter(len, self.rows_of_type):
                reference = self.world.skus.reference_fen[rows]
                weights[rows] = reference / reference.mean()
        return weights

    @cached_property
    def category_shares(self) -> tuple[float, ...]:
        """Sub-cap share phi of each store type; a type nobody may sell in has 1."""
        return tuple(
            sub_cap_share(len(categories), self.rules) if categories else 1.0
            for categories in self.world.categories_by_type
        )

    @cached_property
    def category_caps(self) -> FloatArray:
        """Most that each category can sell a day in its store, in the limit; 0 where nothing caps it."""
        shares, types = self.category_shares, self.world.store_types
        rows = [row.store_type for row in self.world.categories]
        return np.array([shares[kind] * types[kind].capacity if shares[kind] < 1 else 0.0 for kind in rows])
