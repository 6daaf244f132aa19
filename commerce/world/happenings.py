"""Facts of the ten events and eight promotions of the published benchmark (arXiv 2608.30730), calendar 2026.

Dates are ``(month, day)``, windows inclusive. An event row is (name, first date, number of days, demand factors by
store type, delay factor, delayed store types with ``None`` for all). A promotion row is (name, windows, largest demand
factor, elasticity boost).
"""

from __future__ import annotations

Date = tuple[int, int]
EventFacts = tuple[str, Date, int, dict[str, float], float, tuple[str, ...] | None]
PromotionFacts = tuple[str, tuple[tuple[Date, Date], ...], float, float]

# fmt: off
EVENT_ROWS: tuple[EventFacts, ...] = (
    ("Winter Storm", (1, 15), 4,
     {"food_beverage": 2.0, "home_living": 1.5, "fashion": 0.3, "sports_outdoor": 0.2}, 2.5, None),
    ("Factory Fire in Guangdong", (3, 1), 7, {}, 4.0, ("appliance_digital", "toys_entertainment")),
    ("Flu Outbreak", (4, 10), 7,
     {"daily_office": 2.5, "beauty": 1.5, "sports_outdoor": 0.4, "toys_entertainment": 0.5}, 2.0, ("daily_office",)),
    ("Logistics Hub Shutdown", (5, 20), 5, {}, 5.0, None),
    ("Summer Heatwave", (7, 5), 7,
     {"appliance_digital": 3.0, "food_beverage": 2.0, "sports_outdoor": 0.3, "home_living": 0.5}, 2.0,
     ("appliance_digital",)),
    ("Celebrity Product Recall", (8, 20), 5, {"beauty": 0.4, "fashion": 0.6}, 1.0, ()),
    ("Typhoon Warning", (9, 15), 3,
     {"food_beverage": 2.5, "daily_office": 2.0, "fashion": 0.2, "shoes_bags": 0.2}, 3.0, None),
    ("Economic Downturn News", (10, 5), 7,
     {"appliance_digital": 0.5, "fashion": 0.6, "shoes_bags": 0.5, "food_beverage": 1.3, "daily_office": 1.2}, 1.0, ()),
    ("Raw Material Shortage", (11, 20), 7, {}, 3.0, ("appliance_digital", "home_living", "auto_hardware")),
    ("Cold Wave", (12, 20), 5,
     {"fashion": 2.0, "home_living": 2.5, "food_beverage": 0.4, "sports_outdoor": 0.3}, 2.0, None),
)

PROMOTION_ROWS: tuple[PromotionFacts, ...] = (
    ("New Year Kickoff Sale", (((1, 1), (1, 7)),), 2.0, 1.5),
    ("Winter Clearance Festival", (((1, 29), (2, 6)),), 1.8, 1.5),
    ("Spring Blossom Sale", (((3, 4), (3, 8)),), 2.5, 1.8),
    ("Midyear Mega Sale", (((5, 29), (5, 31)), ((6, 14), (6, 18))), 3.0, 2.0),
    ("Summer Members Days", (((8, 6), (8, 8)),), 2.0, 1.5),
    ("Autumn Harvest Sale", (((9, 2), (9, 9)),), 2.0, 1.5),
    ("Grand Autumn Carnival", (((10, 15), (10, 16)), ((10, 20), (10, 21)), ((10, 31), (11, 14))), 3.5, 2.0),
    ("Year-End Finale Sale", (((12, 8), (12, 14)),), 2.5, 1.8),
)
# fmt: on
