"""Episode records to and from JSON rows and Parquet, and whether the scores of a run may be read.

A silent or broken model is not a stubborn bargainer. The share is of all trials, those lost to the provider included:
``unusable = (no reply + unreadable + lost) / trials``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from experiments.storage.files import parquet_bytes
from terms import EpisodeRecord
from terms.estimates import Estimate, estimate_share
from terms.strict_json import strict_dumps

_ADAPTER = TypeAdapter(EpisodeRecord)


def episode_row(record: EpisodeRecord) -> dict[str, Any]:
    """Return the record as JSON types, every field kept."""
    row: dict[str, Any] = _ADAPTER.dump_python(record, mode="json")
    return row


def episode_from_row(row: dict[str, Any]) -> EpisodeRecord:
    """Return the record a row was made from."""
    return _ADAPTER.validate_python(row, strict=False)


def episodes_parquet(records: Sequence[EpisodeRecord], repeats: Sequence[int] = ()) -> bytes:
    """Return a Parquet file with one row per episode: flat columns for tables, and the whole record as JSON.

    Where a scenario was played more than once, the column ``repeat`` tells which play it was, from 0. The same records
    in the same order give the same bytes.
    """
    import pyarrow as pa

    rows = [_flat_row(record) for record in records]
    table = pa.Table.from_pylist(rows, schema=pa.schema([pa.field(name, kind) for name, kind in _columns(pa)]))
    if any(repeats):
        table = table.append_column("repeat", pa.array(repeats, pa.int64()))
    return parquet_bytes(table)


def _columns(pa: Any) -> list[tuple[str, Any]]:
    text = ("scenario_id", "agent", "regime", "family", "agent_role", "opener", "termination", "fault", "product_name")
    numbers = ("price_min", "price_max", "zopa", "difficulty", "price", "utility")
    hidden = ("agent_reservation", "counterpart_reservation", "counterpart_urgency")
    return [
        *((name, pa.string()) for name in text),
        *((name, pa.float64()) for name in numbers + hidden),
        ("counterpart_stance", pa.string()),
        ("episode_seed", pa.int64()),
        ("difficulty_bin", pa.int64()),
        ("rounds_played", pa.int64()),
        ("num_critical", pa.int64()),
        ("record", pa.string()),
    ]


def _flat_row(record: EpisodeRecord) -> dict[str, Any]:
    row = episode_row(record)
    flat = {name: row[name] for name in row if name not in ("turns", "violations")}
    return {
        **flat,
        "agent_reservation": record.agent_type.reservation_price,
        "counterpart_reservation": record.counterpart_type.reservation_price,
        "counterpart_urgency": record.counterpart_type.urgency,
        "counterpart_stance": record.counterpart_type.stance.value,
        "rounds_played": record.rounds_played,
        "num_critical": sum(violation.kind.is_critical for violation in record.violations),
        "record": strict_dumps(row),
    }


MAX_UNUSABLE_SHARE = 0.05


def share_of_trials(records: Sequence[EpisodeRecord], hits: Sequence[bool]) -> Estimate:
    """Return a share of trials, provider failures included, so not through ``Columns``, which leaves them out."""
    names = np.array([record.scenario_id for record in records], dtype=str)
    clusters = np.unique(names, return_inverse=True)[1].astype(np.intp)
    return estimate_share(np.array(hits, dtype=float), np.ones(len(records)), clusters)


def unusable_share(records: Sequence[EpisodeRecord]) -> Estimate:
    """Return the share of trials that a reply without a move, or the provider, ended."""
    return share_of_trials(records, [record.fault is not None for record in records])


def invalidity(records: Sequence[EpisodeRecord], max_share: float = MAX_UNUSABLE_SHARE) -> str | None:
    """Say why the scores of these trials must not be read, or return ``None`` when they may be."""
    if all(record.is_excluded for record in records):
        return "nothing was scored"
    share = unusable_share(records).estimate
    return None if share is None else too_many_unusable(share, max_share)


def too_many_unusable(share: float, max_share: float = MAX_UNUSABLE_SHARE) -> str | None:
    """Say so when ``share`` of the trials ended without a usable reply and that is too many."""
    if share > max_share:
        return f"{share:.1%} of the trials ended without a usable reply, more than {max_share:.0%}"
    return None
