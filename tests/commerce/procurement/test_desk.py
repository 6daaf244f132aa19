"""Talks as a state machine: cycles, settlement, fees, short deliveries, retirement, the pause of the fair rules."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commerce.config import FAIR, PAPER
from commerce.metrics.bargaining import bargaining_metrics
from commerce.procurement import SupplierDesk, desk, pair_terms
from commerce.state import state_digest
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


def test_the_opening_is_shown_with_the_first_offer_and_the_standing_price_can_be_accepted():
    year = year_with()
    first = say(year, "offer", 1.0, 5)
    assert first["opening_price"] == pytest.approx(61.0, abs=8.0)
    assert first["price"] <= first["opening_price"]
    assert say(year, "accept", 1.0, 5)["code"] == "accept_price_mismatch"
    outcome = say(year, "accept", first["price"], 5)
    assert (outcome["decision"], outcome["order"]["charged"]) == ("Accept", round(5 * first["price"], 2))
    (record,) = records(year)
    assert (record.outcome, record.quantity, record.price_fen) == ("agreement", 5, round(first["price"] * 100))


@pytest.mark.parametrize("rules", [PAPER, FAIR])
def test_without_a_talk_there_is_nothing_to_accept_or_reject(rules):
    """One deal and three polite rejects are one negotiation, AGR+ 1, and the next opening is not moved by them."""
    polite, plain = year_with(rules=rules), year_with(rules=rules)
    for year in (polite, plain):
        price = say(year, "offer", 1.0, 1)["price"]
        assert say(year, "accept", price, 1)["decision"] == "Accept"
    before = state_digest(polite.state)
    for action in ("reject", "accept", "reject"):
        assert say(polite, action, 30.0, 1)["code"] == "no_active_negotiation"
    polite.state.calls, polite.state.minutes, polite.state.minute = (
        plain.state.calls,
        plain.state.minutes,
        plain.state.minute,
    )
    assert state_digest(polite.state) == before
    assert bargaining_metrics(records(polite))["agr_plus"] == (1.0, 1)
    assert say(polite, "offer", 1.0, 1) == say(plain, "offer", 1.0, 1)


def test_a_bid_beyond_the_means_is_refused_before_the_supplier_is_asked():
    """Bids nobody can pay would press the price down; ``paper`` answers them, as published."""
    year = year_with(rules=FAIR, initial_fen=10_000)
    assert say(year, "offer", 100.01, 1)["code"] == "insufficient_funds"
    assert say(year, "offer", 1.01, 100)["code"] == "insufficient_funds"
    assert records(year) == []
    price = say(year, "offer", 1.0, 1)["price"]
    record = year.state.book["records"][0]
    before = json.dumps(record)
    assert say(year, "offer", 60.0, 2)["code"] == "insufficient_funds"
    assert json.dumps(record) == before
    assert say(year, "accept", price, 100)["code"] == "insufficient_funds"
    assert say(year, "offer", 99.0, 1)["decision"] == "Accept"  # a bid above the standing price is taken
    published = year_with(initial_fen=10_000)
    while (outcome := say(published, "offer", 40.0, 100))["decision"] == "Offer":
        pass
    assert outcome["code"] == "insufficient_funds"
    assert published.state.book["records"][0]["extra"]["standing_fen"] == 4000


def test_a_price_agreed_without_the_membership_must_be_paid_or_given_up():
    """Else a buyer would bid ever lower and pay the fee at the end; ``paper`` lets it, as published."""
    for rules, code in ((FAIR, "price_agreed"), (PAPER, "members_only")):
        year = year_with(Fraud.VIP_FEE, rules=rules)
        price = say(year, "offer", 1.0, 1)["price"]
        assert say(year, "offer", price, 1).get("code", "members_only") == "members_only"
        agreed = year.state.book["records"][0]["extra"]["standing_fen"] / 100
        lower = [say(year, "offer", agreed - 0.01, 1).get("code") for _ in range(6)]
        assert code in lower
        assert rules is PAPER or set(lower) == {code}
    year = year_with(Fraud.VIP_FEE, rules=FAIR)
    price = say(year, "offer", 1.0, 1)["price"]
    say(year, "accept", price, 1)
    say(year, "pay_vip_fee")
    assert say(year, "accept", price, 1)["decision"] == "Accept"


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
    price = say(year, "offer", 1.0, 1)["price"]
    assert say(year, "accept", price, 50)["code"] == "insufficient_funds"
    assert records(year)[0].outcome == "open"
    assert say(year, "accept", price, 1)["decision"] == "Accept"
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
    price = say(year, "offer", 1.0, 5)["price"]
    assert say(year, "accept", price, 5)["code"] == "members_only"
    assert say(year, "pay_vip_fee")["fee_paid"] == 1000.0
    assert say(year, "pay_vip_fee")["code"] == "no_fee_due"
    assert say(year, "accept", price, 5)["decision"] == "Accept"
    assert say(year_with(), "pay_vip_fee")["code"] == "no_fee_due"
    assert pair_terms(year.setting.world, PAPER, 0, 0).reservation == 2800


@pytest.mark.parametrize(("quantity", "low", "high"), [(1, 1, 1), (2, 1, 1), (5, 3, 3), (10, 6, 6), (100, 60, 69)])
def test_short_deliveries(quantity, low, high):
    """Published: 1 -> 1, 2 -> 1, 5 -> 3, 10 -> 6, 100 -> 60-69; everything is paid."""
    year = year_with(Fraud.QTY_BAIT)
    say(year, "accept", say(year, "offer", 1.0, 1)["price"], quantity)
    (row,) = year.state.purchases
    assert low <= row.delivered <= high
    assert year.state.bank_fen == 10_000_000 - quantity * row.unit_price_fen


def test_downgraded_goods_look_complete():
    year = year_with(Fraud.QUALITY_DOWNGRADE)
    say(year, "accept", say(year, "offer", 1.0, 1)["price"], 10)
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


def test_fair_rounds_are_counted_over_all_talks_of_a_day():
    """Rejecting and opening again wins no rounds: an opening and each offer are one round."""
    year = year_with(rules=FAIR)
    for _ in range(3):  # an opening and two offers each: nine rounds
        assert [say(year, "offer", 5.0, 1)["decision"] for _ in range(2)] == ["Offer", "Offer"]
        assert say(year, "reject")["decision"] == "Reject"
    assert say(year, "reject")["code"] == "no_active_negotiation"
    tenth = say(year, "offer", 5.0, 1)
    assert (tenth["decision"], tenth["message"]) == ("Reject", "no agreement in 10 rounds")
    assert say(year, "offer", 5.0, 1)["code"] == "not_available"
    assert [record.outcome for record in records(year)] == ["buyer_reject"] * 3 + ["round_limit"]
    ok(year, "wait_for_next_day")
    assert say(year, "offer", 5.0, 1)["decision"] == "Offer"


PAST = st.lists(
    st.tuples(st.sampled_from(["offer", "accept", "reject", "wait"]), st.sampled_from([1.0, 15.0, 30.0, 61.0])),
    max_size=12,
)


@settings(max_examples=40, deadline=None)
@given(past=PAST, bids=st.lists(st.sampled_from([5.0, 24.0, 40.0]), min_size=1, max_size=4))
def test_fair_draws_are_those_of_the_day_whatever_was_done_before(past, bids):
    """On day 15 the first talk meets the same supplier, bid by bid, and an order comes as short as any other's."""
    told = []
    for steps in ([], past):
        year = year_with(Fraud.QTY_BAIT, rules=FAIR, retirement=1000)
        for action, price in steps:
            if action != "wait":
                say(year, action, price, 1)
            elif year.state.day < 14:
                ok(year, "wait_for_next_day")
        say(year, "reject")  # a talk that ran on would be the first of the day, in a later round
        while year.state.day < 15:
            ok(year, "wait_for_next_day")
        answers = [say(year, "offer", bid, 100) for bid in bids]
        told.append([(row.get("opening_price"), row["decision"], row.get("price")) for row in answers])
        told[-1].append([row.delivered for row in year.state.purchases if row.placed_day == 15])
    assert told[0] == told[1]


def test_a_talk_that_runs_on_over_night_meets_the_draws_of_the_new_day(monkeypatch):
    met = {}

    def spy(terms, rules, standing, offers, round_number, draws):
        met.setdefault((year.state.day, round_number), []).append(draws)
        return answer_offer(terms, rules, standing, offers, round_number, draws)

    answer_offer = desk.answer_offer
    monkeypatch.setattr(desk, "answer_offer", spy)
    for offers_before in (2, 0):
        year = year_with(rules=FAIR)
        for _ in range(offers_before):
            say(year, "offer", 5.0, 1)
        ok(year, "wait_for_next_day")
        for _ in range(4):
            say(year, "offer", 5.0, 1)
    for number in (4, 5):  # the rounds of the second day that both talks reached
        first, second = met[1, number]
        assert first == second
