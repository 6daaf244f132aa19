"""The modes of play, and what can be asked of any run folder without knowing which it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments.engine.folder import RunError, kind_of
from experiments.engine.task import Task
from experiments.engine.verify import not_covered, verify_run
from experiments.episodes.suite_task import EPISODES
from experiments.sessions.session_task import SESSIONS

TASKS: tuple[Task[Any, Any], ...] = (EPISODES, SESSIONS)


def task_of(folder: Path) -> Task[Any, Any]:
    """Return the task whose run is in ``folder``."""
    mode = kind_of(folder)
    for task in TASKS:
        if task.mode == mode:
            return task
    raise RunError(f"{folder} holds a run of mode {mode!r}; known are {', '.join(task.mode for task in TASKS)}")


def check_folder(folder: Path) -> tuple[list[str], list[str]]:
    """Return what is wrong with the run in ``folder``, and where nothing is, which files the check says nothing of."""
    try:
        task = task_of(folder)
    except (ValueError, OSError) as error:
        return [str(error)], []
    findings = verify_run(task, folder)
    return findings, [] if findings else not_covered(task, folder)
