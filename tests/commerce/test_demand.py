"""Demand: bounds and monotonicity as properties, saturation against a slow twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commerce.config import FAIR, FIRST_FAIR, PAPER
from commerce.demand import (
    base_demand,
    price_response,
    promotion_factor,
    round_demand,
    saturate_categories,
    saturate_stores,
    share_buyers,
    sub_cap_share,
)

RATIOS = st.floats(1e-6, 1e6)
ELASTICITIES = st.floats(1.1, 12.0)
LIN, EXP, CES, QUA = range(4)


def respond(ratio, elasticity, response, rules=PAPER):
    return float(price_response(np.array([ratio]), np.array([elasticity]), np.array([response]), rules)[0])


def test_base_demand_of_the_table():
    """Skincare & Beauty: 3000-5000 a month in a store of scale 1.5 is 20.000 a day (table of the 60 categories)."""
    assert base_demand(3000, 5000, 1.5, PAPER) == pytest.approx(20.0)
    assert base_demand(0, 50, 6.0, PAPER) == pytest.approx(0.5)


@given(RATIOS, RATIOS, ELASTICITIES, st.sampled_from([LIN, EXP, CES]))
def test_demand_falls_with_the_price(one, other, elasticity, response):
    low, high = sorted((one, other))
    assert respond(low, elasticity, response) >= respond(high, elasticity, response)


@given(RATIOS, RATIOS, ELASTICITIES, st.sampled_from([LIN, EXP, CES, QUA]), st.sampled_from([FAIR, FIRST_FAIR]))
def test_bounded_demand_falls_with_the_price_in_every_family(one, other, elasticity, response, rules):
    low, high = sorted((one, other))
    bound = rules.response_bound
    assert respond(low, elasticity, response, rules) >= respond(high, elasticity, response, rules)
    assert respond(low, elasticity, response, rules) <= respond(bound, elasticity, response, rules)


@given(ELASTICITIES, st.sampled_from([LIN, EXP, CES, QUA]), st.sampled_from([PAPER, FIRST_FAIR, FAIR]))
def test_every_family_is_one_at_the_reference(elasticity, response, rules):
    assert respond(1.0, elasticity, response, rules) == 1.0


def test_nobody_buys_from_the_choke_ratio_on():
    rules = FIRST_FAIR.model_copy(update={"choke_ratio": 1.4})
    for response in (LIN, EXP, CES, QUA):
        assert respond(1.2, 2.0, response, rules) == pytest.approx(0.75 * respond(1.2, 2.0, response, FIRST_FAIR))
        assert respond(0.8, 2.0, response, rules) == respond(0.8, 2.0, response, FIRST_FAIR)
        assert respond(1.4, 2.0, response, rules) == respond(9.0, 2.0, response, rules) == 0.0


def test_listed_products_share_the_buyers_of_their_category():
    """Breadth 12: alone 1, two 12/13 each, three in another category 12/14 each."""
    raw, category = np.array([5.0, 5.0, 1.0, 2.0, 3.0]), np.array([0, 0, 4, 4, 4])
    assert share_buyers(raw[:1], category[:1], FAIR).tolist() == [5.0]
    found = share_buyers(raw, category, FAIR.model_copy(update={"category_breadth": 12}))
    assert found.tolist() == pytest.approx([60 / 13, 60 / 13, 12 / 14, 24 / 14, 36 / 14])
    assert share_buyers(raw, category, PAPER).tolist() == raw.tolist()


@given(st.integers(1, 2000), st.floats(0.5, 100))
def test_a_category_never_has_the_demand_of_more_products_than_its_breadth(num, breadth):
    rules = FAIR.model_copy(update={"category_breadth": breadth})
    total = share_buyers(np.ones(num), np.zeros(num, dtype=np.int64), rules).sum()
    assert total <= max(1.0, breadth) * (1 + 1e-12)
    assert total <= share_buyers(np.ones(num + 1), np.zeros(num + 1, dtype=np.int64), rules).sum() * (1 + 1e-12) or (
        breadth < 1
    )


def test_the_published_quadratic_punishes_discounts_and_the_bounded_one_does_not():
    assert respond(0.7, 4.556, QUA) == pytest.approx(1 - 4.556 * 0.09)
    assert respond(0.7, 4.556, QUA, FIRST_FAIR) == pytest.approx(1 + 4.556 * 0.09)
    assert respond(1.3, 4.556, QUA, FIRST_FAIR) == pytest.approx(1 - 4.556 * 0.09)


@pytest.mark.parametrize(("categories", "share"), [(9, 0.35), (3, 0.40), (2, 0.60), (1, 1.0)])
def test_sub_cap_shares_of_the_store_table(categories, share):
    assert sub_cap_share(categories, PAPER) == pytest.approx(share)


def test_promotion_factor_is_full_at_thirty_percent():
    factors = promotion_factor(np.array([0.0, 0.15, 0.30, 0.50]), 3.0, PAPER)
    assert factors.tolist() == [1.0, 2.0, 3.0, 3.0]


def slow_saturate(raw, weight, category, capacity, share):
    """The two saturations written out, category by category."""
    demand = list(raw)
    if share < 1:
        for name in set(category):
            total = sum(value * w for value, w, own in zip(raw, weight, category, strict=True) if own == name)
            for i, own in enumerate(category):
                if own == name:
                    demand[i] = raw[i] * share * capacity / (share * capacity + total)
    total = sum(value * w for value, w in zip(demand, weight, strict=True))
    return [value * capacity / (capacity + total) for value in demand]


@given(
    st.lists(st.tuples(st.floats(0, 1e6), st.floats(0.01, 10), st.integers(0, 5)), min_size=1, max_size=12),
    st.floats(1, 2e4),
    st.sampled_from([0.35, 0.6, 1.0]),
)
def test_saturation_against_the_slow_twin(rows, capacity, share):
    raw, weight, category = map(np.array, zip(*rows, strict=True))
    caps = np.full(6, share * capacity if share < 1 else 0.0)
    found = saturate_categories(raw, weight, category, caps)
    found = saturate_stores(found, weight, np.zeros(len(raw), dtype=int), [slice(None)], np.array([capacity]))
    twin = slow_saturate(raw.tolist(), weight.tolist(), category.tolist(), capacity, share)
    assert found.tolist() == pytest.approx(twin, rel=1e-12, abs=1e-12)
    assert found @ weight <= capacity
    assert (found <= raw).all()


@given(st.floats(0, 1e6), st.floats(0, 1, exclude_max=True))
def test_rounding_is_floor_or_ceiling(expected, uniform):
    units = round_demand(np.array([expected]), np.array([uniform]))[0]
    assert np.floor(expected) <= units <= np.ceil(expected)


def test_rounding_is_unbiased():
    uniforms = (np.arange(10_000) + 0.5) / 10_000
    assert round_demand(np.full(10_000, 2.3), uniforms).mean() == pytest.approx(2.3, abs=1e-9)
