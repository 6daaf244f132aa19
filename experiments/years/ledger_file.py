"""``ledger.json``, what ``terms ledger YEAR`` stores in the folder of a year, so that a report need not work it out.

The ledger takes half a minute; a report reads it from here. It names the state that it was made from and has a
checksum: whoever reads it checks both, that each table adds up, and that the assets are those of the year. The
counterfactual years behind it are not carried out again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from commerce.metrics import STATEMENT
from experiments.storage.files import read_whole, write_atomically
from oracle.store.regret_streams import Stream
from terms.strict_json import strict_dumps, strict_loads

YEAR_LEDGER = "ledger.json"


class TalkKey(NamedTuple):
    """What tells a purchase apart: day of the talk, supplier's name, SKU, units and price in fen."""

    day: int
    supplier: str
    sku: str
    units: int
    price_fen: int


class StoredLedger(NamedTuple):
    """A ledger as it was stored. Money in fen.

    ``parts``, ``alone`` and ``all_but`` are by stream, ``statement`` by row; ``path_fen`` are the assets of
    ``reference`` by day, and ``bound_fen`` what nobody ends above on average. ``talk_costs`` are what the costliest
    talks cost beside the oracle's, by the buyer's own doing.
    """

    reference: str
    reference_fen: int
    gap_fen: int
    parts: Mapping[Stream, int]
    alone: Mapping[Stream, int]
    all_but: Mapping[Stream, int]
    statement: Mapping[str, int]
    path_fen: tuple[int, ...]
    bound_fen: int
    talk_costs: Mapping[TalkKey, int]


def write_ledger(
    folder: Path, ledger: Mapping[str, Any], path_fen: Sequence[int], bound_fen: int, result: Mapping[str, Any]
) -> None:
    """Store the ledger of the year in ``folder``.

    Parameters
    ----------
    ledger
        Both layers as JSON types.
    path_fen
        Assets of the reference by day.
    bound_fen
        Bound on the expected final assets of anybody in this world.
    result
        What ``result.json`` of the year holds.
    """
    found = {"state_digest": result["state_digest"], **ledger, "path_fen": list(path_fen), "bound_fen": bound_fen}
    write_atomically(folder / YEAR_LEDGER, _written(found))


def _written(found: Mapping[str, Any]) -> bytes:
    checksum = hashlib.sha256(strict_dumps(found).encode()).hexdigest()[:16]
    return (json.dumps({**found, "checksum": checksum}, allow_nan=False, indent=1) + "\n").encode()


def read_ledger(folder: Path, result: Mapping[str, Any]) -> StoredLedger | None:
    """Return the ledger in ``folder``, ``None`` without one.

    Raises
    ------
    ValueError
        If it is of another year, was altered or does not add up.
    """
    path = folder / YEAR_LEDGER
    if not path.exists() and not path.is_symlink():
        return None
    try:
        data = read_whole(path)
        found = strict_loads(data)
        found.pop("checksum")
        if _written(found) != data:
            raise ValueError("the checksum does not match what is written")
        made = _stored(found)
        wrong = list(_findings(found, made, result))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is not what terms ledger writes: {error!r}; run terms ledger again") from error
    if wrong:
        raise ValueError(f"{path}: {'; '.join(wrong)}; run terms ledger again")
    return made


def ledger_findings(folder: Path, result: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the ledger in ``folder``; nothing if there is none."""
    try:
        read_ledger(folder, result)
    except ValueError as error:
        return [str(error)]
    return []


def _stored(found: Mapping[str, Any]) -> StoredLedger:
    regret, rows = found["regret"], {Stream(row["stream"]): row for row in found["regret"]["rows"]}
    statement = {row["name"]: int(row["fen"]) for row in found["statement"]["rows"]}
    if set(rows) != set(Stream) or set(statement) != set(STATEMENT):
        raise ValueError("rows are missing")
    parts, alone, all_but = (
        {stream: int(rows[stream][name]) for stream in Stream} for name in ("part_fen", "alone_fen", "all_but_fen")
    )
    gap, path = int(regret["gap_fen"]), tuple(map(int, found["path_fen"]))
    return StoredLedger(
        str(regret["reference"]),
        int(regret["reference_fen"]),
        gap,
        parts,
        alone,
        all_but,
        statement,
        path,
        int(found["bound_fen"]),
        {TalkKey(*(talk[name] for name in TalkKey._fields)): int(talk["cost_fen"]) for talk in found.get("talks", ())},
    )


def _findings(found: Mapping[str, Any], made: StoredLedger, result: Mapping[str, Any]) -> Iterator[str]:
    final = round(100 * result["metrics"]["final_assets"]["value"])
    if found["state_digest"] != result["state_digest"]:
        yield "it is of another year"
    if sum(made.parts.values()) != made.gap_fen:
        yield "the parts do not add up to the gap"
    if made.reference_fen - made.gap_fen != final:
        yield "the assets are not those of the year"
    if found["statement"]["initial_fen"] + sum(made.statement.values()) != final:
        yield "the rows do not add up to the change of the assets"
