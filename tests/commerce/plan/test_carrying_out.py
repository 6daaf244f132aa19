"""Plans that were changed: what cannot be done is cut and counted, and what they do not know follows their habits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from commerce.config import FAIR
from commerce.ledger import Account
from commerce.plan import StorePlan, execute, extract
from commerce.plan.carrying_out import Cuts, require_feasible
from commerce.year import Year
from tests.commerce.builders import HonestCounter, ok, world_with

WORLD = world_with([("Pet Supplies", 100.0, "Small", 0.0), ("Pet Supplies", 100.0, "Small", 0.0)])
RULES = FAIR.model_copy(update={"num_days": 40, "price_band": None, "choke_ratio": None})


def buy(year: Year, sku: int, units: int, yuan: float) -> None:
    supplier = WORLD.suppliers[WORLD.suppliers_by_category[WORLD.category_index["Pet Supplies"]][0]].email
    ok(year, "chatbox", uids=[supplier], actions=[dict(action="offer", sku_id=f"p{sku}", price=yuan, quantity=units)])


def played(habit_day: int = 1, speed: str = "standard") -> Year:
    """One store, 40 units each of two products, listed when they are there; ships and withdraws by habit."""
    year = Year(WORLD, RULES, procurement=HonestCounter())
    ok(year, "open_store", store_type="pet", store_name="S")
    for sku in (0, 1):
        buy(year, sku, 40, 20.0)
    while not year.is_over:
        for sku in (0, 1):
            units = int(year.state.unlisted[sku])
            if units:
                ok(year, "publish_to_store", store_id="store_001",
                   plan=[dict(product_id=f"p{sku}", quantity=units, retail_price=90.0)])  # fmt: skip
        due = year.state.orders.is_pending & (year.state.orders.sale_day + habit_day <= year.state.day)
        if due.any():
            ok(year, "ship_orders", action="ship", speed=speed,
               shipment_ids=year.state.orders.order_id[due].tolist())  # fmt: skip
        year.call("withdraw")
        ok(year, "wait_for_next_day")
    return year


@pytest.fixture(scope="module")
def year() -> Year:
    return played()


@pytest.fixture(scope="module")
def plan(year) -> StorePlan:
    return extract(year)


def run(plan: StorePlan):
    return execute(WORLD, RULES, plan)


def test_unchanged_it_is_the_year(year, plan):
    assert run(plan).year.state.ledger.digest == year.state.ledger.digest


def test_what_cannot_be_paid_is_cut(plan):
    """99,500 yuan are there after the setup: 40 units at 2,480 leave 300, which pay none at 20,000."""
    dear = plan.buys.unit_fen.copy()
    dear[:] = 248_000, 2_000_000
    done = run(replace(plan, buys=plan.buys._replace(unit_fen=dear, bank_fen=np.zeros(2, int))))
    bought = [(row.sku, row.quantity) for row in done.year.state.purchases]
    assert bought == [(0, 40)]
    assert done.cuts.cut_units == 40
    assert done.cuts.cut_fen == 40 * 2_000_000
    assert done.cuts.planned_fen == 40 * (248_000 + 2_000_000)
    assert done.cuts.void_listings == 1
    with pytest.raises(ValueError, match=r"89.0% of the spending was cut"):
        require_feasible(done.cuts)


def test_of_less_money_the_same_share_is_spent(plan):
    """Of 99,500 yuan 40 units took 80,000, so of the 29,500 that are left 40 * 29,500 // 98,700 = 11 are bought."""
    bank_fen = np.array([9_950_000, 9_870_000])
    assert plan.buys.bank_fen.tolist() == bank_fen.tolist(), "40 units at 20 yuan had been paid"
    dear = plan.buys.unit_fen * np.array([1, 1])
    dear[0] = 175_000
    done = run(replace(plan, buys=plan.buys._replace(unit_fen=dear)))
    assert [row.quantity for row in done.year.state.purchases] == [40, 11]
    assert (done.cuts.scaled_fen, done.cuts.cut_fen) == (29 * 2_000, 0)


def test_what_a_year_ended_before_is_cut(plan):
    """Purchases of day 39 come before the end of 40 days, those planned after a bankruptcy never do."""
    rules = RULES.model_copy(update={"num_days": 40, "bankruptcy_mornings": 1})
    dear = plan.buys.unit_fen.copy()
    dear[0] = 248_750
    late = plan.buys._replace(unit_fen=dear, day=np.array([0, 38]), bank_fen=np.zeros(2, int))
    none = plan.withdrawals._replace(**{name: column[:0] for name, column in plan.withdrawals._asdict().items()})
    never = plan.patience._replace(wallet=365)
    done = execute(WORLD, rules, replace(plan, buys=late, withdrawals=none, patience=never))
    assert done.year.state.end == "bankruptcy"
    assert (done.cuts.cut_units, done.cuts.cut_fen) == (40, 40 * 2_000)


