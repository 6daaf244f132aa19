"""What calls used and cost, and the meter that refuses one before it could pass the ceiling.

Money is whole micro-dollars in three states: *reserved* is what attempts in flight may cost, *settled* what answered
attempts did cost, *unknown* are attempts that may have been billed an amount nobody told us: the answer was lost, or it
came without a price. Unknown attempts are counted and never summed; towards the ceiling they go on counting what had
been reserved for them.

A vendor counts cached prompt tokens either inside ``prompt_tokens`` or beside them, and reasoning tokens likewise;
here both are always inside, so that nothing is paid for twice. The total the vendor states decides which it was.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal, NamedTuple, Self

from pydantic import Field

from experiments.llm.errors import BudgetExceeded
from experiments.llm.kept import sent_body
from experiments.llm.records import Record, Usage
from experiments.llm.settings import Prices

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


MICRO = 1_000_000
FIRST_GUESS_MICROUSD = 10_000
"""One cent: what a call is taken to cost before any price has been seen."""


class Meter:
    """Counts spending for any number of threads and refuses what could pass the ceiling.

    Parameters
    ----------
    ceiling_microusd
        ``None`` for no ceiling.
    start
        What an earlier part of the run spent, read from its call logs.
    first_guess_microusd
        Reserved for a call while neither a price list nor an earlier call tells what one costs.

    Notes
    -----
    With a price list every reservation is an upper bound and the ceiling cannot be passed. Without one a call is taken
    to cost what the dearest call so far did; the calls in flight can then pass the ceiling, each by no more than it is
    dearer than that.
    """

    def __init__(
        self,
        ceiling_microusd: int | None = None,
        *,
        start: Spending | None = None,
        first_guess_microusd: int = FIRST_GUESS_MICROUSD,
    ) -> None:
        if ceiling_microusd is not None and ceiling_microusd < 0:
            raise ValueError(f"ceiling_microusd={ceiling_microusd} must not be negative; None is no ceiling")
        self._ceiling = ceiling_microusd
        self._first_guess = first_guess_microusd
        self._spending = start or Spending()
        self._changed = threading.Condition()

    @property
    def spending(self) -> Spending:
        """Totals at this moment."""
        with self._changed:
            return self._spending

    def reserve(self, upper_bound: int | None = None) -> int:
        """Set money aside for one attempt and return how much.

        While only attempts in flight stand in the way, wait for them: most cost less than was reserved.

        Raises
        ------
        BudgetExceeded
            If the attempt could pass the ceiling.
        """
        with self._changed:
            while True:
                held = upper_bound if upper_bound is not None else self._guess()
                if self._ceiling is None or self._spending.committed_microusd + held <= self._ceiling:
                    self._spending = self._spending.reserve(held)
                    return held
                if self._spending.num_reserved == 0:
                    raise BudgetExceeded(self._refusal(held))
                self._changed.wait()

    def settle(self, held: int, ended: Settlement) -> None:
        """Replace a reservation by how its attempt ended."""
        with self._changed:
            self._spending = self._spending.settle(held, ended)
            self._changed.notify_all()

    def _guess(self) -> int:
        return self._spending.largest_microusd if self._spending.num_settled else self._first_guess

    def _refusal(self, held: int) -> str:
        spent = self._spending
        return (
            f"the spending ceiling of {dollars_text(self._ceiling or 0)} is reached: "
            f"{dollars_text(spent.settled_microusd)} spent, "
            f"{dollars_text(spent.unknown_held_microusd)} set aside for {spent.num_unknown} attempts of unknown cost, "
            f"and the next call may cost {dollars_text(held)}"
        )


def dollars_text(microusd: int) -> str:
    """Return an amount of micro-dollars in dollars, to the last digit."""
    return f"${microusd // MICRO}.{microusd % MICRO:06d}"


_IMPLAUSIBLE = 10**12


class UsageReader:
    """Reads one ``usage`` object, noting each value that cannot be true instead of believing it."""

    def __init__(self) -> None:
        self.notices: list[str] = []

    def read(self, raw: object) -> Usage:
        """Return the usage; whatever is missing or impossible is ``None``."""
        if not isinstance(raw, Mapping):
            return Usage()
        prompt_details, completion_details = (
            _part(raw, "prompt_tokens_details"),
            _part(raw, "completion_tokens_details"),
        )
        prompt = self._count(raw, "prompt_tokens", "input_tokens")
        completion = self._count(raw, "completion_tokens", "output_tokens")
        cached = self._first(self._count(prompt_details, "cached_tokens"), self._count(raw, "cache_read_input_tokens"))
        written = self._first(
            self._count(prompt_details, "cache_write_tokens"), self._count(raw, "cache_creation_input_tokens")
        )
        reasoning = self._count(completion_details, "reasoning_tokens")
        in_cache, thought = (cached or 0) + (written or 0), reasoning or 0
        beside = _tokens_beside(prompt, completion, self._count(raw, "total_tokens"))
        if prompt is not None and in_cache and (in_cache > prompt or beside in (in_cache, in_cache + thought)):
            prompt += in_cache
            beside = None if beside is None else beside - in_cache
        if completion is not None and thought and (thought > completion or beside == thought):
            completion += thought
        return Usage(
            prompt_tokens=prompt,
            completion_tokens=completion,
            cached_tokens=cached,
            cache_write_tokens=written,
            reasoning_tokens=reasoning,
            cost_microusd=self._cost(raw),
        )

    @staticmethod
    def _first(*values: int | None) -> int | None:
        return next((value for value in values if value is not None), None)

    def _count(self, raw: Mapping[str, Any], *names: str) -> int | None:
        for name in names:
            value = raw.get(name)
            if value is None:
                continue
            if _is_amount(value) and value == int(value):
                return int(value)
            self.notices.append(f"usage.{name}={value!r} is not a count of tokens; taken as unknown")
        return None

    def _cost(self, raw: Mapping[str, Any]) -> int | None:
        cost = self._money(raw, "cost")
        if cost is None or raw.get("is_byok") is not True:
            return cost
        # With a key of one's own at the back-end, `cost` is the router's fee alone.
        upstream = self._money(_part(raw, "cost_details"), "upstream_inference_cost")
        return None if upstream is None else cost + upstream

    def _money(self, raw: Mapping[str, Any], name: str) -> int | None:
        value = raw.get(name)
        if value is None:
            return None
        if _is_amount(value):
            return round(Decimal(repr(value)) * MICRO)
        self.notices.append(f"usage.{name}={value!r} is not an amount of dollars; taken as unknown")
        return None


def _part(raw: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = raw.get(name)
    return part if isinstance(part, Mapping) else {}


def _is_amount(value: object) -> bool:
    """Whether ``value`` is a number from 0 to a bound no call comes near; NaN fails both comparisons."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _IMPLAUSIBLE


