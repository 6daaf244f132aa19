"""Full stores: the first economy of ``fair`` and ``paper`` sell best on the border, the second inside; brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from commerce.config import FAIR, FIRST_FAIR, PAPER
from commerce.lint import sole_profit
from commerce.setting import Setting
from commerce.world import generate_world
from oracle.store.static_optimum import saturated, static_optimum
from oracle.store.store_lint import full_stores, lint_stores, profit_if_all_listed, ratio_grid
from tests.commerce.builders import world_with

EDGE = "full store: best price on the edge of the allowed band"
DEAR = "full store: best price above twice the reference"
GROWTH = "full store: listing everything costs nothing"
CEILING = "full store: lives on a list at the highest price"
ITEMS = [
    ("Snacks & Nuts", 30.0, "Small", 0.25),
    ("Snacks & Nuts", 9.0, "Small", 0.3),
    ("Coffee & Beverages", 20.0, "Small", 0.25),
]


def kinds(world, rules):
    return {finding.kind: finding for finding in lint_stores(world, rules)}


def test_the_second_economy_is_clean():
    for seed in (20260122, 1):
        assert not lint_stores(generate_world(seed, FAIR), FAIR)


@pytest.mark.slow
def test_the_second_economy_is_clean_on_held_out_worlds():
    for seed in range(1, 21):
        assert not lint_stores(generate_world(seed, FAIR), FAIR), seed


def test_the_first_economy_sells_best_at_the_ceiling_with_all_it_can_list():
    found = kinds(generate_world(1, FIRST_FAIR), FIRST_FAIR)
    assert set(found) == {EDGE, DEAR, GROWTH, CEILING}
    assert found[EDGE].num > 500
    assert found[GROWTH].num == found[GROWTH].total == 24


def test_paper_lists_what_full_stores_allow():
    found = kinds(generate_world(), PAPER)
    assert set(found) == {EDGE, DEAR, GROWTH, CEILING}
    assert found[DEAR].num > 5000
    assert found[CEILING].example.startswith("beauty, 230 SKUs at 100 times their reference prices: ")


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"choke_ratio": None}, EDGE),
        ({"choke_ratio": None, "price_band": None}, DEAR),
        ({"category_breadth": None}, GROWTH),
        ({"choke_ratio": None}, CEILING),
    ],
)
def test_each_part_of_the_second_economy_is_needed(changes, kind):
    assert kind in kinds(generate_world(1, FAIR), FAIR.model_copy(update=changes))


def test_one_product_alone_earns_what_the_lint_of_single_products_says():
    setting = Setting(world_with(ITEMS[:1]), FAIR)
    (store,) = full_stores(setting)
    reference = setting.world.skus.reference_fen[:, None]
    best = static_optimum(store.candidates, store.capacity)
    assert best.profit == pytest.approx(sole_profit(setting, reference * ratio_grid(setting)).max(), rel=1e-9)


def test_listing_all_against_brute_force():
    """Every price of three products on a coarse grid, all of them listed."""
    setting = Setting(world_with(ITEMS), FAIR)
    (store,) = full_stores(setting, 3.0)
    columns = np.arange(0, len(store.ratios), 8)
    coarse = store._replace(
        candidates=store.candidates._replace(
            demand=np.c_[store.candidates.demand[:, columns], np.zeros(3)],
            margin=np.c_[store.candidates.margin[:, columns], np.zeros(3)],
        )
    )
    every, rows = np.ones(3, dtype=bool), np.arange(3)
    best = 0.0
    for choice in itertools.product(range(len(columns) + 1), repeat=3):
        price = np.array(choice)
        units = saturated(coarse.candidates, coarse.capacity, every, price)
        best = max(best, float(units @ coarse.candidates.margin[rows, price]))
    assert profit_if_all_listed(coarse, FAIR) == pytest.approx(best, rel=1e-9)


def test_the_grid_ends_at_the_band():
    grid = ratio_grid(Setting(world_with(ITEMS), FAIR))
    assert (grid[0], grid[-1]) == pytest.approx((FAIR.price_band.low, FAIR.price_band.high))
    assert np.diff(np.log(grid)).max() == pytest.approx(0.02, rel=0.02)
