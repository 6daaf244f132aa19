"""One number of one year, with what it is made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Measure(NamedTuple):
    """A metric of one year. ``value`` is ``None`` where it is undefined, never 0; ``n`` counts what it averages."""

    value: float | None
    n: int


def share(part: float, whole: float, n: int) -> Measure:
    """Return ``part / whole``; undefined when the whole is nothing."""
    return Measure(part / whole if whole else None, n)


def mean(values: Iterable[float]) -> Measure:
    """Return the mean; undefined when there are no values."""
    numbers = list(values)
    return share(sum(numbers), len(numbers), len(numbers))


def weighted_mean(pairs: Iterable[tuple[float, float]]) -> Measure:
    """Return the mean of (value, weight) pairs."""
    rows = list(pairs)
    return share(sum(value * weight for value, weight in rows), sum(weight for _, weight in rows), len(rows))


def difference(late: Measure, early: Measure) -> Measure:
    """Return ``late - early``; undefined when either is."""
    n = late.n + early.n
    if late.value is None or early.value is None:
        return Measure(None, n)
    return Measure(late.value - early.value, n)
