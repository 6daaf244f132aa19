"""What a stored year is a year of: every choice that decides its bytes."""

from __future__ import annotations

import functools
import json
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

from pydantic import (
    ConfigDict,
    Field,
    JsonValue,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from commerce.aids import Aid, AidedYear, check_aids
from commerce.config import PAPER, Rules, rules_named
from commerce.supplier_protocol import Procurement
from commerce.types import World
from commerce.world import DEFAULT_SEED, generate_world, load_world
from commerce.year import Year
from experiments.engine.folder import STORED
from experiments.engine.header import Recipe
from terms.strict_json import strict_dumps

WORLD = "world"
"""Name of the digest in a header: of the world."""


class YearSpec(Recipe):
    """What is asked of one year, whoever plays it. ``world_dir`` replaces the generated world.

    Years that differ in ``repeat`` alone are runs in one world: its draws are the same, the agent's own are not.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    pinned: ClassVar[str] = WORLD

    world_seed: int = Field(DEFAULT_SEED, ge=0)
    world_dir: str | None = None
    rules: str = "paper"
    rules_version: int = Field(PAPER.version, ge=1, description="of the rules; one stored without it is of 1")
    changes: dict[str, JsonValue] = Field({}, description="what is changed in the rules: field and value")
    num_days: int = Field(365, ge=1, le=3650)
    merchant_seed: int = Field(0, ge=0)
    repeat: int = Field(0, ge=0)
    aids: tuple[Aid, ...] = Field((), description="what stands beside the agent")

    @field_validator("aids", mode="before")
    @classmethod
    def _known_aids(cls, names: Any) -> Any:
        is_named = isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)
        return check_aids(names) if is_named else names

    @model_serializer(mode="wrap")
    def _without_what_is_not_there(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write a year without aids or changed rules as it was written before there were any."""
        row: dict[str, Any] = write(self)
        for name in ("aids", "changes"):
            if not getattr(self, name):
                row.pop(name, None)
        return row

    @model_validator(mode="before")
    @classmethod
    def _first_version_unsaid(cls, row: Any, info: ValidationInfo) -> Any:
        """Put in today's version, and 1 in years that were stored before the rules had versions."""
        if not isinstance(row, dict) or "rules_version" in row:
            return row
        if info.context == STORED:
            return {"rules_version": 1, **row}
        rules = row.get("rules", PAPER.name)
        return {"rules_version": rules_named(rules).version, **row} if isinstance(rules, str) else row

    def build_rules(self) -> Rules:
        """Return the rule set with its changes; one of another version, or a change of none, raises ``ValueError``."""
        rules = rules_named(self.rules, self.rules_version)
        if own := sorted({"name", "version", "num_days"} & set(self.changes)):
            raise ValueError(f"changes={own}: these are fields of a year, not changes of its rules")
        return Rules.model_validate(rules.model_dump() | self.changes | {"num_days": self.num_days})

    @property
    def rules_label(self) -> str:
        """Name of the rule set, with what is changed in it."""
        changed = ", ".join(f"{name}={json.dumps(value)}" for name, value in sorted(self.changes.items()))
        return f"{self.rules} ({changed})" if changed else self.rules

    def build_world(self) -> World:
        """Return the world."""
        if self.world_dir is None:
            return _generated(self.world_seed, self.build_rules())
        return load_world(Path(self.world_dir), self.world_seed).world

    def build_year(self, world: World | None = None, procurement: Procurement | None = None) -> Year:
        """Return the year at its first morning, with its aids; ``world`` is its own where it was built already."""
        world, rules = world or self.build_world(), self.build_rules()
        if self.aids:
            return AidedYear(world, rules, aids=self.aids, procurement=procurement)
        return Year(world, rules, procurement=procurement)

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
        text = strict_dumps(dict(sorted(self.changes.items())))
        changed = f"-changed-{sha256(text.encode()).hexdigest()[:8]}" if self.changes else ""
        return f"world-{self.world_seed}-days-{self.num_days}{changed}{repeat}"


def with_aids(agent: str, spec: YearSpec) -> str:
    """Return the name of an agent and of what stands beside it: another row than the agent alone."""
    return "+".join([agent, *spec.aids])


def year_label(agent: str, spec: YearSpec) -> str:
    """Return who played with what aids, the world, which run in it, and the rules in a few words."""
    repeat = f", repeat {spec.repeat}" if spec.repeat else ""
    return f"{with_aids(agent, spec)}, world {spec.world_seed}{repeat}, {spec.rules_label} rules"


@functools.lru_cache(maxsize=4)
def _generated(seed: int, rules: Rules) -> World:
    """Return a world; a year asks for its own several times, from its header on."""
    return generate_world(seed, rules)
