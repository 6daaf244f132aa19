r"""A session of periods with cash and ruin (paper, eq. 10), in whole cents.

.. math::
    C_t = C_{t-1} + \Pi_t - (b + r R_t), \qquad \text{ruin the first time } C_t < \tau,

with ``Pi_t`` the profit of the period's negotiation and ``R_t`` the rounds played in it. Exactly at ``tau`` is no ruin.
Ruin ends the session: later periods earn nothing, and the terminal balance is the cash it ended with, not clipped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, Self

from pydantic import Field, model_validator

from commerce.config import Frozen

MAX_CENTS = 10**12
"""No amount a setting may name is larger, so that sums over the longest session stay far below 2^63."""


class SupplierMode(StrEnum):
    """Who is met: somebody new each period, one of a fixed pool, or always the same."""

    IID = "iid"
    POOL = "pool"
    PERSISTENT = "persistent"


class BankrollConfig(Frozen):
    """Rules of a session; the reasons for inferred values are the published trajectories and balances."""

    num_sessions: int = Field(4, ge=1, le=100_000, description="published")
    horizon: int = Field(50, ge=1, le=10_000, description="T, periods of a session; published")
    initial_cents: int = Field(10_000, ge=-MAX_CENTS, le=MAX_CENTS, description="C_0; published")
    ruin_cents: int = Field(0, ge=-MAX_CENTS, le=MAX_CENTS, description="tau; published")
    period_cost_cents: int = Field(
        800,
        ge=0,
        le=MAX_CENTS,
        description="b; inferred: a period that fails at once costs exactly 9.00, any overhead included",
    )
    round_cost_cents: int = Field(
        100, ge=0, le=MAX_CENTS, description="r; inferred: each further round costs exactly 1.00"
    )
    supplier_mode: SupplierMode = Field(SupplierMode.POOL, description="published rows are pool mode")
    pool_size: int = Field(5, ge=1, le=10_000, description="suppliers of a pool; inferred")

    @model_validator(mode="after")
    def _solvent(self) -> Self:
        if self.initial_cents < self.ruin_cents:
            raise ValueError(
                f"initial_cents={self.initial_cents} is below ruin_cents={self.ruin_cents}: ruined at once"
            )
        return self


class Settled(NamedTuple):
    """Cash after a period, and whether it is ruin."""

    cash_cents: int
    ruined: bool


def is_ruin(cash_cents: int, config: BankrollConfig) -> bool:
    """Whether a session with this cash is over: strictly below the threshold."""
    return cash_cents < config.ruin_cents


def operating_cost_cents(rounds: int, config: BankrollConfig) -> int:
    """Return ``b + r R_t``."""
    return config.period_cost_cents + config.round_cost_cents * rounds


def settle(cash_cents: int, profit_cents: int, rounds: int, config: BankrollConfig) -> Settled:
    """Return the state after one period (eq. 10)."""
    cash = cash_cents + profit_cents - operating_cost_cents(rounds, config)
    return Settled(cash, is_ruin(cash, config))


class SessionEnd(StrEnum):
    """How a session ended. ``LOST`` is the provider's doing: excluded and counted, never a ruin."""

    FINISHED = "finished"
    RUINED = "ruined"
    LOST = "lost"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class PeriodRecord:
    """One period as it is stored. ``best_cents`` is ``None`` where no price suited both, ``price`` without a deal.

    ``moves`` are the agent's, as JSON objects; with ``fault`` they replay the whole talk on the chain's scenario.
    ``is_lost`` marks a period that the provider ended: it has no profit, and the session no result.
    """

    session: int
    period: int
    supplier: int
    scenario_id: str
    regime: str
    is_feasible: bool
    termination: str
    price: float | None
    rounds: int
    profit_cents: int
    best_cents: int | None
    cost_cents: int
    cash_cents: int
    surplus_share: float | None
    moves: tuple[Mapping[str, Any], ...]
    fault: str | None = None
    fault_detail: str = ""

    @property
    def is_lost(self) -> bool:
        """Whether the provider ended it."""
        return self.fault == "provider"


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """One session: its periods in order, and how it ended."""

    session: int
    end: SessionEnd
    initial_cents: int
    horizon: int
    periods: tuple[PeriodRecord, ...]

    @property
    def is_scored(self) -> bool:
        """Whether it has a result: finished or ruined."""
        return self.end in (SessionEnd.FINISHED, SessionEnd.RUINED)

    @property
    def cash_path_cents(self) -> tuple[int, ...]:
        """Cash before the first period and after each one played, shape (periods played + 1,)."""
        return (self.initial_cents, *(period.cash_cents for period in self.periods))

    @property
    def terminal_cents(self) -> int:
        """``C_T``; of a ruined session the cash it was ruined with."""
        return self.cash_path_cents[-1]

    @property
    def time_to_ruin(self) -> int | None:
        """Period of ruin, ``None`` if it survived."""
        return len(self.periods) if self.end is SessionEnd.RUINED else None

    @property
    def max_drawdown_cents(self) -> int:
        """Largest fall of cash from an earlier high, at least 0."""
        high, worst = self.initial_cents, 0
        for cash in self.cash_path_cents:
            high = max(high, cash)
            worst = max(worst, high - cash)
        return worst
