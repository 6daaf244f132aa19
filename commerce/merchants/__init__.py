"""Merchants that need no key: idle, random, rule-based, and some with a bad habit."""

from commerce.merchants.base import Merchant, play_year
from commerce.merchants.merchant_registry import MERCHANTS, build_merchant

__all__ = ["MERCHANTS", "Merchant", "build_merchant", "play_year"]
