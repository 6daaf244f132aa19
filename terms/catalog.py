"""Data-grounded episodes: a catalogue of priced items replaces the synthetic geometry (paper, section 3.3).

Each item has a reference price and a historic low and high; each category has public bounds, the lowest low and highest
high of its items. Reservations lie on an interval of the item's own spread ``s = high - low``, centred on the reference
and moved inside the category's bounds; on it the three regimes draw exactly as on the synthetic range. Kernel and
metrics are unchanged.

This is the one module of the game that opens files. No row disappears: every dropped one is listed with its reason.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from terms.cells import Cell, suite_cells
from terms.config import PRICE_LIMIT, GameConfig
from terms.draws import keyed_stream
from terms.prices import parse_price
from terms.scenario import PriceFrame, Product, Scenario
from terms.suites import EPISODES_PER_CELL, drawn_suite
from terms.types import Family, Regime

#: Accepted column names; the first that is present counts. The second of each is that of AmazonHistoryPrice.
COLUMNS = {
    "name": ("name", "title"),
    "category": ("category",),
    "reference_price": ("reference_price", "average_price"),
    "low_price": ("low_price", "lowest_price"),
    "high_price": ("high_price", "highest_price"),
    "details": ("details", "description"),
}
DETAILS_LENGTH = 280
#: A spread that is a smaller share of the price leaves no room for distinct offers.
MIN_SPREAD = 1e-9
_READERS = (".csv", ".json")


class DroppedRow(NamedTuple):
    """A row that could not be used, and why. ``row`` counts from 1 within its file, without the header."""

    file: str
    row: int
    reason: str
    detail: str


@dataclass(frozen=True)
class Catalog:
    """Usable items, dropped rows, and a hash of the files they came from."""

    products: tuple[Product, ...]
    dropped: tuple[DroppedRow, ...]
    digest: str

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
        names = sorted({product.category for product in self.products})
        return {name: tuple(p for p in self.products if p.category == name) for name in names}


def load_catalog(path: str | Path) -> Catalog:
    """Read a CSV or JSON file, or every such file of a folder.

    A CSV has a header; comma, semicolon or tab separate; UTF-8 (with or without byte-order mark) and UTF-16 are read. A
    JSON file is a list of objects. Column names are those of :data:`COLUMNS`; others are ignored.

    Raises
    ------
    ValueError
        If there is no such file, a file is not readable as what its name says, or no row is usable.
    """
    products: list[Product] = []
    dropped: list[DroppedRow] = []
    seen: set[tuple[str, str]] = set()
    digest = hashlib.sha256()
    for file in _files(Path(path)):
        content = file.read_bytes()
        digest.update(file.name.encode() + b"\0" + content + b"\0")
        for number, row in enumerate(_rows(file, content), 1):
            product = _read_row(row, default_category=file.stem)
            if isinstance(product, Product) and (product.category, product.name) in seen:
                product = ("duplicate", f"name={product.name!r} already read")
            if isinstance(product, Product):
                seen.add((product.category, product.name))
                products.append(product)
            else:
                dropped.append(DroppedRow(file.name, number, *product))
    catalog = Catalog(tuple(products), tuple(dropped), digest.hexdigest())
    if not products:
        raise ValueError(
            f"path={str(path)!r} has no usable row; dropped: {catalog.dropped_by_reason or 'nothing read'}"
        )
    return catalog


def catalog_suite(
    path: str | Path,
    regimes: Sequence[Regime | str] | None = None,
    families: Sequence[Family | str] | None = None,
    n_per_cell: int = EPISODES_PER_CELL,
    *,
    seed: int = 0,
    config: GameConfig | None = None,
) -> tuple[Scenario, ...]:
    """Return episodes on items of the catalogue at ``path``: a category is drawn, then an item of it.

    See :func:`load_catalog` for the rows that were left out.
    """
    frames = [[_frame(product, items) for product in items] for items in load_catalog(path).by_category.values()]

    def frame(cell: Cell, episode: int) -> PriceFrame:
        rng = keyed_stream("product", seed, cell, episode)
        category = frames[int(rng.integers(len(frames)))]
        return category[int(rng.integers(len(category)))]

    return drawn_suite("catalog", seed, suite_cells(regimes, families), n_per_cell, frame, config or GameConfig())


def _frame(product: Product, category: Sequence[Product]) -> PriceFrame:
    price_min, price_max = min(item.low_price for item in category), max(item.high_price for item in category)
    return PriceFrame.around(product, price_min, price_max)


def _files(path: Path) -> list[Path]:
    files = sorted(filter(_is_readable, path.iterdir())) if path.is_dir() else [path]
    if not files or not _is_readable(files[0]):
        raise ValueError(f"path={str(path)!r} is not a {' or '.join(_READERS)} file or a folder that holds one")
    return files


def _is_readable(file: Path) -> bool:
    return file.suffix.lower() in _READERS and file.is_file()


def _rows(file: Path, content: bytes) -> Iterator[Mapping[str, Any] | str]:
    """Yield the rows of a file; a row that has no fields to read is yielded as the text of its fault."""
    text = _decode(file, content)
    if file.suffix.lower() == ".csv":
        try:
            yield from _csv_rows(text)
        except csv.Error as error:
            raise ValueError(f"{file} is not CSV: {error}") from error
        return
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file} is not JSON: {error}") from error
    if not isinstance(rows, list):
        raise ValueError(f"{file} holds a {type(rows).__name__}; a list of objects is needed")
    yield from (row if isinstance(row, dict) else f"a {type(row).__name__}, not an object" for row in rows)


def _decode(file: Path, content: bytes) -> str:
    is_utf16 = content[:2] in (b"\xff\xfe", b"\xfe\xff")
    try:
        return content.decode("utf-16" if is_utf16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} is neither UTF-8 nor UTF-16: {error}") from error


def _csv_rows(text: str) -> Iterator[Mapping[str, Any] | str]:
    known = {name for names in COLUMNS.values() for name in names}
    delimiter = max(",;\t", key=lambda mark: len(known.intersection(_header(_reader(text, mark)))))
    reader = _reader(text, delimiter)
    header, line = _header(reader), reader.line_num
    for fields in reader:
        lines, line = reader.line_num - line, reader.line_num
        if not fields:
            continue
        if len(fields) != len(header):
            hint = f", over {lines} lines: is a quote left open?" if lines > 1 else ""
            yield f"{len(fields)} fields, the header has {len(header)}{hint}"
        else:
            yield dict(zip(header, fields, strict=True))


def _reader(text: str, delimiter: str) -> Any:  # the type of csv.reader has no public name
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)


def _header(reader: Iterator[list[str]]) -> list[str]:
    return [name.strip() for name in next(reader, [])]


def _read_row(row: Mapping[str, Any] | str, default_category: str) -> Product | tuple[str, str]:
    """Return the item, or the reason and detail of dropping the row."""
    if isinstance(row, str):
        return "ragged row", row
    values = {field: next((row[name] for name in names if name in row), None) for field, names in COLUMNS.items()}
    name = str(values["name"] or "").strip()
    if not name:
        return "empty field", "name"
    prices = []
    for field in ("reference_price", "low_price", "high_price"):
        raw = values[field]
        if raw is None or str(raw).strip() == "":
            return "empty field", field
        price = _price(raw)
        if price is None:
            return "unreadable price", f"{field}={raw!r}"
        prices.append(price)
    reference, low, high = prices
    if not (low > 0 and high - low > MIN_SPREAD * high):
        return "no price spread", f"low_price={low}, high_price={high}"
    if not low <= reference <= high:
        return "reference outside low and high", f"reference_price={reference} not in [{low}, {high}]"
    category = str(values["category"] or "").strip() or default_category
    details = " ".join(str(values["details"] or "").split())[:DETAILS_LENGTH]
    return Product(name, category, reference, low, high, details)


def _price(raw: Any) -> float | None:
    if isinstance(raw, bool):
        return None
    try:
        value = float(raw) if isinstance(raw, int | float) else parse_price(str(raw))
    except OverflowError:  # an integer beyond the range of a float
        return None
    return value if value is not None and abs(value) <= PRICE_LIMIT else None  # also false for a NaN
