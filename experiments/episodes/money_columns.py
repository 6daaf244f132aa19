"""Negotiations in money as rows and as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from commerce.economics import EconomicsConfig, UnitEconomics, unit_economics
from terms import EpisodeRecord, Scenario
from terms.aliases import Floats


class MoneyRow(NamedTuple):
    """One scored negotiation in money; ``best_cents`` is ``None`` where no price suited both."""

    scenario_id: str
    perspective: str
    lot_size: int
    is_deal: bool
    profit_cents: int
    best_cents: int | None
    gross_margin: float | None


@dataclass(frozen=True)
class MoneyColumns:
    """Negotiations as arrays of shape (negotiations,); money in cents."""

    profit: Floats
    best: Floats
    deal: Floats
    feasible: Floats
    margin: Floats
    clusters: NDArray[np.intp]

    @classmethod
    def of(cls, rows: Sequence[MoneyRow]) -> MoneyColumns:
        """Return the columns of ``rows``; ``best`` is 0 where infeasible and ``margin`` nan without a deal."""
        names = np.array([row.scenario_id for row in rows], dtype=str)
        return cls(
            profit=np.array([row.profit_cents for row in rows], dtype=float),
            best=np.array([row.best_cents or 0 for row in rows], dtype=float),
            deal=np.array([row.is_deal for row in rows], dtype=float),
            feasible=np.array([row.best_cents is not None for row in rows], dtype=float),
            margin=np.array([np.nan if row.gross_margin is None else row.gross_margin for row in rows], dtype=float),
            clusters=np.unique(names, return_inverse=True)[1].astype(np.intp),
        )

    @property
    def ones(self) -> Floats:
        """A denominator that counts every negotiation."""
        return np.ones(len(self.profit))


def money_row(scenario: Scenario, record: EpisodeRecord, economics: UnitEconomics) -> MoneyRow:
    """Return what ``record`` came to under ``economics``."""
    return MoneyRow(
        scenario_id=scenario.scenario_id,
        perspective=economics.perspective.value,
        lot_size=economics.lot_size,
        is_deal=record.is_agreement,
        profit_cents=economics.profit_cents(record.price),
        best_cents=economics.best_cents(record.counterpart_type.reservation_price),
        gross_margin=None if record.price is None else economics.gross_margin(record.price),
    )


def money_rows(
    records: Sequence[EpisodeRecord], scenarios: Mapping[str, Scenario], config: EconomicsConfig
) -> list[MoneyRow]:
    """Return the money of every scored record; ``scenarios`` are by id."""
    scored = [(scenarios[record.scenario_id], record) for record in records if not record.is_excluded]
    return [money_row(scenario, record, unit_economics(scenario, config)) for scenario, record in scored]
