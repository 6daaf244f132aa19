"""Comparing agents by whole sessions: the same chains, the same draws, and the session as the independent block."""

from __future__ import annotations

from collections.abc import Sequence

from commerce.bankroll import SessionEnd
from experiments.sessions.folder import SessionsRun
from experiments.sessions.summary import PAIRED_ON_SESSIONS, session_values, sessions_invalidity
from experiments.stats.paired import Comparison, compare_outcomes


def compare_sessions(
    runs: Sequence[SessionsRun], metric: str, *, delta: float | None = None, margin: float | None = None
) -> Comparison:
    """Compare every pair of agents on ``metric``.

    A session that the provider lost for one of two agents is left out of their pair.

    Raises
    ------
    ValueError
        If the metric is no session's, or the runs are not :func:`comparable <check_comparable>`.
    """
    if metric not in PAIRED_ON_SESSIONS:
        raise ValueError(f"metric={metric!r}, allowed for sessions are {', '.join(PAIRED_ON_SESSIONS)}")
    check_comparable(runs)
    values = {
        run.header.agent: {
            f"session {session.session:05d}": [session_values(session)[metric]]
            for session in run.sessions
            if session.is_scored
        }
        for run in runs
    }
    return compare_outcomes(values, metric, PAIRED_ON_SESSIONS[metric], delta=delta, margin=margin)


def check_comparable(runs: Sequence[SessionsRun]) -> None:
    """Make sure that agents differ and nothing else does, and that every session was played to its end.

    Of an unfinished run only the ruined sessions have a result, which is no sample of what the agent earns.

    Raises
    ------
    ValueError
        If a session is open, the chains, rules or economics differ, or an agent comes twice.
    """
    for run in runs:
        if num_open := _count(run, SessionEnd.OPEN):
            raise ValueError(
                f"runs: {run.folder} has {num_open} of {len(run.sessions)} sessions unfinished; "
                "resume it by giving its command again"
            )
    check_same_world(runs)
    agents = [run.header.agent for run in runs]
    for name in agents:
        if agents.count(name) > 1:
            raise ValueError(f"runs has agent={name!r} twice in bankroll; name each agent once")


def check_same_world(runs: Sequence[SessionsRun]) -> None:
    """Raise where runs are on other chains, games, rules or economics; an arm without memory may be missing."""
    worlds = [run.header.spec.model_copy(update={"with_memoryless": False}) for run in runs]
    for run, world in zip(runs, worlds, strict=True):
        if world != worlds[0] or run.header.digests != runs[0].header.digests:
            raise ValueError(
                f"runs are on different chains or rules ({runs[0].header.spec.label} in {runs[0].folder}, "
                f"{run.header.spec.label} in {run.folder}); agents can only be compared on the same ones"
            )


def session_gaps(run: SessionsRun) -> list[str]:
    """Return what a reader of the numbers of ``run`` must know: what is torn, open, lost or not to be read."""
    problem, found = sessions_invalidity(run.sessions), []
    if run.torn:
        found.append(f"note: {run.folder} ends in {run.torn} bytes of an unfinished line, which are left out")
    if problem:
        found.append(f"INVALID: {run.folder}: {problem}; do not read its scores")
    words = {SessionEnd.OPEN: "unfinished and not scored", SessionEnd.LOST: "lost to the provider and excluded"}
    for end, what in words.items():
        if count := _count(run, end):
            found.append(f"note: {run.folder} has {count} of {len(run.sessions)} sessions {what}")
    return found


def _count(run: SessionsRun, end: SessionEnd) -> int:
    return sum(session.end is end for session in run.sessions)
