"""Facts of the 12 store types of the published benchmark (arXiv 2608.30730) and their seasons.

A row is (name, title, tier with 1 the hardest, operations in yuan a day, capacity C in units a day, demand scale S,
seasonal factor by month from January).
"""

from __future__ import annotations

from commerce.types import StoreType

# fmt: off
_ROWS: tuple[tuple[str, str, int, int, float, float, tuple[float, ...]], ...] = (
    ("food_beverage", "Food and Beverage", 1, 130, 658.56, 9.0,
     (1.3, 1.6, 1.0, 0.9, 0.9, 0.8, 1.1, 1.1, 1.3, 0.9, 0.6, 1.5)),
    ("home_living", "Home and Living", 1, 130, 4218.18, 6.0,
     (1.0, 0.9, 1.1, 1.1, 1.0, 1.2, 1.0, 1.0, 1.0, 1.0, 1.3, 1.0)),
    ("daily_office", "Daily and Office", 1, 130, 1345.80, 4.0,
     (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.1, 1.2, 1.0, 1.0, 1.0)),
    ("auto_hardware", "Auto and Hardware", 1, 130, 19862.16, 4.0,
     (1.0, 0.9, 1.1, 1.1, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.1, 1.0)),
    ("appliance_digital", "Appliances and Digital", 2, 100, 13.959, 0.6,
     (1.0, 0.9, 1.0, 1.0, 1.0, 1.3, 0.9, 1.0, 1.0, 1.0, 1.4, 1.1)),
    ("fashion", "Fashion", 2, 100, 224.37, 4.0,
     (0.75, 0.7, 1.0, 0.95, 0.85, 1.0, 0.8, 0.8, 0.95, 0.85, 1.55, 0.85)),
    ("shoes_bags", "Shoes and Bags", 2, 100, 127.20, 0.2,
     (0.9, 0.8, 1.1, 1.1, 1.0, 1.2, 0.9, 0.9, 1.0, 1.0, 1.4, 1.0)),
    ("mother_baby", "Mother and Baby", 2, 100, 44.0154, 0.8,
     (1.0, 1.0, 1.0, 1.0, 1.1, 1.2, 1.0, 1.0, 1.1, 1.0, 1.2, 1.0)),
    ("beauty", "Beauty", 3, 60, 21.78, 1.5,
     (1.0, 1.0, 1.3, 1.0, 1.0, 1.2, 1.0, 1.0, 1.0, 1.0, 1.3, 1.0)),
    ("sports_outdoor", "Sports and Outdoor", 3, 60, 41.16, 1.5,
     (0.8, 0.8, 1.0, 1.2, 1.3, 1.2, 1.3, 1.2, 1.0, 1.0, 1.0, 0.8)),
    ("pet", "Pet", 3, 60, 91.20, 0.75,
     (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.1, 1.0)),
    ("toys_entertainment", "Toys and Entertainment", 3, 60, 23.28, 1.5,
     (1.2, 1.0, 1.0, 1.0, 1.1, 1.2, 1.1, 1.0, 1.0, 1.0, 1.7, 1.3)),
)
# fmt: on

STORE_TYPES = tuple(
    StoreType(name, title, tier, yuan * 100, capacity, scale, season)
    for name, title, tier, yuan, capacity, scale, season in _ROWS
)
