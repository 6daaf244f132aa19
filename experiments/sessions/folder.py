"""The folder of sessions: ``run.json``, the log ``periods.jsonl``, results ``periods.parquet`` and ``summary.json``.

The log is the truth and the results are derived from it. :func:`load_sessions` reads a folder back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commerce.bankroll import PeriodRecord, SessionEnd, SessionRecord, is_ruin
from commerce.economics import build_chain
from experiments.episodes.folder import HEADER, SUMMARY, RunError, errors_in_words, read_header_as
from experiments.sessions.play import has_ended, period_seed
from experiments.sessions.records import read_logged, to_row
from experiments.sessions.spec import Arm, SessionsHeader, SessionsSpec
from experiments.sessions.summary import summary_object
from experiments.storage.files import write_atomically
from experiments.storage.journal import read_journal, strict_dumps

LOG, PARQUET = "periods.jsonl", "periods.parquet"
GAP = "gap.json"
"""What ``terms bankroll --gap`` found; no part of the results, as it needs the agent."""
Key = tuple[Arm, int]


@dataclass(frozen=True)
class SessionsRun:
    """Sessions read back, in order. ``memoryless`` is empty unless that arm was played.

    ``torn`` is the number of bytes of an unfinished last line that were left out; ``resumed`` the number of periods
    that were already there when the run was taken up again. ``receipts`` holds by (arm, session, period) how a model's
    replies were read.
    """

    folder: Path
    header: SessionsHeader
    sessions: tuple[SessionRecord, ...]
    memoryless: tuple[SessionRecord, ...]
    torn: int
    resumed: int = 0
    receipts: dict[tuple[Arm, int, int], list[dict[str, Any]]] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Whether every session of every arm has ended in some way, lost ones included."""
        return all(session.end is not SessionEnd.OPEN for session in (*self.sessions, *self.memoryless))


def is_sessions(folder: Path) -> bool:
    """Whether ``folder`` holds bankroll sessions; a header that cannot be read says nothing."""
    try:
        rows = read_journal(folder / HEADER).rows
    except ValueError:
        return False
    return bool(rows) and rows[0].get("mode") == "bankroll"


def load_sessions(folder: str | Path) -> SessionsRun:
    """Read a folder of sessions back. A torn last line is left out and counted in ``torn``.

    Raises
    ------
    RunError
        If the folder holds no sessions, or a line of the log is none that is written there.
    DamagedJournalError
        If a line no longer says what was written.
    """
    folder = Path(folder)
    header = read_header_as(SessionsHeader, folder)
    journal = read_journal(folder / LOG)
    periods: dict[Key, list[PeriodRecord]] = {}
    receipts: dict[tuple[Arm, int, int], list[dict[str, Any]]] = {}
    for number, row in enumerate(journal.rows, 1):
        try:
            arm, period, found = read_logged(row, header.spec)
            _append(periods.setdefault((arm, period.session), []), period, header.spec)
        except ValueError as error:
            raise RunError(f"{folder / LOG}, line {number}: {errors_in_words(error)}") from error
        if found is not None:
            receipts[arm, period.session, period.period] = found
    played = {arm: _sessions(arm, periods, header.spec) for arm in header.spec.arms}
    return SessionsRun(
        folder, header, played[Arm.MEMORY], played.get(Arm.MEMORYLESS, ()), journal.torn, receipts=receipts
    )


def _append(periods: list[PeriodRecord], period: PeriodRecord, spec: SessionsSpec) -> None:
    if periods and periods[-1].is_lost:
        periods.pop()  # what the provider lost gives way to what was played instead
    if period.period != len(periods) + 1 or has_ended(periods, spec):
        raise ValueError(f"period {period.period} of session {period.session} where none belongs")
    periods.append(period)


def _sessions(arm: Arm, periods: dict[Key, list[PeriodRecord]], spec: SessionsSpec) -> tuple[SessionRecord, ...]:
    return tuple(
        session_record(number, periods.get((arm, number), ()), spec) for number in range(spec.bankroll.num_sessions)
    )


def session_record(number: int, periods: Sequence[PeriodRecord], spec: SessionsSpec) -> SessionRecord:
    """Return the session that ``periods`` make up."""
    rules, end = spec.bankroll, SessionEnd.OPEN
    if periods and periods[-1].is_lost:
        end = SessionEnd.LOST
    elif periods and is_ruin(periods[-1].cash_cents, rules):
        end = SessionEnd.RUINED
    elif len(periods) == rules.horizon:
        end = SessionEnd.FINISHED
    return SessionRecord(number, end, rules.initial_cents, rules.horizon, tuple(periods))


def played_seeds(run: SessionsRun) -> list[int]:
    """Return what names the model calls of each period, arm by arm."""
    spec = run.header.spec
    chains = (build_chain(session.session, spec.chain, spec.bankroll) for session in run.sessions)
    return [
        period_seed(arm, scenario, run.header.salt)
        for chain in chains
        for scenario in chain.scenarios
        for arm in spec.arms
    ]


def write_results(run: SessionsRun) -> dict[str, Any]:
    """Derive ``periods.parquet`` and ``summary.json`` and return the summary."""
    write_atomically(run.folder / PARQUET, parquet_bytes(run))
    summary = summary_object(run.header, run.sessions, run.memoryless)
    write_atomically(run.folder / SUMMARY, (strict_dumps(summary) + "\n").encode())
    return summary


def parquet_bytes(run: SessionsRun) -> bytes:
    """Return a Parquet file with one row a period, arm by arm in order; ``moves`` are JSON text."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    arms: Iterable[tuple[str, Sequence[SessionRecord]]] = (("memory", run.sessions), ("memoryless", run.memoryless))
    periods = [(arm, period) for arm, sessions in arms for session in sessions for period in session.periods]
    columns: dict[str, list[Any]] = {name: [getattr(period, name) for _, period in periods] for name in _COLUMNS}
    columns["arm"] = [arm for arm, _ in periods]
    columns["moves"] = [strict_dumps(to_row(period)["moves"]) for _, period in periods]
    schema = pa.schema([(name, getattr(pa, kind)()) for name, kind in {**_COLUMNS, **_TEXT}.items()])
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pydict(columns, schema=schema), sink, compression="zstd")
    data: bytes = sink.getvalue().to_pybytes()
    return data


_TEXT = {"arm": "string", "moves": "string"}
_COLUMNS = {
    "session": "int64",
    "period": "int64",
    "supplier": "int64",
    "scenario_id": "string",
    "regime": "string",
    "is_feasible": "bool_",
    "termination": "string",
    "price": "float64",
    "rounds": "int64",
    "profit_cents": "int64",
    "best_cents": "int64",
    "cost_cents": "int64",
    "cash_cents": "int64",
    "surplus_share": "float64",
    "fault": "string",
    "fault_detail": "string",
}
