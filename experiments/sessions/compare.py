"""Comparing agents by whole sessions: the same chains, the same luck, and the session as the independent block."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments.sessions.folder import load_sessions
from experiments.sessions.summary import PAIRED, session_values
from experiments.stats import Comparison, compare_values


def compare_sessions(
    folders: Sequence[Path], metric: str, *, rng: np.random.Generator, delta: float | None = None
) -> tuple[Comparison, str]:
    """Compare every pair of agents on ``metric`` and return the comparison with the label of the chains.

    A session that the provider lost for one of two agents is left out of their pair.

    Raises
    ------
    ValueError
        If the metric is no session's, the folders are on different chains, or an agent comes twice.
    """
    if metric not in PAIRED:
        raise ValueError(f"metric={metric!r}, allowed for sessions are {', '.join(PAIRED)}")
    runs = [load_sessions(folder) for folder in folders]
    if len({(run.header.digest, run.header.spec.bankroll) for run in runs}) > 1:
        labels = ", ".join(sorted({run.header.spec.label for run in runs}))
        raise ValueError(f"runs are on different chains ({labels}); agents can only be compared on the same ones")
    agents = [run.header.agent for run in runs]
    for name in agents:
        if agents.count(name) > 1:
            raise ValueError(f"runs has agent={name!r} twice; name each agent once")
    values = {
        run.header.agent: {
            f"session {session.session:05d}": session_values(session)[metric]
            for session in run.sessions
            if session.is_scored
        }
        for run in runs
    }
    return compare_values(values, metric, PAIRED[metric], rng=rng, delta=delta), runs[0].header.spec.label
