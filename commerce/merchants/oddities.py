"""Merchants with one bad habit each, otherwise as sensible as the rule-based one.

They show what a habit costs under the rules, and that an economy does not reward it. The fraud seeker reads who is
dishonest from the hidden side of the world, and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

from commerce.config import Rules
from commerce.merchants.advice import MarketProduct, PublicAdvice, SupplierCard
from commerce.merchants.habits import Habits
from commerce.merchants.trading import TradingMerchant
from commerce.shopkeeping import highest_price_fen
from commerce.types import World

_EXTREME = 100.0  # times the reference price, where the rules allow it
_ANY_NUMBER = 10_000


class _GougingAdvice(PublicAdvice):
    """Lists everything at the highest price there is."""

    def __init__(self, world: World, rules: Rules) -> None:
        self._world, self._rules = world, rules

    def price(self, product: MarketProduct) -> float:
        """Return the ceiling, or a hundred times the reference price."""
        reference = int(self._world.skus.reference_fen[self._world.sku_index[product.product_id]])
        return min(highest_price_fen(self._rules, reference), round(_EXTREME * reference)) / 100


class _FraudAdvice(PublicAdvice):
    """Buys from fraudulent suppliers, whatever became of earlier orders."""

    def __init__(self, world: World) -> None:
        self._world = world

    def choose_suppliers(self, suppliers: Sequence[SupplierCard]) -> list[SupplierCard]:
        """Return the frauds only, the cheapest seen first."""
        found = [(card, self._world.suppliers[self._world.supplier_index[card.email]]) for card in suppliers]
        return sorted((card for card, who in found if not who.is_honest), key=lambda card: (card.ratio, card.email))


def first_quote(rules: Rules) -> TradingMerchant:
    """Return a merchant that pays what suppliers ask first."""
    return TradingMerchant(PublicAdvice(), rules.num_days, Habits(pays_quotes=True))


def price_gouger(world: World, rules: Rules) -> TradingMerchant:
    """Return a merchant that lists at the ceiling."""
    return TradingMerchant(_GougingAdvice(world, rules), rules.num_days)


def listing_hoarder(rules: Rules) -> TradingMerchant:
    """Return a merchant of one store that lists every product it can get."""
    habits = Habits(first_stores=1, max_stores=1, start_products=_ANY_NUMBER, max_products=_ANY_NUMBER)
    return TradingMerchant(PublicAdvice(), rules.num_days, habits)


def fraud_seeker(world: World, rules: Rules) -> TradingMerchant:
    """Return a merchant that buys from frauds, pays their fees and forgives what they deliver."""
    return TradingMerchant(_FraudAdvice(world), rules.num_days, Habits(is_trusting=True))
