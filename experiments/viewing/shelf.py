"""A list of the runs and years in some folders, each with how far it is; made from headers and sizes, read in a moment.

Nothing is verified here: what a folder says of itself is shown, and one that cannot be read says why.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from experiments.comparing.years import UNFINISHED
from experiments.engine.folder import read_header
from experiments.engine.header import Header
from experiments.engine.run import LOGS
from experiments.engine.task import StoredMode
from experiments.episodes.folder import SUMMARY
from experiments.episodes.suite_task import EPISODES
from experiments.matches.match_task import MATCHES
from experiments.modes import YEARS, task_of
from experiments.sessions.session_task import SESSIONS
from experiments.stats.numerals import interval_text, number_text
from experiments.storage.journal import HEADER
from experiments.years.spec import year_label
from experiments.years.transcript import read_outcome
from experiments.years.year_mode import RESULT
from terms.strict_json import strict_loads

DEEPEST = 4
"""How many folders down a run is looked for."""
FINISHED, UNREADABLE = "finished", "unreadable"
_TAIL_BYTES = 1 << 22
_ANSWERS: Mapping[str, tuple[str, str]] = {
    EPISODES.mode: ("SE+", "metrics.overall.se_plus"),
    SESSIONS.mode: ("final balance", "metrics.terminal_balance"),
    MATCHES.mode: ("efficiency", "metrics.efficiency"),
}


class ShelvedRun(NamedTuple):
    """One run: what it is, ``done`` of ``total`` units, its state, and its main number in words once it has one."""

    folder: str
    mode: str
    agent: str
    what: str
    done: int
    total: int
    unit: str
    state: str
    written: float
    answer: str

    @property
    def progress(self) -> str:
        """How far it is, in words."""
        return f"{self.done:,} of {self.total:,} {self.unit}"


def list_runs(roots: Sequence[Path]) -> list[ShelvedRun]:
    """Return every run in or below ``roots``, the last written first."""
    found = {folder: None for root in roots for folder in _run_folders(root)}
    return sorted((shelved_run(folder) for folder in found), key=lambda one: -one.written)


def _run_folders(root: Path) -> Iterator[Path]:
    top = len(root.parts)
    for here, below, names in os.walk(root):
        if HEADER in names:
            below.clear()
            yield Path(here)
        elif len(Path(here).parts) - top >= DEEPEST:
            below.clear()


def shelved_run(folder: Path) -> ShelvedRun:
    """Return what is known of the run in ``folder``."""
    written = max((path.stat().st_mtime for path in folder.glob("*") if path.is_file()), default=time.time())
    try:
        task = task_of(folder)
        header: Header[Any] = read_header(folder, task.mode, task.spec_type)
        done, total, unit = _progress(task, folder, header)
        state, answer = _state(task, folder), _answer(task, folder)
    except (ValueError, OSError) as error:
        return ShelvedRun(str(folder), "?", "?", str(error), 0, 0, "", UNREADABLE, written, "")
    agent, what = header.agent, getattr(header.spec, "label", "")
    if task.mode == YEARS.mode:
        agent, _, what = year_label(header.agent, header.spec).partition(", ")
    return ShelvedRun(str(folder), task.mode, agent, what, done, total, unit, state, written, answer)


def _progress(task: StoredMode[Any, Any], folder: Path, header: Header[Any]) -> tuple[int, int, str]:
    log, spec = folder / task.log, header.spec
    size = log.stat().st_size if log.exists() else 0
    if task.mode == YEARS.mode:
        outcome = read_outcome(folder)
        return (outcome.days if outcome else _days(log, size)), spec.num_days, "days"
    if task.mode == SESSIONS.mode:
        return _lines(log, size), spec.bankroll.num_sessions * spec.bankroll.horizon * len(spec.arms), "periods"
    return _lines(log, size), spec.num_episodes, "negotiations"


@lru_cache(maxsize=4096)
def _lines(log: Path, size: int) -> int:
    return log.read_bytes()[:size].count(b"\n") if size else 0


@lru_cache(maxsize=1024)
def _days(log: Path, size: int) -> int:
    """Return the last morning that the end of a transcript tells of."""
    if not size:
        return 0
    with log.open("rb") as file:
        file.seek(max(0, size - _TAIL_BYTES))
        lines = file.read().split(b"\n")
    for line in reversed(lines[:-1]):
        if b'"event":"day"' in line and line.startswith(b"{"):
            row = strict_loads(line)["data"]
            if row["event"] == "day":
                return int(row["day"])
    return 0


def _state(task: StoredMode[Any, Any], folder: Path) -> str:
    if task.mode == YEARS.mode:
        outcome = read_outcome(folder)
        return UNFINISHED if outcome is None else outcome.outcome.value
    return FINISHED if (folder / LOGS).is_file() else UNFINISHED


def _answer(task: StoredMode[Any, Any], folder: Path) -> str:
    """Return the number that the run is about, with its interval where it has one."""
    if task.mode == YEARS.mode:
        if not (folder / RESULT).is_file():
            return ""
        assets = strict_loads((folder / RESULT).read_bytes())["metrics"]["final_assets"]["value"]
        return f"final assets {assets:,.0f} yuan"
    label, path = _ANSWERS[task.mode]
    if not (folder / SUMMARY).is_file():
        return ""
    found = strict_loads((folder / SUMMARY).read_bytes())
    for key in path.split("."):
        found = found.get(key) or {}
    if found.get("estimate") is None:
        return f"{label} -"
    interval = "" if found["low"] is None else f" {interval_text(found['low'], found['high'])}"
    return f"{label} {number_text(found['estimate'])}{interval}  n={found['n']}"
