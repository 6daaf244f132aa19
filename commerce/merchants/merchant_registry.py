"""Merchants by name."""

from __future__ import annotations

from collections.abc import Callable

from commerce.config import Rules
from commerce.merchants.advice import PublicAdvice
from commerce.merchants.base import Shopkeeper
from commerce.merchants.full_information import FullInformationAdvice
from commerce.merchants.simple import IdleMerchant, RandomLegalMerchant
from commerce.merchants.trading import TradingMerchant
from commerce.types import World

_BUILDERS: dict[str, Callable[[World, Rules, int], Shopkeeper]] = {
    "idle": lambda world, rules, seed: IdleMerchant(),
    "random-legal": lambda world, rules, seed: RandomLegalMerchant(seed),
    "rule-based": lambda world, rules, seed: TradingMerchant(PublicAdvice(), rules.num_days),
    "privileged": lambda world, rules, seed: TradingMerchant(FullInformationAdvice(world, rules), rules.num_days),
}
MERCHANTS = tuple(_BUILDERS)


def build_merchant(name: str, world: World, rules: Rules, seed: int = 0) -> Shopkeeper:
    """Return the merchant called ``name``; ``seed`` is used by the random one alone."""
    if name not in _BUILDERS:
        raise ValueError(f"merchant={name!r} is unknown; choose one of {', '.join(_BUILDERS)}")
    return _BUILDERS[name](world, rules, seed)
