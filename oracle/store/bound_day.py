r"""The most that one store can earn on one day, over every listing and all prices.

With the multipliers of :mod:`oracle.store.bound_margins`, the worth of a day is

.. math::
    \frac{C}{C + X} \sum_c \frac{K_c V_c}{K_c + S_c}, \quad X = \sum_c \frac{K_c S_c}{K_c + S_c}, \quad
    V_c = f b_n \sum_i d_i m_i, \quad S_c = f b_n \sum_i w_i d_i,

where ``f`` collects reputation, season, events and the weekend, and ``b_n`` is what ``n`` listed SKUs of a category
leave each other. It is at most ``\lambda`` if and only if every listing has ``\sum_c K_c (V_c - \mu S_c) / (K_c + S_c)
\le \lambda`` with ``\mu = \lambda / C``; and a category's term is at most ``\nu`` if and only if every listing has
``V_c - \theta S_c \le \nu`` with ``\theta = \mu + \nu / K_c``. Now SKUs are apart: the left side is at most
``f T_c(\theta)``, ``T_c(\theta) = \max_n b_n`` times the sum of the ``n`` largest ``\max_r d_i (m_i - \theta w_i)^+``.
So the category's term is the root of ``f T_c(\mu + \nu / K_c) = \nu``, the day's worth that of
``\sum_c \nu_c(\lambda / C) = \lambda``; both sides are monotone. ``T_c`` is convex and taken from a table by chords,
which lie above it, and of the bracket of ``\lambda`` the upper end is returned: each step errs upwards.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from commerce.types import FloatArray, Promotion
from oracle.store.bound_margins import UnitCurve, UnitMargins

_STEP = 0.11
"""Largest step of the logarithm of the capacity prices in a table; the first of them is 0, the second this, in fen:"""
_LEAST_PRICE = 1.0
_BISECTIONS = 24


class CategoryTables(NamedTuple):
    """Capacity prices and ``T`` at them, shape (categories, points)."""

    prices: FloatArray
    totals: FloatArray


def category_tables(
    market: UnitMargins, store_type: int, promotion: Promotion | None, mu: float, psi: float, kappa: float = 0.0
) -> CategoryTables:
    """Tabulate ``T`` of each category of a store type."""
    categories = market.setting.world.categories_by_type[store_type]
    found = [np.flatnonzero(market.setting.world.skus.category == category) for category in categories]
    curves = [market.curve(rows, promotion, mu, psi, kappa) for rows in found if len(rows)]
    tops = [max(_LEAST_PRICE, float((curve.worth / curve.weight[:, None]).max())) for curve in curves]
    num = 2 + int(np.ceil(np.log(max(tops, default=1.0) / _LEAST_PRICE) / _STEP))
    prices = [np.append(0.0, np.geomspace(_LEAST_PRICE, top, num - 1)) for top in tops]
    breadth = market.setting.rules.category_breadth
    totals = [_totals(curve, grid, breadth) for curve, grid in zip(curves, prices, strict=True)]
    return CategoryTables(np.array(prices).reshape(-1, num), np.array(totals).reshape(-1, num))


def _totals(curve: UnitCurve, prices: FloatArray, breadth: float | None) -> FloatArray:
    earned, taken = _without_dominated(curve.units * curve.worth, curve.units * curve.weight[:, None])
    best = np.array([np.maximum((earned - price * taken).max(axis=1), 0.0) for price in prices])
    if breadth is None:
        return np.asarray(best.sum(axis=1))
    running = np.cumsum(np.sort(best, axis=1)[:, ::-1], axis=1)
    shares = breadth / (breadth + np.arange(running.shape[1]))
    return np.asarray((running * shares).max(axis=1))


def _without_dominated(earned: FloatArray, taken: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Leave out the columns at which every row has another that earns as much and takes no more."""
    rows, best = np.arange(len(earned)), earned.argmax(axis=1)
    is_worse = (earned <= earned[rows, best][:, None]) & (taken >= taken[rows, best][:, None])
    is_worse[rows, best] = False
    used = ~is_worse.all(axis=0)
    return earned[:, used], taken[:, used]


def day_worth(tables: CategoryTables, caps: float | None, capacity: float, factors: FloatArray) -> FloatArray:
    """Return an upper bound on the worth of a day for each of ``factors``; ``caps`` is K, ``None`` where there is none.

    Parameters
    ----------
    tables
        Of the store type and kind of day.
    caps
        Capacity of each category; without one all categories share the store's alone.
    capacity
        C of the store.
    factors : ndarray, shape (n,)
        f.
    """
    if not len(tables.prices):
        return np.zeros(len(factors))
    if caps is None:
        return np.asarray(_category_terms(_merged(tables), capacity, np.zeros(len(factors)), factors).sum(axis=1))
    high = _category_terms(tables, caps, np.zeros(len(factors)), factors).sum(axis=1)
    low = np.zeros(len(factors))
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        is_enough = _category_terms(tables, caps, middle / capacity, factors).sum(axis=1) <= middle
        high, low = np.where(is_enough, middle, high), np.where(is_enough, low, middle)
    return np.asarray(high)


def _category_terms(tables: CategoryTables, caps: float, mu: FloatArray, factors: FloatArray) -> FloatArray:
    """Return ``nu`` of each category, shape (n, categories): the root, exact on the chords of the table."""
    prices, totals = tables
    excess = factors[:, None, None] * totals - (prices - mu[:, None, None]) * caps
    place = np.clip((excess > 0).sum(axis=2) - 1, 0, prices.shape[1] - 2)[..., None]
    left = np.take_along_axis(excess, place, 2)[..., 0]
    right = np.take_along_axis(excess, place + 1, 2)[..., 0]
    row = np.arange(len(prices))
    first, last = prices[row, place[..., 0]], prices[row, place[..., 0] + 1]
    share = np.where(right < left, left / np.where(right < left, left - right, 1.0), 0.0)
    roots = first + (last - first) * np.clip(share, 0.0, 1.0)
    return np.asarray(np.maximum(0.0, (roots - mu[:, None]) * caps))


def _merged(tables: CategoryTables) -> CategoryTables:
    """Return one table for all categories together, on the union of their prices."""
    grid = np.unique(tables.prices)
    totals = sum(np.interp(grid, *row, right=0.0) for row in zip(*tables, strict=True))
    return CategoryTables(grid[None, :], np.asarray(totals)[None, :])
