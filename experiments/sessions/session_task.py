"""Sessions as a task of the engine: a session is a job, a period a row of the log ``periods.jsonl``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from commerce.bankroll import PeriodRecord, SessionRecord
from commerce.economics import build_chain, unit_economics
from experiments.engine.header import Header
from experiments.engine.task import Job, Row
from experiments.episodes.folder import SUMMARY
from experiments.sessions.folder import (
    BANKROLL,
    GAP,
    PERIODS_LOG,
    PERIODS_TABLE,
    SessionsRun,
    periods_parquet,
    session_record,
)
from experiments.sessions.gap_file import gap_findings
from experiments.sessions.play import SessionJob, has_ended
from experiments.sessions.records import Place, episode_of, period_row, read_logged, settled_period
from experiments.sessions.spec import CHAINS, Arm, SessionsSpec
from experiments.sessions.summary import sessions_summary
from terms.strict_json import strict_dumps


class SessionsTask:
    """See :class:`experiments.engine.task.Task`."""

    mode = BANKROLL
    log = PERIODS_LOG
    tables = (PERIODS_TABLE,)
    spec_type = SessionsSpec

    def digests(self, spec: SessionsSpec) -> dict[str, str]:
        """Return the hash of what is drawn in the first sessions."""
        return {CHAINS: spec.digest()}

    def beside(self, spec: SessionsSpec) -> Mapping[str, bytes]:
        """Return nothing: a spec says it all."""
        return {}

    def reader(self, header: Header[SessionsSpec]) -> SessionsReader:
        """Return a reader of the log."""
        return SessionsReader(header)

    def jobs(self, run: SessionsRun, concurrency: int) -> Sequence[Job]:
        """Return the sessions that go on, each after its last period; one that the provider lost is played again."""
        arms = {Arm.MEMORY: run.sessions, Arm.MEMORYLESS: run.memoryless}
        found = [_job(arm, session, run.header) for arm, sessions in arms.items() for session in sessions]
        return [job for job in found if not has_ended(job.past, job.spec)]

    def done(self, run: SessionsRun) -> int:
        """Return how many periods are there."""
        return sum(len(session.periods) for session in (*run.sessions, *run.memoryless))

    def order(self, header: Header[SessionsSpec]) -> Callable[[Row], Any]:
        """Return the place of a row: arm by arm, session by session."""
        arms = [arm.value for arm in Arm]
        return lambda row: (arms.index(row["arm"]), row["period"]["session"], row["period"]["period"])

    def check(self, run: SessionsRun) -> Iterator[str]:
        """Replay and settle every period."""
        for session in (*run.sessions, *run.memoryless):
            yield from _session_findings(session, run.header.spec)

    def results(self, run: SessionsRun) -> Mapping[str, bytes]:
        """Return the table of periods and the summary."""
        summary = strict_dumps(sessions_summary(run.header, run.sessions, run.memoryless)) + "\n"
        return {PERIODS_TABLE: periods_parquet(run), SUMMARY: summary.encode()}

    def receipts(self, run: SessionsRun) -> Iterable[Mapping[str, Any]]:
        """Return the receipts of every turn."""
        return (turn for turns in run.receipts.values() for turn in turns)

    def extras(self, run: SessionsRun) -> Mapping[str, Iterable[str]]:
        """Return the split of the gap, where ``terms bankroll --gap`` has written one."""
        return {GAP: gap_findings(run)} if os.path.lexists(run.folder / GAP) else {}


SESSIONS = SessionsTask()


class SessionsReader:
    """Reads the log; a period that the provider lost gives way to what was played instead."""

    def __init__(self, header: Header[SessionsSpec]) -> None:
        self._header = header
        self._periods: dict[tuple[Arm, int], list[PeriodRecord]] = {}
        self._receipts: dict[tuple[Arm, int, int], list[dict[str, Any]]] = {}

    def add(self, row: Row) -> None:
        """Take in a period."""
        spec = self._header.spec
        arm, period, found = read_logged(row, spec)
        periods = self._periods.setdefault((arm, period.session), [])
        if periods and periods[-1].is_lost:
            periods.pop()
        if period.period != len(periods) + 1 or has_ended(periods, spec):
            raise ValueError(f"period {period.period} of session {period.session} where none belongs")
        periods.append(period)
        if found is not None:
            self._receipts[arm, period.session, period.period] = found

    def done(self, folder: Path, torn: int) -> SessionsRun:
        """Return the sessions."""
        played = {arm: self._sessions(arm) for arm in self._header.spec.arms}
        return SessionsRun(
            folder=folder,
            header=self._header,
            torn=torn,
            sessions=played[Arm.MEMORY],
            memoryless=played.get(Arm.MEMORYLESS, ()),
            receipts=self._receipts,
        )

    def _sessions(self, arm: Arm) -> tuple[SessionRecord, ...]:
        spec = self._header.spec
        numbers = range(spec.bankroll.num_sessions)
        return tuple(session_record(number, self._periods.get((arm, number), ()), spec) for number in numbers)


def _job(arm: Arm, session: SessionRecord, header: Header[SessionsSpec]) -> SessionJob:
    played = tuple(period for period in session.periods if not period.is_lost)
    return SessionJob(header.spec, arm, session.session, played, header.salt)


def _session_findings(session: SessionRecord, spec: SessionsSpec) -> Iterator[str]:
    chain, cash = build_chain(session.session, spec.chain, spec.bankroll), spec.bankroll.initial_cents
    for period, scenario, supplier in zip(session.periods, chain.scenarios, chain.who, strict=False):
        try:
            record = episode_of(scenario, period)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            yield f"{period.scenario_id}: the logged moves cannot be replayed: {error}"
            return
        place = Place(session.session, period.period, supplier.number)
        again = settled_period(place, record, unit_economics(scenario, spec.economics), cash, spec.bankroll)
        if again != period:
            now, there = period_row(again), period_row(period)
            fields = [name for name in there if now[name] != there[name]]
            yield f"{period.scenario_id}: replaying the logged moves gives another {', '.join(fields)}"
            return
        cash = again.cash_cents
