"""A gap that was split into its parts, of episodes or of sessions: one record, and one way of splitting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from commerce.row_tables import data_frame, table_html
from oracle.parts import Part
from terms.aliases import Floats
from terms.estimates import Estimate, Ratio, estimate_ratios
from terms.sample_sizes import Needed, needed_episodes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OVERALL = ("overall", "all")
Slice = tuple[str, str, NDArray[np.bool_]]
"""Kind, label and mask of some of the episodes or sessions."""


class PartRow(NamedTuple):
    """One part in one slice: its mean with the 95 % interval."""

    slice: str
    label: str
    part: str
    estimate: float | None
    low: float | None
    high: float | None
    n: int


class Earned(Protocol):
    """What was earned under every intervention, one entry an episode or session."""

    @property
    def unit(self) -> str:
        """What is measured, for an axis."""
        ...

    @property
    def clusters(self) -> NDArray[np.intp]:
        """The independent block of each entry."""
        ...

    def parts(self, reference: str) -> dict[str, Floats]:
        """Return every reported quantity per entry."""
        ...

    def slices(self) -> Sequence[Slice]:
        """Return what is reported on, :data:`OVERALL` first."""
        ...

    def few(self, part: str) -> int:
        """Return the least number of clusters from which a part has an interval."""
        ...

    def facts(self, reference: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what a stored split says beside its rows: before them, and after."""
        ...


ArmsT = TypeVar("ArmsT", bound=Earned)


@dataclass(frozen=True, eq=False, repr=False)
class Decomposition(Generic[ArmsT]):
    """The gap of one agent to ``reference``, its parts with intervals, and the arms they rest on."""

    agent: str
    reference: str
    arms: ArmsT
    rows: tuple[PartRow, ...]

    def __repr__(self) -> str:
        """Return the gap overall, not every number of every slice."""
        gap = self.row(Part.GAP)
        return f"<Decomposition of {self.agent} against {self.reference}: gap {gap.estimate}, n = {gap.n}>"

    def _repr_html_(self) -> str:
        """Return the rows as a table, for notebooks."""
        return table_html(repr(self), PartRow._fields, self.rows)

    def to_frame(self) -> Any:
        """Return the rows as a pandas data frame, whose columns are the fields of :class:`PartRow`."""
        return data_frame(self.rows, PartRow._fields)

    def table(self, slice_: str | None = None) -> list[PartRow]:
        """Return the rows, or those of one slice kind: ``overall``, and of episodes ``regime`` or ``family``."""
        kinds = {row.slice for row in self.rows}
        if slice_ is not None and slice_ not in kinds:
            raise ValueError(f"slice={slice_!r}, allowed are {', '.join(sorted(kinds))}")
        return [row for row in self.rows if slice_ in (None, row.slice)]

    def row(self, part: str, kind: str = OVERALL[0], label: str = OVERALL[1]) -> PartRow:
        """Return one part of one slice."""
        for row in self.rows:
            if (row.slice, row.label, row.part) == (kind, label, part):
                return row
        known = ", ".join(dict.fromkeys(row.part for row in self.rows))
        raise ValueError(f"no row for part={str(part)!r} in {kind}={label!r}; parts are {known}")

    def required(self, half_width: float) -> dict[str, Needed]:
        """Return for each part how many episodes or sessions a 95 % interval of ``half_width`` either side takes."""
        clusters = self.arms.clusters
        parts = self.arms.parts(self.reference)
        return {name: needed_episodes(values, clusters, half_width) for name, values in parts.items()}

    def to_json_object(self) -> dict[str, Any]:
        """Return the object that is stored: undefined numbers are null."""
        before, after = self.arms.facts(self.reference)
        return {"agent": self.agent, **before, "rows": [row._asdict() for row in self.rows], **after}

    def plot(self, ax: Axes | None = None, *, kind: str = OVERALL[0], label: str = OVERALL[1]) -> Axes:
        """Draw the waterfall of one slice: see :func:`oracle.plotting.plot_waterfall`."""
        from oracle.plotting import plot_waterfall

        rows = {row.part: Estimate(*row[3:]) for row in self.rows if (row.slice, row.label) == (kind, label)}
        title = f"{self.agent}: {label}, n = {self.row(Part.PLAYED, kind, label).n}"
        ax = plot_waterfall(rows, ax, target=self.reference, title=title)
        ax.set_xlabel(self.arms.unit)
        return ax


def split(agent: str, reference: str, arms: ArmsT) -> Decomposition[ArmsT]:
    """Split the gap of arms already run."""
    parts, clusters = arms.parts(reference), arms.clusters
    rows: list[PartRow] = []
    for kind, label, chosen in arms.slices():
        ones = np.ones(int(chosen.sum()))
        for part, column in parts.items():
            found = estimate_ratios([Ratio(column[chosen], ones)], clusters[chosen], few=arms.few(part))
            rows.append(PartRow(kind, label, part, *found))
    return Decomposition(agent, reference, arms, tuple(rows))
