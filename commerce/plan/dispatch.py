"""Shipping by a plan: each order with the call it is planned for, an order the plan does not know by its default."""

from __future__ import annotations

import numpy as np

from commerce.decisions import line_keys
from commerce.fulfilment import SPEEDS, ship
from commerce.orders import Orders
from commerce.plan.planned import NEVER, WEEK, StorePlan
from commerce.setting import Setting
from commerce.state import YearState
from commerce.types import IntArray

_UNPLANNED = NEVER - 1


class Dispatch:
    """Ships the orders of a year that a plan is carried out in."""

    def __init__(self, setting: Setting, state: YearState, plan: StorePlan) -> None:
        self._setting, self._state = setting, state
        self._shipments, self._defaults = plan.shipments, plan.defaults
        self._keys = np.append(line_keys(plan.lines.sku, plan.lines.sale_day), -1)
        self._shipment = np.append(plan.lines.shipment, _UNPLANNED)

    def ship(self, rows: slice) -> None:
        """Ship the orders that are planned for the one call of ``rows``."""
        self._state.minute = int(self._shipments.minute[rows.start])
        pending = self._pending()
        due = pending.order_id[self._planned(pending) == rows.start]
        if len(due):
            ship(self._setting, self._state, due, SPEEDS[int(self._shipments.speed[rows.start])])

    def ship_the_rest(self) -> None:
        """Ship the due orders that the plan does not know."""
        pending = self._pending()
        unplanned = pending.rows(self._planned(pending) == _UNPLANNED)
        if not len(unplanned.order_id):
            return
        week = unplanned.sale_day // WEEK
        delay, speed = self._defaults.delay[week], self._defaults.speed[week]
        is_due = (delay != NEVER) & (unplanned.sale_day + delay <= self._state.day)
        for row in np.unique(speed[is_due]).tolist():
            ship(self._setting, self._state, unplanned.order_id[is_due & (speed == row)], SPEEDS[row])

    def _pending(self) -> Orders:
        return self._state.orders.rows(self._state.orders.is_pending)

    def _planned(self, orders: Orders) -> IntArray:
        keys = line_keys(orders.sku, orders.sale_day)
        place = np.searchsorted(self._keys[:-1], keys)
        return np.where(self._keys[place] == keys, self._shipment[place], _UNPLANNED)
