"""Playing sessions into a folder. One process writes; a session is taken up after the last period its log holds."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any

from commerce.bankroll import SessionRecord
from experiments.engine.pool import Progress, log_jobs
from experiments.episodes.folder import open_header
from experiments.players.player import as_player
from experiments.sessions.folder import LOG, SessionsRun, load_sessions, write_results
from experiments.sessions.play import SessionJob, has_ended
from experiments.sessions.spec import Arm, SessionsHeader, SessionsSpec
from experiments.storage.files import exclusive_lock
from terms.episode import AgentLike


def run_sessions(  # noqa: PLR0913 - what is played, where to, and by whom
    agent: AgentLike,
    spec: SessionsSpec,
    out: str | Path,
    *,
    workers: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
    agent_settings: dict[str, Any] | None = None,
) -> SessionsRun:
    """Play every session of ``spec`` that ``out`` does not hold yet, and write the results.

    Parameters and errors are those of :func:`experiments.episodes.runner.run_suite`. A session that the provider cut
    short goes on from there when it is run again.
    """
    player, folder = as_player(agent), Path(out).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    header = SessionsHeader.of(player.name, spec, agent_settings, player.new_salt())
    with exclusive_lock(folder):
        open_header(folder, header)
        with player.sit(folder) as seated:
            before = load_sessions(folder)
            jobs = _jobs(before)
            left = sum(spec.bankroll.horizon - len(job.past) for job in jobs)
            log_jobs(seated, jobs, folder / LOG, left=left, workers=workers, executor=executor, progress=progress)
        run = load_sessions(folder)
        write_results(run)
    resumed = sum(len(session.periods) for session in (*before.sessions, *before.memoryless))
    return replace(run, folder=Path(out), torn=before.torn, resumed=resumed)


def _jobs(before: SessionsRun) -> list[SessionJob]:
    arms = {Arm.MEMORY: before.sessions, Arm.MEMORYLESS: before.memoryless}
    found = [_job(arm, session, before.header) for arm, sessions in arms.items() for session in sessions]
    return [job for job in found if not has_ended(job.past, job.spec)]


def _job(arm: Arm, session: SessionRecord, header: SessionsHeader) -> SessionJob:
    """Return what is left of a session; a period that the provider lost is played again."""
    played = tuple(period for period in session.periods if not period.is_lost)
    return SessionJob(header.spec, arm, session.session, played, header.salt)
