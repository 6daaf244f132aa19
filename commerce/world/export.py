"""A world as files of the public data schema: what :func:`commerce.world.world_folder.load_world` reads."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from typing import Any

from commerce.setting import calendar_date
from commerce.types import Size, World

_SIZES = list(Size)


def world_files(world: World) -> dict[str, str]:
    """Return the text of each file by its name. Hidden facts are included: this is for the owner of the world."""
    return {
        "store_types.csv": _csv(_store_types(world)),
        "category_params.csv": _csv(_categories(world)),
        "products.csv": _csv(_products(world)),
        "suppliers.csv": _csv(_suppliers(world)),
        "promotions.csv": _csv(_promotions(world)),
        "events.csv": _csv(_events(world)),
    }


def _csv(rows: Iterable[dict[str, Any]]) -> str:
    table = list(rows)
    text = io.StringIO()
    writer = csv.DictWriter(text, table[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue()


def _store_types(world: World) -> Iterable[dict[str, Any]]:
    for row, store_type in enumerate(world.store_types):
        names = [world.categories[category].name for category in world.categories_by_type[row]]
        yield {
            "store_type_id": store_type.name,
            "store_type_name": store_type.title,
            "tier": store_type.tier,
            "allowed_categories": "|".join(names),
            "num_categories": len(names),
        }


def _categories(world: World) -> Iterable[dict[str, Any]]:
    for row in world.categories:
        yield {
            "category": row.name,
            "store_type": world.store_types[row.store_type].name,
            "default_size": row.default_size.value,
            "ref_price_min": _yuan(row.reference_min_fen),
            "ref_price_max": _yuan(row.reference_max_fen),
            "monthly_sales_min": row.monthly_sales_min,
            "monthly_sales_max": row.monthly_sales_max,
            "return_rate_min": row.return_rate_min,
            "return_rate_max": row.return_rate_max,
            "return_rate_description": row.return_wording,
            "elasticity_type": row.response.value,
            "elasticity_param": row.elasticity,
            "wholesale_ratio": row.wholesale_ratio,
            "cost_floor_ratio": row.floor_ratio,
            "scam_cap_ratio": row.scam_cap_ratio,
        }


def _products(world: World) -> Iterable[dict[str, Any]]:
    columns = [column if isinstance(column, tuple) else column.tolist() for column in world.skus]
    for sku_id, title, brand, category, store_type, size, reference, return_rate in zip(*columns, strict=True):
        yield {
            "product_id": sku_id,
            "category": world.categories[category].name,
            "store_type": world.store_types[store_type].name,
            "brand": brand,
            "title": title,
            "size": _SIZES[size].value,
            "reference_price": _yuan(reference),
            "return_rate": return_rate,
        }


def _suppliers(world: World) -> Iterable[dict[str, Any]]:
    for row in world.suppliers:
        yield {
            "supplier_id": row.supplier_id,
            "supplier_name": row.name,
            "supplier_email": row.email,
            "supplier_type": "good" if row.is_honest else "bad",
            "personality": row.personality.value,
            "fraud_type": "" if row.fraud is None else row.fraud.value,
            "categories_served": world.categories[row.category].name,
            "bankruptcy_threshold": row.retirement_orders,
        }


def _promotions(world: World) -> Iterable[dict[str, Any]]:
    for row in world.promotions:
        yield {
            "event_name": row.name,
            "periods": "|".join(f"{_date(world, first)}:{_date(world, last)}" for first, last in row.windows),
            "max_demand_multiplier": row.max_multiplier,
            "elasticity_boost": row.elasticity_boost,
        }


def _events(world: World) -> Iterable[dict[str, Any]]:
    for row in world.events:
        yield {
            "event_name": row.name,
            "start_date": _date(world, row.first_day),
            "duration_days": row.last_day - row.first_day + 1,
            "demand_effects": json.dumps(_by_name(world, row.demand)),
            "supply_effects": json.dumps(
                {
                    "delivery_delay_multiplier": row.delay,
                    "affected_categories": "all"
                    if row.delayed_types is None
                    else [world.store_types[index].name for index in row.delayed_types],
                }
            ),
            "news_content": row.text,
        }


def _by_name(world: World, factors: Mapping[int, float]) -> dict[str, float]:
    return {world.store_types[index].name: factor for index, factor in factors.items()}


def _yuan(fen: int) -> str:
    return f"{fen / 100:.2f}"


def _date(world: World, day: int) -> str:
    return calendar_date(world.year, day).strftime("%m-%d")
