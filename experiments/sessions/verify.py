"""Checking sessions without any agent: replay every period, settle it again, derive every number again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from commerce.bankroll import SessionRecord
from commerce.economics import build_chain, unit_economics
from experiments.episodes.folder import SUMMARY, RunError
from experiments.episodes.verify import call_log_findings, result_findings
from experiments.sessions.folder import LOG, PARQUET, SessionsRun, load_sessions, parquet_bytes
from experiments.sessions.gap_file import gap_findings
from experiments.sessions.records import Place, episode_of, settled_period, to_row
from experiments.sessions.spec import SessionsSpec
from experiments.sessions.summary import summary_object
from experiments.storage.journal import DamagedJournalError, strict_dumps


def verify_sessions(folder: str | Path) -> list[str]:
    """Return what is wrong with the sessions in ``folder``; an empty list means that every number agrees."""
    folder = Path(folder)
    try:
        run = load_sessions(folder)
    except (DamagedJournalError, RunError) as error:
        return [str(error)]
    spec, findings = run.header.spec, []
    if spec.digest() != run.header.digest:
        findings.append("the chains drawn now are not those that were played (digest differs)")
    if run.torn:
        findings.append(f"{LOG} ends in {run.torn} bytes of an unfinished line; run the same command again")
    if not run.is_complete:
        findings.append("not every session has ended; run the same command again")
    findings += call_log_findings(folder)
    for sessions in (run.sessions, run.memoryless):
        findings += _session_findings(sessions, spec)
    return findings + (_result_findings(run) + gap_findings(run) if run.is_complete else [])


def _session_findings(sessions: Sequence[SessionRecord], spec: SessionsSpec) -> Iterator[str]:
    for session in sessions:
        chain, cash = build_chain(session.session, spec.chain, spec.bankroll), spec.bankroll.initial_cents
        met = zip(session.periods, chain.scenarios, chain.who, strict=False)
        for period, scenario, supplier in met:
            try:
                record = episode_of(scenario, period)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                yield f"{period.scenario_id}: the logged moves cannot be replayed: {error}"
                return
            place = Place(session.session, period.period, supplier.number)
            again = settled_period(place, record, unit_economics(scenario, spec.economics), cash, spec.bankroll)
            if again != period:
                now, there = to_row(again), to_row(period)
                fields = [name for name in there if now[name] != there[name]]
                yield f"{period.scenario_id}: replaying the logged moves gives another {', '.join(fields)}"
                return
            cash = again.cash_cents


def _result_findings(run: SessionsRun) -> list[str]:
    summary = strict_dumps(summary_object(run.header, run.sessions, run.memoryless)) + "\n"
    return result_findings(
        run.folder, run.header.versions, {PARQUET: parquet_bytes(run), SUMMARY: summary.encode()}, PARQUET
    )
