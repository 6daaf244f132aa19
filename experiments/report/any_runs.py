"""The report about any folders of one kind: runs of episodes, matches, sessions, or years."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.comparing.years import find_years
from experiments.engine.run import load_run
from experiments.episodes.suite_task import EPISODES
from experiments.matches.match_task import MATCHES
from experiments.matches.tournament import find_matches
from experiments.report.matches_page import report_matches
from experiments.report.reporting import report_on
from experiments.report.sessions_page import report_sessions
from experiments.report.years import report_years
from experiments.sessions.folder import is_sessions
from experiments.sessions.session_task import SESSIONS


def report_any(folders: Sequence[Path], path: Path) -> Path:
    """Write the report about ``folders``, as far as they are played, to ``path`` and return it.

    Raises
    ------
    ValueError
        If they are of several kinds, a year has not ended, or nothing is reported on their kind.
    """
    if years := find_years(folders):
        return report_years(years, path, title="How these merchants trade")
    if any(map(is_sessions, folders)):
        return report_sessions(
            [load_run(SESSIONS, folder) for folder in folders], path, title="How these agents keep their money"
        )
    if matches := find_matches(folders):
        tables = [load_run(MATCHES, folder) for folder in matches]
        return report_matches(tables, path, title="How these agents deal with each other")
    return report_on([load_run(EPISODES, folder) for folder in folders], path, title="How these agents bargain")
