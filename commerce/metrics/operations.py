"""Assets, drawdown, fulfilment, returns and the use of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from commerce.ledger import Account
from commerce.metrics.measure import Measure, mean, share
from commerce.setting import Setting
from commerce.state import YearState
from commerce.types import EndReason


def asset_metrics(setting: Setting, state: YearState) -> dict[str, Measure]:
    """Return final assets and what they cost to reach; money in yuan."""
    final, initial, num_calls = state.ledger.assets_fen, setting.rules.initial_fen, sum(state.calls.values())
    balances = [row["bank_fen"] + row["wallet_fen"] + row["escrow_fen"] for row in state.history]
    stock, totals = state.ledger.balance(Account.INVENTORY), state.totals
    return {
        "final_assets": Measure(final / 100, 1),
        "luck_adjusted_assets": Measure((final - totals.demand_windfall_fen - totals.returns_windfall_fen) / 100, 1),
        "demand_windfall": Measure(totals.demand_windfall_fen / 100, 1),
        "returns_windfall": Measure(totals.returns_windfall_fen / 100, 1),
        "multiplier": share(final, initial, 1),
        "is_bankrupt": Measure(float(state.end == EndReason.BANKRUPTCY), 1),
        "final_day": Measure(float(state.day), 1),
        "profit_per_call": share((final - initial) / 100, num_calls, num_calls),
        "end_stock_at_cost": Measure(stock / 100, 1),
        "end_stock_at_salvage": Measure(stock * setting.rules.salvage_share / 100, 1),
        **drawdown(balances),
    }


def drawdown(totals: Sequence[int]) -> dict[str, Measure]:
    """Return the largest fall of the daily totals in yuan, over their maximum, and over the peak before it.

    The series starts with the first daily step, as in the published metric; the opening balance is not in it.
    """
    n = len(totals)
    if not n:
        names = ("peak_drawdown", "drawdown_over_maximum", "drawdown_over_peak")
        return {name: Measure(None, 0) for name in names}
    peak, largest, relative = totals[0], 0, 0.0
    for total in totals:
        peak = max(peak, total)
        largest = max(largest, peak - total)
        relative = max(relative, (peak - total) / peak if peak > 0 else 0.0)
    return {
        "peak_drawdown": Measure(largest / 100, n),
        "drawdown_over_maximum": Measure(largest / max(totals) if max(totals) > 0 else None, n),
        "drawdown_over_peak": Measure(relative, n),
    }


def operations_metrics(state: YearState) -> dict[str, Measure]:
    """Return fulfilment, returns, stock age and cash handling."""
    totals, units = state.totals, state.units
    shipped, sold, returned = int(units.shipped.sum()), int(units.sold.sum()), int(units.returned.sum())
    ages = [row["stock_age_days"] for row in state.history if row["stock_age_days"] is not None]
    return {
        "natural_return_rate": share(totals.natural_returns, shipped, shipped),
        "defect_return_rate": share(totals.defect_returns, shipped, shipped),
        "price_return_rate": share(totals.price_returns, shipped, shipped),
        "speed_return_rate": share(totals.speed_returns, shipped, shipped),
        "controllable_return_rate": share(totals.price_returns + totals.speed_returns, shipped, shipped),
        "realized_return_rate": share(returned, sold, sold),
        "on_time_ship_rate": share(totals.orders_shipped, totals.orders_created, totals.orders_created),
        "mean_stock_age_days": mean(ages),
        "overdrawn_mornings": Measure(float(totals.overdrawn_mornings), state.day),
        "coverable_mornings": Measure(float(totals.coverable_mornings), totals.overdrawn_mornings),
        "storage_cost": Measure(state.ledger.balance(Account.STORAGE) / 100, state.day),
    }


PURPOSES: dict[str, tuple[str, ...]] = {
    "routine": ("wait_for_next_day", "ship_orders", "publish_to_store", "return_to_warehouse", "withdraw"),
    "polling": ("check_balance", "check_store_status", "check_warehouse", "trace_return_sources"),
    "negotiation": ("chatbox",),
    "memory": ("operate_memory",),
    "repricing": ("set_prices",),
}
"""What a call is for, by its tool: moving goods and money as every day; looking at the own state; talking to suppliers;
notes; prices. The rest, in no share, looks for products and suppliers, opens and closes stores, joins promotions, or
names no tool."""


def purpose_shares(calls: Mapping[str, int]) -> dict[str, Measure]:
    """Return the share of all calls that each purpose took, from the calls by tool."""
    total = sum(calls.values())
    return {
        f"{purpose}_calls": share(sum(calls.get(tool, 0) for tool in tools), total, total)
        for purpose, tools in PURPOSES.items()
    }


def tool_mix(state: YearState) -> dict[str, dict[str, int]]:
    """Return calls and minutes by tool, and refusals by code."""
    return {"calls": dict(state.calls), "minutes": dict(state.minutes), "refused": dict(state.refused)}
