"""The products a trading merchant carries: what it knows of each, and how many units it needs."""

from __future__ import annotations

from dataclasses import dataclass

from commerce.merchants.advice import MarketProduct

_SMOOTHING = 0.15
_FIRST_UNITS = 4
_SOLD_OUT_FACTOR = 1.5  # of the level, because demand was more than what was seen


@dataclass
class ProductLine:
    """One product the merchant trades."""

    product: MarketProduct
    store_id: str
    velocity: float = 0.0
    days_listed: int = 0
    on_hand: int = 0
    shelf: int = 0
    age_days: float = 0.0
    last_order: int = 0
    price: float = 0.0


def note_sales(line: ProductLine, sold: int, shelf: int) -> None:
    """Update shelf and velocity from yesterday's sale; a day without stock says nothing about demand."""
    line.on_hand = max(shelf, line.on_hand)
    line.shelf = shelf
    if sold or shelf:
        line.days_listed += 1
        line.velocity += max(_SMOOTHING, 1 / line.days_listed) * (sold - line.velocity)


def units_needed(line: ProductLine, cover_days: int, on_order: int) -> int:
    """Return the units up to ``velocity * cover_days``; a product never listed gets a first few."""
    have = line.on_hand + on_order
    if line.days_listed == 0:
        return 0 if have else _FIRST_UNITS
    level = line.velocity * cover_days * (_SOLD_OUT_FACTOR if line.shelf == 0 else 1.0)
    return max(0, round(level) - have)
