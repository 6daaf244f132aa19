"""Checking a run without any agent: play every row again, derive every file again, compare to the last byte.

One rule: every byte of every file in a folder is covered by :func:`verify_run` or named by :func:`not_covered`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.engine.header import Header, Spec, code_versions
from experiments.engine.run import LOGS, load_run, logs_bytes
from experiments.engine.task import R, StoredMode
from experiments.llm.calls import MODEL_CALLS, Ended, Recalled, Reserved, read_calls
from experiments.llm.free_text import blank_thinking
from experiments.storage.files import LOCK, read_whole
from experiments.storage.journal import HEADER, read_journal
from terms.strict_json import strict_loads

_AGAIN = "run the same command again"


def verify_run(task: StoredMode[Spec, R], folder: str | Path) -> list[str]:
    """Return what is wrong with the run in ``folder``; an empty list means that everything agrees."""
    return check_run(task, folder)[0]


def check_run(task: StoredMode[Spec, R], folder: str | Path) -> tuple[list[str], list[str]]:
    """Return what is wrong with the run in ``folder``, and if nothing is, what :func:`not_covered` says of it."""
    folder, findings = Path(folder), list[str]()
    try:
        run = load_run(task, folder)
        for finding in _findings(task, folder, run):
            findings.append(finding)
    except (ValueError, OSError) as error:
        return [*findings, str(error)], []
    return findings, [] if findings else not_covered(task, folder, run)


def not_covered(task: StoredMode[Spec, R], folder: str | Path, run: R | None = None) -> list[str]:
    """Return what in ``folder`` :func:`verify_run` says nothing about, a line each; the ``run`` must be readable."""
    folder = Path(folder)
    run = run or load_run(task, folder)
    covered = {HEADER, LOCK, task.log, *task.beside(run.header.spec), *task.extras(run)}
    lines = [f"{name}: whether it is there at all" for name in task.extras(run)]
    if run.is_complete:
        covered |= {LOGS, MODEL_CALLS, *task.results(run)}
    elif (folder / MODEL_CALLS).exists():
        covered.add(MODEL_CALLS)
        lines.append(f"{MODEL_CALLS}: the run is not finished; calls of what is not logged yet")
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        name = name if name.isprintable() else repr(name)[1:-1]
        if name not in covered and (path.is_symlink() or not path.is_dir()):
            lines.append(f"{name}: no part of the run, or of one that is not finished")
    return lines


def _findings(task: StoredMode[Spec, R], folder: Path, run: R) -> Iterator[str]:
    lock = folder / LOCK
    if os.path.lexists(lock) and read_whole(lock):
        yield f"{LOCK} is not empty"
    if run.torn:
        yield f"{task.log} ends in {run.torn} bytes of an unfinished line; {_AGAIN}"
    if not run.is_complete:
        yield f"{task.log}: {run.left}; {_AGAIN}"
    yield from call_findings(folder, task.receipts(run))
    yield from _world_findings(task, run.header)
    yield from task.check(run)
    yield from _file_findings(folder, run.header.versions, task.beside(run.header.spec), ())
    if run.is_complete:
        yield from _file_findings(folder, run.header.versions, task.results(run), task.tables)
        yield from _length_findings(folder, logs_bytes(folder, task.log))
        for wrong in task.extras(run).values():
            yield from wrong


def _world_findings(task: StoredMode[Spec, R], header: Header[Spec]) -> Iterator[str]:
    now = task.digests(header.spec)
    for name in {**header.digests, **now}:
        if header.digests.get(name) != now.get(name):
            yield f"what the settings give now is not what was played (digest of {name} differs)"


def call_findings(folder: Path, receipts: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what is wrong with the log that the reported cost is summed from; a run without models has none.

    Every reply that a receipt says was read must have been logged, in the same words: as answered, or as an attempt
    whose end was lost with the machine, which counts as unknown money. ``logs.json`` has the number of lines.
    """
    torn = read_journal(folder / MODEL_CALLS).torn
    if torn:
        yield f"{MODEL_CALLS} ends in {torn} bytes of an unfinished line; {_AGAIN}"
    rows = read_calls(folder / MODEL_CALLS)
    ended = {row.attempt_id: row for row in rows if isinstance(row, Ended)}
    answered = {row.call_id for row in rows if isinstance(row, Recalled)}
    answered |= {row.call_id for row in ended.values() if row.completion is not None}
    answered |= {row.call_id for row in rows if isinstance(row, Reserved) and row.attempt_id not in ended}
    attempts = [attempt for turn in receipts for attempt in turn["attempts"]]
    read = [attempt["call_id"] for attempt in attempts if attempt["text"]]
    missing = [call for call in read if call not in answered]
    said = {row.call_id: row.completion["text"] or "" for row in ended.values() if row.completion is not None}
    if missing:
        yield f"{MODEL_CALLS} lacks {len(missing)} of {len(read)} answers that the log has read, {missing[0]} first"
    for attempt in attempts:
        call = attempt["call_id"]
        if "text_start" in attempt and call in said and attempt["text"] != blank_thinking(said[call]).strip():
            yield f"the receipt of {call} has another text than {MODEL_CALLS}"


def _length_findings(folder: Path, expected: bytes) -> Iterator[str]:
    """Yield which logs have not the lines that the run had when it ended."""
    if not (folder / LOGS).exists():
        yield f"{LOGS} is missing; {_AGAIN}"
        return
    data = read_whole(folder / LOGS)
    if data == expected:
        return
    try:
        there, now = strict_loads(data), strict_loads(expected)
        wrong = [name for name in {**there, **now} if there.get(name) != now.get(name)]
    except (ValueError, TypeError, AttributeError):
        wrong = []
    yield f"{LOGS} is not what {' and '.join(wrong) or 'the logs'} give; {_AGAIN} if it was stopped"


def _file_findings(
    folder: Path, versions: Mapping[str, str], expected: Mapping[str, bytes], tables: Sequence[str]
) -> Iterator[str]:
    """Yield which files are not what the log gives; only a table of another version of its library may differ."""
    other_writer = versions.get("pyarrow") != code_versions()["pyarrow"]
    for name, data in expected.items():
        path = folder / name
        if not path.exists():
            yield f"{name} is missing; {_AGAIN}"
        elif read_whole(path) != data and not (name in tables and other_writer and _same_table(path, data)):
            yield f"{name} is not what the log gives"


def _same_table(path: Path, data: bytes) -> bool:
    """Whether a Parquet file that another version of the library wrote holds the same table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return bool(pq.read_table(path).equals(pq.read_table(pa.BufferReader(data))))
    except (pa.ArrowException, OSError, ValueError):
        return False
