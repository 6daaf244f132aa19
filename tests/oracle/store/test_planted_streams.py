"""Faults planted in one stream of a good plan: the ledger names that stream, and its part grows with the dose."""

from __future__ import annotations

import pytest

from tests.bench.planted_streams import FAULTS, planted_in, tallied


def test_in_one_world():
    """At the largest doses, in fifty days: in forty, money that stays in the wallet is hardly missed yet."""
    faults = [fault._replace(doses=fault.doses[-1:]) for fault in FAULTS]
    for row in tallied([planted_in(100, 50, faults)]):
        assert row.named == (1,), row


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_in_sixty_worlds():
    for row in tallied([planted_in(seed, 50) for seed in range(100, 160)]):
        assert min(row.named[1:]) >= 57, row
        assert row.grew >= 54, row


def test_every_stream_has_a_fault():
    assert len({fault.stream for fault in FAULTS}) == len(FAULTS) == 6
