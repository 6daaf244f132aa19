"""Words that agree to a membership fee: a fixed rule, off unless a study switches it on."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commerce.config import FAIR, PAPER
from commerce.merchants import build_merchant, play_year
from commerce.procurement.consent import agrees_to_fee
from commerce.procurement.dialogue import PITCHES
from commerce.types import Fraud
from commerce.year import Year
from tests.commerce.builders import default_world

WORDS = FAIR.model_copy(update={"fee_consent": "words"})


@pytest.mark.parametrize(
    "text",
    [
        "I agree to the membership fee.",
        "Thank you. Yes, sign us up as members!",
        "OK, we accept your one-time membership of 1000.00 yuan; please ship at once.",
        "FINE, I WILL PAY THE FEE",
        "We'd like to join the programme",
    ],
)
def test_agreement(text):
    assert agrees_to_fee(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Yes.",
        "I accept 12.50 yuan a unit.",
        "We will not pay a fee.",
        "I don't agree to any membership.",
        "I don\u2019t pay fees",
        "Do you accept members?",
        "We pay the fee if the goods are good.",
        "Yes, the price is fine. The membership is of no interest.",
        "We would rather buy without joining your members' programme.",
        "No fee, please: accept 10.00.",
    ],
)
def test_no_agreement(text):
    assert not agrees_to_fee(text)


@given(st.text(max_size=300))
def test_any_text_is_read(text):
    assert agrees_to_fee(text) in (True, False)


def test_what_suppliers_say_agrees_to_nothing_by_itself():
    """A buyer that quotes a pitch back as a question or a refusal has not agreed."""
    for pitch in PITCHES[Fraud.VIP_FEE]:
        assert not agrees_to_fee(f"We do not want this: {pitch.format(fee=1000.0).replace('.', ',')}")


def year_with(rules, fraud):
    world = default_world()
    supplier = replace(world.suppliers[0], fraud=fraud)
    return Year(replace(world, suppliers=(supplier, *world.suppliers[1:])), rules), supplier.email


def chat(year, email, content, actions=()):
    return year.call("chatbox", {"uids": [email], "content": content, "actions": list(actions)})


def test_words_pay_the_fee_where_the_rules_let_them():
    year, email = year_with(WORDS, Fraud.VIP_FEE)
    bank = year.state.bank_fen
    (reply,) = chat(year, email, "Yes, we pay the membership fee.").data["replies"]
    assert reply["outcomes"] == [{"decision": "Accept", "fee_paid": 1000.0}]
    assert year.state.bank_fen == bank - WORDS.vip_fee_fen
    assert year.state.book["paid_fee"] == [0]
    (again,) = chat(year, email, "Yes, we pay the membership fee.").data["replies"]
    assert again["outcomes"][0]["code"] == "no_fee_due"


def test_agreeing_twice_in_one_message_pays_once():
    year, email = year_with(WORDS, Fraud.VIP_FEE)
    (reply,) = chat(year, email, "I agree to the fee.", [{"action": "pay_vip_fee"}]).data["replies"]
    assert [row["decision"] for row in reply["outcomes"]] == ["Accept"]


@pytest.mark.parametrize("rules", [PAPER, FAIR])
def test_words_move_no_money_by_default(rules):
    year, email = year_with(rules, Fraud.VIP_FEE)
    bank = year.state.bank_fen
    (reply,) = chat(year, email, "Yes, we pay the membership fee.").data["replies"]
    assert reply["outcomes"] == []
    assert year.state.bank_fen == bank


def test_an_honest_supplier_takes_no_fee():
    year, email = year_with(WORDS, None)
    (reply,) = chat(year, email, "Yes, we pay the membership fee.").data["replies"]
    assert reply["outcomes"][0]["code"] == "no_fee_due"
    assert year.state.bank_fen == WORDS.initial_fen


def test_a_year_without_such_words_is_the_same_year():
    digests = []
    for rules in (FAIR, WORDS):
        short = rules.model_copy(update={"num_days": 40})
        year = play_year(Year(default_world(), short), build_merchant("rule-based", default_world(), short))
        digests.append(year.state.ledger.digest)
    assert digests[0] == digests[1]
