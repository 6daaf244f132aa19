"""Seven dimensions of running a store, with the rank of every agent in each.

Final assets say how much was earned, the others how: bargaining, keeping away from frauds, solvency, calls well used,
returns within the own control, holding on to prices had before. An agent's worst rank and whether it is among the first
:data:`TOP_RANKS` in all seven say how even it is. Agents are ranked by point estimates; equal ones share a rank, and
one that is undefined in a dimension has none there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from experiments.stats.numerals import number_text
from experiments.years.summary import YEAR_METRICS
from terms.estimates import UNDEFINED, Estimate

DIMENSIONS = (
    "final_assets", "cse_plus_money", "bad_spend_pct", "drawdown_over_peak", "profit_per_call",
    "controllable_return_rate", "anchor_ratio",
)  # fmt: skip
TOP_RANKS = 5
DIMENSION_HEADINGS = ("agent", *(YEAR_METRICS[name].label for name in DIMENSIONS), "worst rank")


class Dimension(NamedTuple):
    """A value and its rank from 1, ``None`` where the value is undefined."""

    value: Estimate
    rank: int | None


class DimensionRow(NamedTuple):
    """One agent: its seven dimensions in the order of :data:`DIMENSIONS`."""

    agent: str
    cells: tuple[Dimension, ...]

    @property
    def worst_rank(self) -> int | None:
        """The largest rank it has, ``None`` without any."""
        return max((cell.rank for cell in self.cells if cell.rank is not None), default=None)

    @property
    def is_on_top(self) -> bool:
        """Whether it is among the first :data:`TOP_RANKS` in every dimension; where it has no rank it is not."""
        return all(cell.rank is not None and cell.rank <= TOP_RANKS for cell in self.cells)

    def to_json_object(self) -> dict[str, Any]:
        """Return the row as JSON types."""
        cells = {
            name: {**cell.value._asdict(), "rank": cell.rank} for name, cell in zip(DIMENSIONS, self.cells, strict=True)
        }
        return {"agent": self.agent, "dimensions": cells, "worst_rank": self.worst_rank, "is_on_top": self.is_on_top}


def rank_dimensions(values: Mapping[str, Mapping[str, Estimate]]) -> list[DimensionRow]:
    """Return the agents of ``values``, metrics by agent, with their ranks; the one with most assets first."""
    ranks = {name: _ranks(values, name) for name in DIMENSIONS}
    rows = [
        DimensionRow(agent, tuple(Dimension(found.get(n, UNDEFINED), ranks[n].get(agent)) for n in DIMENSIONS))
        for agent, found in values.items()
    ]
    return sorted(rows, key=lambda row: (row.cells[0].rank or len(rows) + 1, row.agent))


def _ranks(values: Mapping[str, Mapping[str, Estimate]], name: str) -> dict[str, int]:
    sign = -1 if YEAR_METRICS[name].better == "higher" else 1
    scored = {agent: found[name].estimate for agent, found in values.items() if name in found}
    known = {agent: sign * value for agent, value in scored.items() if value is not None}
    return {agent: 1 + sum(other < value for other in known.values()) for agent, value in known.items()}


def on_top_sentence(rows: Sequence[DimensionRow]) -> str:
    """Say who is among the first in all dimensions."""
    found = [row.agent for row in rows if row.is_on_top]
    return f"Among the first {TOP_RANKS} in all seven: {', '.join(found) or 'nobody'}."


def dimension_rows(rows: Sequence[DimensionRow]) -> list[tuple[str, ...]]:
    """Return the rows under :data:`DIMENSION_HEADINGS`: value and rank in each cell."""
    return [
        (row.agent, *(_cell_text(cell) for cell in row.cells), "-" if row.worst_rank is None else str(row.worst_rank))
        for row in rows
    ]


def _cell_text(cell: Dimension) -> str:
    return "-" if cell.rank is None else f"{number_text(cell.value.estimate)} ({cell.rank})"
