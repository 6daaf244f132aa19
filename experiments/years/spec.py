"""What a stored year is a year of: every choice that decides its bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from commerce.config import Rules, rules_named
from commerce.types import World
from commerce.world import DEFAULT_SEED, generate_world, load_world


class YearSpec(BaseModel):
    """One year. ``world_dir`` replaces the generated world; ``world_digest`` says which world it was."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    merchant: str
    world_seed: int = Field(DEFAULT_SEED, ge=0)
    world_dir: str | None = None
    world_digest: str = ""
    rules: str = "paper"
    num_days: int = Field(365, ge=1, le=3650)
    merchant_seed: int = Field(0, ge=0)
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

    def to_json_object(self) -> dict[str, Any]:
        """Return the spec as JSON data; a merchant that needs no settings has no key for them."""
        without = {"agent_settings"} if self.agent_settings is None else None
        return self.model_dump(mode="json", exclude=without)
