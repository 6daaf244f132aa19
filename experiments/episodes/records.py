"""Episode records to and from JSON rows and Parquet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter

from terms import EpisodeRecord
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
    import pyarrow.parquet as pq

    rows = [_flat_row(record) for record in records]
    table = pa.Table.from_pylist(rows, schema=pa.schema([pa.field(name, kind) for name, kind in _columns(pa)]))
    if any(repeats):
        table = table.append_column("repeat", pa.array(repeats, pa.int64()))
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    data: bytes = sink.getvalue().to_pybytes()
    return data


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
