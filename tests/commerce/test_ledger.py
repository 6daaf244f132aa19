"""The ledger: every posting balances, none is negative, and the digest tells two days apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commerce.ledger import Account, Entity, Ledger, Stamp, close_batches, post

STAMP = Stamp(3, 480, "test")
POSTINGS = st.lists(
    st.tuples(st.sampled_from(Account), st.sampled_from(Account), st.lists(st.integers(0, 10**12), max_size=4)),
    max_size=20,
)


@given(POSTINGS)
def test_balances_sum_to_zero_after_every_posting(postings):
    ledger, expected = Ledger(), {account: 0 for account in Account}
    for debit, credit, amounts in postings:
        total = post(ledger, STAMP, debit, credit, (Entity.SKU, list(range(len(amounts)))), amounts)
        expected[debit] += sum(amounts)
        expected[credit] -= sum(amounts)
        assert total == sum(amounts)
        assert ledger.balances.sum() == 0
    assert {account: ledger.balance(account) for account in Account} == expected
    assert ledger.num_postings == sum(amount > 0 for _, _, amounts in postings for amount in amounts)


def test_a_negative_amount_is_a_bug():
    with pytest.raises(AssertionError, match="negative amount: -1 fen"):
        post(Ledger(), STAMP, Account.BANK, Account.SALES, (Entity.YEAR, 0), [5, -1])


def test_postings_say_when_why_and_whom():
    ledger = Ledger()
    post(ledger, STAMP, Account.ESCROW, Account.SALES, (Entity.ORDER, [7, 8, 9]), [10, 0, 30])
    (batch,) = ledger.open_batches
    assert batch[:6] == (3, 480, "test", Account.ESCROW, Account.SALES, Entity.ORDER)
    assert (batch.entities.tolist(), batch.amounts.tolist()) == ([7, 9], [10, 30])


def test_closing_folds_the_postings_into_the_digest():
    digests = []
    for entity in (1, 2):
        ledger = Ledger()
        post(ledger, STAMP, Account.BANK, Account.EQUITY, (Entity.STORE, entity), 100)
        assert len(close_batches(ledger)) == 1
        assert ledger.open_batches == []
        digests.append(ledger.digest)
    assert digests[0] != digests[1]


def test_assets_are_bank_wallet_and_escrow():
    ledger = Ledger()
    for account, amount in ((Account.BANK, 1), (Account.WALLET, 20), (Account.ESCROW, 300), (Account.INVENTORY, 4000)):
        post(ledger, STAMP, account, Account.EQUITY, (Entity.YEAR, 0), amount)
    assert ledger.assets_fen == 321
    assert np.array_equal(ledger.balances[[0, 1, 2]], [1, 20, 300])
