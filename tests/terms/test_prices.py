"""The one reader of prices: texts of catalogues and of models, the traps, and what must never happen on any text."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from terms.prices import find_prices, parse_price, stated_price


@pytest.mark.parametrize(
    ("text", "price"),
    [
        ("45", 45.0),
        (" 45 ", 45.0),
        ("45.5", 45.5),
        ("45,50", 45.5),
        ("6,5", 6.5),
        ("0,500", 0.5),
        ("0.375", 0.375),
        ("$45", 45.0),
        ("$ 45.00", 45.0),
        ("$0", 0.0),
        ("USD 45", 45.0),
        ("USD\u00a045", 45.0),
        ("USD45", 45.0),
        ("US$45", 45.0),
        ("45 dollars", 45.0),
        ("€45,50", 45.5),
        ("45,50 EUR", 45.5),
        ("SEK 45", 45.0),
        ("$1,299.00", 1299.0),
        ("1,299", 1299.0),
        ("1,299,000", 1299000.0),
        ("1.299,00", 1299.0),
        ("1.200.300,50 €", 1200300.5),
        ("1.200.000", 1_200_000.0),
        ("1 299,00", 1299.0),
        ("1 299", 1299.0),
        ("1\u202f299.00", 1299.0),
        ("1'200", 1200.0),
        ("12.3456", 12.3456),
        ("1234.567", 1234.567),
        ("4.5e1", 45.0),
        ("1.2E+3", 1200.0),
        ("₹1,099", 1099.0),
        ("₹ 399", 399.0),
        ("Rs. 1,099", 1099.0),
        ("1,09,900", 109900.0),
        ("₹1,09,900.50", 109900.5),
        ("1,20,000", 120000.0),
        ("12,34,567", 1234567.0),
        ("1,00,00,000", 10_000_000.0),
        ("٤٥", 45.0),
        ("$٤٥", 45.0),
        ("٤٥٫٥", 45.5),
        ("４５", 45.0),
        ("＄１，２９９．５０", 1299.5),
        ("￥４５", 45.0),
    ],
)
def test_one_price(text, price):
    assert parse_price(text) == price


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "$", "price", "-5", "$-5", "-$5", "−5", "+5", "$1,2,3", "1,29,9", "1,0,000", "$4_500", "1e309", "nan",
        "inf", "Infinity", "²", "forty-five", "45k", "$45k", "45¢", "99 cents", "45 percent", "45%", "45 60", "4 5",
        "1 2345", "45 or 46", "$45, down from $60", "45-60", "45/60", "1,299,00", "1.299.00", "1,200.", "1.2.3",
        "12.34,5", "45.", ".5", "0x10", "012,345", "01,200", "045", "9" * 400,
        "1.200", "1.299", "62.375", "1.200 €", "$1.200",
    ],
)  # fmt: skip
def test_not_one_unambiguous_price(text):
    assert parse_price(text) is None


@given(st.integers(0, 10**9), st.integers(0, 99))
@settings(deadline=None, max_examples=60)
def test_every_usual_way_of_writing_an_amount_reads_the_same(units, cents):
    value = float(f"{units}.{cents:02d}")
    english = f"{units:,}.{cents:02d}"
    european = english.translate(str.maketrans(",.", ".,"))
    lakhs, last = divmod(units, 1000)
    pairs = f"{lakhs:d}"
    while len(pairs.split(",")[0]) > 2:
        head, _, tail = pairs.partition(",")
        pairs = f"{head[:-2]},{head[-2:]}" + (f",{tail}" if tail else "")
    indian = f"{pairs},{last:03d}.{cents:02d}" if lakhs else f"{units}.{cents:02d}"
    texts = [english, european, f"${english}", f"{european} EUR", f"{units}.{cents:02d}", f"{units},{cents:02d}"]
    for text in [*texts, f"₹{indian}", f"CHF {english.replace(',', chr(0x2019))}"]:
        assert parse_price(text) == value, text


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
        ("I'd pay$45", 45.0),
        ("$0", 0.0),
        ("$٤٥", 45.0),
        ("$45.00", 45.0),
        ("$1,200.50", 1200.5),
        ("for ₹1,09,900 it is yours", 109900.0),
        ("### BUYER_PRICE($45) ###", 45.0),
        ("In 3 days I can pay $45.", 45.0),
        ("between 40 and 45", None),
        ("no price at all", None),
    ],
)
def test_stated_price_on_the_list_of_money_in_words(text, price):
    assert stated_price(text) == price


@given(st.text(alphabet=st.sampled_from("$€₹0123456789.,_'- kUSDe\u00a0٤not your"), max_size=40) | st.text(max_size=60))
@settings(deadline=None)
def test_prices_are_finite_and_their_span_reads_the_same_alone(text):
    for found in find_prices(text):
        assert 0 <= found.start < found.end <= len(text)
        if found.value is not None:
            assert math.isfinite(found.value)
            assert found.value >= 0
            assert parse_price(text[found.start : found.end]) == found.value
    assert stated_price(text) in {None, *(found.value for found in find_prices(text))}
    assert parse_price(text) is None or parse_price(text) >= 0
