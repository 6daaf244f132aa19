"""Playing into a run folder and reading it back, whatever the mode.

One process writes: workers return finished rows and the parent appends them, so a log has one writer and nothing is
ever done twice. When a run has ended its log is put in the order of what was asked, so the log and the results have the
same bytes for any number of workers; the log of model calls keeps the order in which they were made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from experiments.engine.folder import RunError, open_header, read_header
from experiments.engine.header import Header, Spec, make_header
from experiments.engine.pool import RowsDone, log_jobs
from experiments.engine.task import R, StoredMode, Task
from experiments.llm.calls import MODEL_CALLS
from experiments.players.player import as_player
from experiments.storage.files import exclusive_lock, write_atomically
from experiments.storage.journal import chain_start, encode_lines, errors_in_words, read_journal
from terms.episode import AgentLike
from terms.strict_json import strict_dumps

LOGS = "logs.json"
"""How many lines each log of a finished run has, and its last checksum: what else could tell that lines are gone?"""


def run_task(  # noqa: PLR0913 - what is played, where to, and by whom
    task: Task[Spec, R],
    agent: AgentLike,
    spec: Spec,
    out: str | Path,
    *,
    workers: int = 1,
    executor: Executor | None = None,
    progress: RowsDone | None = None,
    settings: Mapping[str, Any] | None = None,
) -> R:
    """Play everything of ``spec`` that ``out`` does not hold yet, and write the results.

    Parameters
    ----------
    agent
        Any agent. With worker processes it must be picklable; one with ``concurrency > 1`` plays that much at once in
        threads of this process.
    out
        Run folder; created, or resumed when it holds the same run.
    workers
        Local worker processes.
    executor
        Where to submit instead, for example a Dask client's.
    settings
        What pins the agent beyond its name; ``None`` takes what the player says of itself.

    Raises
    ------
    RunError
        If ``out`` holds a different run, or a worker died; what was finished stays.
    RunLockedError
        If another process is writing to ``out``.
    """
    player, folder = as_player(agent), Path(out).absolute()  # an agent may leave the working directory
    pins = player.settings if settings is None else settings
    header = make_header(task.mode, player.name, spec, task.digests(spec), pins, salt=player.new_salt())
    with opened(task, folder, header):
        with player.sit(folder) as seated:
            before = load_run(task, folder)
            jobs = task.jobs(before, seated.concurrency)
            log_jobs(seated, jobs, folder / task.log, workers=workers, executor=executor, progress=progress)
        after = finish_run(task, folder)
    return replace(after, folder=Path(out), torn=before.torn, resumed=task.done(before))


@contextmanager
def opened(task: StoredMode[Spec, R], folder: Path, header: Header[Spec]) -> Iterator[None]:
    """Hold the lock of a run folder, created or of the same run; what comes first is written."""
    folder.mkdir(parents=True, exist_ok=True)
    with exclusive_lock(folder):
        open_header(folder, header)
        for name, data in task.beside(header.spec).items():
            write_atomically(folder / name, data)
        yield


def load_run(task: StoredMode[Spec, R], folder: str | Path) -> R:
    """Read a run back. A torn last line is left out and counted in ``torn``; any other damage raises.

    Raises
    ------
    RunError
        If the folder holds no such run, or a line of the log is none that is written there.
    DamagedJournalError
        If a line no longer says what was written.
    """
    folder = Path(folder)
    header: Header[Spec] = read_header(folder, task.mode, task.spec_type)
    reader = task.reader(header)
    journal = read_journal(folder / task.log)
    for number, row in enumerate(journal.rows, 1):
        try:
            reader.add(row)
        except (ValueError, RecursionError) as error:
            words = errors_in_words(error) if isinstance(error, ValueError) else "it is nested too deeply"
            raise RunError(f"{folder / task.log}, line {number}: {words}") from error
    return reader.done(folder, journal.torn)


def finish_run(task: Task[Spec, R], folder: Path) -> R:
    """Put the log in order, write the results and what ``verify`` compares the logs with; return the run."""
    log, found = folder / task.log, load_run(task, folder)
    rows = sorted(read_journal(log).rows, key=task.order(found.header))
    data = encode_lines(rows, chain_start(log))
    if data != log.read_bytes():
        write_atomically(log, data)
        found = load_run(task, folder)
    write_derived(task, folder, found)
    return found


def write_derived(task: StoredMode[Spec, R], folder: Path, run: R) -> None:
    """Write what follows from the log of a run, and what ``verify`` compares the logs with."""
    for name, content in task.results(run).items():
        write_atomically(folder / name, content)
    write_atomically(folder / LOGS, logs_bytes(folder, task.log))


def logs_bytes(folder: Path, log: str) -> bytes:
    """Return the content of ``logs.json``; a log that does not exist is not in it."""
    found = {}
    for name in (log, MODEL_CALLS):
        if (folder / name).exists():
            journal = read_journal(folder / name)
            found[name] = {"lines": len(journal.rows), "checksum": journal.end}
    return (strict_dumps(found) + "\n").encode()
