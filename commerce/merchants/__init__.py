"""Merchants that need no key: idle, random, rule-based, some with a bad habit, and one that knows what is hidden."""

from commerce.merchants.base import Merchant, play_year
from commerce.merchants.merchant_registry import MERCHANTS, build_merchant

__all__ = ["MERCHANTS", "Merchant", "build_merchant", "play_year"]
