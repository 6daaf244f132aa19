"""Small worlds and shortcuts for the tests of the store."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from commerce.config import PAPER, Rules
from commerce.receiving import Door, receive_deliveries
from commerce.setting import Setting
from commerce.state import YearState
from commerce.supplier_protocol import Book
from commerce.types import (
    Booking,
    ChatReply,
    ChatTurn,
    NegotiationRecord,
    PurchaseOrder,
    SkuTable,
    World,
)
from commerce.world import generate_world
from commerce.year import Year


@cache
def default_world() -> World:
    """The world of the default seed."""
    return generate_world()


def world_with(rows: list[tuple[str, float, str, float]], base: World | None = None) -> World:
    """A world whose catalogue is ``(category, reference in yuan, size, return rate)`` rows named p0, p1, ..."""
    world = base or default_world()
    sizes = ("Small", "Medium", "Large", "XLarge")
    category = np.array([world.category_index[row[0]] for row in rows], dtype=np.int64)
    table = SkuTable(
        sku_id=tuple(f"p{i}" for i in range(len(rows))),
        title=tuple(f"Product {i}" for i in range(len(rows))),
        brand=("Brand",) * len(rows),
        category=category,
        store_type=np.array([world.categories[i].store_type for i in category], dtype=np.int64),
        size=np.array([sizes.index(row[2]) for row in rows], dtype=np.int64),
        reference_fen=np.array([round(row[1] * 100) for row in rows], dtype=np.int64),
        return_rate=np.array([row[3] for row in rows], dtype=np.float64),
    )
    return replace(world, skus=table)


class HonestCounter:
    """Suppliers that sell any product of their category at any offered price; nothing is hidden."""

    def initial_book(self) -> Book:
        return {}

    def is_retired(self, book: Book, supplier: int) -> bool:
        return False

    def records(self, book: Book) -> list[NegotiationRecord]:
        return []

    def chat(self, store: Door, book: Book, turn: ChatTurn) -> list[ChatReply]:
        replies = []
        for supplier in turn.suppliers:
            outcomes = []
            for action in turn.actions:
                order = PurchaseOrder(supplier, action.sku, action.quantity, action.price_fen, action.quantity)
                booked = store.place_order(order)
                if isinstance(booked, Booking):
                    outcomes.append({"decision": "Accept", "order": {"purchase_order": booked.order_id}})
                else:
                    outcomes.append({"decision": "Error", "code": booked.code, "message": booked.message})
            replies.append(ChatReply(supplier, "", tuple(outcomes)))
        return replies


def new_year(world: World | None = None, rules: Rules = PAPER, **changes: object) -> Year:
    """A year with honest counters; ``changes`` replace fields of the rules."""
    return Year(world or default_world(), rules.model_copy(update=changes), procurement=HonestCounter())


def stock_up(year: Year, sku: int, units: int, unit_fen: int, *, defective: int = 0) -> None:
    """Put ``units`` of a SKU into the warehouse today, bought and delivered at once."""
    door = Door(year.setting, year.state)
    supplier = year.setting.world.suppliers_by_category[int(year.setting.world.skus.category[sku])][0]
    booked = door.place_order(PurchaseOrder(supplier, sku, units, unit_fen, units, defective))
    assert isinstance(booked, Booking), booked
    state: YearState = year.state
    state.inbound = [row._replace(arrival_day=state.day, arrival_minute=0) for row in state.inbound]
    receive_deliveries(state)


def ok(year: Year, tool: str, **arguments: object) -> dict[str, object]:
    """Call a tool that must succeed and return its data."""
    result = year.call(tool, arguments)
    assert result.ok, result.error
    return dict(result.data)


def refused(year: Year, tool: str, **arguments: object) -> str:
    """Call a tool that must fail and return the error code."""
    result = year.call(tool, arguments)
    assert not result.ok
    return result.error.code


def setting_of(world: World, rules: Rules = PAPER) -> Setting:
    """A setting."""
    return Setting(world, rules)
