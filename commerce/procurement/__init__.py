"""Suppliers that sell through the bargaining kernel: the one door from the store to the game."""

from commerce.procurement.desk import SupplierDesk
from commerce.procurement.pair import PairTerms, pair_terms

__all__ = ["PairTerms", "SupplierDesk", "pair_terms"]
