"""A server's own list of its models, with what it says about each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from experiments.llm.errors import MalformedReply
from experiments.llm.settings import Prices
from experiments.llm.texts import whole_characters

_CONTEXT = ("context_length", "max_model_len", "context_window", "max_context_length")
_MICRO_A_MILLION = 10**12
_LONGEST_NAME = 200


class ListedModel(NamedTuple):
    """One model of the list; ``None`` is what the server does not say."""

    id: str
    context_tokens: int | None = None
    prices: Prices | None = None


def read_models(text: str) -> tuple[ListedModel, ...]:
    """Return the models of the answer to ``GET /models``.

    Raises
    ------
    MalformedReply
        If it is no such list.
    """
    try:
        rows = json.loads(text)["data"]
        return tuple(_read_row(row) for row in rows if isinstance(row.get("id"), str))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise MalformedReply(f"no list of models but {' '.join(text.split())[:100]!r}") from None


def _read_row(row: Mapping[str, Any]) -> ListedModel:
    meta = row.get("meta")
    told = [row.get(name) for name in _CONTEXT] + [meta.get("n_ctx_train") if isinstance(meta, Mapping) else None]
    context = next((size for size in told if isinstance(size, int) and size > 0), None)
    return ListedModel(whole_characters(row["id"])[:_LONGEST_NAME], context, _read_prices(row.get("pricing")))


def _read_prices(told: object) -> Prices | None:
    """Return prices told in dollars a token, as routers do."""
    if not isinstance(told, Mapping):
        return None
    try:
        prompt, completion = (int(Decimal(str(told[name])) * _MICRO_A_MILLION) for name in ("prompt", "completion"))
        return Prices(prompt=prompt, completion=completion)
    except (KeyError, InvalidOperation, ValueError, OverflowError):
        return None
