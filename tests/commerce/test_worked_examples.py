"""Worked examples E1-E18 of the published economy (arXiv 2608.30730), computed independently of this code.

Each uses the ``paper`` rules. Where an example names a uniform, it is the one the published stream gives; ours are
keyed differently (commerce/DEPARTURES.md), so the uniform is put in by hand and the formula around it is tested.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import replace

import numpy as np
import pytest

from commerce.config import PAPER
from commerce.demand import price_response, round_demand
from commerce.fulfilment import ship
from commerce.ledger import Account
from commerce.lots import Lots, storage_bill
from commerce.procurement import pair_terms
from commerce.receiving import lead_days
from commerce.reputation import reputation
from commerce.returns import blended_rate, count_returns, price_return_factor, priced_rate, shipped_rate
from commerce.selling import ShelfOffer, book_sales, day_offer, expected_demand
from commerce.shopkeeping import open_store, publish, refresh_windows
from commerce.state import new_store
from commerce.types import Fraud, Personality, PriceResponse, Speed
from tests.commerce.builders import default_world, new_year, ok, setting_of, stock_up, world_with

LIN, EXP, CES, QUA = range(4)
DAY = {"Jan 1": 0, "Jan 2": 1, "Mar 11": 69, "May 30": 149, "Jul 7": 187}


def factor(response: int, k: float, *ratios: float) -> list[float]:
    n = len(ratios)
    return price_response(np.array(ratios), np.full(n, k), np.full(n, response), PAPER).tolist()


def window(world, store_type, reputation_value, prices, *, promotion=None, discount=0.0):
    """A store whose window shows every SKU of ``world`` at ``prices`` yuan."""
    setting = setting_of(world)
    store = new_store(1, world.store_type_index[store_type], "Store", 0, len(prices))
    store.window_units[:], store.window_fen[:] = 10**6, [round(price * 100) for price in prices]
    store.reputation = reputation_value
    if promotion is not None:
        store.window_promotion = [p.name for p in world.promotions].index(promotion)
        store.window_discount = discount
    return setting, store


def demand(setting, store, day) -> list[float]:
    return expected_demand(setting, [store], day_offer(setting, [store], day), day).tolist()


def published_uniform(product: str, date: str) -> float:
    """The published demand uniform, to check the values the examples quote."""
    seed = 20260122 + int(hashlib.md5(f"demand{product}{date}".encode()).hexdigest()[:8], 16)
    return random.Random(seed).random()


def test_e1_price_response():
    ratios = (0.7, 0.9, 1.0, 1.1, 1.3)
    assert factor(LIN, 3.949, *ratios) == pytest.approx([2.1847, 1.3949, 1, 0.6051, 0], abs=1e-9)
    assert factor(EXP, 3.133, *ratios) == pytest.approx([2.560, 1.368, 1, 0.731, 0.391], abs=5e-4)
    assert factor(CES, 1.352, *ratios) == pytest.approx([1.620, 1.153, 1, 0.879, 0.701], abs=5e-4)
    assert factor(QUA, 4.556, *ratios) == pytest.approx([0.590, 0.954, 1, 0.954, 0.590], abs=5e-4)
    assert factor(CES, 2.053 * 2, 0.7) == pytest.approx([4.32541], abs=5e-6)
    assert factor(QUA, 4.556 * 2, 0.7) == pytest.approx([0.17992], abs=1e-9)


BEAUTY = [("Personal Care & Massage", 562.35, "Medium", 0.02)]


def test_e2_first_day():
    setting, store = window(world_with(BEAUTY), "beauty", 0.5, [562.35])
    expected = demand(setting, store, DAY["Jan 1"])
    assert expected == pytest.approx([2.772403], abs=5e-7)
    uniform = published_uniform("e782c402fc2e", "2026-01-01")
    assert uniform == pytest.approx(0.170720, abs=5e-7)
    assert round_demand(np.array(expected), np.array([uniform])).tolist() == [3]


def test_e3_second_day():
    new_reputation = reputation(0, 0.0, 0.0, 0.0, PAPER)
    assert new_reputation == pytest.approx(0.353101, abs=5e-7)
    setting, store = window(world_with(BEAUTY), "beauty", new_reputation, [562.35])
    expected = demand(setting, store, DAY["Jan 2"])
    assert expected == pytest.approx([2.252743], abs=5e-7)
    uniform = published_uniform("e782c402fc2e", "2026-01-02")
    assert uniform == pytest.approx(0.652169, abs=5e-7)
    assert round_demand(np.array(expected), np.array([uniform])).tolist() == [2]


@pytest.mark.parametrize(
    ("joined", "price", "expected", "sold"),
    [(False, 373.25, 1.489538, 1), (True, 373.25 / 0.7, 4.098383, 4), (True, 373.25, 12.543365, 12)],
)
def test_e4_promotion(joined, price, expected, sold):
    world = world_with([("Women's Shoes", 373.25, "Medium", 0.45)])
    setting, store = window(world, "shoes_bags", 0.9, [price])
    if joined:
        store.window_promotion = [p.name for p in world.promotions].index("Midyear Mega Sale")
        store.window_discount = 0.30
    found = demand(setting, store, DAY["May 30"])
    # Our list prices are whole fen (533.21 for 533.214...), which moves the demand in the sixth digit.
    assert found == pytest.approx([expected], rel=5e-5)
    uniform = published_uniform("8a014fcd431b", "2026-05-30")
    assert uniform == pytest.approx(0.828173, abs=5e-7)
    assert round_demand(np.array(found), np.array([uniform])).tolist() == [sold]


def test_e5_event_season_and_a_price_above_the_reference():
    world = world_with([("Small Appliances", 497.21, "Large", 0.05)])
    setting, store = window(world, "appliance_digital", 0.8, [546.93])
    found = demand(setting, store, DAY["Jul 7"])
    assert found == pytest.approx([1.479455], abs=5e-7)
    uniform = published_uniform("7dca11f0dbd2", "2026-07-07")
    assert uniform == pytest.approx(0.530619, abs=5e-7)
    assert round_demand(np.array(found), np.array([uniform])).tolist() == [1]
    assert price_return_factor(np.array([546.93 / 497.21]), PAPER)[0] == pytest.approx(1.16666, abs=5e-6)


def test_e6_cannibalisation():
    one = world_with([("Skincare & Beauty", 200.0, "Small", 0.15)])
    setting, store = window(one, "beauty", 0.8, [200.0])
    assert demand(setting, store, DAY["Mar 11"]) == pytest.approx([4.789850], abs=5e-7)
    rows = [("Skincare & Beauty", 200.0, "Small", 0.15)] * 2 + [("Beauty Devices", 500.0, "Medium", 0.05)]
    setting, store = window(world_with(rows), "beauty", 0.8, [200.0, 200.0, 550.0])
    assert demand(setting, store, DAY["Mar 11"]) == pytest.approx([2.398969, 2.398969, 2.475222], abs=5e-7)
    assert sum(demand(setting, store, DAY["Mar 11"])) == pytest.approx(7.273160, abs=1e-6)


def test_e7_storage():
    lots = Lots(np.array([0]), np.array([0]), np.array([200]))
    nightly = [storage_bill(lots, age, np.array([15]), PAPER)[0] / 100 for age in range(201)]
    steps = {1: 30, 20: 30, 21: 42, 44: 42, 45: 66, 89: 66, 90: 120, 134: 120, 135: 180, 179: 180, 180: 270}
    assert {age: nightly[age] for age in steps} == pytest.approx(steps)
    totals = {20: 600, 44: 1_608, 89: 4_578, 134: 9_978, 179: 18_078, 200: 23_748}
    assert {age: sum(nightly[1 : age + 1]) for age in totals} == pytest.approx(totals)


def test_e8_reputation():
    rows = [
        (0, 20, 0, 0, 20, 0, 0, 0.3531),
        (20, 20, 0, 0, 37, 0, 0, 0.3582),
        (40, 20, 2, 0, 51.45, 2, 0, 0.3405),
        (60, 20, 6, 0, 63.7325, 7.7, 0, 0.2973),
        (80, 0, 6, 20, 54.1726, 12.545, 20, 0.15),
        (80, 20, 4, 0, 66.0467, 14.6632, 17, 0.15),
    ]
    sold = returned = cancelled = 0.0
    for shipped, more_sold, more_returned, more_cancelled, b, a, k, expected in rows:
        sold, returned, cancelled = sold + more_sold, returned + more_returned, cancelled + more_cancelled
        assert (sold, returned, cancelled) == pytest.approx((b, a, k), abs=5e-5)
        assert reputation(shipped, returned, sold, cancelled, PAPER) == pytest.approx(expected, abs=5e-5)
        sold, returned, cancelled = 0.85 * sold, 0.85 * returned, 0.85 * cancelled


@pytest.mark.parametrize(
    ("shipment", "fast", "standard", "slow"),
    [
        (1, (6, 6), (6, 6), (7, 3)),
        (2, (4, 4), (7, 5), (6, 6)),
        (3, (7, 6), (8, 7), (8, 6)),
        (7, (7, 5), (5, 7), (7, 4)),
    ],
)
def test_e9_return_draws(shipment, fast, standard, slow):
    for speed, row, (units, lag) in zip(Speed, range(3), (fast, standard, slow), strict=True):
        seed = 20260122 + int(hashlib.md5(f"ship{shipment}{speed.value}".encode()).hexdigest()[:8], 16)
        rng = random.Random(seed)
        uniforms = np.array([rng.random() for _ in range(20)])
        rate = shipped_rate(np.array([0.30]), PAPER.speed_returns[row], PAPER)
        assert count_returns(np.array([20]), rate, uniforms).tolist() == [units]
        assert rng.randint(*PAPER.return_lag) == lag


def escrow_year(returned: int, lag: int):
    """A year on 2 March with one order of 20 units at 100 yuan, shipped on 3 March with the given return."""
    world = world_with([("Women's Shoes", 100.0, "Medium", 0.30)])
    year = new_year(world)
    ok(year, "open_store", store_type="shoes_bags", store_name="S")
    while year.state.day < 59:
        ok(year, "wait_for_next_day")
    stock_up(year, 0, 20, 5000)
    ok(year, "publish_to_store", store_id="store_001", plan=[dict(product_id="p0", quantity=20, retail_price=100.0)])
    refresh_windows(year.setting, year.state)
    state = year.state
    state.stores[0].reputation = 1.0
    state.day = 60  # 2 March
    offer = ShelfOffer(np.array([0]), np.array([0]), np.array([0]), np.array([10000.0]), np.zeros(1), (None,))
    book_sales(year.setting, state, state.stores, offer, np.array([20]), 60)
    state.day = 61
    ship(year.setting, state, state.orders.order_id, Speed.STANDARD)
    state.orders.return_units[:] = returned
    state.orders.return_day[:] = 61 + lag
    return year


def test_e10_escrow_timeline():
    year = escrow_year(6, 6)
    ledger = year.state.ledger
    bank = ledger.balance(Account.BANK)
    assert ledger.balance(Account.FREIGHT) == 30_00
    assert ledger.balance(Account.ESCROW) == 1960_00
    assert year.state.orders.settle_day.tolist() == [70]  # 12 March
    while year.state.day < 67:  # 9 March
        ok(year, "wait_for_next_day")
    assert ledger.balance(Account.ESCROW) == 1360_00
    assert year.state.unlisted.tolist() == [6]
    while year.state.day < 70:
        ok(year, "wait_for_next_day")
    assert (ledger.balance(Account.ESCROW), ledger.balance(Account.WALLET)) == (0, 1360_00)
    assert ledger.balance(Account.BANK) < bank


def test_e10_everything_returned():
    year = escrow_year(20, 6)
    while year.state.day < 70:
        ok(year, "wait_for_next_day")
    ledger = year.state.ledger
    assert ledger.balance(Account.REFUNDS) == 2000_00
    assert ledger.balance(Account.COMMISSION_REVERSED) == -40_00
    assert ledger.balance(Account.WALLET) == 0


def test_e10_never_shipped():
    world = world_with([("Pet Supplies", 100.0, "Medium", 0.0)])
    year = new_year(world)
    ok(year, "open_store", store_type="pet", store_name="S")
    stock_up(year, 0, 1, 5000)
    ok(year, "publish_to_store", store_id="store_001", plan=[dict(product_id="p0", quantity=1, retail_price=100.0)])
    while not len(year.state.orders.order_id):
        ok(year, "wait_for_next_day")
    sale_day = int(year.state.orders.sale_day[0])
    while year.state.day < sale_day + 2:
        ok(year, "wait_for_next_day")
    assert year.state.totals.orders_cancelled == 0
    ok(year, "wait_for_next_day")
    assert year.state.totals.orders_cancelled == 1
    assert year.state.unlisted.tolist() == [1]
    assert year.state.lots.day.tolist() == [0]  # the unit kept its age


def test_e11_return_rate_composition():
    natural = np.array([0.15])
    blended = blended_rate(natural, np.array([0.40]), PAPER)
    priced = priced_rate(blended, np.array([1.1]), PAPER)
    assert blended[0] == pytest.approx(0.25)
    assert priced[0] == pytest.approx(0.291667, abs=5e-7)
    assert shipped_rate(priced, 0.75, PAPER)[0] == pytest.approx(0.21875)
    layers = 100 * np.diff([0, natural[0], blended[0], priced[0], 0.21875])
    # "a correct split would give 15 / 10 / 4.1667 / -7.2917"
    assert layers.tolist() == pytest.approx([15, 10, 4.1667, -7.2917], abs=5e-5)
    blended = blended_rate(np.array([0.45]), np.array([0.40]), PAPER)
    assert blended[0] == pytest.approx(0.63)
    assert (blended * price_return_factor(np.array([1.1]), PAPER))[0] == pytest.approx(0.735)
    assert shipped_rate(priced_rate(blended, np.array([1.1]), PAPER), 1.30, PAPER)[0] == 0.95


def test_negotiation_e11_defects_and_controllable_return():
    """Example E11 of the published negotiation; its split has no speed part, ours does, with the same sum."""
    assert blended_rate(np.array([0.05]), np.array([0.4]), PAPER)[0] == pytest.approx(0.19)  # .6 x .05 + .4 x .40
    assert blended_rate(np.array([0.45]), np.array([1.0]), PAPER)[0] == pytest.approx(0.90)
    blended = blended_rate(np.array([0.10]), np.array([0.0]), PAPER)
    assert price_return_factor(np.array([1.15]), PAPER)[0] == pytest.approx(1.25)
    priced = priced_rate(blended, np.array([1.15]), PAPER)
    assert shipped_rate(priced, 0.75, PAPER)[0] == pytest.approx(0.075 + 0.01875 + 0)
    assert [blended[0], (priced - blended)[0]] == pytest.approx([0.075 / 0.75, 0.01875 / 0.75])


def test_e12_price_return_factor():
    ratios = [0.5, 0.9, 1.0, 1.1, 1.15, 1.3, 1.5, 1.8, 3.0]
    expected = [0.85, 0.925, 1.0, 1.1667, 1.25, 1.5, 1.78, 2.2, 2.2]
    assert price_return_factor(np.array(ratios), PAPER).tolist() == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(("days", "delayed"), [(3, 8), (4, 10), (5, 12), (6, 15), (7, 18)])
def test_e13_delay_rounding(days, delayed):
    uniform = (days - 3 + 0.5) / 5  # the middle of the part that means ``days``
    assert lead_days(uniform, 1.0, PAPER) == days
    assert lead_days(uniform, 2.5, PAPER) == delayed


def test_e13_arrival():
    """Ordered 12 January 10:00 with 6 days and 465 minutes: arrives 18 January 17:45, usable from the 19th at 08:00."""
    year = new_year(world_with([("Pet Supplies", 10.0, "Small", 0.0)]))
    stock_up(year, 0, 1, 100)
    state = year.state
    state.inbound = [state.purchases[0]._replace(arrival_day=17, arrival_minute=17 * 60 + 45)]
    state.ledger.balances[Account.GOODS_ON_ORDER] += 100
    state.ledger.balances[Account.BANK] -= 100
    while state.day < 17:
        ok(year, "wait_for_next_day")
    assert len(state.inbound) == 1
    ok(year, "wait_for_next_day")
    assert len(state.inbound) == 0
    assert state.lots.day.tolist() == [0, 18]


def test_e14_scam_floors():
    cases = {"Women's Shoes": 6750, "Skincare & Beauty": 4500, "Smartphones": 7500, "Major Appliances": 7200}
    world = world_with([(category, 100.0, "Medium", 0.1) for category in cases])
    for sku, (category, floor) in enumerate(cases.items()):
        row = world.category_index[category]
        honest_floor = round(10000 * world.categories[row].floor_ratio)
        for fraud in Fraud:
            rogue = replace(world.suppliers[0], category=row, fraud=fraud, personality=Personality.ADVERSARIAL)
            terms = pair_terms(replace(world, suppliers=(rogue,)), PAPER, 0, sku)
            assert terms.reservation == (floor if fraud.is_upfront else honest_floor)


def test_e15_cost_basis_and_salvage():
    year = new_year(world_with([("Pet Supplies", 20.0, "Small", 0.0)]))
    ok(year, "open_store", store_type="pet", store_name="S")
    stock_up(year, 0, 100, 1000)
    ok(year, "publish_to_store", store_id="store_001", plan=[dict(product_id="p0", quantity=60, retail_price=20.0)])
    sold = ok(year, "close_store", store_id="store_001", liquidate=True)
    assert sold["salvage"] == 60.00  # 60 units at 10.00
    stock_up(year, 0, 50, 1300)
    assert year.state.value_fen[0] / year.state.on_hand[0] == pytest.approx(1166.67, abs=0.01)
    open_store(year.setting, year.state, year.setting.world.store_type_index["pet"], "S")
    publish(year.setting, year.state, year.state.stores[1], 0, 30, 2000)
    sold = ok(year, "close_store", store_id="store_002", liquidate=True)
    assert sold["salvage"] == 35.00


def test_e17_operations_and_idling():
    year = new_year()
    for store_type in ("beauty", "food_beverage"):
        ok(year, "open_store", store_type=store_type, store_name="S")
    assert ok(year, "wait_for_next_day")["operations"] == 190.00
    idle = new_year()
    banks = []
    while not idle.is_over:
        banks.append(ok(idle, "wait_for_next_day")["bank"])
    assert (banks[7 - 1], banks[8 - 1]) == (100_000, 99_000)
    assert banks[107 - 1] == 0
    assert banks[108 - 1] == -1_000
    assert (len(banks), banks[-1], idle.state.end) == (117, -10_000, "bankruptcy")


def test_e18_asymptotes():
    world = default_world()
    fashion = world.store_type_index["fashion"]
    names = [world.categories[row].name for row in world.categories_by_type[fashion]]
    rows = [(name, 100.0, "Medium", 0.3) for name in names for _ in range(4)]
    # Constant elasticity is unbounded, so a price near zero stands for infinite demand.
    ces = world_with(rows)
    boundless = tuple(replace(c, response=PriceResponse.CONSTANT_ELASTICITY, elasticity=9.0) for c in ces.categories)
    setting, store = window(replace(ces, categories=boundless), "fashion", 1.0, [0.01] * len(rows))
    assert sum(demand(setting, store, DAY["Jan 1"])) == pytest.approx(142.78, abs=0.005)
    pets = world_with([("Pet Supplies", 50.0, "Small", 0.01)] * 100)
    setting, store = window(pets, "pet", 1.0, [50.0] * 100)
    assert sum(demand(setting, store, DAY["Jan 1"])) == pytest.approx(64.90, abs=0.005)
