"""Checking a run without any model: replay every episode, derive every number again, compare to the last digit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from experiments.episodes.config import code_versions
from experiments.episodes.folder import LOG, PARQUET, SUMMARY, Run, RunError, load_run, read_header, summary_object
from experiments.episodes.records import parquet_bytes
from experiments.players.seat import CALLS
from experiments.storage.journal import DamagedJournalError, read_journal, strict_dumps
from terms import EpisodeRecord, Scenario, replay, voice
from terms.episode import recorded_moves


def verify_run(folder: str | Path) -> list[str]:
    """Return what is wrong with the run in ``folder``.

    An empty list means every number was derived again and agrees.
    """
    folder = Path(folder)
    try:
        header = read_header(folder)
        run = load_run(folder)
    except (DamagedJournalError, RunError, KeyError) as error:
        return [str(error)]
    findings = []
    if header.suite.digest() != header.suite_digest:
        findings.append("the suite built now is not the one that was played (suite_digest differs)")
    if header.suite.data_digest() != header.data_digest:
        findings.append("the catalogue's files are not those that were played (data_digest differs)")
    if run.torn:
        findings.append(f"{LOG} ends in {run.torn} bytes of an unfinished line; run the same command again")
    if not run.is_complete:
        findings.append(f"{len(run.records)} of {header.num_episodes} episodes are there; run the same command again")
    findings += call_log_findings(folder)
    scenarios = {scenario.scenario_id: scenario for scenario in header.suite.build()}
    has_voice = bool(header.agent_settings.get("voice"))
    for record in run.records:
        findings += _replay_findings(scenarios[record.scenario_id], record, has_voice=has_voice)
    if run.is_complete:
        findings += _result_findings(run)
    return findings


def call_log_findings(folder: Path) -> list[str]:
    """Return what is wrong with the log that the reported cost is summed from; a run without models has none."""
    try:
        torn = read_journal(folder / CALLS).torn
    except DamagedJournalError as error:
        return [str(error)]
    return [f"{CALLS} ends in {torn} bytes of an unfinished line; run the same command again"] if torn else []


def _replay_findings(scenario: Scenario, record: EpisodeRecord, *, has_voice: bool) -> list[str]:
    # Words that a model spoke cannot be made again; they decide nothing, so the recorded ones are spoken.
    words = voice.recorded(record.turns, record.closing_message) if has_voice else voice.render
    try:
        again = replay(scenario, recorded_moves(record), agent=record.agent, voice=words)
    except ValueError as error:
        return [f"{record.scenario_id}: the logged moves cannot be replayed: {error}"]
    if again == record:
        return []
    fields = [name for name in EpisodeRecord.__slots__ if getattr(again, name) != getattr(record, name)]
    return [f"{record.scenario_id}: replaying the logged moves gives another {', '.join(fields)}"]


def _same_table(path: Path, data: bytes) -> bool:
    """Whether a Parquet file that another version of the library wrote holds the same table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return bool(pq.read_table(path).equals(pq.read_table(pa.BufferReader(data))))
    except (pa.ArrowException, OSError, ValueError):
        return False


def _result_findings(run: Run) -> list[str]:
    summary = strict_dumps(summary_object(run.header, run.records)) + "\n"
    expected = {PARQUET: parquet_bytes(run.records), SUMMARY: summary.encode()}
    return result_findings(run.folder, run.header.versions, expected, PARQUET)


def result_findings(folder: Path, versions: Mapping[str, str], expected: Mapping[str, bytes], table: str) -> list[str]:
    """Return which result files of ``folder`` are not what the log gives; ``table`` names the Parquet one.

    ``versions`` are the header's: only a table that another version of the library wrote may differ in its bytes.
    """
    other_writer = versions["pyarrow"] != code_versions()["pyarrow"]
    findings = []
    for name, data in expected.items():
        path = folder / name
        if not path.is_file():
            findings.append(f"{name} is missing; run the same command again")
        elif path.read_bytes() != data and not (name == table and other_writer and _same_table(path, data)):
            findings.append(f"{name} is not what the logged episodes give")
    return findings
