"""Facts of the 60 categories of the published benchmark (arXiv 2608.30730), grouped by store type.

A row is (name, default size, reference price from and to in yuan, platform units per SKU and month from and to, return
rate from and to, published return wording, price response, elasticity k, opening ratio w, honest floor ratio f, scam
cap ratio s, honest suppliers, fraudulent suppliers). Ratios are multiples of the reference price; ``w`` is
``round(0.5 + 0.5 f, 2)``. The wording of 21 categories contradicts their return rates; it is kept as published, and
replaced by :func:`wording_from_numbers` where the rules say so.
"""

from __future__ import annotations

from commerce.types import PriceResponse, Size

CategoryFacts = tuple[str, str, int, int, int, int, float, float, str, str, float, float, float, float, int, int]

SIZES = {"S": Size.SMALL, "M": Size.MEDIUM, "L": Size.LARGE, "X": Size.XLARGE}
RESPONSES = {
    "L": PriceResponse.LINEAR,
    "E": PriceResponse.EXPONENTIAL,
    "C": PriceResponse.CONSTANT_ELASTICITY,
    "Q": PriceResponse.QUADRATIC,
}
WORDINGS = {
    "VL": "very low return risk",
    "L": "low return risk",
    "LM": "low to moderate return risk",
    "M": "moderate return risk",
    "E": "elevated return risk",
    "VH": "very high return risk",
}
#: Upper limits of the mean return rate for each wording; they order the categories whose wording fits their numbers.
_WORDING_LIMITS = ((0.02, "VL"), (0.06, "L"), (0.10, "LM"), (0.18, "M"), (0.35, "E"), (1.0, "VH"))


def wording_from_numbers(low: float, high: float) -> str:
    """Return the wording that the band of return rates deserves."""
    middle = (low + high) / 2
    return WORDINGS[next(code for limit, code in _WORDING_LIMITS if middle <= limit)]


