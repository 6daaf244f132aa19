r"""The statement of a year: every fen by which its assets changed, in exactly one row.

No row asks what would have happened otherwise. Income and expense are taken from the postings of the year, carried out
again from its plan, and split by what is hidden from the merchant: floors of suppliers, frauds, causes of returns.

An order *line* is what customers bought of one SKU on one day, at gross price ``g``, commission ``c`` and goods that
cost ``k`` in the ledger. Lines that came with the last daily step could not be shipped by anybody and are in no row but
the one of the goods left over.

* A line that was never shipped takes back its margin ``g - c - k``.
* A unit that comes back takes its refund out of the escrow, less the cost of the goods where they are put back. Which
  cause brought it back is told by its draw ``u``: natural below :math:`r_0`, else a defect below :math:`r_1`, else the
  price below :math:`r_2`, else the shipping speed (:mod:`commerce.returns`). The freight of the unit goes with it.
* Goods are charged with every line they are sold in, and given back with the margin of lines that were not shipped and
  of units that came back.
* What was paid above a floor is charged as far as the goods left for good with a customer, in the proportion of the
  year's deliveries of the SKU; the rest of it lies in the goods left over, at what they cost.
"""

from __future__ import annotations

import numpy as np

from commerce.fulfilment import return_draws
from commerce.ledger import Account
from commerce.metrics.bookkeeping import Bookkeeper, OrderLines
from commerce.metrics.statement_rows import STATEMENT, Statement, StatementRow
from commerce.money import round_fen
from commerce.orders import Orders
from commerce.plan import execute, extract
from commerce.procurement import pair_terms
from commerce.returns import shipped_rate
from commerce.setting import Setting
from commerce.state import YearState
from commerce.types import EndReason, IntArray
from commerce.year import Year


def statement(year: Year) -> Statement:
    """Return the statement of a finished year.

    Raises
    ------
    ValueError
        If the year is not over, began from a saved state, or is not reproduced by its plan.
    """
    if not year.is_over:
        raise ValueError(f"the year is at day {year.state.day} and not over; only a finished year has a statement")
    setting, keeper = year.setting, Bookkeeper(year.setting)
    again = execute(setting.world, setting.rules, extract(year), keeper).year.state
    if again.ledger.digest != year.state.ledger.digest:
        raise ValueError("the year's decisions, carried out again, are another year; it cannot be taken apart")
    amounts = _amounts(setting, again, keeper)
    rows = tuple(StatementRow(name, item.kind, amounts[name]) for name, item in STATEMENT.items())
    return Statement(setting.rules.initial_fen, year.final_fen, rows)


def _amounts(setting: Setting, state: YearState, keeper: Bookkeeper) -> dict[str, int]:
    """Return every row."""
    lines, spent = keeper.lines(), state.ledger.balance
    orders, is_shipped = lines.orders, lines.shipped_fen > 0
    never = orders.rows(~is_shipped)
    back = _returns(setting, lines)
    overpaid = _overpaid(setting, state, lines)
    best = np.minimum(lines.freight_fen, _best_freight(setting, orders))
    lost_freight = _by_cause(best, back, orders.units)
    lost_margin = _by_cause(lines.refunded_fen - lines.restocked_fen, back, lines.returned)
    natural, defect, price, speed = (lost_margin + lost_freight).tolist()
    left = sum(map(spent, (Account.INVENTORY, Account.GOODS_ON_ORDER, Account.WRITE_OFF)))
    is_bankrupt = state.end == EndReason.BANKRUPTCY
    return {
        "ordered": int(orders.gross_fen.sum()),
        "commission": int((orders.net_fen - orders.gross_fen).sum()),
        "goods": sum(overpaid) - int(orders.cost_fen.sum()),
        "freight": int(lost_freight.sum() - best.sum()),
        "storage": keeper.old_storage_fen - spent(Account.STORAGE),
        "operations": -spent(Account.OPERATIONS),
        "setup": -spent(Account.SETUP),
        "natural_returns": -natural,
        "overpaid_honest": -overpaid[0],
        "fraud_fees": -spent(Account.SUPPLIER_FEES),
        "fraud_short": -spent(Account.SHORT_DELIVERY),
        "fraud_overpaid": -overpaid[1],
        "fraud_defects": -int(lost_margin[_DEFECT]),
        "fraud_freight": int(lost_margin[_DEFECT]) - defect,
        "old_storage": -keeper.old_storage_fen,
        "dear_freight": int(best.sum() - lines.freight_fen.sum()),
        "speed_returns": -speed,
        "price_returns": -price,
        "never_shipped": int((never.cost_fen - never.net_fen).sum()),
        "unsold": 0 if is_bankrupt else -left,
        "sold_off": -spent(Account.LIQUIDATION_COST) - spent(Account.SALVAGE),
        "overdraft": -left if is_bankrupt else 0,
        "idle_penalty": -spent(Account.IDLE_PENALTY),
    }


