"""Carrying many plans out in one world, compiled: the same fen as :func:`commerce.plan.execute`, without the books.

What a regret ledger asks of a plan is what it earns; the readable execution keeps a ledger, notices and a history of
postings besides, and takes some hundred times as long. Two twins, one law: the tests carry random plans out in both.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from commerce.config import Rules
from commerce.decisions import line_keys
from commerce.lots import age_factor
from commerce.plan import StorePlan, execute
from commerce.plan.acts import group_acts
from commerce.plan.carrying_out import Cuts
from commerce.plan.planned import check_plan
from commerce.plan.shelving import first_prices
from commerce.receiving import MINUTES_PER_DAY, lead_time
from commerce.setting import Setting
from commerce.types import EndReason, IntArray
from oracle.kernels.year.year_run import run_plan
from oracle.kernels.year.year_tables import (
    ACT_GROUPS,
    BUYS,
    GOODS,
    INBOX,
    JOININGS,
    KIND_TERMS,
    LIST_PRICES,
    LOTS,
    MONEY,
    NOWHERE,
    ORDERS,
    PROMOTION_TERMS,
    RULE_TERMS,
    SHELF_ACTS,
    SHELF_OFFERS,
    SKU_TERMS,
    STORE_ACTS,
    STORES,
    Books,
    OrderBook,
    PlanTables,
    Table,
    WorldTables,
)

_ENDS = (EndReason.CALENDAR, EndReason.BANKRUPTCY, EndReason.STOPPED)
_POCKETS = ("bank_fen", "wallet_fen", "escrow_fen")
_LARGEST = 2**62


class CarriedOut(NamedTuple):
    """What a plan came to: final assets, how the year ended, what was cut, assets after each daily step."""

    assets_fen: int
    end: str | None
    cuts: Cuts
    path_fen: tuple[int, ...]


class PlanRunner:
    """Carries plans out in the world and by the rules of ``setting``."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._world = _world_tables(setting)
        self._leads: dict[tuple[int, int, int], tuple[int, int]] = {}

    def run(self, plan: StorePlan) -> CarriedOut:
        """Return what ``plan`` comes to.

        Raises
        ------
        ValueError
            If the plan is of another world or holds what cannot be.
        """
        check_plan(plan, self._setting)
        if not _is_small(plan):
            return carry_out_readably(self._setting, plan)
        tables = _plan_tables(self._setting, plan, self._due_days(plan))
        books, path = _new_books(self._setting, tables), np.zeros(self._setting.last_day, dtype=np.int64)
        num_days, end = run_plan(self._world, tables, books, _no_orders(), path)
        money, spent = books.money[0], plan.buys.units * plan.buys.unit_fen
        missed = slice(int(money["num_bought"]), None)
        cuts = Cuts(
            planned_fen=int(spent.sum()),
            scaled_fen=int(money["scaled_fen"]),
            cut_fen=int(money["cut_fen"] + spent[missed].sum()),
            cut_units=int(money["cut_units"] + plan.buys.units[missed].sum()),
            void_listings=int(money["void_listings"]),
            void_acts=int(money["void_acts"]),
        )
        assets = int(money["bank"] + money["wallet"] + money["escrow"])
        return CarriedOut(assets, _ENDS[end].value, cuts, tuple(path[:num_days].tolist()))

    def _due_days(self, plan: StorePlan) -> IntArray:
        """Return the morning on which each purchase is there."""
        buys, known = plan.buys, self._leads
        keys = list(zip(buys.supplier.tolist(), buys.sku.tolist(), buys.day.tolist(), strict=True))
        for key in keys:
            if key not in known:
                known[key] = lead_time(self._setting, *key)[:2]
        days, minutes = np.array([known[key] for key in keys], dtype=np.int64).reshape(len(keys), 2).T
        extra, minute = np.divmod(buys.minute + minutes, MINUTES_PER_DAY)
        return np.asarray(buys.day + days + extra + (minute > self._setting.rules.open_minute))


def carry_out_readably(setting: Setting, plan: StorePlan) -> CarriedOut:
    """Return what ``plan`` comes to by the readable execution: the twin of :meth:`PlanRunner.run`."""
    year, cuts = execute(setting.world, setting.rules, plan)
    path = tuple(sum(row[name] for name in _POCKETS) for row in year.state.history)
    return CarriedOut(year.final_fen, year.state.end, cuts, path)


def _is_small(plan: StorePlan) -> bool:
    """Whether no product of the plan's numbers leaves 64 bits, and no fee is negative."""
    buys = plan.buys
    most = max((int(column.max()) for column in (buys.units, buys.delivered, buys.bank_fen) if len(column)), default=0)
    units = int(buys.units.max()) if len(buys.units) else 0
    listed = int(plan.prices.fen.max()) if len(plan.prices.fen) else 0
    return units * max(most, listed) < _LARGEST and bool((plan.fees.fen >= 0).all())


def _table(dtype: np.dtype[np.void], num: int, **columns: Any) -> Table:
    """Return records with the given columns; what is not given is 0."""
    table = np.zeros(num, dtype)
    for name, column in columns.items():
        table[name] = column
    return table


