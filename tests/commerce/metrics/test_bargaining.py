"""Bargaining metrics against the published worked example E10 and values worked out by hand."""

from __future__ import annotations

import random
from itertools import permutations

import pytest

from commerce.metrics.bargaining import (
    NUM_SHUFFLES,
    SHUFFLE_SEED,
    anchor_regret,
    anchoring,
    bargaining_metrics,
    efficiency,
    price_paths,
    shuffled_regrets,
)
from commerce.types import NegotiationRecord


def record(price=None, outcome=None, **changes):
    """A negotiation with reference 100 yuan, honest floor 50 and opening 75."""
    base = {
        "supplier": 1, "sku": 1, "cycle": 0, "day_opened": 0, "day_closed": 1,
        "outcome": outcome or ("agreement" if price is not None else "supplier_walk"),
        "price_fen": price, "quantity": 1 if price is not None else 0, "offers": (), "opening_fen": 7500,
        "floor_fen": 5000, "reference_fen": 10000, "is_honest": True,
    }  # fmt: skip
    return NegotiationRecord(**{**base, **changes})


def values(records):
    return {name: measure.value for name, measure in bargaining_metrics(records).items()}


@pytest.mark.parametrize(("price", "expected"), [(5000, 1.0), (7500, 0.5), (10000, 0.0), (12000, -0.4), (None, 0.0)])
def test_efficiency(price, expected):
    assert efficiency(record(price)) == pytest.approx(expected)


def test_means_by_hand():
    records = [
        record(5000, quantity=3), record(7500, quantity=1), record(), record(6000, is_honest=False),
        record(outcome="open", day_closed=None),
    ]  # fmt: skip
    found = values(records)
    assert found["se_plus"] == pytest.approx(0.5)  # (1 + 0.5 + 0) / 3
    assert found["cse_plus"] == pytest.approx(0.75)
    assert found["agr_plus"] == pytest.approx(2 / 3)
    assert found["cse_plus_money"] == pytest.approx((1 * 15000 + 0.5 * 7500) / 22500)
    assert found["open_negotiations"] == 1
    assert found["se_plus"] == pytest.approx(found["agr_plus"] * found["cse_plus"])


def test_nothing_is_undefined_not_zero():
    found = values([])
    assert {name: value for name, value in found.items() if value is not None} == {"open_negotiations": 0.0}
    assert values([record()])["cse_plus"] is None
    assert values([record()])["se_plus"] == 0.0


@pytest.mark.parametrize(
    ("paths", "events", "regret", "null", "ratio", "z"),
    [
        ([[0.5, 0.3, 0.4]], 2, 0.05, 0.084375, 0.5926, 0.607),
        ([[0.5, 0.3, 0.4], [0.2, 0.6]], 3, 0.166667, 0.1195, 1.3947, -0.622),
        ([[0.1, 0.2, 0.3]], 2, 0.15, 0.082625, 1.8154, None),
    ],
)
def test_published_anchoring_example(paths, events, regret, null, ratio, z):
    """Example E10: 400 shuffles from seed 20260101."""
    found = anchoring(paths)
    assert {measure.n for measure in found.values()} == {events}
    assert anchor_regret(paths) / found["anchor_ratio"].value == pytest.approx(null, abs=5e-7)
    assert anchor_regret(paths) == pytest.approx(regret, abs=5e-7)
    assert found["anchor_ratio"].value == pytest.approx(ratio, abs=5e-5)
    if z is not None:
        assert found["anchor_z"].value == pytest.approx(z, abs=5e-4)


def test_the_exact_permutation_mean_of_e10():
    """0.083333 over the six orders of 0.5, 0.3, 0.4, hence a ratio of 0.6, which 400 shuffles approach."""
    orders = list(permutations([0.5, 0.3, 0.4]))
    exact = sum(anchor_regret([order]) for order in orders) / len(orders)
    assert exact == pytest.approx(0.083333, abs=5e-7)
    assert anchor_regret([[0.5, 0.3, 0.4]]) / exact == pytest.approx(0.6)


def test_price_paths_are_by_pair_in_order_of_the_deals_and_clipped():
    deals = [
        record(6000, day_closed=9), record(5000, day_closed=2), record(4000, supplier=2, day_closed=1),
        record(20000, supplier=2, day_closed=3), record(5500, sku=7),
    ]  # fmt: skip
    assert price_paths(deals) == [[0.0, 1.0], [0.0, 0.2]]


def test_equal_prices_have_regret_zero_and_no_ratio():
    found = anchoring([[0.3, 0.3, 0.3]])
    assert found["anchor_regret"].value == 0.0
    assert found["anchor_ratio"].value is None
    assert found["anchor_z"].value is None


def test_learning_compares_late_with_early():
    records = [
        record(10000, day_closed=1),
        record(day_closed=2),
        record(5000, day_closed=8),
        record(6000, day_closed=9),
    ]
    found = values(records)
    assert found["surplus_lift"] == pytest.approx((1 + 0.8) / 2 - 0)
    assert found["agreement_lift"] == pytest.approx(1 - 0.5)
    assert values(records[:3])["surplus_lift"] is None  # fewer than four
    bad = [record(6000, day_closed=d, is_honest=d > 2) for d in (1, 2, 3, 4)]
    assert values(bad)["fraud_lift"] == pytest.approx(-1.0)


def test_the_null_is_that_of_the_shuffles_of_the_standard_library():
    rng = random.Random(3)
    paths = [[rng.random() for _ in range(rng.randint(2, 20))] for _ in range(30)]
    slow, shuffle = [], random.Random(SHUFFLE_SEED).shuffle
    for _ in range(NUM_SHUFFLES):
        mixed = [list(path) for path in paths]
        for path in mixed:
            shuffle(path)
        slow.append(anchor_regret(mixed))
    assert shuffled_regrets(paths) == slow
