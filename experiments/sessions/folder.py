"""Sessions read back, and the table that is derived from them, ``periods.parquet``.

The log ``periods.jsonl`` is the truth, a line a period.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commerce.bankroll import PeriodRecord, SessionEnd, SessionRecord, is_ruin
from commerce.economics import build_chain
from experiments.engine.folder import holds
from experiments.engine.task import ReadBack
from experiments.sessions.play import period_seed
from experiments.sessions.records import period_row
from experiments.sessions.spec import Arm, SessionsSpec
from experiments.storage.files import parquet_bytes
from terms.strict_json import strict_dumps

PERIODS_LOG, PERIODS_TABLE = "periods.jsonl", "periods.parquet"
GAP = "gap.json"
"""What ``terms bankroll --gap`` found; no part of the results, as it needs the agent."""


BANKROLL = "bankroll"


def is_sessions(folder: Path) -> bool:
    """Whether ``folder`` holds bankroll sessions; a header that cannot be read says nothing."""
    return holds(folder, BANKROLL)


@dataclass(frozen=True, kw_only=True)
class SessionsRun(ReadBack[SessionsSpec]):
    """Sessions read back, in order. ``memoryless`` is empty unless that arm was played.

    ``receipts`` holds by (arm, session, period) how a model's replies were read. ``resumed`` counts periods.
    """

    sessions: tuple[SessionRecord, ...]
    memoryless: tuple[SessionRecord, ...]
    receipts: dict[tuple[Arm, int, int], list[dict[str, Any]]] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Whether every session of every arm has ended in some way, lost ones included."""
        return all(session.end is not SessionEnd.OPEN for session in (*self.sessions, *self.memoryless))

    @property
    def left(self) -> str:
        """That sessions are open."""
        return "not every session has ended"


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


def periods_parquet(run: SessionsRun) -> bytes:
    """Return a Parquet file with one row a period, arm by arm in order; ``moves`` are JSON text."""
    import pyarrow as pa

    arms: Iterable[tuple[str, Sequence[SessionRecord]]] = (("memory", run.sessions), ("memoryless", run.memoryless))
    periods = [(arm, period) for arm, sessions in arms for session in sessions for period in session.periods]
    columns: dict[str, list[Any]] = {name: [getattr(period, name) for _, period in periods] for name in _COLUMNS}
    columns["arm"] = [arm for arm, _ in periods]
    columns["moves"] = [strict_dumps(period_row(period)["moves"]) for _, period in periods]
    schema = pa.schema([(name, getattr(pa, kind)()) for name, kind in {**_COLUMNS, **_TEXT}.items()])
    return parquet_bytes(pa.Table.from_pydict(columns, schema=schema))


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
