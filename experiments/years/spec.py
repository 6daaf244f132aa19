"""What a stored year is a year of: every choice that decides its bytes."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from commerce.config import Rules, rules_named
from commerce.types import World
from commerce.world import DEFAULT_SEED, generate_world, load_world


class YearSpec(BaseModel):
    """One year. ``world_dir`` replaces the generated world; ``world_digest`` says which world it was.

    Years that differ in ``repeat`` alone are runs in one world: its draws are the same, the agent's own are not.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    merchant: str
    world_seed: int = Field(DEFAULT_SEED, ge=0)
    world_dir: str | None = None
    world_digest: str = ""
    rules: str = "paper"
    num_days: int = Field(365, ge=1, le=3650)
    merchant_seed: int = Field(0, ge=0)
    repeat: int = Field(0, ge=0)
    agent_settings: dict[str, Any] | None = Field(None, description="what pins an agent beyond its name")

    def build_rules(self) -> Rules:
        """Return the rule set with the number of days put in."""
        return rules_named(self.rules).model_copy(update={"num_days": self.num_days})

    def build_world(self) -> World:
        """Return the world; raises if it is not the one the digest names."""
        if self.world_dir is None:
            world = generate_world(self.world_seed, self.build_rules())
        else:
            world = load_world(Path(self.world_dir), self.world_seed).world
        if self.world_digest not in ("", world.digest):
            raise ValueError(
                f"world_digest={self.world_digest[:12]} is not that of the world built now, {world.digest[:12]}"
            )
        return world

    @property
    def agent_seed(self) -> int:
        """Seed of the agent's own draws: ``merchant_seed`` in the first run, another one in each repeat."""
        if self.repeat == 0:
            return self.merchant_seed
        return int(sha256(f"{self.merchant_seed}/repeat-{self.repeat}".encode()).hexdigest()[:15], 16)

    @property
    def folder_name(self) -> str:
        """Name of its folder among the years of its agent."""
        repeat = f"-repeat-{self.repeat}" if self.repeat else ""
        return f"world-{self.world_seed}-days-{self.num_days}{repeat}"

    def to_json_object(self) -> dict[str, Any]:
        """Return the spec as JSON data; a merchant that needs no settings has no key for them."""
        without = {"agent_settings"} if self.agent_settings is None else None
        return self.model_dump(mode="json", exclude=without)


def year_label(spec: YearSpec) -> str:
    """Return who played, the world, which run in it, and the rules in a few words."""
    repeat = f", repeat {spec.repeat}" if spec.repeat else ""
    return f"{spec.merchant}, world {spec.world_seed}{repeat}, {spec.rules} rules"
