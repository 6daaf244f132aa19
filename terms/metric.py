"""What a reported number is: one record for the metrics of episodes, of money, of sessions and of years."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from terms.aliases import Floats
from terms.estimates import Estimate
from terms.intervals import FEW

Better = Literal["higher", "lower", "neither"]
ColumnsT = TypeVar("ColumnsT")


def not_computed_alone(columns: Any) -> Estimate:
    """Refuse: metrics without a routine of their own come out of a summary together."""
    raise NotImplementedError("this metric is computed together with the others of its summary")


@dataclass(frozen=True)
class Metric(Generic[ColumnsT]):
    """A reported number.

    Attributes
    ----------
    name, definition
        Its key in every result, and what it is.
    better
        Which way is better.
    unit, denominator
        What it is measured in, and what it is taken over.
    compute
        Estimates it from the columns of many episodes; undefined when nothing is in its denominator.
    parts
        Numerator and denominator of every episode, shape (episodes,) each; only of a single ratio.
    label
        How a table calls it; its name in plain letters unless given.
    few
        With fewer independent blocks it has no interval; what holds in few is measured in ``tests.bench.few_years``.
    """

    name: str
    definition: str
    better: Better
    unit: str
    denominator: str
    compute: Callable[[ColumnsT], Estimate] = not_computed_alone
    parts: Callable[[ColumnsT], tuple[Floats, Floats]] | None = None
    label: str = ""
    few: int = FEW

    def __post_init__(self) -> None:
        if not self.label:
            object.__setattr__(self, "label", self.name.replace("_", " ").capitalize())
