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
        orders = self._state.orders
        pending = orders.is_pending.nonzero()[0]
        due = orders.order_id[pending[self._planned(orders, pending) == rows.start]]
        if len(due):
            ship(self._setting, self._state, due, SPEEDS[int(self._shipments.speed[rows.start])])

    def ship_the_rest(self) -> None:
        """Ship the due orders that the plan does not know."""
        orders = self._state.orders
        pending = orders.is_pending.nonzero()[0]
        unplanned = pending[self._planned(orders, pending) == _UNPLANNED]
        if not len(unplanned):
            return
        order_id, sale_day = orders.order_id[unplanned], orders.sale_day[unplanned]
        delay, speed = self._defaults.delay[sale_day // WEEK], self._defaults.speed[sale_day // WEEK]
        is_due = (delay != NEVER) & (sale_day + delay <= self._state.day)
        for row in np.unique(speed[is_due]).tolist():
            ship(self._setting, self._state, order_id[is_due & (speed == row)], SPEEDS[row])

    def _planned(self, orders: Orders, places: IntArray) -> IntArray:
        keys = line_keys(orders.sku[places], orders.sale_day[places])
        found = self._keys[:-1].searchsorted(keys)
        return np.where(self._keys[found] == keys, self._shipment[found], _UNPLANNED)
