"""Talks as a state machine: cycles, settlement, fees, short deliveries, retirement, the pause of the fair rules."""

from __future__ import annotations

from dataclasses import replace

import pytest

from commerce.config import FAIR, PAPER
from commerce.procurement import SupplierDesk, pair_terms
from commerce.types import Fraud, Personality
from commerce.year import Year
from tests.commerce.builders import ok, world_with

BASE = world_with([("Pet Supplies", 100.0, "Small", 0.01), ("Furniture", 400.0, "Large", 0.3)])


def year_with(fraud=None, rules=PAPER, retirement=10, **changes):
    """A year with one supplier of pet supplies."""
    who = replace(
        BASE.suppliers[0], category=BASE.category_index["Pet Supplies"], fraud=fraud, retirement_orders=retirement,
        personality=Personality.FRIENDLY if fraud is None else Personality.ADVERSARIAL,
    )  # fmt: skip
    return Year(replace(BASE, suppliers=(who,)), rules.model_copy(update=changes))


def say(year, action, price=None, quantity=None, sku="p0"):
    move = {"action": action}
    if action != "pay_vip_fee":
        move |= {"sku_id": sku, "price": price, "quantity": quantity}
    email = year.setting.world.suppliers[0].email
    (reply,) = ok(year, "chatbox", uids=[email], actions=[move])["replies"]
    return reply["outcomes"][0] if reply["outcomes"] else reply["message"]


def records(year):
    return year.procurement.records(year.state.book)


def test_the_opening_is_shown_and_can_be_accepted():
    year = year_with()
    opening = say(year, "accept", 1.0, 5)["opening_price"]
    assert say(year, "accept", 1.0, 5)["code"] == "accept_price_mismatch"
    assert opening == pytest.approx(61.0, abs=8.0)
    outcome = say(year, "accept", opening, 5)
    assert (outcome["decision"], outcome["order"]["charged"]) == ("Accept", round(5 * opening, 2))
    (record,) = records(year)
    assert (record.outcome, record.quantity, record.price_fen) == ("agreement", 5, round(opening * 100))


def test_quotes_fall_to_the_floor_and_not_below():
    year = year_with()
    prices = []
    for _ in range(8):
        outcome = say(year, "offer", 10.0, 1)
        if outcome["decision"] != "Offer":
            break
        prices.append(outcome["price"])
    assert prices == sorted(prices, reverse=True)
    assert min(prices) >= 22.0
    assert all(price == round(price, 2) for price in prices)


def test_an_accepted_offer_is_an_order():
    year = year_with()
    for _ in range(20):
        outcome = say(year, "offer", 40.0, 7)
        if outcome["decision"] == "Accept":
            break
    assert outcome["order"]["quantity"] == 7
    assert year.state.bank_fen == 10_000_000 - 28_000
    assert year.state.purchases[0].delivered == 7


def test_a_failed_payment_leaves_the_price_standing_and_no_agreement():
    year = year_with(initial_fen=10_000)
    opening = say(year, "accept", 1.0, 5)["opening_price"]
    assert say(year, "accept", opening, 50)["code"] == "insufficient_funds"
    assert records(year)[0].outcome == "open"
    assert say(year, "accept", opening, 1)["decision"] == "Accept"
    assert [record.outcome for record in records(year)] == ["agreement"]


def test_cycles_have_their_own_draws_and_the_same_floor():
    year = year_with()
    for _ in range(3):
        say(year, "offer", 10.0, 1)
        assert say(year, "reject", 1.0, 1)["decision"] == "Reject"
    found = records(year)
    assert [(record.cycle, record.outcome) for record in found] == [(n, "buyer_reject") for n in range(3)]
    assert len({record.opening_fen for record in found}) > 1
    assert {record.floor_fen for record in found} == {2200}


def test_what_a_supplier_does_not_sell():
    assert say(year_with(), "offer", 100.0, 1, sku="p1")["code"] == "unknown_sku"


def test_a_membership_is_asked_paid_once_and_brings_nothing():
    year = year_with(Fraud.VIP_FEE)
    opening = say(year, "accept", 1.0, 5)["opening_price"]
    assert say(year, "accept", opening, 5)["code"] == "members_only"
    assert say(year, "pay_vip_fee")["fee_paid"] == 1000.0
    assert say(year, "pay_vip_fee")["code"] == "no_fee_due"
    assert say(year, "accept", opening, 5)["decision"] == "Accept"
    assert say(year_with(), "pay_vip_fee")["code"] == "no_fee_due"
    assert pair_terms(year.setting.world, PAPER, 0, 0).reservation == 2800


@pytest.mark.parametrize(("quantity", "low", "high"), [(1, 1, 1), (2, 1, 1), (5, 3, 3), (10, 6, 6), (100, 60, 69)])
def test_short_deliveries(quantity, low, high):
    """Published: 1 -> 1, 2 -> 1, 5 -> 3, 10 -> 6, 100 -> 60-69; everything is paid."""
    year = year_with(Fraud.QTY_BAIT)
    opening = say(year, "accept", 1.0, 1)["opening_price"]
    say(year, "accept", opening, quantity)
    (row,) = year.state.purchases
    assert low <= row.delivered <= high
    assert year.state.bank_fen == 10_000_000 - quantity * row.unit_price_fen


def test_downgraded_goods_look_complete():
    year = year_with(Fraud.QUALITY_DOWNGRADE)
    say(year, "accept", say(year, "accept", 1.0, 1)["opening_price"], 10)
    (row,) = year.state.purchases
    assert (row.delivered, row.defective) == (10, 10)


def test_retirement_counts_messages_with_an_order():
    year = year_with(retirement=2)
    for _ in range(2):
        say(year, "accept", say(year, "offer", 1.0, 1).get("price", 0.01), 1)
    while year.state.book["successes"].get("0", [0, False])[0] < 2:
        say(year, "accept", say(year, "offer", 1.0, 1).get("price", 0.01), 1)
    assert SupplierDesk().is_retired(year.state.book, 0)
    assert "closed for good" in say(year, "offer", 30.0, 1)
    assert ok(year, "supplier_search", category="Pet Supplies")["total"] == 0


def test_the_fair_round_limit_pauses_until_tomorrow():
    year = year_with(rules=FAIR, round_limit=4)
    decisions = []
    for _ in range(6):
        outcome = say(year, "offer", 5.0, 1)
        decisions.append((outcome["decision"], outcome.get("code")))
        if outcome["decision"] == "Reject":
            break
    assert decisions == [("Offer", None)] * 3 + [("Reject", None)]
    assert records(year)[-1].outcome == "round_limit"
    assert say(year, "accept", 30.0, 1)["code"] == "not_available"
    ok(year, "wait_for_next_day")
    assert say(year, "offer", 5.0, 1)["decision"] == "Offer"
    assert records(year)[-1].cycle == 1


def test_talking_to_others_changes_nothing():
    """The same bids get the same answers whatever was said about another product before."""
    answers = []
    for detour in (False, True):
        year = year_with()
        world = year.setting.world
        if detour:
            email = world.suppliers[0].email
            ok(year, "chatbox", uids=[email], content="hello")
            ok(year, "supplier_search", category="Pet Supplies")
        answers.append([say(year, "offer", bid, 1) for bid in (10.0, 12.0, 14.0)])
    assert answers[0] == answers[1]
