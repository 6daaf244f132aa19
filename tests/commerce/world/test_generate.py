"""Generated worlds: the stated counts, matched difficulty, and nothing public that tells the hidden apart."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from commerce.config import FAIR
from commerce.types import Fraud, Personality, PriceResponse, Size
from commerce.world import DEFAULT_SEED, generate_world
from commerce.world.categories import CATEGORY_ROWS, WORDINGS, wording_from_numbers
from commerce.world.generate import category_sizes, day_of
from tests.commerce.builders import default_world

OTHER = 7


def test_counts_of_the_benchmark():
    world = default_world()
    assert (len(world.store_types), len(world.categories)) == (12, 60)
    assert len(set(world.skus.sku_id)) == 6886
    assert len({supplier.name for supplier in world.suppliers}) == 576
    frauds = Counter(supplier.fraud for supplier in world.suppliers)
    assert frauds == {
        None: 424, Fraud.VIP_FEE: 31, Fraud.FUTURE_DISCOUNT: 31, Fraud.FAKE_URGENCY: 30, Fraud.QTY_BAIT: 30,
        Fraud.QUALITY_DOWNGRADE: 30,
    }  # fmt: skip
    personalities = Counter(supplier.personality for supplier in world.suppliers)
    assert [personalities[kind] for kind in Personality] == [106, 102, 58, 56, 54, 48, 152]
    assert (len(world.events), len(world.promotions)) == (10, 8)
    assert sum(last - first + 1 for row in world.promotions for first, last in row.windows) == 66


def test_table_identities():
    """11, 16, 17 and 16 categories per response; w = round(0.5 + 0.5 f, 2); each category has 7-8 + 2-3 suppliers."""
    rows = [row for group in CATEGORY_ROWS.values() for row in group]
    assert Counter(row[9] for row in rows) == {"L": 11, "E": 16, "C": 17, "Q": 16}
    for row in rows:
        assert abs(row[11] - (0.5 + 0.5 * row[12])) <= 0.00501, row[0]
    assert Counter((row[14], row[15]) for row in rows) == {(7, 3): 29, (7, 2): 27, (8, 3): 3, (8, 2): 1}
    assert list(PriceResponse) == ["linear", "exponential", "constant_elasticity", "quadratic"]


def test_dates_of_2026():
    world = default_world()
    assert [(e.first_day, e.last_day) for e in world.events][:2] == [(14, 17), (day_of((3, 1)), day_of((3, 7)))]
    assert world.events[-1].last_day == day_of((12, 24))
    assert world.promotions[6].windows[-1] == (day_of((10, 31)), day_of((11, 14)))


@pytest.mark.parametrize("world", [default_world(), generate_world(OTHER)], ids=["default", "other"])
def test_every_sku_lies_in_the_bands_of_its_category(world):
    for row, category in enumerate(world.categories):
        mask = world.skus.category == row
        reference, returns = world.skus.reference_fen[mask], world.skus.return_rate[mask]
        assert category.reference_min_fen <= reference.min() <= reference.max() <= category.reference_max_fen
        assert category.return_rate_min <= returns.min() <= returns.max() <= category.return_rate_max
        assert (world.skus.store_type[mask] == category.store_type).all()
        sizes = np.abs(world.skus.size[mask] - list(Size).index(category.default_size))
        assert sizes.max() <= 1
        assert np.mean(sizes == 0) == pytest.approx(0.7, abs=0.5 / mask.sum() + 0.05)
    assert {supplier.retirement_orders for supplier in world.suppliers} == set(range(10, 21))


def test_another_seed_is_another_world_of_the_same_difficulty():
    one, other = default_world(), generate_world(OTHER)
    assert one.digest != other.digest
    assert not set(one.skus.sku_id) & set(other.skus.sku_id)
    assert [e.first_day for e in one.events] != [e.first_day for e in other.events]
    for row in range(60):
        a, b = (np.sort(w.skus.reference_fen[w.skus.category == row]) for w in (one, other))
        span = one.categories[row].reference_max_fen - one.categories[row].reference_min_fen
        assert len(a) == len(b)
        assert np.abs(a - b).max() <= span / len(a) + 1  # one SKU in each n-th part of the band
    honest = [Counter(s.category for s in w.suppliers if s.is_honest) for w in (one, other)]
    assert honest[0] == honest[1]
    fraud_map = [[(s.name, s.fraud) for s in w.suppliers] for w in (one, other)]
    assert fraud_map[0] != fraud_map[1]


def test_same_seed_same_world():
    assert generate_world(OTHER).digest == generate_world(OTHER).digest
    assert generate_world(DEFAULT_SEED, FAIR).digest != default_world().digest  # the calendar is shifted


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_shifted_events_do_not_overlap_and_stay_in_the_year(seed):
    world = generate_world(seed)
    events = sorted((e.first_day, e.last_day) for e in world.events)
    assert all(one[1] < other[0] for one, other in pairwise(events))
    assert events[0][0] >= 0
    assert events[-1][1] < 365
    assert all(first >= 0 for p in world.promotions for first, _ in p.windows)


def test_category_sizes_are_uneven_and_add_up():
    sizes = category_sizes()
    assert sum(sizes) == 6886
    assert min(sizes) >= 10
    assert max(sizes) > 3 * sum(sizes) / len(sizes)


def test_public_identities_say_nothing_about_honesty():
    """A logistic regression on everything visible before a purchase does no better than chance on held-out worlds."""
    scores = []
    for seed in (11, 12, 13, 14):
        train = [features(s) for w in (seed, seed + 100) for s in generate_world(w).suppliers]
        test = [features(s) for s in generate_world(seed + 200).suppliers]
        scores.append(accuracy_over_chance(train, test))
    assert abs(np.mean(scores)) < 0.06  # area under the curve minus one half; standard error 0.023 / 2


def features(supplier):
    number = int(supplier.supplier_id[4:])
    letters = [supplier.name.count(letter) for letter in "aeiorst"]
    return [number / 576, len(supplier.name), len(supplier.email), *letters], not supplier.is_honest


def accuracy_over_chance(train, test):
    x, y = (np.array(column, dtype=float) for column in zip(*train, strict=True))
    mean, sd = x.mean(0), x.std(0) + 1e-9
    design = np.column_stack([np.ones(len(x)), (x - mean) / sd])
    weights = np.zeros(design.shape[1])
    for _ in range(30):  # Newton steps with a small ridge
        p = 1 / (1 + np.exp(-design @ weights))
        hessian = design.T @ (design * (p * (1 - p))[:, None]) + np.eye(len(weights))
        weights += np.linalg.solve(hessian, design.T @ (y - p) - weights)
    x, y = (np.array(column, dtype=float) for column in zip(*test, strict=True))
    score = (x - mean) / sd @ weights[1:]
    ranks = np.argsort(np.argsort(score))
    positives = y == 1
    auc = (ranks[positives].sum() - positives.sum() * (positives.sum() - 1) / 2) / (
        positives.sum() * (~positives).sum()
    )
    return auc - 0.5


def test_wordings():
    assert wording_from_numbers(0.0, 0.03) == WORDINGS["VL"]
    assert wording_from_numbers(0.4, 0.55) == WORDINGS["VH"]
    rows = {row[0]: row for group in CATEGORY_ROWS.values() for row in group}
    contradicted = [name for name, row in rows.items() if WORDINGS[row[8]] != wording_from_numbers(row[6], row[7])]
    published = [name for name, row in rows.items() if row[6] >= 0.2 and row[8] in ("VL", "L", "M")]
    assert len(published) == 21  # the contradictions of the published texts
    assert set(published) <= set(contradicted)


def test_a_bad_seed_is_refused():
    with pytest.raises(ValueError, match="seed=-1"):
        generate_world(-1)
