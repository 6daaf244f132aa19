"""The record of a finished episode: everything that happened, and all that any metric is computed from."""

from __future__ import annotations

from dataclasses import dataclass

from terms.types import (
    Cue,
    Family,
    Opener,
    PrivateType,
    Regime,
    ReplyFault,
    Role,
    Termination,
    Turn,
    Violation,
)


@dataclass(frozen=True, slots=True)
class EpisodeRecord:
    """Everything that happened in one episode; every metric is computed from this alone.

    ``price`` and ``utility`` are of the deal (``None`` and 0.0 without one). ``fault`` and ``fault_detail`` tell why a
    reply held no action. ``closing_cue`` and ``closing_message`` belong to a counterpart that accepted or walked away.
    """

    scenario_id: str
    agent: str
    regime: Regime
    family: Family
    agent_role: Role
    opener: Opener
    episode_seed: int
    agent_type: PrivateType
    counterpart_type: PrivateType
    price_min: float
    price_max: float
    horizon: int
    zopa: float
    difficulty: float
    difficulty_bin: int | None
    product_name: str | None
    turns: tuple[Turn, ...]
    violations: tuple[Violation, ...]
    termination: Termination
    price: float | None
    utility: float
    fault: ReplyFault | None
    fault_detail: str
    closing_cue: Cue | None
    closing_message: str

    @property
    def sign(self) -> int:
        """``+1`` when the agent bought, ``-1`` when it sold."""
        return self.agent_role.sign

    @property
    def price_range(self) -> float:
        """``R``."""
        return self.price_max - self.price_min

    @property
    def rounds_played(self) -> int:
        """Rounds in which the agent moved."""
        return len(self.turns)

    @property
    def is_feasible(self) -> bool:
        """Whether some price suited both sides."""
        return self.zopa > 0

    @property
    def is_agreement(self) -> bool:
        """Whether a deal was closed."""
        return self.price is not None

    @property
    def is_excluded(self) -> bool:
        """Whether the provider, not the agent, ended the trial; such a trial is counted but not scored."""
        return self.termination is Termination.PROVIDER_FAILURE
