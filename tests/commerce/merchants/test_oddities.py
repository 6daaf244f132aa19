"""Merchants with a bad habit: each does what it is called, and none does better for it than the sensible one."""

from __future__ import annotations

from functools import cache

import pytest

from commerce.config import FAIR, PAPER
from commerce.merchants import MERCHANTS, build_merchant, play_year
from commerce.merchants.merchant_registry import describe_merchants
from commerce.shopkeeping import highest_price_fen
from commerce.world import generate_world
from commerce.year import Year

ODDITIES = ("first-quote", "price-gouger", "listing-hoarder", "fraud-seeker")


@cache
def played(name, days=90):
    rules = FAIR.model_copy(update={"num_days": days})
    world = generate_world(5, rules)
    return play_year(Year(world, rules), build_merchant(name, world, rules))


def deals(year):
    records = year.procurement.records(year.state.book)
    return [record for record in records if record.outcome == "agreement"]


@pytest.mark.parametrize("name", ODDITIES)
def test_no_bad_habit_pays(name):
    assert played(name).final_fen < played("rule-based").final_fen


def test_the_first_quote_is_what_is_paid():
    found = deals(played("first-quote"))
    assert len(found) > 10
    assert all(record.price_fen == record.opening_fen for record in found)
    assert any(record.price_fen < record.opening_fen for record in deals(played("rule-based")))


def test_the_gouger_lists_at_the_ceiling():
    year = played("price-gouger", 40)
    world, clearing = year.setting.world, 28  # days before the last stock is marked down
    published = [
        (item.product_id, item.retail_price)
        for made in year.past.made
        if made.tool == "publish_to_store"
        for item in made.given.plan
    ]
    ceilings = {
        sku: highest_price_fen(FAIR, int(world.skus.reference_fen[world.sku_index[sku]])) / 100 for sku, _ in published
    }
    first = dict(reversed(published))
    assert len(first) > 5
    assert first == ceilings
    before = [sale["units"] for row in year.state.history[:clearing] for sale in row["sales"].values()]
    assert before
    assert not any(before)  # at the ceiling of fair nobody buys
    assert highest_price_fen(PAPER, 100) == PAPER.max_price_fen


def test_the_hoarder_lists_more_in_its_one_store():
    hoarder, sensible = (
        [max(int((store.price_fen > 0).sum()) for store in played(name).state.stores), len(played(name).state.stores)]
        for name in ("listing-hoarder", "rule-based")
    )
    assert hoarder[1] == 1
    assert hoarder[0] > 3 * sensible[0]


def test_the_fraud_seeker_buys_from_frauds_only_and_pays_their_fees():
    year = played("fraud-seeker")
    assert len(deals(year)) > 10
    assert not any(record.is_honest for record in deals(year))
    assert year.state.book["paid_fee"]


def test_every_merchant_is_described_in_one_line():
    assert [name for name, _ in describe_merchants()] == list(MERCHANTS)
    assert all(line.endswith(".") and "\n" not in line for _, line in describe_merchants())
