"""Merchants that need no key: idle, random, rule-based, and one that knows what is hidden."""

from commerce.merchants.advice import PublicAdvice
from commerce.merchants.base import Merchant, play_year
from commerce.merchants.privileged import PrivilegedAdvice
from commerce.merchants.simple import RandomLegalMerchant, idle_merchant
from commerce.merchants.trading import TradingMerchant

__all__ = [
    "Merchant",
    "PrivilegedAdvice",
    "PublicAdvice",
    "RandomLegalMerchant",
    "TradingMerchant",
    "idle_merchant",
    "play_year",
]
