"""Own quotes and the buys dearer than them: a published example, each reason to leave a supplier out, a slow twin."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commerce.metrics.bargaining import own_quote_metrics
from commerce.quotes import Quote, QuoteBook
from commerce.returns import ReturnHint

A, B = "a@x", "b@x"


def offered(price, product="P", **more):
    return {"sku_id": product, "decision": "Offer", "price": price, **more}


def bought(price, units, number, product="P"):
    return {"sku_id": product, "decision": "Accept", "price": price,
            "order": {"purchase_order": number, "quantity": units}}  # fmt: skip


def hear(book, day, *heard, message=""):
    replies = [{"supplier": who, "message": message, "outcomes": list(outcomes)} for who, *outcomes in heard]
    book.learn("chatbox", day, {"replies": replies})


def tally(book):
    return book.num_compared, book.num_dearer, book.dearer_fen


def test_a_lower_price_was_had_before_and_more_is_paid():
    """The published trace: 103.11 was paid once and is proposed again, 116.74 is then accepted."""
    book = QuoteBook()
    hear(book, 3, (A, bought(103.11, 20, 1)))
    assert tally(book) == (0, 0, 0)
    assert book.best("P") == Quote(10311, A, 3)
    hear(book, 40, (A, offered(121.0, opening_price=125.5)))
    hear(book, 40, (A, bought(116.74, 50, 2)))
    assert tally(book) == (1, 1, 50 * (11674 - 10311))
    metrics = own_quote_metrics(book)
    assert metrics["dearer_buys"] == (1.0, 1)
    assert metrics["dearer_paid"] == (681.5, 1)


def test_a_quote_is_of_its_product_and_the_lowest_and_earliest_counts():
    book = QuoteBook()
    hear(book, 1, (A, offered(9.0), offered(4.0, "Q")), (B, offered(8.0)))
    hear(book, 2, (A, offered(8.0)))
    assert book.best("P") == Quote(800, B, 1)
    assert book.best("none") is None
    hear(book, 3, (A, bought(8.0, 5, 1)))
    assert tally(book) == (1, 0, 0)


def test_what_one_message_is_answered_is_not_earlier_than_itself():
    book = QuoteBook()
    hear(book, 1, (A, {**bought(9.0, 5, 1), "opening_price": 8.5}), (B, offered(7.0)))
    assert tally(book) == (0, 0, 0)
    hear(book, 1, (A, bought(9.0, 5, 2)))
    assert tally(book) == (1, 1, 5 * 200)


def test_suppliers_that_are_not_to_be_bought_from_are_left_out():
    book = QuoteBook()
    hear(book, 1, (A, offered(5.0)))
    hear(book, 1, (A, {"sku_id": "P", "decision": "Error", "code": "members_only", "message": ""}))
    assert book.best("P") is None
    hear(book, 1, (A, {"decision": "Accept", "fee_paid": 500.0}))
    assert book.best("P") == Quote(500, A, 1)
    hear(book, 1, (A, bought(5.0, 10, 7)))
    book.receive([{"purchase_order": 7, "product_id": "P", "received": 10}])
    assert book.best("P") is not None
    hear(book, 1, (A, bought(5.0, 10, 8)))
    book.receive([{"purchase_order": 8, "product_id": "P", "received": 6}])
    assert book.best("P") is None
    hear(book, 2, (B, offered(6.0)))
    row = {"note": ReturnHint.STRONG.value, "suppliers": [{"supplier": B, "share": 0.6}, {"supplier": A, "share": 0.4}]}
    book.learn("trace_return_sources", 9, {"results": [{**row, "note": None}]})
    assert book.best("P") == Quote(600, B, 2)
    book.learn("trace_return_sources", 9, {"results": [row]})
    assert book.best("P") is None


def test_who_has_closed_is_left_out():
    book = QuoteBook()
    hear(book, 1, (A, offered(5.0)))
    hear(book, 2, (A,), message="We have closed for good.")
    assert book.best("P") is None


def test_nothing_is_known_of_a_year_from_a_saved_state():
    assert own_quote_metrics(None) == {"dearer_buys": (None, 0), "dearer_paid": (None, 0)}
    assert own_quote_metrics(QuoteBook()) == {"dearer_buys": (None, 0), "dearer_paid": (0.0, 0)}


MESSAGES = st.lists(
    st.lists(
        st.tuples(st.sampled_from([A, B]), st.sampled_from("PQ"), st.integers(1, 9), st.integers(0, 3)),
        min_size=1, max_size=3,
    ),
    max_size=12,
)  # fmt: skip


@given(MESSAGES)
def test_the_tally_is_that_of_a_slow_twin(messages):
    book, seen, expected, number = QuoteBook(), [], [0, 0, 0], 0
    for day, moves in enumerate(messages):
        outcomes = []
        for who, product, price, units in moves:
            number += 1
            outcomes.append(
                (who, bought(price / 100, units, number, product) if units else offered(price / 100, product))
            )
            earlier = [paid for name, paid in seen if name == product]
            if units and earlier:
                excess = max(0, price - min(earlier))
                expected = [expected[0] + 1, expected[1] + (excess > 0), expected[2] + units * excess]
        hear(book, day, *outcomes)
        seen += [(product, price) for _, product, price, _ in moves]
    assert tally(book) == tuple(expected)


@pytest.mark.parametrize("tool", ["check_balance", "wait_for_next_day"])
def test_other_tools_say_nothing_of_prices(tool):
    book = QuoteBook()
    book.learn(tool, 1, {})
    assert book.best("P") is None