# fmt: off
CATEGORY_ROWS: dict[str, tuple[CategoryFacts, ...]] = {
    "appliance_digital": (
        ("Major Appliances", "X", 500, 2500, 100, 500, 0.1, 0.2, "M", "Q", 5.212, 0.86, 0.72, 0.5, 8, 3),
        ("Small Appliances", "L", 50, 600, 500, 1000, 0.03, 0.1, "LM", "E", 2.583, 0.78, 0.55, 0.7, 7, 2),
        ("Audio & Video Electronics", "L", 100, 1500, 1000, 3000, 0, 0.03, "VL", "C", 1.631, 0.82, 0.65, 0.72, 7, 3),
        ("Smartphones", "S", 300, 3000, 1000, 3000, 0, 0.03, "VL", "L", 3.949, 0.84, 0.68, 0.75, 7, 3),
        ("Laptops", "M", 800, 5000, 1000, 3000, 0, 0.03, "VL", "Q", 4.129, 0.85, 0.7, 0.78, 7, 2),
        ("Computer Hardware & Peripherals",
         "M", 30, 800, 1000, 3000, 0.03, 0.1, "LM", "E", 3.598, 0.72, 0.45, 0.6, 7, 2),
        ("3C Digital Accessories", "S", 5, 150, 1000, 3000, 0.1, 0.2, "M", "Q", 5.779, 0.7, 0.4, 0.55, 7, 3),
        ("Storage Devices", "S", 20, 400, 50, 100, 0, 0.03, "VL", "Q", 3.839, 0.78, 0.55, 0.7, 7, 3),
        ("Networking Equipment", "M", 30, 500, 1000, 3000, 0.03, 0.1, "LM", "C", 2.746, 0.75, 0.5, 0.65, 7, 3),
    ),
    "fashion": (
        ("Women's Fashion", "M", 30, 300, 100, 500, 0.4, 0.55, "VH", "Q", 5.74, 0.7, 0.39, 0.44, 7, 2),
        ("Men's Clothing", "M", 30, 250, 50, 100, 0.4, 0.55, "VH", "L", 2.428, 0.71, 0.42, 0.46, 7, 3),
        ("Underwear & Loungewear", "S", 15, 120, 500, 1000, 0.2, 0.4, "E", "Q", 5.368, 0.69, 0.375, 0.425, 7, 3),
        ("Fashion Accessories", "S", 10, 150, 500, 1000, 0.2, 0.4, "E", "L", 2.995, 0.69, 0.385, 0.435, 7, 3),
        ("Sportswear & Casual", "M", 30, 250, 1000, 3000, 0.2, 0.4, "E", "L", 3.411, 0.69, 0.385, 0.435, 7, 3),
    ),
    "shoes_bags": (
        ("Women's Shoes", "M", 40, 400, 1000, 3000, 0.4, 0.55, "VH", "C", 2.053, 0.72, 0.45, 0.88, 7, 3),
        ("Men's Shoes", "M", 50, 400, 1500, 2500, 0.1, 0.2, "M", "Q", 4.633, 0.75, 0.5, 0.88, 7, 3),
        ("Sneakers", "M", 80, 600, 1500, 2500, 0.2, 0.4, "E", "Q", 2.795, 0.92, 0.84, 0.93, 7, 3),
        ("Bags & Luggage", "L", 50, 1000, 500, 1000, 0, 0.03, "VL", "C", 2.891, 0.8, 0.6, 0.9, 7, 2),
    ),
    "food_beverage": (
        ("Snacks & Nuts", "S", 8, 60, 100, 500, 0.2, 0.35, "VL", "L", 2.918, 0.79, 0.572, 0.611, 7, 3),
        ("Groceries & Staples", "S", 10, 80, 50, 100, 0.2, 0.35, "L", "E", 3.924, 0.78, 0.566, 0.605, 7, 2),
        ("Coffee & Beverages", "S", 10, 60, 50, 100, 0.2, 0.35, "L", "E", 4.257, 0.78, 0.566, 0.605, 7, 2),
        ("Fresh Food & Meat", "M", 15, 120, 0, 50, 0.2, 0.35, "L", "L", 3.531, 0.78, 0.559, 0.598, 7, 3),
        ("Alcoholic Beverages", "M", 20, 500, 50, 100, 0.2, 0.35, "L", "Q", 3.544, 0.77, 0.546, 0.585, 7, 2),
        ("Health Supplements", "S", 30, 200, 100, 500, 0.2, 0.35, "VL", "Q", 2.974, 0.75, 0.507, 0.552, 7, 3),
    ),
    "beauty": (
        ("Skincare & Beauty", "S", 15, 400, 3000, 5000, 0.1, 0.2, "M", "E", 3.133, 0.65, 0.3, 0.45, 8, 3),
        ("Beauty Devices", "M", 80, 1000, 1000, 3000, 0.03, 0.1, "L", "E", 4.73, 0.7, 0.4, 0.55, 7, 2),
        ("Personal Care & Massage", "M", 30, 600, 1000, 3000, 0, 0.03, "VL", "C", 1.352, 0.72, 0.45, 0.6, 7, 3),
    ),
    "sports_outdoor": (
        ("Sports & Fitness", "M", 15, 300, 100, 500, 0.03, 0.1, "L", "C", 2.204, 0.58, 0.17, 0.27, 7, 3),
        ("Sports Bags & Accessories", "L", 30, 400, 1000, 3000, 0.1, 0.2, "M", "Q", 3.877, 0.59, 0.19, 0.31, 7, 3),
        ("Outdoor & Camping", "L", 20, 600, 50, 100, 0, 0.03, "VL", "C", 1.961, 0.58, 0.17, 0.27, 7, 3),
    ),
    "mother_baby": (
        ("Children's Clothing", "S", 15, 100, 100, 500, 0.03, 0.1, "L", "C", 1.42, 0.7, 0.4, 0.55, 7, 3),
        ("Children's Shoes", "S", 20, 120, 500, 1000, 0.03, 0.1, "L", "Q", 3.241, 0.72, 0.45, 0.6, 7, 2),
        ("Baby Products", "M", 15, 400, 1000, 3000, 0, 0.03, "VL", "L", 2.629, 0.68, 0.35, 0.5, 8, 3),
        ("Maternity Products", "S", 20, 200, 50, 100, 0.03, 0.1, "L", "Q", 4.716, 0.75, 0.5, 0.65, 7, 3),
        ("Toys & Educational", "L", 15, 600, 1000, 3000, 0.1, 0.2, "M", "E", 4.687, 0.65, 0.3, 0.45, 7, 2),
    ),
    "home_living": (
        ("Furniture", "L", 100, 800, 50, 100, 0.2, 0.35, "M", "E", 4.944, 0.86, 0.73, 0.88, 7, 3),
        ("Bedding", "L", 30, 400, 100, 500, 0.2, 0.35, "L", "E", 4.023, 0.85, 0.7, 0.85, 7, 2),
        ("Household Essentials", "S", 3, 50, 0, 50, 0.2, 0.35, "L", "C", 2.059, 0.87, 0.74, 0.89, 7, 2),
        ("Storage & Organization", "M", 10, 100, 1000, 3000, 0.2, 0.35, "L", "C", 2.898, 0.84, 0.69, 0.84, 7, 2),
        ("Lighting", "M", 15, 500, 1000, 3000, 0.2, 0.35, "VL", "C", 2.507, 0.86, 0.73, 0.88, 8, 2),
        ("Home Building Materials", "L", 20, 400, 1000, 3000, 0.2, 0.35, "VL", "C", 2.612, 0.87, 0.74, 0.89, 7, 2),
        ("Basic Construction Materials", "M", 10, 200, 1000, 3000, 0.2, 0.35, "VL", "E", 3.889, 0.86, 0.72, 0.87, 7, 2),
        ("Cleaning Tools", "S", 5, 50, 0, 50, 0.2, 0.35, "VL", "E", 3.419, 0.87, 0.74, 0.89, 7, 3),
        ("Kitchenware", "M", 8, 200, 500, 1000, 0.2, 0.35, "VL", "C", 2.506, 0.83, 0.67, 0.82, 7, 2),
    ),
    "daily_office": (
        ("Cleaning & Hygiene", "S", 5, 60, 100, 500, 0.2, 0.35, "VL", "L", 3.411, 0.78, 0.566, 0.605, 7, 3),
        ("Gifts & Party Supplies", "S", 5, 80, 0, 50, 0.2, 0.35, "VL", "E", 3.392, 0.77, 0.533, 0.585, 7, 3),
        ("Lifestyle Accessories", "S", 20, 400, 100, 500, 0.2, 0.35, "L", "L", 2.891, 0.77, 0.533, 0.585, 7, 3),
        ("Stationery & Office Supplies", "S", 3, 80, 100, 500, 0.2, 0.35, "L", "E", 4.659, 0.76, 0.52, 0.572, 7, 2),
        ("Office Equipment", "L", 20, 600, 500, 1000, 0.2, 0.35, "L", "L", 3.896, 0.78, 0.552, 0.598, 7, 2),
        ("Medical Devices", "S", 10, 800, 100, 500, 0.2, 0.35, "L", "C", 2.314, 0.77, 0.533, 0.585, 7, 2),
    ),
    "pet": (
        ("Pet Supplies", "S", 8, 150, 300, 1500, 0, 0.03, "VL", "Q", 4.556, 0.61, 0.22, 0.28, 7, 3),
    ),
    "auto_hardware": (
        ("Auto Accessories", "M", 10, 400, 100, 500, 0, 0.08, "L", "E", 4.942, 0.92, 0.84, 0.92, 7, 2),
        ("Hardware & Tools", "M", 5, 200, 100, 500, 0, 0.08, "VL", "C", 2.35, 0.93, 0.86, 0.93, 7, 3),
        ("Electrical Supplies", "S", 3, 80, 1000, 3000, 0, 0.08, "VL", "Q", 4.521, 0.94, 0.88, 0.94, 7, 2),
        ("Electronic Components", "S", 1, 50, 0, 50, 0, 0.08, "L", "C", 2.219, 0.95, 0.9, 0.95, 7, 2),
        ("E-Vehicles & Parts", "X", 100, 1200, 100, 500, 0, 0.08, "VL", "E", 4.812, 0.92, 0.83, 0.9, 7, 2),
        ("Agricultural Supplies", "L", 10, 400, 50, 100, 0, 0.08, "VL", "L", 2.185, 0.93, 0.85, 0.92, 7, 3),
        ("Industrial & Lab Supplies", "M", 10, 200, 0, 50, 0, 0.08, "L", "E", 4.229, 0.93, 0.85, 0.92, 7, 2),
    ),
    "toys_entertainment": (
        ("Collectibles & Figures", "S", 15, 500, 100, 500, 0, 0.03, "VL", "C", 1.777, 0.63, 0.26, 0.4, 7, 2),
        ("Gaming & Accessories", "S", 30, 1000, 50, 100, 0.03, 0.1, "L", "Q", 3.707, 0.66, 0.31, 0.45, 7, 2),
    ),
}
# fmt: on
