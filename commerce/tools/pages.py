"""Pages of tables: columns first, told as rows only where somebody reads rows.

A program that plays thousands of pages reads a few columns of each; to make every row of every page an object took a
fifth of its year. What a page says is fixed when the call is answered, in either form.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from commerce.types import World

DERIVED_COLUMNS: Mapping[str, Callable[[dict[str, Any]], Any]] = {
    "unit_days": lambda row: sum(lot["age_days"] * lot["units"] for lot in row["lots"]),
}
"""Columns that no row has and that follow from it."""


class TablePage:
    """One page of a table.

    Parameters
    ----------
    make
        Returns the rows.
    page, page_size, total
        Which page it is, and of how many rows in all.
    columns
        Those that are known without making the rows, derived ones too.
    write
        Returns the JSON texts of the rows, keys in order and without blanks, where they need no rows.
    """

    __slots__ = ("_columns", "_make", "_rows", "_write", "page", "pages", "total")

    def __init__(
        self,
        make: Callable[[], list[dict[str, Any]]],
        page: int,
        page_size: int,
        total: int,
        columns: Mapping[str, Sequence[Any]] | None = None,
        write: Callable[[], list[str]] | None = None,
    ) -> None:
        self._make, self._columns, self._write = make, columns or {}, write
        self._rows: list[dict[str, Any]] | None = None
        self.page, self.pages, self.total = page, max(1, -(-total // page_size)), total

    def column(self, name: str) -> Sequence[Any]:
        """Return one column."""
        found = self._columns.get(name)
        return _column(self.rows, name) if found is None else found

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows."""
        if self._rows is None:
            self._rows = self._make()
        return self._rows

    def written(self) -> str:
        """Return the page as canonical JSON: what :func:`canonical` writes of :meth:`to_json_object`."""
        if self._write is None:
            return canonical(self.to_json_object())
        rows = ",".join(self._write())
        return f'{{"page":{self.page},"pages":{self.pages},"results":[{rows}],"total":{self.total}}}'

    def to_json_object(self) -> dict[str, Any]:
        """Return the page as it is told."""
        return {"results": self.rows, "page": self.page, "pages": self.pages, "total": self.total}


canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False, check_circular=False).encode
"""Writes JSON data: keys in order, no blanks. What holds itself would recurse."""


class WrittenNames(NamedTuple):
    """Names of a world as JSON texts: id, title and category by SKU, address by supplier."""

    ids: list[str]
    titles: list[str]
    categories: list[str]
    suppliers: list[str]


def written_names(world: World) -> WrittenNames:
    """Return the names of ``world``, worked out once."""
    found: WrittenNames | None = world.kept.get(_NAMES)
    if found is None:
        skus, addresses = world.skus, [supplier.email for supplier in world.suppliers]
        columns = (skus.sku_id, skus.title, world.category_names, addresses)
        found = world.kept[_NAMES] = WrittenNames(*([canonical(name) for name in column] for column in columns))
    return found


_NAMES = "names as JSON texts"


def bounds(page: int, page_size: int) -> slice:
    """Return where a page lies among all rows."""
    return slice((page - 1) * page_size, page * page_size)


def told(found: Any) -> Any:
    """Return an answer of a tool as JSON data: it is a page, or has some."""
    if isinstance(found, TablePage):
        return found.to_json_object()
    if found is None or not any(isinstance(part, TablePage) for part in found.values()):
        return found
    return {name: part.to_json_object() if isinstance(part, TablePage) else part for name, part in found.items()}


def read_columns(found: TablePage | Mapping[str, Any], names: Iterable[str]) -> list[Sequence[Any]]:
    """Return columns of a page, in whichever form it came."""
    if isinstance(found, TablePage):
        return [found.column(name) for name in names]
    return [_column(found.get("results", []), name) for name in names]


def _column(rows: Sequence[dict[str, Any]], name: str) -> list[Any]:
    derive = DERIVED_COLUMNS.get(name)
    return [row[name] for row in rows] if derive is None else [derive(row) for row in rows]
