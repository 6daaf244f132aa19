r"""The most profitable listing and prices of one store on one day, for any demand before saturation.

A store may list any of ``n`` SKUs, each at one of ``P`` prices. Listed at its price, SKU ``i`` of category ``c`` draws
``a_i`` units before anything is shared or saturated, a unit sold earns ``m_i`` and takes ``w_i`` of the capacities (1
where capacity is counted in units, the reference price where it is counted in value). With ``n_c`` SKUs of a category
listed, its breadth ``b``, ``\sigma_c = b / (b + n_c - 1)`` (1 without a breadth), category capacities ``K_c``, the
capacity ``K`` of the store, ``S_c = \sigma_c \sum_{i \in c} w_i a_i`` and ``V_c = \sigma_c \sum_{i \in c} m_i a_i``,

.. math::
    F = \frac{K}{K + \sum_c s_c S_c} \sum_c s_c V_c, \qquad s_c = \frac{K_c}{K_c + S_c}.

Both saturations are fractional, so Dinkelbach's transform takes them off one after the other. ``F`` is the root
``K \mu`` of ``\sum_c h_c(\mu) = K \mu``, where ``h_c(\mu) = \max s_c (V_c - \mu S_c)`` over the listings of one
category; and ``h_c`` is the root ``K_c \eta_c`` of

.. math:: \max_n \sigma(n) \sum_{i \le n} g_{(i)} = K_c \eta_c, \qquad
    g_i = \max_p a_i(p) (m_i(p) - (\mu + \eta_c) w_i),

with ``g`` in descending order. Given the two multipliers every SKU is on its own: it charges the price that is best
against the congestion cost ``\lambda_c = \mu + \eta_c`` per unit of capacity, and the best ``n`` are listed that leave
something (all that do, without a breadth, since ``\sigma`` is the same for any ``n`` of them). Both sides are monotone,
Dinkelbach's iteration converges from below and faster than linearly, and the result is the global maximum over all
``(P + 1)^n`` listings.

Arrays: ``n`` SKUs, ``P`` prices, ``C`` categories; money and capacity in any one unit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from commerce.types import BoolArray, FloatArray, IntArray

_TOLERANCE, _NEAR = 1e-12, 1e-5
_MAX_STEPS = 200


class Candidates(NamedTuple):
    """What may be listed: demand before saturation and margin a unit by price, shape (n, P); weight, category (n,)."""

    demand: FloatArray
    margin: FloatArray
    weight: FloatArray
    category: IntArray


class StoreCapacity(NamedTuple):
    """What a store can sell.

    Attributes
    ----------
    total
        Capacity of the store.
    categories
        Capacity of each category, infinite where there is none, shape (C,).
    breadth
        SKUs whose full demand is the most that all listed ones of a category can share.
    """

    total: float
    categories: FloatArray
    breadth: float | None = None


class StaticOptimum(NamedTuple):
    """The best listing of a store.

    Attributes
    ----------
    listed
        Which SKUs are listed, shape (n,).
    price
        Column of the price each SKU has, or would have, shape (n,).
    units
        Expected sales after both saturations, shape (n,); 0 where not listed.
    profit
        Expected profit of the day.
    congestion
        What one unit of capacity costs the rest of the store, by category, shape (C,).
    """

    listed: BoolArray
    price: IntArray
    units: FloatArray
    profit: float
    congestion: FloatArray


def static_optimum(candidates: Candidates, capacity: StoreCapacity) -> StaticOptimum:
    """Return the most profitable listing and prices.

    Raises
    ------
    ValueError
        If shapes do not fit, a demand, weight or capacity is negative, or a number is not finite.
    """
    _check(candidates, capacity)
    return _Search(candidates, capacity).outer()


def saturated(candidates: Candidates, capacity: StoreCapacity, listed: BoolArray, price: IntArray) -> FloatArray:
    """Return expected units of each SKU for a listing and its price columns, after both saturations, shape (n,)."""
    rows = np.arange(len(price))
    raw = np.where(listed, candidates.demand[rows, price], 0.0)
    caps, category = capacity.categories, candidates.category
    raw *= _sharing(_sums(category, listed.astype(np.float64), len(caps)), capacity.breadth)[category]
    shares = _shares(_sums(category, candidates.weight * raw, len(caps)), caps)
    sold = raw * shares[category]
    return np.asarray(sold * capacity.total / (capacity.total + float(candidates.weight @ sold)))


def _sums(category: IntArray, amounts: FloatArray, num: int) -> FloatArray:
    return np.bincount(category, amounts, num).astype(np.float64)


def _shares(taken: FloatArray, caps: FloatArray) -> FloatArray:
    return np.where(np.isinf(caps), 1.0, caps / (np.where(np.isinf(caps), 0.0, caps) + taken))


def _sharing(num_listed: FloatArray, breadth: float | None) -> FloatArray:
    """Return what is left of the demand of each SKU when so many of its category are listed."""
    if breadth is None:
        return np.ones(len(num_listed))
    return np.asarray(breadth / (breadth + np.maximum(num_listed - 1, 0)))


def _places(category: IntArray, num: int) -> IntArray:
    """Return the SKUs of each category, one category a row, filled up with a place beyond the last SKU."""
    sizes = np.bincount(category, minlength=num)
    table = np.full((num, max(1, int(sizes.max(initial=0)))), len(category), dtype=np.int64)
    for row in range(num):
        table[row, : sizes[row]] = np.flatnonzero(category == row)
    return table


class _Choice(NamedTuple):
    """The best listing against given multipliers, with its sums by category."""

    listed: BoolArray
    price: IntArray
    eta: FloatArray
    value: FloatArray
    taken: FloatArray
    worth: FloatArray


class _Search:
    def __init__(self, candidates: Candidates, capacity: StoreCapacity) -> None:
        self._given, self._capacity = candidates, capacity
        self._rows = np.arange(len(candidates.weight))
        self._num = len(capacity.categories)
        self._has_cap = ~np.isinf(capacity.categories)
        self._caps = np.where(self._has_cap, capacity.categories, 1.0)
        self._earned = candidates.demand * candidates.margin
        self._filled = candidates.demand * candidates.weight[:, None]
        self._table = _places(candidates.category, self._num)

    def outer(self) -> StaticOptimum:
        """Return the best listing."""
        mu, choice = self._near()
        for _ in range(_MAX_STEPS):
            choice = self._inner(mu, choice)
            better = self._mean_worth(choice)
            if better <= mu * (1 + _TOLERANCE):
                break
            mu = better
        return self._result(choice, mu)

    def _near(self) -> tuple[float, _Choice]:
        """Return a listing near the best one and its worth, both multipliers being moved at once.

        Any listing gives multipliers that are no higher than the best ones, so the iteration may begin from it.
        """
        mu, choice = 0.0, self._respond(0.0, np.zeros(self._num))
        for _ in range(_MAX_STEPS):
            better = self._mean_worth(choice)
            if better <= mu * (1 + _NEAR):
                break
            mu = better
            choice = self._respond(mu, self._category_worth(choice, mu))
        return mu, choice

    def _mean_worth(self, choice: _Choice) -> float:
        shares = _shares(choice.taken, self._capacity.categories)
        return float(shares @ choice.worth) / (self._capacity.total + float(shares @ choice.taken))

    def _category_worth(self, choice: _Choice, mu: float) -> FloatArray:
        worth = (choice.worth - mu * choice.taken) / (self._caps + choice.taken)
        return np.where(self._has_cap, np.maximum(worth, 0.0), 0.0)

    def _inner(self, mu: float, start: _Choice) -> _Choice:
        """Return the best listing of every category at the store's multiplier ``mu``, beginning at ``start``."""
        eta = self._category_worth(start, mu)
        for _ in range(_MAX_STEPS):
            choice = self._respond(mu, eta)
            better = self._category_worth(choice, mu)
            if np.all(better <= eta * (1 + _TOLERANCE)):
                break
            eta = np.maximum(eta, better)
        return choice

    def _respond(self, mu: float, eta: FloatArray) -> _Choice:
        category = self._given.category
        net = self._earned - (mu + eta)[category][:, None] * self._filled
        price = net.argmax(axis=1)
        value = net[self._rows, price]
        listed = self._listed(value)
        sharing = _sharing(self._by_category(listed.astype(np.float64)), self._capacity.breadth)
        taken = sharing * self._by_category(np.where(listed, self._filled[self._rows, price], 0.0))
        worth = sharing * self._by_category(np.where(listed, self._earned[self._rows, price], 0.0))
        return _Choice(listed, price, eta, value, taken, worth)

    def _listed(self, value: FloatArray) -> BoolArray:
        """Return which SKUs to list when each is worth ``value`` before its category shares its buyers."""
        breadth = self._capacity.breadth
        listed = value > 0
        if breadth is None:
            return listed
        table = np.append(np.maximum(value, 0.0), 0.0)[self._table]
        order = np.argsort(-table, axis=1, kind="stable")
        ranks = np.empty_like(order)
        np.put_along_axis(ranks, order, np.arange(table.shape[1])[None, :], axis=1)
        gained = np.take_along_axis(table, order, axis=1).cumsum(axis=1)
        most = 1 + (gained / (breadth + np.arange(table.shape[1]))).argmax(axis=1)
        is_first = np.zeros(len(value) + 1, dtype=np.bool_)
        is_first[self._table] = ranks < most[:, None]
        return listed & is_first[:-1]

    def _by_category(self, amounts: FloatArray) -> FloatArray:
        return _sums(self._given.category, amounts, self._num)

    def _result(self, choice: _Choice, mu: float) -> StaticOptimum:
        units = saturated(self._given, self._capacity, choice.listed, choice.price)
        profit = float(units @ self._given.margin[self._rows, choice.price])
        return StaticOptimum(choice.listed, choice.price, units, profit, mu + choice.eta)


def _check(candidates: Candidates, capacity: StoreCapacity) -> None:
    num = len(candidates.weight)
    if candidates.demand.shape != candidates.margin.shape or candidates.demand.shape[:1] != (num,):
        raise ValueError(
            f"demand {candidates.demand.shape} and margin {candidates.margin.shape} must both be (SKUs, prices) "
            f"for {num} SKUs"
        )
    if len(candidates.category) != num or (num and candidates.category.max() >= len(capacity.categories)):
        raise ValueError(f"category must name one of {len(capacity.categories)} categories for each of {num} SKUs")
    for name in ("demand", "weight"):
        values = getattr(candidates, name)
        if not (np.isfinite(values).all() and (values >= 0).all()):
            raise ValueError(f"{name} must be finite and not negative")
    if not np.isfinite(candidates.margin).all():
        raise ValueError("margin must be finite")
    if not (np.isfinite(capacity.total) and capacity.total > 0 and (capacity.categories > 0).all()):
        raise ValueError("capacities must be positive, and that of the store finite")
