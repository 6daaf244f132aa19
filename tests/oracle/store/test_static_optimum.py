"""The static optimum of a store against brute force over every listing and price, and its properties."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commerce.config import FAIR
from commerce.demand import saturate_categories, saturate_stores, share_buyers
from oracle.store.static_optimum import Candidates, StoreCapacity, saturated, static_optimum


def random_store(seed: int, num: int, num_prices: int, num_categories: int, *, by_value: bool) -> Candidates:
    rng = np.random.default_rng(seed)
    reference = rng.uniform(5, 300, num)
    ratio = np.sort(rng.uniform(0.6, 2.0, num_prices))
    demand = rng.uniform(0.1, 20, num)[:, None] * np.exp(-rng.uniform(1, 5, num)[:, None] * (ratio - 1))
    margin = reference[:, None] * (ratio - rng.uniform(0.2, 1.0, num)[:, None]) - rng.uniform(0, 20)
    weight = reference if by_value else np.ones(num)
    return Candidates(demand, margin, weight, rng.integers(0, num_categories, num))


def random_capacity(
    seed: int, candidates: Candidates, num_categories: int, breadth: float | None = None
) -> StoreCapacity:
    rng = np.random.default_rng(seed + 1)
    total = rng.uniform(5, 60) * float(candidates.weight.mean())
    caps = np.where(rng.random(num_categories) < 0.2, np.inf, rng.uniform(0.2, 1.0) * total)
    return StoreCapacity(total, caps, breadth)


def brute_force(candidates: Candidates, capacity: StoreCapacity) -> float:
    """The best profit over all ``(P + 1)^n`` listings, each saturated as it is defined."""
    num, num_prices = candidates.demand.shape
    rows, best = np.arange(num), 0.0
    for columns in itertools.product(range(-1, num_prices), repeat=num):
        price = np.array(columns)
        listed = price >= 0
        units = saturated(candidates, capacity, listed, np.maximum(price, 0))
        best = max(best, float(units @ candidates.margin[rows, np.maximum(price, 0)]))
    return best


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("breadth", [None, 2.0])
def test_no_listing_of_a_small_store_earns_more(seed: int, breadth: float | None) -> None:
    candidates = random_store(seed, 5, 3, 2, by_value=bool(seed % 2))
    capacity = random_capacity(seed, candidates, 2, breadth)
    found = static_optimum(candidates, capacity)
    assert found.profit == pytest.approx(brute_force(candidates, capacity), rel=1e-9)


@pytest.mark.parametrize("by_value", [False, True])
def test_units_are_those_of_the_store_itself(by_value: bool) -> None:
    candidates = random_store(3, 30, 8, 4, by_value=by_value)
    share, total = 0.35, 40.0
    rules = FAIR.model_copy(update={"category_breadth": 5.0})
    capacity = StoreCapacity(total, np.full(4, share * total), breadth=rules.category_breadth)
    found = static_optimum(candidates, capacity)
    shown, category = found.listed, candidates.category
    raw = np.zeros(30)
    raw[shown] = share_buyers(candidates.demand[np.arange(30), found.price][shown], category[shown], rules)
    units = saturate_categories(raw, candidates.weight, category, capacity.categories)
    whole = np.zeros(30, dtype=np.int64)
    units = saturate_stores(units, candidates.weight, whole, [slice(None)], np.array([total]))
    assert found.units == pytest.approx(units)
    assert found.profit == pytest.approx(float(found.units @ candidates.margin[np.arange(30), found.price]))


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 5), st.sampled_from([None, 4.0]))
def test_no_single_change_earns_more(seed: int, num: int, num_categories: int, breadth: float | None) -> None:
    candidates = random_store(seed, num, 6, num_categories, by_value=bool(seed % 2))
    capacity = random_capacity(seed, candidates, num_categories, breadth)
    found, rows = static_optimum(candidates, capacity), np.arange(num)
    for sku in range(num):
        for column in range(-1, 6):
            listed, price = found.listed.copy(), found.price.copy()
            listed[sku], price[sku] = column >= 0, max(column, 0)
            units = saturated(candidates, capacity, listed, price)
            assert float(units @ candidates.margin[rows, price]) <= found.profit * (1 + 1e-9) + 1e-9


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(2, 30))
def test_profit_never_falls_with_capacity_or_margin(seed: int, num: int) -> None:
    candidates = random_store(seed, num, 5, 3, by_value=False)
    capacity = random_capacity(seed, candidates, 3, 6.0)
    profit = static_optimum(candidates, capacity).profit
    wider = capacity._replace(total=2 * capacity.total, categories=2 * capacity.categories)
    assert static_optimum(candidates, wider).profit >= profit * (1 - 1e-9)
    assert static_optimum(candidates, capacity._replace(breadth=12.0)).profit >= profit * (1 - 1e-9)
    richer = candidates._replace(margin=candidates.margin + 1.0)
    assert static_optimum(richer, capacity).profit >= profit * (1 - 1e-9)


def test_a_store_without_a_margin_lists_nothing() -> None:
    candidates = Candidates(np.ones((2, 1)), -np.ones((2, 1)), np.ones(2), np.zeros(2, dtype=np.int64))
    found = static_optimum(candidates, StoreCapacity(10.0, np.array([5.0])))
    assert not found.listed.any()
    assert found.profit == 0


def test_one_sku_alone_by_hand() -> None:
    """a = 10, caps 35 and 100: 10 * 35 / 45 = 7.78, times 100 / 107.78 = 7.2165 units at a margin of 2."""
    candidates = Candidates(np.array([[10.0]]), np.array([[2.0]]), np.ones(1), np.zeros(1, dtype=np.int64))
    found = static_optimum(candidates, StoreCapacity(100.0, np.array([35.0])))
    assert found.profit == pytest.approx(2 * 7.2164948)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"demand": np.full((2, 1), -1.0)}, "demand must be finite"),
        ({"margin": np.full((2, 1), np.nan)}, "margin must be finite"),
        ({"weight": np.ones(3)}, "must both be"),
        ({"category": np.array([0, 7])}, "one of 1 categories"),
    ],
)
def test_arrays_that_make_no_store_are_refused(changed: dict[str, np.ndarray], message: str) -> None:
    candidates = Candidates(np.ones((2, 1)), np.ones((2, 1)), np.ones(2), np.zeros(2, dtype=np.int64))
    with pytest.raises(ValueError, match=message):
        static_optimum(candidates._replace(**changed), StoreCapacity(10.0, np.array([5.0])))


def test_capacities_that_make_no_store_are_refused() -> None:
    candidates = Candidates(np.ones((1, 1)), np.ones((1, 1)), np.ones(1), np.zeros(1, dtype=np.int64))
    with pytest.raises(ValueError, match="capacities must be positive"):
        static_optimum(candidates, StoreCapacity(0.0, np.array([5.0])))
