"""Amounts in words: the published list of traps, and what must never happen on any text."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.llm.money import find_amounts, read_amount, stated_price


@pytest.mark.parametrize(
    ("text", "price"),
    [
        ("I can do $45, down from your $60.", 45.0),
        ("45 dollars, not 60 dollars", 45.0),
        ("Your $60 is too high; $45 is my offer, was $50", 45.0),
        ("€45,50", 45.5),
        ("$45,50", 45.5),
        ("1.200,50 €", 1200.5),
        ("### BUYER_PRICE($-5) ###", None),
        ("I'd pay $45k", None),
        ("$1,2,3", None),
        ("$4_500", None),
        ("USD 45", 45.0),
        ("$ 45", 45.0),
        ("$0", 0.0),
        ("$٤٥", 45.0),
        ("$45.00", 45.0),
        ("$1,200.50", 1200.5),
        ("### BUYER_PRICE($45) ###", 45.0),
        ("In 3 days I can pay $45.", 45.0),
        ("between 40 and 45", None),
        ("no price at all", None),
    ],
)
def test_stated_price_on_the_list_of_money_in_words(text, price):
    assert stated_price(text) == price


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$45.00", 45.0),
        ("1,200.51", 1200.51),
        ("1.200,51", 1200.51),
        ("45,50", 45.5),
        ("6,5", 6.5),
        ("USD\u00a045", 45.0),
        ("USD45", 45.0),
        ("45 dollars", 45.0),
        ("٤٥", 45.0),
        ("٤٥٫٥", 45.5),
        ("4.5e1", 45.0),
        ("62.375", 62.375),
        ("1\u202f200,50", 1200.5),
        ("1.200.000", 1_200_000.0),
        ("0,375", 0.375),
        (" 45 ", 45.0),
    ],
)
def test_read_amount(text, value):
    assert read_amount(text) == value


@pytest.mark.parametrize(
    "text",
    [
        *("", "$", "45k", "45%", "-5", "$-5", "-$5", "−5", "+5", "$1,2,3", "$4_500", "1,20,000", "1.200 €", "1e309"),
        *(
            "NaN",
            "Infinity",
            "inf",
            "0x2d",
            "²",
            "4 5",
            "45 or 46",
            "forty-five",
            "1,200.",
            "01,200",
            "1.2.3",
            "12.34,5",
        ),
    ],
)
def test_read_amount_refuses_what_it_would_have_to_guess(text):
    assert read_amount(text) is None


@given(st.text(alphabet=st.sampled_from("$€0123456789.,_'- kUSDe\u00a0٤not your"), max_size=40) | st.text(max_size=60))
def test_amounts_are_finite_and_their_span_reads_the_same_alone(text):
    for amount in find_amounts(text):
        assert 0 <= amount.start < amount.end <= len(text)
        if amount.value is not None:
            assert math.isfinite(amount.value)
            assert amount.value >= 0
            assert read_amount(text[amount.start : amount.end]) == amount.value
    assert stated_price(text) in {None, *(amount.value for amount in find_amounts(text))}


@given(st.integers(0, 10**9), st.integers(0, 99))
def test_every_grouping_of_one_amount_reads_the_same(units, cents):
    value = float(f"{units}.{cents:02d}")
    grouped = f"{units:,}"
    spellings = [
        f"{units}.{cents:02d}",
        f"{grouped}.{cents:02d}",
        f"{grouped.replace(',', '.')},{cents:02d} €",
        f"CHF {grouped.replace(',', chr(0x2019))}.{cents:02d}",
    ]
    assert [read_amount(text) for text in spellings] == [value] * 4
