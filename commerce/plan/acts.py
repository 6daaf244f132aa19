"""The acts of a plan by day, in order, those of one call together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from commerce.plan.planned import StorePlan
from commerce.types import IntArray

#: Tables in the order in which rows of the same call are carried out: a price before the units that are listed at it.
_KINDS = ("stores", "fees", "buys", "withdrawals", "shipments", "promotions", "prices", "shelf")


class ActGroup(NamedTuple):
    """Rows of one table that are carried out at once: all of them have the same day and order."""

    kind: str
    rows: slice


class ActColumns(NamedTuple):
    """All groups in the order in which they are carried out; ``kind`` is a row of the tables' order."""

    day: IntArray
    kind: IntArray
    first: IntArray
    stop: IntArray


def group_acts(plan: StorePlan) -> ActColumns:
    """Return the rows of ``plan`` in groups, by day and by their order."""
    tables: list[Any] = [getattr(plan, kind) for kind in _KINDS]
    lengths = [len(table.order) for table in tables]
    day, order = (np.concatenate([getattr(table, name) for table in tables]) for name in ("day", "order"))
    kind = np.repeat(np.arange(len(_KINDS)), lengths)
    row = np.concatenate([np.arange(length) for length in lengths])
    sequence = np.lexsort((row, kind, order, day))
    keys = np.stack([day, order, kind])[:, sequence]
    starts = np.flatnonzero(np.concatenate([[True], (keys[:, 1:] != keys[:, :-1]).any(axis=0)])[: len(sequence)])
    stops = np.append(starts, len(sequence))[1:]
    rows = row[sequence]
    return ActColumns(keys[0, starts], keys[2, starts], rows[starts], rows[stops - 1] + 1)


def acts_by_day(plan: StorePlan, num_days: int) -> list[list[ActGroup]]:
    """Return the groups of each day from 0 to ``num_days``, in the order in which they are carried out."""
    days: list[list[ActGroup]] = [[] for _ in range(num_days + 1)]
    for when, what, first, stop in zip(*(column.tolist() for column in group_acts(plan)), strict=True):
        days[when].append(ActGroup(_KINDS[what], slice(first, stop)))
    return days
