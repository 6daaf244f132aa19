"""The rows of a catalogue file, from its bytes: CSV with a header, or a JSON list of objects.

A CSV may be separated by comma, semicolon or tab; UTF-8 (with or without byte-order mark) and UTF-16 are read. What
cannot be read as rows is refused with the file's name; a single row that cannot is kept as its fault.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

#: Longer ones are a quote left open or no catalogue; the text of an item is cut far below.
MAX_FIELD = 131_072
READABLE_SUFFIXES = (".csv", ".json")


class RowFault(NamedTuple):
    """Why a row holds no item."""

    reason: str
    detail: str


class CatalogTable(NamedTuple):
    """Column names in order, and for each row its values by column, or what is wrong with it."""

    header: tuple[str, ...]
    rows: tuple[Mapping[str, Any] | RowFault, ...]


def column_key(name: str) -> str:
    """Return the name of a column without what differs between files: case, and how its words are parted."""
    return " ".join(re.split(r"[\s_.\-]+", name.casefold().strip()))


def read_table(name: str, content: bytes, known: Collection[str] = ()) -> CatalogTable:
    """Return the rows of the file called ``name``; ``known`` keys of columns decide which separator it has.

    Raises
    ------
    ValueError
        If the file is not what its name says.
    """
    text = _decode(name, content)
    return _csv_table(text, known) if name.lower().endswith(".csv") else _json_table(name, text)


def _decode(name: str, content: bytes) -> str:
    encoding = "utf-8-sig"
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
    elif 0 in content[:2]:  # no byte-order mark, and no text in UTF-8 has a zero in its first letter
        encoding = "utf-16-be" if content[:1] == b"\0" else "utf-16-le"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        place = f"byte {error.start} cannot be read as {encoding.removesuffix('-sig')}"
        raise ValueError(f"{name} is neither UTF-8 nor UTF-16 ({place}); save it as UTF-8") from None


def _json_table(name: str, text: str) -> CatalogTable:
    try:
        rows = json.loads(text)
    except RecursionError:
        raise ValueError(f"{name} is not JSON that can be read: it is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{name} is not JSON: {error}") from None
    if not isinstance(rows, list):
        raise ValueError(f"{name} holds a {type(rows).__name__}; a list of objects is needed")
    header = dict.fromkeys(key for row in rows if isinstance(row, dict) for key in row)
    return CatalogTable(tuple(header), tuple(map(_json_row, rows)))


def _json_row(row: object) -> Mapping[str, Any] | RowFault:
    if isinstance(row, dict):
        return row
    return RowFault("ragged row", f"a {type(row).__name__}, not an object")


def _csv_table(text: str, known: Collection[str]) -> CatalogTable:
    if text[:4].lower() == "sep=":  # a first line some spreadsheets write
        text = text.partition("\n")[2]
    with _long_fields(len(text)):
        headers = {mark: _header(_reader(text, mark)) for mark in ",;\t"}
        numbers = {mark: (sum(column_key(name) in known for name in row), len(row)) for mark, row in headers.items()}
        delimiter = max(numbers, key=lambda mark: numbers[mark])
        reader = _reader(text, delimiter)
        header = _header(reader)
        return CatalogTable(tuple(header), tuple(_csv_rows(reader, header)))


def _csv_rows(reader: Any, header: Sequence[str]) -> Iterator[Mapping[str, Any] | RowFault]:
    line = reader.line_num
    for fields in reader:
        lines, line = reader.line_num - line, reader.line_num
        hint = f", over {lines} lines: is a quote left open?" if lines > 1 else ""
        if not fields:
            continue
        if len(fields) != len(header):
            yield RowFault("ragged row", f"{len(fields)} fields, the header has {len(header)}{hint}")
        elif (longest := max(map(len, fields))) > MAX_FIELD:
            yield RowFault("field too long", f"{longest} characters; at most {MAX_FIELD} are read{hint}")
        else:  # of two columns with one name the first counts
            yield dict(zip(reversed(header), reversed(fields), strict=True))


@contextmanager
def _long_fields(length: int) -> Iterator[None]:
    """Let the reader take fields up to ``length``; it would refuse the whole file for one that is too long."""
    before = csv.field_size_limit(max(length, MAX_FIELD))
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _reader(text: str, delimiter: str) -> Any:  # the type of csv.reader has no public name
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)


def _header(reader: Iterator[list[str]]) -> list[str]:
    return [name.strip() for name in next(reader, [])]
