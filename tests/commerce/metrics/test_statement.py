"""The statement: rows that sum to the change of assets in every year, and each of them by hand in small ones."""

from __future__ import annotations

import random
import sys
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commerce.config import FAIR, PAPER, RULE_SETS
from commerce.ledger import Account
from commerce.merchants import MERCHANTS, build_merchant, play_year
from commerce.metrics import STATEMENT, Statement, statement
from commerce.procurement import pair_terms
from commerce.types import ChatReply, PurchaseOrder
from commerce.world import generate_world
from commerce.year import Year
from tests.commerce.builders import HonestCounter, ok, world_with
from tests.commerce.fuzzing import Fuzzer

MARGINS = {"natural_returns", "fraud_defects", "speed_returns", "price_returns", "never_shipped"}
"""Rows of margins, which are above 0 where goods were sold below their cost."""


def checked(year: Year) -> Statement:
    found = statement(year)
    assert sum(row.fen for row in found.rows) == found.change_fen == year.final_fen - year.setting.rules.initial_fen
    assert [row.name for row in found.rows] == list(STATEMENT)
    for row in found.rows:
        assert row.fen >= 0 if row.kind == "earned" else row.fen <= 0 or row.name in MARGINS, row
    return found


@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=RULE_SETS)
@pytest.mark.parametrize("name", MERCHANTS)
def test_years_of_every_merchant(name, rules):
    rules = rules.model_copy(update={"num_days": 40})
    world = generate_world(4, rules)
    checked(play_year(Year(world, rules), build_merchant(name, world, rules, 4)))


@pytest.mark.slow
@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=RULE_SETS)
@pytest.mark.parametrize("name", MERCHANTS)
def test_whole_years_of_every_merchant(name, rules):
    world = generate_world(4, rules)
    checked(play_year(Year(world, rules), build_merchant(name, world, rules, 4)))


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10**6), is_fair=st.booleans())
def test_random_calls(seed, is_fair):
    """Stores closed and sold off, lines cancelled, goods taken off the shelf, years given up midway."""
    rules = (FAIR if is_fair else PAPER).model_copy(update={"initial_fen": 10**8, "num_days": 60})
    world = generate_world(1, rules)
    year = Year(world, rules, procurement=HonestCounter())
    fuzzer = Fuzzer(year, random.Random(seed))
    for store_type in fuzzer._types:
        year.call("open_store", {"store_type": store_type, "store_name": "S"})
    for sku in fuzzer._skus:
        move = {"action": "offer", "sku_id": sku, "price": 2.0, "quantity": 150}
        year.call("chatbox", {"uids": [fuzzer.supplier(sku)], "actions": [move]})
    for _ in range(200):
        year.call(*fuzzer.call())
    year.stop()
    checked(year)


def test_a_bankrupt_year():
    rules = PAPER.model_copy(update={"initial_fen": 100_000, "num_days": 60})
    world = generate_world(1, rules)
    year = Year(world, rules, procurement=HonestCounter())
    ok(year, "open_store", store_type="pet", store_name="S")
    sku = next(i for i, kind in enumerate(world.skus.store_type) if world.store_types[kind].name == "pet")
    buy(year, world.skus.sku_id[sku], 490.0, 1, category=int(world.skus.category[sku]))
    while not year.is_over:
        year.call("wait_for_next_day")
    assert year.state.end == "bankruptcy"
    found = checked(year)
    assert (found.fen("overdraft"), found.fen("unsold")) == (-49_000, 0)


def test_only_a_finished_year_has_one():
    with pytest.raises(ValueError, match="day 0 and not over"):
        statement(Year(pets(), PAPER))


def pets(returns: float = 0.0, size: str = "Small"):
    return world_with([("Pet Supplies", 100.0, size, returns)])


def buy(year: Year, sku: str, yuan: float, units: int, category: int | None = None, honest: bool = True) -> None:
    world = year.setting.world
    rows = world.suppliers_by_category[world.category_index["Pet Supplies"] if category is None else category]
    row = next(row for row in rows if world.suppliers[row].is_honest is honest)
    uids = [world.suppliers[row].email]
    ok(year, "chatbox", uids=uids, actions=[{"action": "offer", "sku_id": sku, "price": yuan, "quantity": units}])


def sold(world, rules, *, yuan=100.0, units=5, speed="standard", paid=30.0, procurement=None, honest=True) -> Year:
    """Buy ``units`` on the first day, list them when they are there, ship at ``speed`` (never if it is empty)."""
    year = Year(world, rules, procurement=procurement or HonestCounter())
    ok(year, "open_store", store_type="pet", store_name="S")
    buy(year, "p0", paid, units, honest=honest)
    while not year.is_over:
        if there := int(year.state.unlisted[0]):
            item = {"product_id": "p0", "quantity": there, "retail_price": yuan}
            ok(year, "publish_to_store", store_id="store_001", plan=[item])
        if speed and year.state.orders.is_pending.any():
            ok(year, "ship_orders", action="ship", speed=speed)
        year.call("wait_for_next_day")
    return year


