"""What a run spent: money in whole micro-dollars, in three states.

*Reserved* is what attempts in flight may cost, *settled* what answered attempts did cost, *unknown* are attempts that
may have been billed an amount nobody told us: the answer was lost, or it came without a price. Unknown attempts are
counted and never summed; towards the ceiling they go on counting what had been reserved for them.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, Self

from pydantic import Field

from experiments.llm.records import Record, Usage

MoneyState = Literal["settled", "unknown", "free"]


class Settlement(NamedTuple):
    """How one attempt ended. ``free`` is a failure the provider does not bill."""

    state: MoneyState
    microusd: int | None = None
    usage: Usage | None = None


UNKNOWN = Settlement("unknown")
FREE = Settlement("free", 0)


def settlement(microusd: int | None, usage: Usage) -> Settlement:
    """Return the settlement of an attempt that was answered, priced or not."""
    return UNKNOWN._replace(usage=usage) if microusd is None else Settlement("settled", microusd, usage)


class Spending(Record):
    """Totals so far. Cached and cache-write tokens are part of the prompt's, reasoning tokens of the completion's."""

    settled_microusd: int = Field(0, ge=0)
    num_settled: int = Field(0, ge=0)
    reserved_microusd: int = Field(0, ge=0)
    num_reserved: int = Field(0, ge=0)
    unknown_held_microusd: int = Field(0, ge=0, description="reserved for the unknown attempts; no statement of cost")
    num_unknown: int = Field(0, ge=0)
    num_free: int = Field(0, ge=0, description="failed attempts that are not billed")
    largest_microusd: int = Field(0, ge=0, description="dearest settled attempt")
    prompt_tokens: int = Field(0, ge=0)
    completion_tokens: int = Field(0, ge=0)
    cached_tokens: int = Field(0, ge=0)
    cache_write_tokens: int = Field(0, ge=0)
    reasoning_tokens: int = Field(0, ge=0)
    num_without_tokens: int = Field(0, ge=0, description="settled or unknown attempts whose tokens nobody stated")

    @property
    def committed_microusd(self) -> int:
        """What counts towards the ceiling."""
        return self.settled_microusd + self.reserved_microusd + self.unknown_held_microusd

    @property
    def is_complete(self) -> bool:
        """Whether ``settled_microusd`` is all that was spent."""
        return self.num_unknown == 0 and self.num_reserved == 0

    def reserve(self, microusd: int) -> Self:
        """Return the totals with one more attempt in flight."""
        return self._with(reserved_microusd=microusd, num_reserved=1)

    def settle(self, held: int, ended: Settlement) -> Self:
        """Return the totals after an attempt in flight, for which ``held`` was reserved, has ended."""
        done = self._with(reserved_microusd=-held, num_reserved=-1)
        if ended.usage is not None:
            done = done._count_tokens(ended.usage)
        if ended.state == "free":
            return done._with(num_free=1)
        if ended.usage is None or ended.usage.prompt_tokens is None or ended.usage.completion_tokens is None:
            done = done._with(num_without_tokens=1)
        if ended.microusd is None:
            return done._with(unknown_held_microusd=held, num_unknown=1)
        largest = max(0, ended.microusd - done.largest_microusd)
        return done._with(settled_microusd=ended.microusd, num_settled=1, largest_microusd=largest)

    def _count_tokens(self, usage: Usage) -> Self:
        return self._with(
            prompt_tokens=usage.prompt_tokens or 0,
            completion_tokens=usage.completion_tokens or 0,
            cached_tokens=usage.cached_tokens or 0,
            cache_write_tokens=usage.cache_write_tokens or 0,
            reasoning_tokens=usage.reasoning_tokens or 0,
        )

    def _with(self, **changes: int) -> Self:
        return self.model_copy(update={name: getattr(self, name) + change for name, change in changes.items()})
