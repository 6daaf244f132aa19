"""Which column of a catalogue file holds what.

Two layouts are recognised, whatever the case of the names and whether spaces, points or underscores part their words.
The own one has three prices, as has AmazonHistoryPrice. Shop systems (Shopify, WooCommerce) and marketplace samples
have two: what an item sells at, and the list price it is compared with. Then reference and low are the selling price,
high is the list price, and an item that sells at its list price has no spread and is dropped.

Every layout may have ``category_low`` and ``category_high``, the public bounds of the item's category; a category for
which no row states them has the lowest low and the highest high of its items.

Anything else is mapped by the user, ``name=Title,price=Amount,low_price=80%,high_price=120%``: a column for each field,
or for low and high a share of the reference price.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from terms.catalog_rows import column_key

NEEDED = ("name", "reference_price", "low_price", "high_price")
BOUNDS = ("category_low", "category_high")
FIELDS = (*NEEDED, "category", "details", *BOUNDS)
_ALIASES = {"price": "reference_price"}
_SELLING = (
    "variant price", "sale price", "selling price", "discounted price", "discount price", "special price", "price",
)  # fmt: skip
_BOUND_COLUMNS = {"category_low": ("category low", "category low price"),
                  "category_high": ("category high", "category high price")}  # fmt: skip
#: Names of the columns of each layout, the preferred one first.
LAYOUTS: tuple[Mapping[str, tuple[str, ...]], ...] = (
    {
        "name": ("name", "title", "product name"),
        "category": ("category",),
        "reference_price": ("reference price", "average price", "price"),
        "low_price": ("low price", "lowest price"),
        "high_price": ("high price", "highest price"),
        "details": ("details", "description"),
        **_BOUND_COLUMNS,
    },
    {
        "name": ("title", "product name", "name title", "name"),
        "category": (
            "product category tree", "product category", "categories", "category tree", "category", "main category",
            "type",
        ),
        "reference_price": _SELLING,
        "low_price": _SELLING,
        "high_price": (
            "variant compare at price", "compare at price", "regular price", "list price", "listprice", "retail price",
            "actual price", "original price", "mrp",
        ),
        "details": ("short description", "body (html)", "description", "about product"),
        **_BOUND_COLUMNS,
    },
)  # fmt: skip
_SHARE = re.compile(r"(\d{1,4}(?:\.\d{1,4})?)\s?%")
_NUM_SHOWN, _LONGEST_SHOWN = 15, 40
_TREE = re.compile(r"\s*(?:>+|\|)\s*")
_TAG = re.compile(r"<[^<>]*>")
KNOWN_COLUMNS = frozenset(name for layout in LAYOUTS for names in layout.values() for name in names)


class ItemColumns(NamedTuple):
    """Columns of each field, the preferred one first; a share of the reference price where there is none."""

    names: Mapping[str, tuple[str, ...]]
    shares: Mapping[str, float]
    is_shop: bool

    def value(self, row: Mapping[str, Any], field: str) -> object:
        """Return the first value of ``field`` in ``row`` that is not empty, ``None`` where all are."""
        values = (row.get(name) for name in self.names.get(field, ()))
        return next((value for value in values if value is not None and str(value).strip()), None)

    def text(self, row: Mapping[str, Any], field: str) -> str:
        """Return a field of words: of a shop's file the first level of a category, and details without markup."""
        found = str(self.value(row, field) or "")
        if self.is_shop and field == "category":
            found = _TREE.split(found.strip(" [\"']"))[0]
        elif self.is_shop and field == "details":
            found = _TAG.sub(" ", found)
        return " ".join(found.split())


def parse_columns(text: str) -> dict[str, str]:
    """Read ``field=column,...`` as the ``columns`` of :func:`terms.catalog.load_catalog`.

    Raises
    ------
    ValueError
        If a part is no such pair, or a field is unknown or named twice.
    """
    found: dict[str, str] = {}
    for part in text.split(","):
        field, mark, column = (piece.strip() for piece in part.partition("="))
        if not mark or not column:
            raise ValueError(f"columns has {part.strip()!r}; needed is field=column, with commas between")
        field = _ALIASES.get(field, field)
        if field in found:
            raise ValueError(f"columns names {field} twice")
        found[field] = column
    _check_fields(found)
    return found


def find_columns(file: str, header: Sequence[str], given: Mapping[str, str] | None = None) -> ItemColumns:
    """Return where the fields are in a file with this ``header``; ``given`` goes before what is recognised.

    Raises
    ------
    ValueError
        If a column is not there, naming those found and those needed.
    """
    named = {_ALIASES.get(field, field): column for field, column in (given or {}).items()}
    _check_fields(named)
    shares = {field: share for field, column in named.items() if (share := _share(field, column)) is not None}
    chosen = {field: (_exact(file, header, field, named[field]),) for field in named if field not in shares}
    by_key = {column_key(name): name for name in reversed(header)}
    best: list[str] = list(NEEDED)
    for place, layout in enumerate(LAYOUTS):
        names = {field: tuple(by_key[key] for key in keys if key in by_key) for field, keys in layout.items()}
        names = {field: found for field, found in names.items() if found and field not in shares} | chosen
        missing = [field for field in NEEDED if field not in names and field not in shares]
        if not missing:
            return ItemColumns(names, shares, is_shop=place > 0)
        best = min(best, missing, key=len)
    raise ValueError(
        f"{file} has no column for {', '.join(best)}; columns found: {_shown(header)}; needed are {', '.join(NEEDED)}; "
        "name them with columns, such as name=Title,price=Amount,low_price=80%,high_price=120%"
    )


def _check_fields(named: Mapping[str, str]) -> None:
    for field in named:
        if field not in FIELDS:
            allowed = ", ".join(FIELDS)
            raise ValueError(f"columns has the field {field!r}, which is none of {allowed} (price: reference_price)")


def _share(field: str, column: str) -> float | None:
    match = _SHARE.fullmatch(column)
    if match is None:
        return None
    if field not in ("low_price", "high_price"):
        raise ValueError(f"columns has {field}={column}; a share is possible for low_price and high_price alone")
    return float(match[1]) / 100


def _exact(file: str, header: Sequence[str], field: str, column: str) -> str:
    alike = [name for name in header if name == column] or [
        name for name in header if column_key(name) == column_key(column)
    ]
    if not alike:
        raise ValueError(f"columns has {field}={column}, but {file} has the columns {_shown(header)}")
    return alike[0]


def _shown(header: Sequence[str]) -> str:
    shown = [name if name.isprintable() else ascii(name) for name in header[:_NUM_SHOWN]]
    cut = [name if len(name) <= _LONGEST_SHOWN else f"{name[:_LONGEST_SHOWN]}..." for name in shown]
    more = f" and {len(header) - _NUM_SHOWN} more" if len(header) > _NUM_SHOWN else ""
    return (", ".join(cut) or "none") + more
