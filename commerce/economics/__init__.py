"""What a negotiation is worth in money, and chains of them: the door from money to the game."""

from commerce.economics.chain import BankrollChain, ChainConfig, ChainSupplier, build_chain
from commerce.economics.constants import ECONOMICS, PUBLISHED_2, SESSION_ECONOMICS, EconomicsConfig
from commerce.economics.unit import Perspective, UnitEconomics, unit_economics

__all__ = [
    "ECONOMICS",
    "PUBLISHED_2",
    "SESSION_ECONOMICS",
    "BankrollChain",
    "ChainConfig",
    "ChainSupplier",
    "EconomicsConfig",
    "Perspective",
    "UnitEconomics",
    "build_chain",
    "unit_economics",
]