SHORT = PAPER.model_copy(update={"num_days": 40})


def test_all_sold_and_kept():
    """Five units at 100 yuan, bought at 30 above a floor of 22; without returns slow parcels are best."""
    year = sold(pets(), SHORT)
    found = checked(year)
    assert pair_terms(year.setting.world, SHORT, year.state.purchases[0].supplier, 0).floor == 2_200
    expected = {"ordered": 50_000, "commission": -1_000, "goods": -11_000, "overpaid_honest": -4_000, "freight": -125,
                "dear_freight": -125, "operations": -40 * 6_000, "setup": -50_000}  # fmt: skip
    assert {name: found.fen(name) for name in expected} == expected
    assert {row.name for row in found.rows if row.fen} <= {*expected, "storage", "old_storage"}


def test_lines_that_are_never_shipped_take_their_margin_back():
    """Every sale is cancelled and its units are sold again: what they would have left is lost each time."""
    found = checked(sold(pets(), SHORT, speed=""))
    lines = found.fen("ordered") // 10_000
    assert lines > 5
    assert found.fen("never_shipped") == -lines * (10_000 - 200 - 3_000)
    assert found.fen("unsold") == -15_000
    assert found.fen("overpaid_honest") == 0, "nothing left for good"


@pytest.mark.parametrize(
    ("yuan", "speed", "causes"),
    [
        (100.0, "standard", {"natural_returns"}),
        (100.0, "fast", {"natural_returns"}),
        (100.0, "slow", {"natural_returns", "speed_returns"}),
        (125.0, "standard", {"natural_returns", "price_returns"}),
    ],
)
def test_units_come_back_for_a_cause(yuan, speed, causes):
    found = checked(sold(pets(0.4), SHORT, yuan=yuan, units=60, speed=speed))
    assert {name for name in MARGINS if found.fen(name)} == causes


def test_returns_take_margin_and_freight():
    """Each unit that came back leaves its price less the 30 yuan of goods that are back, and half a yuan of freight."""
    year = sold(pets(0.4), SHORT, units=60, speed="standard")
    found, units = checked(year), year.state.units
    back, late = int(units.returned[0]), int(units.not_restocked[0])
    assert back > 3
    lost = back * 10_000 + year.state.ledger.balance(Account.COMMISSION_REVERSED) - (back - late) * 3_000
    assert found.fen("natural_returns") == -lost - back * 50


def test_storage_past_21_days():
    """200 medium units: 30 yuan a night for 20 nights, 42 for 24, 66 for 45 (worked example E7)."""
    rules = PAPER.model_copy(update={"num_days": 60, "lead_days": (3, 3)})
    year = Year(pets(size="Medium"), rules, procurement=HonestCounter())
    ok(year, "open_store", store_type="pet", store_name="S")
    buy(year, "p0", 10.0, 200)
    while not year.is_over:
        year.call("wait_for_next_day")
    found, nights = checked(year), 60 - year.state.purchases[0].received_day
    assert found.fen("storage") == -60_000
    assert found.fen("old_storage") == -(24 * 4_200 + (nights - 44) * 6_600)


class Frauds(HonestCounter):
    """Delivers 6 of 10 units, all of them defective."""

    def chat(self, store, book, turn):
        (action,), (supplier,) = turn.actions, turn.suppliers
        delivered = action.quantity * 6 // 10
        order = PurchaseOrder(supplier, action.sku, action.quantity, action.price_fen, delivered, delivered)
        return [ChatReply(supplier, "", ({"decision": "Accept", "order": store.place_order(order).order_id},))]


def test_what_frauds_took():
    """100 units at 30 yuan: 40 never came, the others above a floor of 22 come back too often."""
    year = sold(pets(0.1), SHORT, units=100, procurement=Frauds(), honest=False, speed="standard")
    found = checked(year)
    assert found.fen("fraud_short") == -40 * 3_000
    assert found.fen("overpaid_honest") == 0
    gone = int(year.state.units.shipped[0] - year.state.units.returned[0] + year.state.units.not_restocked[0])
    assert found.fen("fraud_overpaid") == -gone * 800
    assert found.fen("fraud_defects") < found.fen("fraud_freight") < 0
    assert found.fen("natural_returns") < 0


def test_it_is_shown_as_a_table_and_a_frame(monkeypatch):
    found = checked(sold(pets(), SHORT))
    html = found._repr_html_()
    assert all(item.label in html for item in STATEMENT.values())
    frames = SimpleNamespace(DataFrame=lambda rows, columns: [dict(zip(columns, row, strict=True)) for row in rows])
    monkeypatch.setitem(sys.modules, "pandas", frames)
    assert found.to_frame() == [row._asdict() for row in found.rows]
    assert sum(row["fen"] for row in found.to_json_object()["rows"]) == found.change_fen