_DEFECT = 1


def _returns(setting: Setting, lines: OrderLines) -> IntArray:
    """Return the units of each order that came back by cause, shape (4, orders): nature, defect, price, speed."""
    orders = lines.orders
    draws = return_draws(setting, orders.sku, orders.sale_day, orders.units)
    owner = np.repeat(np.arange(len(orders.units)), orders.units)
    layers = np.maximum.accumulate(np.stack([orders.natural, orders.blended, orders.priced]), axis=0)
    below = [np.bincount(owner, weights=draws < rates[owner], minlength=len(orders.units)) for rates in layers]
    upto = np.minimum(np.stack([*below, np.full(len(orders.units), np.inf)]), lines.returned).astype(np.int64)
    return np.asarray(np.diff(upto, axis=0, prepend=0), dtype=np.int64)


def _by_cause(amounts: IntArray, causes: IntArray, wholes: IntArray) -> IntArray:
    """Return the share of ``amounts`` of each cause, ``causes / wholes`` of each order, in whole fen."""
    upto = np.cumsum(causes, axis=0)
    shares = amounts * upto // np.maximum(1, wholes)
    return np.asarray(np.diff(shares, axis=0, prepend=0).sum(axis=1), dtype=np.int64)


def _best_freight(setting: Setting, orders: Orders) -> IntArray:
    """Return the freight of the speed at which it costs least together with what returns are expected to take."""
    rules = setting.rules
    standard = setting.freight_fen[orders.sku] * orders.units
    freight = np.stack([round_fen(standard * factor) for factor in rules.speed_cost])
    margin = (orders.net_fen - orders.cost_fen).astype(np.float64)
    returned = np.stack([shipped_rate(orders.priced, factor, rules) for factor in rules.speed_returns])
    best = (freight + returned * margin).argmin(axis=0)
    return np.asarray(freight[best, np.arange(len(best))], dtype=np.int64)


def _overpaid(setting: Setting, state: YearState, lines: OrderLines) -> tuple[int, int]:
    """Return what was paid above floors to honest and to fraudulent suppliers, of goods that left for good."""
    world, received = setting.world, [row for row in state.purchases if row.received_day >= 0]
    cost = [0] * setting.num_skus
    above = [[0] * setting.num_skus for _ in range(2)]
    for row in received:
        floor = pair_terms(world, setting.rules, row.supplier, row.sku).floor
        cost[row.sku] += row.delivered * row.unit_price_fen
        is_fraud = not world.suppliers[row.supplier].is_honest
        above[is_fraud][row.sku] += row.delivered * max(0, row.unit_price_fen - floor)
    sold = np.zeros(setting.num_skus, dtype=np.int64)
    gone = np.where(lines.shipped_fen > 0, lines.orders.cost_fen - lines.restocked_fen, 0)
    np.add.at(sold, lines.orders.sku, gone)
    honest, frauds = (
        sum(part * out // max(1, whole) for part, out, whole in zip(one, sold.tolist(), cost, strict=True))
        for one in above
    )
    return honest, frauds
