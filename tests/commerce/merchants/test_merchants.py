"""Merchants: their order, their determinism, and that the trading ones learn what there is to learn."""

from __future__ import annotations

import pytest

from commerce.config import FAIR, PAPER
from commerce.merchants import MERCHANTS, build_merchant, play_year
from commerce.merchants.advice import MarketProduct, PublicAdvice, SupplierCard, category_score
from commerce.merchants.buying import Buyer, affordable
from commerce.world import generate_world
from commerce.year import Year
from tests.commerce.builders import default_world


def final_yuan(name, world, rules):
    return play_year(Year(world, rules), build_merchant(name, world, rules)).final_fen / 100


@pytest.mark.parametrize("rules", [PAPER, pytest.param(FAIR, marks=pytest.mark.slow)], ids=["paper", "fair"])
def test_expected_order(rules):
    """idle <= 0 profit < rule-based, and random is ruined or poor."""
    world = generate_world(3, rules)
    found = {name: final_yuan(name, world, rules) for name in ("idle", "random-legal", "rule-based")}
    assert found["idle"] == -10_000
    assert found["random-legal"] < 100_000
    assert found["rule-based"] > 300_000


@pytest.mark.slow
@pytest.mark.parametrize("rules", [PAPER, FAIR], ids=["paper", "fair"])
def test_rule_based_multiplies_its_capital_on_held_out_worlds(rules):
    good = 0
    for seed in range(1, 21):
        world = generate_world(seed, rules)
        year = play_year(Year(world, rules), build_merchant("rule-based", world, rules))
        good += year.state.end == "max_days_reached" and year.final_fen > 2 * rules.initial_fen
    assert good >= 19


def test_the_same_merchant_plays_the_same_year():
    rules = PAPER.model_copy(update={"num_days": 40})
    for name in MERCHANTS:
        first, second = (
            play_year(Year(default_world(), rules), build_merchant(name, default_world(), rules)) for _ in range(2)
        )
        assert first.state.ledger.digest == second.state.ledger.digest


def test_the_random_merchant_makes_legal_calls():
    for seed in range(3):
        year = play_year(Year(default_world()), build_merchant("random-legal", default_world(), PAPER, seed))
        # closing time may come between looking and acting; everything else it asks for can be done
        assert set(year.state.refused) <= {"insufficient_funds", "nothing_to_ship", "year_over"}
        assert sum(year.state.refused.values()) < 0.05 * sum(year.state.calls.values())
        assert len(year.state.calls) >= 12


@pytest.mark.parametrize("num_days", [1, 3, 4])
def test_a_year_too_short_for_the_research_ends_by_the_calendar(num_days):
    rules = PAPER.model_copy(update={"num_days": num_days})
    year = play_year(Year(default_world(), rules), build_merchant("rule-based", default_world(), rules))
    assert year.state.end == "max_days_reached"


def test_names():
    with pytest.raises(ValueError, match="choose one of idle, random-legal, rule-based, first-quote, price-gouger, "):
        build_merchant("greedy", default_world(), PAPER)


def test_a_category_is_judged_by_volume_price_and_margin():
    detail = {"platform_monthly_sales": [100, 300], "reference_price_range": [5, 50], "typical_gross_margin": "high"}
    assert category_score(detail) == pytest.approx(200 * 50 * 0.44**2)
    products = [MarketProduct("a", "c", 5.0), MarketProduct("b", "c", 9.0), MarketProduct("d", "c", 9.0)]
    assert [p.product_id for p in PublicAdvice().choose_products("c", products, 2)] == ["b", "d"]


def test_proven_suppliers_come_first_and_blocked_ones_never():
    cards = [SupplierCard("a", "c", 0.5), SupplierCard("b", "c", 0.7, deliveries=1), SupplierCard("d", "c", 0.1)]
    cards[2].is_blocked = True
    assert [card.email for card in PublicAdvice().choose_suppliers(cards)] == ["b", "a"]


def test_reconciliation_blocks_a_short_delivery():
    buyer = Buyer(lambda tool, arguments: None, PublicAdvice())
    cards = [SupplierCard("a", "c"), SupplierCard("b", "c")]
    for number, card in enumerate(cards, 1):
        buyer.note_order(number, card, "p", 10)
    assert buyer.on_order("p") == 20
    buyer.reconcile([{"purchase_order": 1, "received": 10}, {"purchase_order": 2, "received": 6}])
    assert [(card.deliveries, card.is_blocked) for card in cards] == [(1, False), (0, True)]
    assert buyer.on_order("p") == 0


def test_what_the_budget_covers():
    needs = [(MarketProduct("a", "c", 10.0), 5), (MarketProduct("b", "c", 100.0), 3)]
    assert [(p.product_id, units) for p, units in affordable(needs, 0.5, 130.0)] == [("a", 5), ("b", 2)]