def _tokens_beside(prompt: int | None, completion: int | None, total: int | None) -> int | None:
    """Tokens in the total that are in neither the prompt nor the completion count."""
    if prompt is None or completion is None or total is None:
        return None
    return total - prompt - completion


def cost(usage: Usage, prices: Prices | None) -> int | None:
    """Return the cost in micro-dollars: the server's own, else by the price list, else ``None``.

    By the list, ``prompt - cached - cache_write`` tokens cost the prompt price and the other two their own; the sum
    is rounded up once.
    """
    if usage.cost_microusd is not None:
        return usage.cost_microusd
    if prices is None or usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    cached, written = usage.cached_tokens or 0, usage.cache_write_tokens or 0
    plain = max(0, usage.prompt_tokens - cached - written)
    total = (
        plain * prices.prompt
        + cached * (prices.prompt if prices.cached is None else prices.cached)
        + written * (prices.prompt if prices.cache_write is None else prices.cache_write)
        + usage.completion_tokens * prices.completion
    )
    return -(-total // MICRO)


def upper_bound(body: Mapping[str, Any], prices: Prices | None) -> int | None:
    """Return a cost in micro-dollars that the request cannot pass, or ``None`` without a price list.

    A token is at least one byte of the request, and the server stops at the output limit.
    """
    if prices is None:
        return None
    prompt_tokens = len(sent_body(body))
    completion_tokens: int = body.get("max_tokens") or body["max_completion_tokens"]
    dearest = max(prices.prompt, prices.cached or 0, prices.cache_write or 0)
    return -(-(prompt_tokens * dearest + completion_tokens * prices.completion) // MICRO)
