"""A world from a folder in the public data schema, and back to such files.

Six CSV files are read: ``store_types``, ``category_params``, ``products``, ``suppliers``, ``promotions``, ``events``.
Every row is validated; a row that cannot be used is left out and reported with its reason, never dropped in silence.
What the files do not hold (capacity, demand scale, seasons, daily operations) comes from the tables of the published
store types. Supplier ids and addresses are made anew. This is the one module of the store that opens files.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from pydantic import ValidationError

from commerce.money import to_fen
from commerce.types import Category, Event, Promotion, Size, SkuTable, StoreType, Supplier, World
from commerce.world import schema
from commerce.world.digest import world_digest
from commerce.world.generate import DEFAULT_SEED, YEAR, day_of
from commerce.world.identities import anonymous_identities
from commerce.world.stores import STORE_TYPES

RowType = TypeVar("RowType", bound=schema.SchemaRow)
_SIZES = list(Size)


class LeftOutRow(NamedTuple):
    """A row that was left out. ``row`` counts from 1 without the header."""

    file: str
    row: int
    reason: str


class LoadedWorld(NamedTuple):
    """A world and every row that did not make it in."""

    world: World
    problems: tuple[LeftOutRow, ...]


def load_world(folder: str | Path, seed: int = DEFAULT_SEED) -> LoadedWorld:
    """Read the world in ``folder``; ``seed`` keys the draws of its years.

    Raises
    ------
    ValueError
        If a file is missing or unreadable, or if no store type, category, product or supplier is usable.
    """
    reader = _Reader(Path(folder))
    store_types = reader.store_types()
    categories = reader.categories(store_types)
    world = World(
        seed=seed,
        year=YEAR,
        store_types=store_types,
        categories=categories,
        skus=reader.skus(categories),
        suppliers=anonymous_identities(seed, reader.suppliers(categories)),
        events=reader.events(store_types),
        promotions=reader.promotions(),
    )
    for name, rows in (("product", world.skus.sku_id), ("supplier", world.suppliers)):
        if not rows:
            raise ValueError(f"folder={str(folder)!r} has no usable {name}; problems: {reader.problems[:5]}")
    return LoadedWorld(replace(world, digest=world_digest(world)), tuple(reader.problems))


class _Reader:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.problems: list[LeftOutRow] = []

    def _rows(
        self, file: str, model: type[RowType], key: Callable[[RowType], str], known: Callable[[RowType], str | None]
    ) -> list[RowType]:
        """Return the usable rows; ``known`` says what is wrong with a valid row, duplicates of ``key`` are left out."""
        rows: dict[str, RowType] = {}
        for number, fields in enumerate(_read_csv(self._folder / file), 1):
            fault: str | None
            if isinstance(fields, str):
                fault = fields
            else:
                try:
                    row = model.model_validate(fields)
                    fault = known(row)
                    if fault is None and key(row) in rows:
                        fault = f"{key(row)!r} was already read"
                    if fault is None:
                        rows[key(row)] = row
                except ValidationError as error:
                    fault = "; ".join(
                        f"{'.'.join(map(str, e['loc'])) or 'row'}={str(e['input'])[:60]!r}: {e['msg']}"
                        for e in error.errors(include_url=False)
                    )
            if fault is not None:
                self.problems.append(LeftOutRow(file, number, fault))
        if not rows:
            raise ValueError(f"{self._folder / file} has no usable row; problems: {self.problems[:5]}")
        return list(rows.values())

    def store_types(self) -> tuple[StoreType, ...]:
        table = {row.name: row for row in STORE_TYPES}
        rows = self._rows(
            "store_types.csv",
            schema.StoreTypeRow,
            lambda row: row.store_type_id,
            lambda row: _unknown("store_type_id", row.store_type_id, table),
        )
        return tuple(replace(table[row.store_type_id], title=row.store_type_name, tier=row.tier) for row in rows)

    def categories(self, store_types: Sequence[StoreType]) -> tuple[Category, ...]:
        index = {row.name: place for place, row in enumerate(store_types)}
        rows = self._rows(
            "category_params.csv",
            schema.CategoryRow,
            lambda row: row.category,
            lambda row: _unknown("store_type", row.store_type, index),
        )
        return tuple(
            Category(
                name=row.category,
                store_type=index[row.store_type],
                default_size=row.default_size,
                reference_min_fen=to_fen(row.ref_price_min),
                reference_max_fen=to_fen(row.ref_price_max),
                monthly_sales_min=row.monthly_sales_min,
                monthly_sales_max=row.monthly_sales_max,
                return_rate_min=row.return_rate_min,
                return_rate_max=row.return_rate_max,
                return_wording=row.return_rate_description,
                response=row.elasticity_type,
                elasticity=row.elasticity_param,
                wholesale_ratio=row.wholesale_ratio,
                floor_ratio=row.cost_floor_ratio,
                scam_cap_ratio=row.scam_cap_ratio,
            )
            for row in rows
        )

    def skus(self, categories: Sequence[Category]) -> SkuTable:
        index = {row.name: place for place, row in enumerate(categories)}
        rows = self._rows(
            "products.csv",
            schema.ProductRow,
            lambda row: row.product_id,
            lambda row: _unknown("category", row.category, index),
        )
        category = np.array([index[row.category] for row in rows], dtype=np.int64)
        return SkuTable(
            sku_id=tuple(row.product_id for row in rows),
            title=tuple(row.title for row in rows),
            brand=tuple(row.brand for row in rows),
            category=category,
            store_type=np.array([row.store_type for row in categories], dtype=np.int64)[category],
            size=np.array([_SIZES.index(row.size) for row in rows], dtype=np.int64),
            reference_fen=np.array([to_fen(row.reference_price) for row in rows], dtype=np.int64),
            return_rate=np.array([row.return_rate for row in rows], dtype=np.float64),
        )

    def suppliers(self, categories: Sequence[Category]) -> list[Supplier]:
        index = {row.name: place for place, row in enumerate(categories)}
        rows = self._rows(
            "suppliers.csv",
            schema.SupplierRow,
            lambda row: row.supplier_name,
            lambda row: _unknown("categories_served", row.categories_served[0], index),
        )
        return [
            Supplier(
                "",
                row.supplier_name,
                "",
                index[row.categories_served[0]],
                row.personality,
                row.fraud_type,
                row.bankruptcy_threshold,
            )
            for row in rows
        ]

    def promotions(self) -> tuple[Promotion, ...]:
        rows = self._rows("promotions.csv", schema.PromotionRow, lambda row: row.event_name, _bad_window)
        return tuple(
            Promotion(
                row.event_name,
                tuple((day_of(first), day_of(last)) for first, last in row.windows),
                row.max_demand_multiplier,
                row.elasticity_boost,
            )
            for row in rows
        )

    def events(self, store_types: Sequence[StoreType]) -> tuple[Event, ...]:
        index = {row.name: place for place, row in enumerate(store_types)}

        def fault(row: schema.EventRow) -> str | None:
            affected = row.supply_effects.affected_categories
            names = [*row.demand_effects, *(affected if isinstance(affected, list) else [])]
            faults = (_unknown("store type", name, index) for name in names)
            return next((found for found in faults if found), None) or _bad_date(row.start_date)

        rows = self._rows("events.csv", schema.EventRow, lambda row: row.event_name, fault)
        return tuple(_event(row, index) for row in rows)


def _event(row: schema.EventRow, index: dict[str, int]) -> Event:
    first, affected = day_of(row.start_date), row.supply_effects.affected_categories
    return Event(
        name=row.event_name,
        first_day=first,
        last_day=first + row.duration_days - 1,
        demand={index[name]: factor for name, factor in row.demand_effects.items()},
        delay=row.supply_effects.delivery_delay_multiplier,
        delayed_types=None if isinstance(affected, str) else tuple(index[name] for name in affected),
        text=row.news_content,
    )


def _bad_date(date: tuple[int, int]) -> str | None:
    try:
        day_of(date)
    except ValueError as error:
        return f"{date[0]:02d}-{date[1]:02d}: {error}"
    return None


def _bad_window(row: schema.PromotionRow) -> str | None:
    return next((fault for window in row.windows for date in window if (fault := _bad_date(date))), None)


def _unknown(field: str, value: str, allowed: Iterable[str]) -> str | None:
    return None if value in set(allowed) else f"{field}={value!r} is unknown"


def _read_csv(path: Path) -> list[dict[str, str] | str]:
    """Return the rows by column name; a row of the wrong length is returned as the text of its fault."""
    if not path.is_file():
        raise ValueError(f"{path} is missing")
    content = path.read_bytes()
    try:
        text = content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is neither UTF-8 nor UTF-16: {error}") from error
    first = text.split("\n", 1)[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count))
    header = [name.strip() for name in next(reader, [])]
    return [
        dict(zip(header, fields, strict=True))
        if len(fields) == len(header)
        else f"{len(fields)} fields, the header has {len(header)}"
        for fields in reader
        if fields
    ]
