"""What an operator decides about the years that are served; the agent decides none of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from commerce.world import DEFAULT_SEED
from experiments.years.limits import Limits
from experiments.years.seats import PlainSeat
from experiments.years.spec import YearSpec

PROTOCOL = 1
AGENT_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
MAX_RUN = 9999
MAX_BODY_BYTES = 1_048_576


class ServeSettings(BaseModel):
    """Years on offer, the same for an agent of any name.

    Run ``k`` is repeat ``k % repeats`` in the world of seed ``world_seed + k // repeats``.

    The seed is never told: whoever knows it can build the world and read its hidden facts.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    out: Path = Path("runs")
    rules: Literal["paper", "fair"] = "paper"
    world_seed: int = Field(DEFAULT_SEED, ge=0)
    world_dir: Path | None = None
    repeats: int = Field(1, ge=1, le=MAX_RUN + 1)
    num_days: int = Field(365, ge=1, le=3650)
    max_turns: int = Field(4000, ge=1, le=1_000_000)
    max_sessions: int = Field(64, ge=1, le=10_000)
    agents: tuple[Annotated[str, Field(pattern=f"^{AGENT_NAME}$")], ...] = Field(
        (), description="who may play; empty lets anyone with the token, under any number of names"
    )

    def seat(self, agent: str) -> PlainSeat:
        """Return the seat of ``agent``, who plays from outside."""
        return PlainSeat(f"external:{agent}", limits=Limits(max_turns=self.max_turns))

    def spec(self, agent: str, run: int) -> YearSpec:
        """Return what run ``run`` of ``agent`` is a year of."""
        world, repeat = divmod(run, self.repeats)
        return YearSpec(
            world_seed=self.world_seed + world,
            world_dir=None if self.world_dir is None else str(self.world_dir.resolve()),
            rules=self.rules,
            num_days=self.num_days,
            merchant_seed=world,
            repeat=repeat,
        )

    def folder(self, agent: str, run: int) -> Path:
        """Return the folder of that year, laid out as ``terms year`` does."""
        return self.out / f"year-{agent}-{self.rules}" / self.spec(agent, run).folder_name
