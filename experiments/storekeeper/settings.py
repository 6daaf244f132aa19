"""Settings of a model that runs a store. Each departure from the published harness gives it a name of its own."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, NamedTuple, Self

from pydantic import Field, model_validator

from experiments.years.limits import Limits


class Memory(StrEnum):
    """What is kept of turns that left the context.

    ``PLAIN`` is the published harness: nothing but the memory tool, whose titles are shown again after an eviction.
    ``SUMMARY`` lets the model sum up what is about to go, ``LEDGER`` keeps a table of purchases in view, ``REFLECTION``
    asks each week what to do better (Reflexion, arXiv 2303.11366), ``PRICE_LIMITS`` keeps the table and refuses to pay
    more for a product than the best price in it.
    """

    PLAIN = "plain"
    SUMMARY = "summary"
    LEDGER = "ledger"
    REFLECTION = "reflection"
    PRICE_LIMITS = "price-limits"


_CONTEXT, _EVICT_AT, _EVICT_TO = 128_000, 120_000, 60_000


def in_proportion(context_tokens: int) -> dict[str, int]:
    """Return a context of another size with the published thresholds in proportion."""
    return {
        "context_tokens": context_tokens,
        "evict_at": context_tokens * _EVICT_AT // _CONTEXT,
        "evict_to": context_tokens * _EVICT_TO // _CONTEXT,
    }


class Budget(NamedTuple):
    """Expected prompt tokens from which groups leave, what is to be left, and how many of the newest always stay."""

    at: int
    to: int
    keep: int


class StorekeeperSettings(Limits):
    """Limits, context and memory of a model; tokens are the server's, as far as its usage tells."""

    memory: Memory = Memory.PLAIN
    tool_mode: Literal["native", "json"] = Field(
        "native", description="json: one object as text, for models without tools"
    )
    context_tokens: int = Field(_CONTEXT, ge=1, description="what the model can read and write at once")
    evict_at: int = Field(_EVICT_AT, ge=1, description="expected prompt tokens from which turns are removed")
    evict_to: int = Field(_EVICT_TO, ge=0, description="expected prompt tokens that are left after it, about")
    keep_groups: int = Field(2, ge=1, description="newest turns that always stay")
    tokenizer: Literal["characters", "o200k"] = Field("characters", description="unit that usage is related to")
    summary_tokens: int = Field(1_000, ge=1, description="output limit of a summary or a reflection")
    reflect_days: int = Field(7, ge=1)
    keep_reflections: int = Field(3, ge=1)
    ledger_rows: int = Field(40, ge=1, description="products in the ledger, the latest bought")
    price_limit_pct: float = Field(100.0, gt=0, description="of the lowest price paid, where limits are enforced")
    text_limit: int | None = Field(
        None, ge=1, description="longest text in a call, in tool_mode json; small models need it"
    )

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.evict_to < self.evict_at <= self.context_tokens:
            raise ValueError(
                f"evict_to={self.evict_to}, evict_at={self.evict_at}, context_tokens={self.context_tokens}; "
                "each must be below the next"
            )
        return self

    @property
    def limits(self) -> Limits:
        """The limits alone."""
        return Limits(**self.model_dump(include=set(Limits.model_fields)))

    def budget(self, max_output_tokens: int) -> Budget:
        """Return when turns are removed and how much stays: the answer must have room as well.

        What is left is at most half of what was there, else the next turn would remove some again.
        """
        at = max(1, min(self.evict_at, self.context_tokens - max_output_tokens))
        return Budget(at, min(self.evict_to, at // 2), self.keep_groups)

    def suffix(self, baseline: StorekeeperSettings | None = None) -> str:
        """Return what sets these settings apart by name from ``baseline``, by default the published harness."""
        base = baseline or StorekeeperSettings()
        follows = in_proportion(self.context_tokens) if self.context_tokens != base.context_tokens else {}
        implied = {name for name, value in follows.items() if name != "context_tokens" and getattr(self, name) == value}
        changed = [(name, value) for name, value in self if value != getattr(base, name) and name not in implied]
        changed.sort(key=lambda one: one[0] in Limits.model_fields)  # last, as names of rows always had them
        return "".join(
            f"+{value}" if name == "memory" else f"+{name.replace('_', '-')}-{value}" for name, value in changed
        )
