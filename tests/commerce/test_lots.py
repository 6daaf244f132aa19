"""Lots against a dictionary that takes the oldest first, and the age steps of storage."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commerce.config import PAPER
from commerce.lots import (
    Lots,
    age_factor,
    drop_owners,
    from_rows,
    merge,
    no_lots,
    owned_by,
    take_oldest,
    units_by_owner,
)

ROWS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 40), st.integers(1, 9)), max_size=25)


def as_dict(lots: Lots) -> dict[tuple[int, int], int]:
    return dict(zip(zip(lots.owner.tolist(), lots.day.tolist(), strict=True), lots.units.tolist(), strict=True))


def sums(rows) -> dict[tuple[int, int], int]:
    totals: dict[tuple[int, int], int] = defaultdict(int)
    for owner, day, units in rows:
        totals[owner, day] += units
    return dict(totals)


@given(ROWS, ROWS)
def test_merge_adds_up(one, other):
    merged = merge(from_rows(one), from_rows(other))
    assert as_dict(merged) == sums([*one, *other])
    keys = list(zip(merged.owner.tolist(), merged.day.tolist(), strict=True))
    assert keys == sorted(set(keys))


@given(ROWS, st.data())
def test_the_oldest_go_first(rows, data):
    lots = from_rows(rows)
    have = units_by_owner(lots, 7)
    wanted = {owner: data.draw(st.integers(0, int(have[owner]))) for owner in range(7) if have[owner]}
    owners = np.array(sorted(wanted), dtype=np.int64)
    left, taken = take_oldest(lots, owners, np.array([wanted[owner] for owner in sorted(wanted)], dtype=np.int64))
    expected: dict[tuple[int, int], int] = {}
    for owner, num in wanted.items():
        for (_, day), units in sorted((key, units) for key, units in sums(rows).items() if key[0] == owner):
            part = min(num, units)
            num -= part
            if part:
                expected[owner, day] = part
    assert as_dict(taken) == expected
    assert as_dict(merge(left, taken)) == sums(rows)


def test_more_than_there_is_cannot_be_taken():
    lots = from_rows([(3, 1, 5)])
    with pytest.raises(ValueError, match="asked for 6 units"):
        take_oldest(lots, np.array([3]), np.array([6]))
    with pytest.raises(ValueError, match="asked for 1 units"):
        take_oldest(no_lots(), np.array([0]), np.array([1]))


def test_owners_can_be_renamed_and_dropped():
    lots = from_rows([(1, 0, 2), (1, 4, 1), (5, 2, 3)])
    assert as_dict(owned_by(lots, np.array([1, 5]), np.array([10, 50]))) == {(10, 0): 2, (10, 4): 1, (50, 2): 3}
    assert as_dict(drop_owners(lots, np.array([1]))) == {(5, 2): 3}


def test_age_steps():
    """Multipliers 1.0 (< 21 d), 1.4, 2.2, 4.0, 6.0, 9.0 (>= 180 d); their sum over ages 1..365 is 2,276.6."""
    ages = np.array([0, 20, 21, 44, 45, 89, 90, 134, 135, 179, 180, 400])
    assert age_factor(ages, PAPER).tolist() == [1, 1, 1.4, 1.4, 2.2, 2.2, 4, 4, 6, 6, 9, 9]
    totals = {30: 34.0, 60: 88.8, 90: 156.6, 365: 2276.6}
    assert {n: age_factor(np.arange(1, n + 1), PAPER).sum() for n in totals} == pytest.approx(totals)
