"""What a tool handler works with, and the shapes its answers share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from commerce.decisions import Decisions
from commerce.refusals import RefusedError
from commerce.setting import Setting
from commerce.state import YearState
from commerce.supplier_protocol import Procurement
from commerce.tools.pages import TablePage, bounds

_T = TypeVar("_T")
Data = dict[str, Any]


@dataclass(frozen=True)
class Desk:
    """The year as its tools see it."""

    setting: Setting
    state: YearState
    procurement: Procurement
    decisions: Decisions


def clock(minute: int) -> str:
    """Return a minute of the day as HH:MM."""
    return f"{minute // 60:02d}:{minute % 60:02d}"


def paged(rows: Sequence[_T], page: int, page_size: int, show: Callable[[_T], Data]) -> Data:
    """Return one page of ``rows`` and where it lies; a page past the end is empty."""
    shown = [show(row) for row in rows[bounds(page, page_size)]]
    return TablePage(lambda: shown, page, page_size, len(rows)).to_json_object()


def each_item(items: Iterable[_T], product_id: Callable[[_T], str], act: Callable[[_T], Data]) -> Data:
    """Do ``act`` for every item; an item that cannot be done fails alone and says why."""
    results: list[Data] = []
    for item in items:
        try:
            results.append({"product_id": product_id(item), "ok": True, **act(item)})
        except RefusedError as error:
            refusal = error.refusal
            fault = {"code": refusal.code, "field": refusal.field, "message": refusal.message}
            results.append({"product_id": product_id(item), "ok": False, "error": fault})
    return {"results": results, "num_failed": sum(not row["ok"] for row in results)}
