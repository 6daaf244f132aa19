"""The run folder: ``run.json``, the log ``episodes.jsonl``, and the results ``episodes.parquet`` and ``summary.json``.

The log is the truth and the results are derived from it, so a run can be killed at any moment and derived again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from experiments.episodes.config import PACKAGE, RunHeader
from experiments.episodes.money_columns import MoneyRow, money_rows
from experiments.episodes.money_metrics import money_object
from experiments.episodes.records import from_row, write_parquet
from experiments.episodes.validity import invalidity
from experiments.storage.files import write_atomically
from experiments.storage.journal import encode_line, read_journal, strict_dumps
from terms import EpisodeRecord
from terms.metrics import summarize

HEADER, LOG, PARQUET, SUMMARY = "run.json", "episodes.jsonl", "episodes.parquet", "summary.json"
DROPPED = "dropped_rows.json"
AnyHeader = TypeVar("AnyHeader", bound=BaseModel)


class RunError(ValueError):
    """A run folder cannot be used as asked."""


@dataclass(frozen=True)
class Run:
    """A run read back: records in the order of the suite, whatever order they were finished in.

    ``torn`` is the number of bytes of an unfinished last line that were left out; ``resumed`` the number of episodes
    that were already there when the run was taken up again. ``receipts`` holds by scenario how a model's replies were
    read.
    """

    folder: Path
    header: RunHeader
    records: tuple[EpisodeRecord, ...]
    torn: int
    resumed: int = 0
    receipts: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Whether every episode of the suite is there."""
        return len(self.records) == self.header.num_episodes


def open_header(folder: Path, header: AnyHeader) -> None:
    """Write ``run.json`` first, or make sure that the one that is there describes the same run."""
    path = folder / HEADER
    if not path.exists():
        write_atomically(path, encode_line(header.model_dump(mode="json")))
        return
    before, now = read_header_as(type(header), folder).model_dump(mode="json"), header.model_dump(mode="json")
    # A patch of Python or a library between two sittings is no other run; the header keeps the versions it began with.
    for versions in (before["versions"], now["versions"]):
        versions.update({name: None for name in versions if name != PACKAGE})
    now["salt"] = before["salt"]  # a run goes on with the seeds it began with
    differing = differing_leaves(before, now)
    if differing:
        raise RunError(f"{folder} holds another run ({'; '.join(differing)[:600]}); choose another --out")


def differing_leaves(before: Any, now: Any, path: str = "") -> list[str]:
    """Name every leaf of two nested mappings that differs."""
    if isinstance(before, dict) and isinstance(now, dict):
        keys = {**before, **now}
        return [text for key in keys for text in differing_leaves(before.get(key), now.get(key), f"{path}.{key}")]
    return [] if before == now else [f"{path[1:]}: {before!r} there, {now!r} now"]


def read_header(folder: Path) -> RunHeader:
    """Return the header of the run in ``folder``."""
    return read_header_as(RunHeader, folder)


def read_header_as(kind: type[AnyHeader], folder: Path) -> AnyHeader:
    """Return the header in ``folder``, which must be of ``kind``."""
    path = folder / HEADER
    if not path.is_file():
        raise RunError(f"{folder} is not a run folder: it has no {HEADER}")
    rows = read_journal(path).rows
    try:
        (row,) = rows
        _same_mode(folder, row, kind)
        return kind.model_validate(row)
    except (ValueError, ValidationError) as error:
        raise RunError(f"{path} cannot be read as a run header: {error}") from error


def _same_mode(folder: Path, row: Mapping[str, Any], kind: type[BaseModel]) -> None:
    """Say what a folder holds where it is another mode of play; a list of missing fields would not."""
    field = kind.model_fields.get("mode")
    there, wanted = row.get("mode", "episodes"), "episodes" if field is None else field.default
    if there != wanted:
        raise ValueError(f"{folder} holds a run of mode {there!r}, needed is {wanted!r}")


def load_run(folder: str | Path) -> Run:
    """Read a run back. A torn last line is left out and counted in ``torn``; any other damage raises."""
    folder = Path(folder)
    header = read_header(folder)
    journal = read_journal(folder / LOG)
    order = {scenario.scenario_id: index for index, scenario in enumerate(header.suite.build())}
    by_id: dict[str, EpisodeRecord] = {}
    receipts: dict[str, list[dict[str, Any]]] = {}
    for number, row in enumerate(journal.rows, 1):
        record = _logged_record(row, f"{folder / LOG}, line {number}")
        if record.scenario_id not in order:
            raise RunError(
                f"{folder / LOG} has {record.scenario_id!r}, which is not an episode of {header.suite.label}"
            )
        known = by_id.get(record.scenario_id)
        if known is None or known.is_excluded:  # a trial lost to the provider gives way to one that was played
            by_id[record.scenario_id] = record
            receipts[record.scenario_id] = row.get("receipts", [])
    records = sorted(by_id.values(), key=lambda record: order[record.scenario_id])
    return Run(folder, header, tuple(records), journal.torn, receipts={k: v for k, v in receipts.items() if v})


def _logged_record(row: Any, where: str) -> EpisodeRecord:
    if not isinstance(row, dict) or not isinstance(row.get("record"), dict):
        raise RunError(f"{where}: there is no record of an episode")
    try:
        return from_row(row["record"])
    except ValidationError as error:
        raise RunError(f"{where}: {errors_in_words(error)}") from error


def errors_in_words(error: ValueError) -> str:
    """Return on one line what is wrong with a row of a log, field by field."""
    if not isinstance(error, ValidationError):
        return str(error)
    return "; ".join(
        f"{'.'.join(map(str, part['loc'])) or 'row'}: {part['msg'].removeprefix('Value error, ')}"
        for part in error.errors(include_url=False)
    )


def write_results(folder: Path, header: RunHeader, records: Sequence[EpisodeRecord]) -> dict[str, Any]:
    """Derive ``episodes.parquet`` and ``summary.json`` from the records and return the summary."""
    write_parquet(folder / PARQUET, records)
    summary = summary_object(header, records)
    write_atomically(folder / SUMMARY, (strict_dumps(summary) + "\n").encode())
    return summary


def run_money(header: RunHeader, records: Sequence[EpisodeRecord]) -> list[MoneyRow]:
    """Return the money of a commerce run's scored episodes.

    Raises
    ------
    RunError
        If it was played without money.
    """
    suite = header.suite
    if suite.economics is None:
        raise RunError(f"{header.agent} on {suite.label} was played without money; use `terms commerce`")
    return money_rows(records, {scenario.scenario_id: scenario for scenario in suite.build()}, suite.economics)


def summary_object(header: RunHeader, records: Sequence[EpisodeRecord]) -> dict[str, Any]:
    """Return what ``summary.json`` holds: every metric, and what it was measured on; commerce runs their money too."""
    return {
        **({} if header.suite.economics is None else {"money": money_object(run_money(header, records))}),
        "agent": header.agent,
        "suite": header.suite.label,
        "suite_digest": header.suite_digest,
        "versions": header.versions,
        "notices": list(header.suite.notices),
        "invalidity": invalidity(records),
        "metrics": summarize(records).to_json_object(),
    }
