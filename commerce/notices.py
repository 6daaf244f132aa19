"""What the platform tells: notices of a day, complete and with dates. A notice is a plain JSON object."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from commerce.money import to_yuan
from commerce.orders import Orders
from commerce.setting import Setting
from commerce.state import Inbound, YearState
from commerce.types import Promotion


def add_notice(setting: Setting, state: YearState, kind: str, text: str, **details: Any) -> None:
    """Put a notice into the queue that the next result carries."""
    day = state.day
    notice = {"day": day, "date": setting.iso_date(day), "kind": kind, "text": text, **details}
    state.notices.append(notice)


def promotion_windows(setting: Setting, promotion: Promotion) -> list[dict[str, str]]:
    """Return the windows of a promotion with their dates."""
    return [
        {"first_date": setting.date(first).isoformat(), "last_date": setting.date(last).isoformat()}
        for first, last in promotion.windows
    ]


def announce(setting: Setting, state: YearState) -> None:
    """Tell of events that start today and of promotion windows that start soon, each once."""
    for event in setting.world.events:
        if event.first_day == state.day:
            add_notice(setting, state, "event", event.text, name=event.name)
    for promotion in setting.world.promotions:
        for first, last in promotion.windows:
            if not first - setting.rules.announce_ahead_days <= state.day <= last:
                continue
            key = f"{promotion.name}/{first}"
            if key not in state.announced:
                state.announced.append(key)
                dates = f"{setting.date(first)} to {setting.date(last)}"
                windows = promotion_windows(setting, promotion)
                text = f"{promotion.name} runs from {dates}; stores that have joined take part."
                add_notice(setting, state, "promotion", text, name=promotion.name, windows=windows)


def tell_deliveries(setting: Setting, state: YearState, arrived: Iterable[Inbound]) -> None:
    """Tell what came in, by purchase order; comparing it with what was ordered is the merchant's business."""
    rows = [
        {"purchase_order": row.order_id, "product_id": setting.world.skus.sku_id[row.sku], "received": row.delivered}
        for row in arrived
    ]
    if rows:
        add_notice(setting, state, "delivery", f"{len(rows)} purchase orders arrived.", deliveries=rows)


def tell_cancellations(setting: Setting, state: YearState, gone: Orders) -> None:
    """Tell which orders were cancelled because they were not shipped in time."""
    if len(gone.order_id):
        text = f"{len(gone.order_id)} orders were cancelled because they were not shipped in time."
        rows = [
            {"shipment_id": order, "product_id": setting.world.skus.sku_id[sku], "quantity": units}
            for order, sku, units in zip(*(c.tolist() for c in (gone.order_id, gone.sku, gone.units)), strict=True)
        ]
        add_notice(setting, state, "cancellation", text, orders=rows)


def tell_returns(setting: Setting, state: YearState, back: Orders) -> None:
    """Tell what customers sent back."""
    if len(back.order_id):
        units = int(back.return_units.sum())
        refunds = to_yuan(int((back.return_units * back.unit_fen).sum()))
        add_notice(setting, state, "return", f"{units} units came back; refunds of {refunds:.2f} yuan.", units=units)


def day_report(state: YearState) -> dict[str, Any]:
    """Return the report of the last daily step: amounts in yuan, units and balances; empty before the first."""
    if not state.history:
        return {}
    row = state.history[-1]
    amounts = {
        key.removesuffix("_fen"): to_yuan(value)
        for key, value in row.items()
        if isinstance(value, int) and key.endswith("_fen")
    }
    others = {key: value for key, value in row.items() if not key.endswith("_fen") and key != "sales"}
    sales = {
        store: {"units": sale["units"], "revenue": to_yuan(sale["revenue_fen"])} for store, sale in row["sales"].items()
    }
    flows = {reason: to_yuan(fen) for reason, fen in row["flows_fen"].items()}
    final = {"final_assets": to_yuan(state.ledger.assets_fen)} if state.is_over else {}
    return amounts | others | {"sales": sales, "flows": flows} | final
