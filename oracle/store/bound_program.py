r"""Cash over the year as a linear program, and the bound it certifies.

Of each store type ``s`` and day of sale ``D`` there are ``z`` (part of the day's stores that are of this type), ``b``
(cost of the goods sold), ``a`` (income less freight and storage) and ``g`` (income that reaches the wallet), all
expected values. With the supporting lines of :mod:`oracle.store.bound_day` at a few prices of money ``\mu``,

.. math::
    \max\ M_0 + \sum_{s, D} (a - b - ops_s z) - \sum_s setup\, o_s \quad \text{subject to} \quad
    a \le V_\mu z + \mu b, \quad g \le V^0_\mu z + \mu b, \quad \sum_s z_{s D} \le most, \quad z_{s D} \le o_s \le 1, \\
    \sum_{\tau_s(D) \le t} b_{s D} \le M_0 + \sum_{D + lag \le t} g_{s D} \quad \text{for every day } t,

where ``\tau_s(D)`` is the last day on which goods for the sales of ``D`` can be bought. HiGHS solves it; its answer is
not relied on. From its multipliers, made feasible, the value ``b y + \sum_j u_j (c_j - A_j y)^+`` of the dual is worked
out anew: by weak duality that is a bound whatever the solver did, and the solver only decides how good it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array

from commerce.types import BoolArray, FloatArray, IntArray

_PARTS = 4  # z, b, a, g of a store and day


class DayLines(NamedTuple):
    """What stores and days allow; arrays over (store types, days of sale) in one unit of money.

    Attributes
    ----------
    net, gross
        Worth of the day by price of money: of income less freight and storage, and of income.
    most_spent
        Most that the goods sold on the day can cost.
    bought
        Last day on which they can be bought; -1 where there is none.
    settled
        First day on which their income can be spent.
    scarce_days
        From this day on there is only the line at a price of money of 1.
    """

    net: dict[float, FloatArray]
    gross: dict[float, FloatArray]
    most_spent: FloatArray
    bought: IntArray
    settled: IntArray
    scarce_days: int


class Purse(NamedTuple):
    """Money and its rules, in the unit of the lines: at the start, a day of each store type, opening, most stores."""

    initial: float
    operations: FloatArray
    setup: float
    most_open: int


class CashBound(NamedTuple):
    """A certified bound, what the solver found, what money is worth by day, and what each store type earns."""

    upper: float
    primal: float
    money_worth: FloatArray
    by_store_type: FloatArray


class _Rows:
    """Rows of a linear program in the making."""

    def __init__(self) -> None:
        self.row: list[IntArray] = []
        self.column: list[IntArray] = []
        self.value: list[FloatArray] = []
        self.bounds: list[FloatArray] = []
        self.num = 0

    def add(self, terms: list[tuple[IntArray, FloatArray | float]], right: FloatArray) -> None:
        """Add one row for each entry of ``right``: the sum of coefficient times column of every term is at most it."""
        rows = self.num + np.arange(len(right))
        for columns, values in terms:
            self.put(rows, columns, values)
        self.bounds.append(right)
        self.num += len(right)

    def put(self, rows: IntArray, columns: IntArray, values: FloatArray | float) -> None:
        """Put coefficients into rows."""
        self.row.append(rows)
        self.column.append(columns)
        self.value.append(np.broadcast_to(values, columns.shape).astype(np.float64))


def cash_bound(lines: DayLines, purse: Purse) -> CashBound:
    """Return the certified bound of the program.

    Raises
    ------
    RuntimeError
        If the solver fails.
    """
    num_types, num_days = lines.bought.shape
    size = num_types * num_days
    z, b, a, g = (part * size + np.arange(size) for part in range(_PARTS))
    opened = _PARTS * size + np.arange(num_types)
    num_purse_days = int(max(lines.bought.max(), 0)) + 1
    bank = opened[-1] + 1 + np.arange(num_purse_days)
    can_sell = (lines.bought >= 0).ravel()
    upper = _boxes(lines, purse, can_sell, num_purse_days)
    gain = np.zeros(len(upper))
    gain[a], gain[b], gain[z], gain[opened] = 1.0, -1.0, -np.repeat(purse.operations, num_days), -purse.setup
    rows = _Rows()
    is_early = np.tile(np.arange(num_days) < lines.scarce_days, num_types)
    for columns, worths in ((a, lines.net), (g, lines.gross)):
        for mu, worth in worths.items():
            used = is_early if mu != 1 else np.ones(size, dtype=bool)
            rows.add([(columns[used], 1.0), (b[used], -mu), (z[used], -worth.ravel()[used])], np.zeros(used.sum()))
    rows.add([(part, 1.0) for part in z.reshape(num_types, num_days)], np.full(num_days, float(purse.most_open)))
    rows.add([(z, 1.0), (np.repeat(opened, num_days), -1.0)], np.zeros(size))
    _add_purse(rows, lines, purse, (b, g, bank))
    matrix = csr_array(
        coo_array(
            (np.concatenate(rows.value), (np.concatenate(rows.row), np.concatenate(rows.column))),
            shape=(rows.num, len(upper)),
        )
    )
    right = np.concatenate(rows.bounds)
    bounds = np.stack([np.zeros(len(upper)), upper], axis=1)
    found = linprog(-gain, matrix, right, bounds=bounds, method="highs-ipm")  # type: ignore[call-overload]
    if found.status != 0:
        raise RuntimeError(f"the cash program was not solved: {found.message}")
    prices = np.maximum(0.0, -found.ineqlin.marginals)
    value = float(right @ prices + upper @ np.maximum(0.0, gain - matrix.T @ prices))
    earned = (gain * found.x)[: _PARTS * size].reshape(_PARTS, num_types, num_days).sum(axis=(0, 2))
    return CashBound(purse.initial + value, purse.initial - float(found.fun), 1 + prices[-num_purse_days:], earned)


def _add_purse(rows: _Rows, lines: DayLines, purse: Purse, columns: tuple[IntArray, IntArray, IntArray]) -> None:
    """Add that money must be there: what is left in the bank is at most what was left plus income less purchases."""
    b, g, bank = columns
    first, days = rows.num, np.arange(len(bank))
    right = np.zeros(len(bank))
    right[0] = purse.initial
    rows.add([(bank, 1.0)], right)
    rows.put(first + days[1:], bank[:-1], -1.0)
    bought, settled = lines.bought.ravel(), lines.settled.ravel()
    can_sell = bought >= 0
    rows.put(first + bought[can_sell], b[can_sell], 1.0)
    in_time = can_sell & (settled < len(bank))
    rows.put(first + settled[in_time], g[in_time], -1.0)


def _boxes(lines: DayLines, purse: Purse, can_sell: BoolArray, num_purse_days: int) -> FloatArray:
    """Return the largest value each column can have."""
    spent = lines.most_spent.ravel() * can_sell
    net, gross = ((worths[1.0].ravel() + spent) * can_sell for worths in (lines.net, lines.gross))
    most = purse.initial + float(gross.sum())
    return np.concatenate(
        [can_sell.astype(float), spent, net, gross, np.ones(len(purse.operations)), np.full(num_purse_days, most)]
    )
