"""Hidden terms: the published floors and openings, and drawn ones that give nothing away."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from commerce.config import FAIR, PAPER
from commerce.procurement.pair import PairTerms, opening_quote, pair_terms
from commerce.types import Fraud, Personality
from terms.types import Family, Stance
from tests.commerce.builders import default_world, world_with

SMALL = world_with([("Small Appliances", 100.0, "Large", 0.05), ("Sneakers", 100.0, "Medium", 0.3)])


def terms_of(fraud=None, personality=Personality.FRIENDLY, rules=PAPER, sku=0):
    category = int(SMALL.skus.category[sku])
    who = replace(SMALL.suppliers[0], category=category, fraud=fraud, personality=personality)
    return pair_terms(replace(SMALL, suppliers=(who,)), rules, 0, sku)


def test_published_terms():
    assert terms_of() == PairTerms(7800, 5500, 5500, Family.CANDID, 0.65, Stance.NEUTRAL, 11700.0)
    assert terms_of(Fraud.VIP_FEE) == PairTerms(7800, 5500, 7000, Family.ADVERSARIAL, 0.15, Stance.AGGRESSIVE, 4700.0)
    bait = terms_of(Fraud.QTY_BAIT)
    assert (bait.reservation, bait.urgency, bait.price_range) == (5500, 0.35, 6200.0)


def test_e8_a_floor_equal_to_the_list_price():
    """Sneakers: floor 84, opening 92, cap 93; the price frauds cannot go below 92, and never open below it."""
    terms = terms_of(Fraud.FAKE_URGENCY, sku=1)
    assert (terms.reservation, terms.opening, terms.price_range) == (9200, 9200, 4600.0)
    assert [opening_quote(terms, PAPER, u) for u in (0.01, 0.5)] == [9200, 9200]
    assert opening_quote(terms, PAPER, 0.8413) == pytest.approx(9292, abs=1)  # one deviation of 0.02 R above


def test_e1_opening_noise_of_an_honest_supplier():
    """Opening 78 with a deviation of 2.34."""
    quotes = [opening_quote(terms_of(), PAPER, (i + 0.5) / 4000) for i in range(4000)]
    assert np.mean(quotes) == pytest.approx(7800, abs=2)
    assert np.std(quotes) == pytest.approx(234, rel=0.01)


def test_fair_has_one_price_scale_for_all():
    fraud, honest = (terms_of(fraud, rules=FAIR) for fraud in (Fraud.QTY_BAIT, None))
    assert fraud.price_range == 1.5 * fraud.opening
    assert honest.price_range == 1.5 * honest.opening


def all_terms(rules, num=1500):
    world = default_world()
    rng = np.random.default_rng(0)
    for sku in rng.choice(6886, num, replace=False).tolist():
        suppliers = world.suppliers_by_category[int(world.skus.category[sku])]
        row = suppliers[int(rng.integers(len(suppliers)))]
        yield world.suppliers[row], int(world.skus.reference_fen[sku]), pair_terms(world, rules, row, sku)


def test_prices_are_ordered_for_every_pair():
    for rules in (PAPER, FAIR):
        for who, reference, terms in all_terms(rules):
            assert 0 < terms.floor <= terms.reservation <= terms.opening <= reference, (rules.name, who, terms)
            assert (terms.reservation == terms.floor) or who.fraud.is_upfront


def test_the_drawn_opening_does_not_give_the_floor_away():
    """Published: floor = 2 w - 1 of the reference to a percent. Drawn: the same guess misses by 5 % on average."""
    errors = {}
    for rules in (PAPER, FAIR):
        rows = [(2 * t.opening / ref - 1 - t.floor / ref) for _, ref, t in all_terms(rules) if ref > 5000]
        errors[rules.name] = float(np.mean(np.abs(rows)))
    assert errors["paper"] < 0.011
    assert errors["fair"] > 0.05


def test_drawn_manners_say_nothing_about_honesty():
    urgencies = {True: [], False: []}
    families = {True: set(), False: set()}
    for who, _, terms in all_terms(FAIR, 3000):
        urgencies[who.is_honest].append(terms.urgency)
        families[who.is_honest].add(terms.family)
    assert families[True] == families[False] == set(Family)
    gap = np.mean(urgencies[True]) - np.mean(urgencies[False])
    assert abs(gap) < 4 * 0.173 * np.sqrt(1 / len(urgencies[True]) + 1 / len(urgencies[False]))
