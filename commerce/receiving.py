"""Buying: a settled deal becomes a paid purchase order, and a purchase order becomes stock.

A supplier chat reaches the store through :class:`Door` alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from commerce.config import Rules
from commerce.decisions import Decisions
from commerce.ledger import Account, Entity, post
from commerce.lots import from_rows
from commerce.money import to_yuan
from commerce.setting import Setting
from commerce.state import Inbound, YearState
from commerce.stock import put_in
from commerce.streams import keyed_integer, scalar_uniforms, stream_key
from commerce.types import Booking, PurchaseOrder, Refusal, World

MINUTES_PER_DAY = 24 * 60


@dataclass(frozen=True)
class Door:
    """The store as its suppliers see it; see :class:`commerce.supplier_protocol.StoreDoor`."""

    setting: Setting
    state: YearState
    decisions: Decisions | None = None

    @cached_property
    def world(self) -> World:
        """The world."""
        return self.setting.world

    @cached_property
    def rules(self) -> Rules:
        """The rule set."""
        return self.setting.rules

    @property
    def day(self) -> int:
        """Days since the start of the year."""
        return self.state.day

    @property
    def minute(self) -> int:
        """Minute of the day."""
        return self.state.minute

    @property
    def bank_fen(self) -> int:
        """What can be spent now."""
        return self.state.bank_fen

    def place_order(self, order: PurchaseOrder) -> Booking | Refusal:
        """Pay for ``order`` and put it on its way."""
        if not 0 <= order.defective <= order.delivered <= order.quantity:
            raise ValueError(f"{order} must have 0 <= defective <= delivered <= quantity")
        if order.quantity < 1 or order.unit_price_fen < 1:
            return Refusal("invalid_order", "quantity", "quantity and price must be at least 1 unit and 0.01 yuan")
        if refusal := _lacking_funds(self.state, order.total_fen):
            return refusal
        placed = _inbound(self.setting, self.state, order)
        self.state.inbound.append(placed)
        self.state.purchases.append(placed)
        post(
            self.state.ledger,
            self.state.stamp("purchase"),
            Account.GOODS_ON_ORDER,
            Account.BANK,
            (Entity.PURCHASE_ORDER, placed.order_id),
            order.total_fen,
        )
        if self.decisions is not None:
            self.decisions.bought(placed, self.state.bank_fen + order.total_fen)
        told = (placed.told_first_day - placed.placed_day, placed.told_last_day - placed.placed_day)
        return Booking(placed.order_id, order.total_fen, told)

    def pay_fee(self, supplier: int, amount_fen: int) -> Refusal | None:
        """Pay a supplier that delivers nothing for it."""
        if refusal := _lacking_funds(self.state, amount_fen):
            return refusal
        stamp, state = self.state.stamp("supplier fee"), self.state
        post(state.ledger, stamp, Account.SUPPLIER_FEES, Account.BANK, (Entity.SUPPLIER, supplier), amount_fen)
        state.fees.append({"day": state.day, "supplier": supplier, "amount_fen": amount_fen})
        if self.decisions is not None:
            self.decisions.paid_fee(state, supplier, amount_fen)
        return None


def _lacking_funds(state: YearState, amount_fen: int) -> Refusal | None:
    if amount_fen <= state.bank_fen:
        return None
    needed, bank = to_yuan(amount_fen), to_yuan(state.bank_fen)
    return Refusal("insufficient_funds", None, f"{needed:.2f} yuan are due and the bank holds {bank:.2f}")


def lead_days(uniform: float, delay: float, rules: Rules) -> int:
    """Return the days of a delivery: uniform on the lead-time range, times the delay, rounded half to even."""
    return max(1, round(keyed_integer(*rules.lead_days, uniform) * delay))


class LeadTime(NamedTuple):
    """Days and minutes that goods are on their way, and the days after which the supplier says they are late."""

    days: int
    minutes: int
    slack_days: int


def lead_time(setting: Setting, supplier: int, sku: int, day: int) -> LeadTime:
    """Return how long goods that are ordered on ``day`` are on their way; it is drawn by the world."""
    world = setting.world
    names = (world.suppliers[supplier].supplier_id, world.skus.sku_id[sku])
    draws = scalar_uniforms(stream_key(world.seed, "lead_time", *names, day), 3)
    delay = setting.delay_factor(int(world.skus.store_type[sku]), day)
    minutes, slack = keyed_integer(0, MINUTES_PER_DAY - 1, draws[1]), keyed_integer(1, 2, draws[2])
    return LeadTime(lead_days(draws[0], delay, setting.rules), minutes, slack)


def _inbound(setting: Setting, state: YearState, order: PurchaseOrder) -> Inbound:
    lead = lead_time(setting, order.supplier, order.sku, state.day)
    extra_days, minute = divmod(state.minute + lead.minutes, MINUTES_PER_DAY)
    first_day = state.day + lead.days
    return Inbound(
        order_id=len(state.purchases) + 1,
        supplier=order.supplier,
        sku=order.sku,
        quantity=order.quantity,
        unit_price_fen=order.unit_price_fen,
        delivered=order.delivered,
        defective=order.defective,
        placed_day=state.day,
        placed_minute=state.minute,
        told_first_day=first_day,
        told_last_day=first_day + lead.slack_days,
        arrival_day=first_day + extra_days,
        arrival_minute=minute,
    )


def receive_deliveries(state: YearState) -> list[Inbound]:
    """Take in what has arrived by now; missing units are a loss, defective ones look like any other."""
    now = (state.day, state.minute)
    arrived = [row for row in state.inbound if (row.arrival_day, row.arrival_minute) <= now]
    if not arrived:
        return []
    state.inbound = [row for row in state.inbound if (row.arrival_day, row.arrival_minute) > now]
    lots = from_rows([(row.sku, state.day, row.delivered) for row in arrived if row.delivered])
    skus = np.array([row.sku for row in arrived], dtype=np.int64)
    cost = np.array([row.delivered * row.unit_price_fen for row in arrived], dtype=np.int64)
    paid = np.array([row.quantity * row.unit_price_fen for row in arrived], dtype=np.int64)
    put_in(state, lots, skus, cost)
    entity = (Entity.PURCHASE_ORDER, [row.order_id for row in arrived])
    post(state.ledger, state.stamp("received"), Account.INVENTORY, Account.GOODS_ON_ORDER, entity, cost)
    stamp = state.stamp("short delivery")
    post(state.ledger, stamp, Account.SHORT_DELIVERY, Account.GOODS_ON_ORDER, entity, paid - cost)
    for row in arrived:
        state.units.delivered[row.sku] += row.delivered
        state.units.defective[row.sku] += row.defective
        shares = state.sources.setdefault(str(row.sku), {})
        shares[str(row.supplier)] = shares.get(str(row.supplier), 0) + row.delivered
        state.purchases[row.order_id - 1] = row._replace(received_day=state.day)
    return arrived
