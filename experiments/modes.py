"""The modes of play, and what can be asked of any run folder without knowing which it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments.engine.folder import RunError, kind_of
from experiments.engine.task import StoredMode
from experiments.engine.verify import check_run
from experiments.episodes.suite_task import EPISODES
from experiments.matches.match_task import MATCHES
from experiments.sessions.session_task import SESSIONS
from experiments.storekeeper.seat import year_seat_of
from experiments.years.year_mode import YearMode

YEARS = YearMode(year_seat_of)
MODES: tuple[StoredMode[Any, Any], ...] = (EPISODES, SESSIONS, MATCHES, YEARS)


def task_of(folder: Path) -> StoredMode[Any, Any]:
    """Return the mode whose run is in ``folder``."""
    name = kind_of(folder)
    for mode in MODES:
        if mode.mode == name:
            return mode
    raise RunError(f"{folder} holds a run of mode {name!r}; known are {', '.join(mode.mode for mode in MODES)}")


def check_folder(folder: Path) -> tuple[list[str], list[str]]:
    """Return what is wrong with the run in ``folder``, and where nothing is, which files the check says nothing of."""
    try:
        task = task_of(folder)
    except (ValueError, OSError) as error:
        return [str(error)], []
    return check_run(task, folder)
