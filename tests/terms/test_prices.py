"""Prices as people write them: one unambiguous number, or nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from terms.prices import parse_price


@pytest.mark.parametrize(
    ("text", "price"),
    [
        ("45", 45.0),
        (" 45 ", 45.0),
        ("45.5", 45.5),
        ("45.50", 45.5),
        ("45,50", 45.5),
        ("$45", 45.0),
        ("$ 45.00", 45.0),
        ("USD 45", 45.0),
        ("USD\u00a045", 45.0),
        ("45 dollars", 45.0),
        ("€45,50", 45.5),
        ("45,50 EUR", 45.5),
        ("$1,299.00", 1299.0),
        ("1,299", 1299.0),
        ("1,299,000", 1299000.0),
        ("1.299,00", 1299.0),
        ("1.200.300,50 €", 1200300.5),
        ("1 299,00", 1299.0),
        ("1\u202f299.00", 1299.0),
        ("1.299", None),
        ("0,500", None),
        ("012,345", None),
        ("12.3456", 12.3456),
        ("$0", 0.0),
    ],
)
def test_one_price(text, price):
    assert parse_price(text) == price


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "$", "price", "-5", "$-5", "$1,2,3", "1,29,9", "$4_500", "4.5e1", "1e309", "nan", "inf", "Infinity",
        "$٤٥", "４５", "45k", "$45k", "45 60", "$45, down from $60", "45-60", "45/60", "4 5", "1,299,00", "1.299.00",
        "45.", ".5", "0x10", "45%", "9" * 400,
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
    for text in (english, european, f"${english}", f"{european} EUR", f"{units}.{cents:02d}", f"{units},{cents:02d}"):
        assert parse_price(text) == value, text


@given(st.text(max_size=12))
@settings(deadline=None, max_examples=200)
def test_any_text_gives_a_price_or_nothing(text):
    price = parse_price(text)
    assert price is None or price >= 0
