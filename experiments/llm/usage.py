"""Reading what a call used and cost.

A vendor counts cached prompt tokens either inside ``prompt_tokens`` or beside them, and reasoning tokens likewise;
here both are always inside, so that nothing is paid for twice. The total the vendor states decides which it was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from experiments.llm.records import Usage
from experiments.llm.settings import Prices

MICRO = 1_000_000
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
    prompt_tokens = len(json.dumps(body, ensure_ascii=False).encode())
    completion_tokens: int = body.get("max_tokens") or body["max_completion_tokens"]
    dearest = max(prices.prompt, prices.cached or 0, prices.cache_write or 0)
    return -(-(prompt_tokens * dearest + completion_tokens * prices.completion) // MICRO)