def test_a_purchase_is_cut_in_proportion(plan):
    """99,500 yuan pay 19 of 40 units at 5,000, of which 28 would have come, 8 of them bad: 19 * 28 // 40 and so on."""
    buys = plan.buys._replace(unit_fen=np.array([500_000, 1]), delivered=np.array([28, 40]), defective=np.array([8, 0]))
    first = run(replace(plan, buys=buys)).year.state.purchases[0]
    assert (first.quantity, first.delivered, first.defective) == (19, 13, 3)


def test_a_small_cut_may_be_built_on():
    require_feasible(Cuts(planned_fen=10_000, cut_fen=200))
    with pytest.raises(ValueError, match="at most 2% may be"):
        require_feasible(Cuts(planned_fen=10_000, cut_fen=201))
    require_feasible(Cuts(planned_fen=10_000, scaled_fen=9_000))


def test_goods_that_come_on_another_day_are_listed_when_they_are_there(plan):
    """Bought ten days later, they are not there on the day of the listing; the habit lists them on arrival."""
    late = plan.buys._replace(day=plan.buys.day + 10)
    done = run(replace(plan, buys=late))
    assert done.cuts.void_listings == 2
    shelf = done.year.state.stores[0]
    assert not done.year.state.unlisted.any()
    assert int(done.year.state.units.sold.sum()) > 0
    assert shelf.price_fen.tolist()[:2] == [9_000, 9_000]


def test_a_merchant_that_keeps_goods_back_still_does(plan):
    patient = replace(plan, patience=plan.patience._replace(shelf=np.array([365, 0])))
    late = replace(patient, buys=plan.buys._replace(day=plan.buys.day + 10, bank_fen=np.zeros(2, int)))
    assert run(late).year.state.unlisted.tolist()[:2] == [40, 0]


@pytest.mark.parametrize(("habit_day", "speed", "row"), [(1, "fast", 0), (2, "slow", 2)])
def test_new_sales_ship_by_the_habit_of_their_week(habit_day, speed, row):
    plan = extract(played(habit_day, speed))
    assert set(plan.defaults.delay.tolist()) == {habit_day}
    forgotten = plan.lines._replace(**{name: column[:0] for name, column in plan.lines._asdict().items()})
    done = run(replace(plan, lines=forgotten))
    totals = done.year.state.totals
    assert totals.orders_shipped > 0
    assert totals.by_speed[row] == totals.orders_shipped
    whole = run(plan).year.state
    assert done.year.state.ledger.balance(Account.FREIGHT) == whole.ledger.balance(Account.FREIGHT)


def test_a_merchant_that_never_ships_never_does(plan):
    never = plan.defaults._replace(delay=np.full(len(plan.defaults.delay), -1))
    forgotten = plan.lines._replace(**{name: column[:0] for name, column in plan.lines._asdict().items()})
    done = run(replace(plan, lines=forgotten, defaults=never))
    assert done.year.state.totals.orders_shipped == 0


def test_money_is_withdrawn_by_habit(plan):
    """Without a single planned withdrawal the wallet is emptied at the first day end, as it always was."""
    none = plan.withdrawals._replace(**{name: column[:0] for name, column in plan.withdrawals._asdict().items()})
    assert plan.patience.wallet == 0
    done = run(replace(plan, withdrawals=none))
    assert done.year.final_fen == run(plan).year.final_fen
    assert done.year.state.ledger.balance(Account.BANK) > 0


def test_what_cannot_be_had_is_left_out(plan):
    """A second store of the same type, a store that is closed and is not there, a fee beyond the bank."""
    stores = plan.stores._replace(
        order=np.array([1, 2, 3]), day=np.zeros(3, int), minute=np.full(3, 480), act=np.array([0, 0, 1]),
        store_type=np.array([plan.stores.store_type[0], plan.stores.store_type[0], 0]),
    )  # fmt: skip
    fees = plan.fees._replace(
        order=np.array([4]), day=np.array([0]), minute=np.array([480]), supplier=np.array([0]), fen=np.array([10**9])
    )
    buys = plan.buys._replace(order=np.array([5, 6]))
    assert run(replace(plan, stores=stores, fees=fees, buys=buys)).cuts.void_acts == 3
