"""Data-grounded episodes: a catalogue of priced items replaces the synthetic geometry (paper, section 3.3).

Each item has a reference price and a historic low and high; each category has public bounds, those its rows state or
else the lowest low and highest high of its items. Reservations lie on an interval of the item's own spread ``s = high -
low``, centred on the reference and moved inside the category's bounds; on it the three regimes draw exactly as on the
synthetic range. Kernel and metrics are unchanged.

This is the one module of the game that opens files. No row disappears: every dropped one is listed with its reason.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from terms.catalog_columns import BOUNDS, KNOWN_COLUMNS, ItemColumns, find_columns
from terms.catalog_rows import READABLE_SUFFIXES, RowFault, column_key, read_table
from terms.cells import Cell, suite_cells
from terms.config import PRICE_LIMIT, GameConfig
from terms.draws import keyed_stream
from terms.prices import parse_price
from terms.scenario import PriceFrame, Product, Scenario
from terms.suites import EPISODES_PER_CELL, drawn_suite
from terms.types import Family, Regime

DETAILS_LENGTH = 280
#: A spread that is a smaller share of the price leaves no room for distinct offers.
MIN_SPREAD = 1e-9
_PRICES = ("reference_price", "low_price", "high_price")
_SHOWN = 40


class DroppedRow(NamedTuple):
    """A row that could not be used, and why. ``row`` counts from 1 within its file, without the header."""

    file: str
    row: int
    reason: str
    detail: str


class Bounds(NamedTuple):
    """Public price bounds of a category."""

    low: float
    high: float


class _Row(NamedTuple):
    """What a row holds: an item, and the bounds it states for its category, if any."""

    product: Product
    bounds: Bounds | None


@dataclass(frozen=True)
class Catalog:
    """Usable items, dropped rows, a hash of the files they came from, and the bounds stated for categories."""

    products: tuple[Product, ...]
    dropped: tuple[DroppedRow, ...]
    digest: str
    bounds: Mapping[str, Bounds] = field(default_factory=dict)

    @property
    def num_read(self) -> int:
        """Rows read."""
        return len(self.products) + len(self.dropped)

    @property
    def dropped_by_reason(self) -> dict[str, int]:
        """Count of dropped rows by reason."""
        reasons = [row.reason for row in self.dropped]
        return {reason: reasons.count(reason) for reason in sorted(set(reasons))}

    @property
    def by_category(self) -> dict[str, tuple[Product, ...]]:
        """Items of each category, categories sorted by name."""
        found: dict[str, list[Product]] = {}
        for product in self.products:
            found.setdefault(product.category, []).append(product)
        return {name: tuple(found[name]) for name in sorted(found)}


def load_catalog(path: str | Path, columns: Mapping[str, str] | None = None) -> Catalog:
    """Read a CSV or JSON file, or every such file of a folder.

    Parameters
    ----------
    path
        A CSV with a header, a JSON list of objects, or a folder of such files.
    columns
        Column of each field, or a share of the reference price, for files that are not recognised; see
        :mod:`terms.catalog_columns`.

    Raises
    ------
    ValueError
        If there is no such file, a file is not readable as what its name says or lacks a column, no row is usable, or
        rows of one category state different bounds.
    """
    rows: list[tuple[str, int, _Row | RowFault]] = []
    digest = hashlib.sha256()
    for file in _files(Path(path)):
        content = file.read_bytes()
        digest.update(file.name.encode("utf-8", "surrogateescape") + b"\0" + content + b"\0")
        rows.extend((file.name, number, row) for number, row in enumerate(_items(file, content, columns), 1))
    bounds = _stated_bounds(path, (row for _, _, row in rows if isinstance(row, _Row)))
    products: dict[tuple[str, str], Product] = {}
    dropped: list[DroppedRow] = []
    for name, number, row in rows:
        usable = _usable(row, products, bounds)
        if isinstance(usable, RowFault):
            dropped.append(DroppedRow(name, number, *usable))
        else:
            products[usable.category, usable.name] = usable
    catalog = Catalog(tuple(products.values()), tuple(dropped), digest.hexdigest(), bounds)
    if not products:
        raise ValueError(
            f"path={str(path)!r} has no usable row; dropped: {catalog.dropped_by_reason or 'nothing read'}"
        )
    return catalog


def catalog_suite(
    source: str | Path | Catalog,
    regimes: Sequence[Regime | str] | None = None,
    families: Sequence[Family | str] | None = None,
    n_per_cell: int = EPISODES_PER_CELL,
    *,
    seed: int = 0,
    config: GameConfig | None = None,
) -> tuple[Scenario, ...]:
    """Return episodes on items of a catalogue or of the one at a path: a category is drawn, then an item of it.

    See :func:`load_catalog` for the rows that were left out.
    """
    catalog = source if isinstance(source, Catalog) else load_catalog(source)
    frames = [_frames(items, catalog.bounds.get(name)) for name, items in catalog.by_category.items()]

    def frame(cell: Cell, episode: int) -> PriceFrame:
        rng = keyed_stream("product", seed, cell, episode)
        category = frames[int(rng.integers(len(frames)))]
        return category[int(rng.integers(len(category)))]

    return drawn_suite("catalog", seed, suite_cells(regimes, families), n_per_cell, frame, config or GameConfig())


def _stated_bounds(path: str | Path, rows: Iterable[_Row]) -> dict[str, Bounds]:
    found: dict[str, Bounds] = {}
    for product, bounds in rows:
        if bounds is not None and found.setdefault(product.category, bounds) != bounds:
            one, other = found[product.category], bounds
            raise ValueError(
                f"path={str(path)!r}: category={_cut(product.category)} is stated to lie in [{one.low}, {one.high}] "
                f"and in [{other.low}, {other.high}]; needed is one pair of bounds a category"
            )
    return found


def _usable(
    row: _Row | RowFault, earlier: Mapping[tuple[str, str], Product], bounds: Mapping[str, Bounds]
) -> Product | RowFault:
    """Return the item of ``row``, or why it cannot be used beside the others."""
    if isinstance(row, RowFault):
        return row
    product, limits = row.product, bounds.get(row.product.category)
    if (product.category, product.name) in earlier:
        return RowFault("duplicate", f"name={_cut(product.name)} already read")
    if limits is not None and not limits.low <= product.low_price < product.high_price <= limits.high:
        span = f"[{product.low_price}, {product.high_price}]"
        return RowFault("outside the bounds of its category", f"{span} not in [{limits.low}, {limits.high}]")
    return product


def _frames(category: Sequence[Product], stated: Bounds | None) -> list[PriceFrame]:
    price_min, price_max = stated or (
        min(item.low_price for item in category), max(item.high_price for item in category)
    )  # fmt: skip
    return [PriceFrame.around(item, price_min, price_max) for item in category]


def _files(path: Path) -> list[Path]:
    files = sorted(filter(_is_readable, path.iterdir())) if path.is_dir() else [path]
    if not files or not _is_readable(files[0]):
        kinds = " or ".join(READABLE_SUFFIXES)
        raise ValueError(f"path={str(path)!r} is not a {kinds} file or a folder that holds one")
    return files


def _is_readable(file: Path) -> bool:
    return file.suffix.lower() in READABLE_SUFFIXES and file.is_file()


def _items(file: Path, content: bytes, given: Mapping[str, str] | None) -> list[_Row | RowFault]:
    table = read_table(str(file), content, KNOWN_COLUMNS.union(map(column_key, (given or {}).values())))
    if not any(isinstance(row, Mapping) for row in table.rows):
        return [row for row in table.rows if isinstance(row, RowFault)]
    columns = find_columns(str(file), table.header, given)
    return [row if isinstance(row, RowFault) else _read_row(row, columns, file.stem) for row in table.rows]


def _read_row(row: Mapping[str, Any], columns: ItemColumns, default_category: str) -> _Row | RowFault:
    name, details = columns.text(row, "name"), columns.text(row, "details")[:DETAILS_LENGTH]
    category = columns.text(row, "category") or default_category
    if not name:
        return RowFault("empty field", "name")
    for what, text in (("name", name), ("category", category), ("details", details)):
        if any(not char.isprintable() and (ord(char) < 32 or 0xD800 <= ord(char) < 0xE000) for char in text):
            return RowFault("unreadable text", f"{what}={_cut(text)}")
    prices = _read_prices(row, columns)
    if isinstance(prices, RowFault):
        return prices
    reference, low, high = prices
    if not (low > 0 and high - low > MIN_SPREAD * high):
        return RowFault("no price spread", f"low_price={low}, high_price={high}")
    if not low <= reference <= high:
        return RowFault("reference outside low and high", f"reference_price={reference} not in [{low}, {high}]")
    bounds = _read_bounds(row, columns)
    if isinstance(bounds, RowFault):
        return bounds
    return _Row(Product(name, category, reference, low, high, details), bounds)


def _read_prices(row: Mapping[str, Any], columns: ItemColumns) -> list[float] | RowFault:
    prices: list[float] = []
    for name in _PRICES:
        if name in columns.shares:
            prices.append(prices[0] * columns.shares[name])
            continue
        raw = columns.value(row, name)
        if raw is None:
            return RowFault("empty field", name)
        price = _price(raw)
        if price is None:
            return RowFault("unreadable price", f"{name}={_cut(raw)}")
        prices.append(price)
    return prices


def _read_bounds(row: Mapping[str, Any], columns: ItemColumns) -> Bounds | RowFault | None:
    """Return the bounds that a row states for its category, ``None`` if both cells are empty or there are none."""
    raw = [columns.value(row, name) for name in BOUNDS]
    if raw == [None, None]:
        return None
    ends = [None if each is None else _price(each) for each in raw]
    for name, text, end in zip(BOUNDS, raw, ends, strict=True):
        if end is None:
            return RowFault("unreadable price", f"{name}={_cut(text)}")
    low, high = (float(end or 0) for end in ends)
    if not low < high:
        return RowFault("no price spread", f"category_low={low}, category_high={high}")
    return Bounds(low, high)


def _cut(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 2 * _SHOWN else f"{text[: 2 * _SHOWN]}..."


def _price(raw: Any) -> float | None:
    if isinstance(raw, bool):
        return None
    try:
        value = float(raw) if isinstance(raw, int | float) else parse_price(str(raw))
    except OverflowError:  # an integer beyond the range of a float
        return None
    return value if value is not None and abs(value) <= PRICE_LIMIT else None  # also false for a NaN
