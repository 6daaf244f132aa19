"""What a trading merchant believes about the market."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

MARGIN_GUESS = {"low": 0.12, "moderate": 0.27, "high": 0.50}
_FREIGHT_AND_RETURNS = 0.06  # guessed cost of serving a unit as a share of its price


@dataclass
class MarketProduct:
    """A product the merchant knows."""

    product_id: str
    category: str
    reference: float


@dataclass
class SupplierCard:
    """What the merchant thinks of a supplier. ``ratio`` is the best price seen as a share of the reference price."""

    email: str
    category: str
    ratio: float = 9.0
    deliveries: int = 0
    is_blocked: bool = False


@dataclass
class Market:
    """What research has shown."""

    store_types: list[dict[str, Any]] = field(default_factory=list)
    categories: dict[str, dict[str, Any]] = field(default_factory=dict)


class Advice(Protocol):
    """Beliefs that guide a trading merchant."""

    def rank_store_types(self, market: Market) -> list[str]:
        """Return store types, the most promising first."""

    def choose_products(self, category: str, products: Sequence[MarketProduct], num: int) -> list[MarketProduct]:
        """Return the ``num`` most promising products of a category."""

    def price(self, product: MarketProduct) -> float:
        """Return the list price in yuan."""

    def choose_suppliers(self, suppliers: Sequence[SupplierCard]) -> list[SupplierCard]:
        """Return whom to ask, the best first."""


class PublicAdvice:
    """Beliefs from what the tools show to everybody."""

    def rank_store_types(self, market: Market) -> list[str]:
        """Rank by volume times price times the square of the margin: thin margins do not survive overheads."""

        def score(card: dict[str, Any]) -> float:
            return sum(category_score(market.categories[name]) for name in card["category_names"])

        return [card["store_type"] for card in sorted(market.store_types, key=score, reverse=True)]

    def choose_products(self, category: str, products: Sequence[MarketProduct], num: int) -> list[MarketProduct]:
        """Take the dearest: within a category all products have the same volume."""
        return sorted(products, key=lambda product: (-product.reference, product.product_id))[:num]

    def price(self, product: MarketProduct) -> float:
        """Stay at the reference price, where the published demand curves are anchored."""
        return product.reference

    def choose_suppliers(self, suppliers: Sequence[SupplierCard]) -> list[SupplierCard]:
        """Prefer proven ones, then the cheapest seen."""
        usable = [card for card in suppliers if not card.is_blocked]
        return sorted(usable, key=lambda card: (card.deliveries == 0, card.ratio, card.email))


def category_score(detail: dict[str, Any]) -> float:
    """Return the promise of a category from its public card."""
    volume = sum(detail["platform_monthly_sales"]) / 2
    price = detail["reference_price_range"][1]
    margin = MARGIN_GUESS[detail["typical_gross_margin"]] - _FREIGHT_AND_RETURNS
    return float(volume * price * margin * margin)
