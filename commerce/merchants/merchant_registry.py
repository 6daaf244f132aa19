"""Merchants by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from commerce.config import Rules
from commerce.merchants.advice import PublicAdvice
from commerce.merchants.base import Shopkeeper
from commerce.merchants.oddities import first_quote, fraud_seeker, listing_hoarder, price_gouger
from commerce.merchants.simple import IdleMerchant, RandomLegalMerchant
from commerce.merchants.trading import TradingMerchant
from commerce.types import World


class _Entry(NamedTuple):
    description: str
    build: Callable[[World, Rules, int], Shopkeeper]


_ENTRIES: dict[str, _Entry] = {
    "idle": _Entry("Does nothing.", lambda world, rules, seed: IdleMerchant()),
    "random-legal": _Entry("Makes legal calls at random.", lambda world, rules, seed: RandomLegalMerchant(seed)),
    "rule-based": _Entry(
        "A sensible year: research, test orders, negotiation on anchors, reconciliation, reorder points.",
        lambda world, rules, seed: TradingMerchant(PublicAdvice(), rules.num_days),
    ),
    "first-quote": _Entry(
        "Rule-based, but pays what a supplier asks first.", lambda world, rules, seed: first_quote(rules)
    ),
    "price-gouger": _Entry(
        "Rule-based, but lists at the highest price the platform takes, or at 100 times the reference price.",
        lambda world, rules, seed: price_gouger(world, rules),
    ),
    "listing-hoarder": _Entry(
        "Rule-based, but lists every product it can get, in one store.",
        lambda world, rules, seed: listing_hoarder(rules),
    ),
    "fraud-seeker": _Entry(
        "Rule-based, but buys from fraudulent suppliers, pays their fees and forgives them.",
        lambda world, rules, seed: fraud_seeker(world, rules),
    ),
}
MERCHANTS = tuple(_ENTRIES)


def describe_merchants() -> list[tuple[str, str]]:
    """Return name and one line about each merchant."""
    return [(name, entry.description) for name, entry in _ENTRIES.items()]


def build_merchant(name: str, world: World, rules: Rules, seed: int = 0) -> Shopkeeper:
    """Return the merchant called ``name``; ``seed`` is used by the random one alone."""
    if name not in _ENTRIES:
        raise ValueError(f"merchant={name!r} is unknown; choose one of {', '.join(MERCHANTS)}")
    return _ENTRIES[name].build(world, rules, seed)
