"""Rows as what a notebook shows and what data people load: an HTML table and a pandas data frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def table_html(caption: str, head: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Return ``rows`` under ``head`` and ``caption`` as HTML; undefined is a dash, a float has four digits.

    Examples
    --------
    >>> table_html("x < 1", ["x"], [[None]])
    '<p>x &lt; 1</p><table><thead><tr><th>x</th></tr></thead><tbody><tr><td>-</td></tr></tbody></table>'
    """
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(_text(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<p>{escape(caption)}</p><table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"


def data_frame(rows: Sequence[tuple[Any, ...]], columns: Sequence[str]) -> Any:
    """Return ``rows`` as a pandas data frame.

    Raises
    ------
    ModuleNotFoundError
        If pandas is not installed; nothing else here needs it.
    """
    import pandas as pd

    return pd.DataFrame(rows, columns=columns)


def _text(value: object) -> str:
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