def _plan_tables(setting: Setting, plan: StorePlan, due_days: IntArray) -> PlanTables:
    groups, days = group_acts(plan), np.arange(setting.rules.num_days + 2)

    def rows(dtype: np.dtype[np.void], table: Any, **more: IntArray) -> Table:
        shared = {name: getattr(table, name) for name in dtype.names or () if name in table._fields}
        return _table(dtype, len(table.order), **shared, **more)

    return PlanTables(
        groups.day.searchsorted(days),
        _table(ACT_GROUPS, len(groups.day), kind=groups.kind, first=groups.first, stop=groups.stop),
        rows(STORE_ACTS, plan.stores),
        plan.fees.fen,
        rows(BUYS, plan.buys, due_day=due_days),
        plan.withdrawals.fen,
        rows(SHELF_ACTS, plan.shelf),
        rows(LIST_PRICES, plan.prices),
        rows(JOININGS, plan.promotions),
        plan.shipments.speed,
        np.stack([line_keys(plan.lines.sku, plan.lines.sale_day), plan.lines.shipment]),
        np.stack([plan.defaults.delay, plan.defaults.speed]),
        plan.patience.shelf,
        first_prices(setting, plan.prices),
        int(plan.patience.wallet),
        NOWHERE if plan.stop is None else int(plan.stop.day),
    )


def _new_books(setting: Setting, plan: PlanTables) -> Books:
    num, days, types = setting.num_skus, setting.last_day + 1, len(setting.world.store_types)
    mornings = max(days, int(plan.buys["due_day"].max(initial=0)) + 1)
    return Books(
        _table(GOODS, num, list_fen=plan.first_price, first_lot_day=days),
        np.zeros((num, days), dtype=np.int64),
        _table(STORES, len(plan.stores), kind=NOWHERE),
        np.full(types, NOWHERE),
        _table(MONEY, 1, bank=setting.rules.initial_fen),
        _table(INBOX, len(plan.buys)),
        np.full(mornings, NOWHERE),
        _table(SHELF_OFFERS, num),
        np.zeros(num),
        np.zeros(len(setting.world.categories), dtype=np.int64),
        np.zeros(len(setting.world.categories)),
    )


def _no_orders() -> OrderBook:
    return OrderBook(_table(ORDERS, 0), _table(LOTS, 0), np.zeros(2, dtype=np.int64))


def _world_tables(setting: Setting) -> WorldTables:
    rules, skus, types, rows = setting.rules, setting.world.skus, setting.world.store_types, setting.rows_of_type
    days, promotions = range(setting.last_day), setting.world.promotions
    starts = np.concatenate([[0], np.cumsum([len(mine) for mine in rows])])
    factors = [[setting.season(kind, day) * setting.event_factor(kind, day) for day in days]
               for kind in range(len(types))]  # fmt: skip
    active = np.array([[promotion.is_active(day) for day in days] for promotion in promotions], dtype=np.int64)
    return WorldTables(
        _rule_table(rules),
        _table(
            SKU_TERMS, setting.num_skus, reference_fen=skus.reference_fen, category=skus.category,
            kind=skus.store_type, response=setting.response, freight_fen=setting.freight_fen,
            storage_fen=setting.storage_fen, base=setting.base, elasticity=setting.elasticity,
            weight=setting.capacity_weight, natural=skus.return_rate, demand_key=setting.demand_keys,
            return_key=setting.return_keys,
        ),
        np.concatenate(rows),
        _table(
            KIND_TERMS, len(types) + 1, first_row=starts, operations_fen=[*(kind.operations_fen for kind in types), 0],
            capacity=[*(kind.capacity for kind in types), 0],
        ),
        setting.category_caps,
        _table(
            PROMOTION_TERMS, len(promotions), last_day=[promotion.windows[-1][1] for promotion in promotions],
            max_multiplier=[promotion.max_multiplier for promotion in promotions],
            elasticity_boost=[promotion.elasticity_boost for promotion in promotions],
        ),
        active.reshape(len(promotions), len(days)),
        np.array(factors, dtype=np.float64),
        np.array([setting.is_weekend(day) for day in days], dtype=np.int64),
        np.array([rules.speed_cost, rules.speed_returns], dtype=np.float64),
        np.array(rules.return_knees, dtype=np.float64).T.copy(),
        age_factor(np.arange(rules.num_days + 2), rules),
    )  # fmt: skip


def _rule_table(rules: Rules) -> Table:
    derived = {
        "is_base_listed": rules.promotion_base == "list",
        "is_commission_reversed": rules.commission_on_returns == "reversed",
        "return_lag_low": rules.return_lag[0],
        "return_lag_high": rules.return_lag[1],
        "reputation_low": rules.reputation_bounds[0],
        "reputation_high": rules.reputation_bounds[1],
    }
    found = {name: derived[name] if name in derived else getattr(rules, name) for name in RULE_TERMS.names or ()}
    return _table(RULE_TERMS, 1, **{name: math.nan if value is None else value for name, value in found.items()})
