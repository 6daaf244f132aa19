"""Whatever is killed at whatever moment, parent or worker: no orphan, no traceback, and the same command goes on."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from experiments.modes import check_folder
from experiments.storage.files import LOCK
from tests.experiments.folders import children_of, is_alive, run_cli, start_cli, wait_for

MOMENTS = 20
SLOW = "python:tests.experiments.agents:Slow"
COMMANDS = {
    "diagnose": ("diagnose", "--agent", SLOW, "--suite", "fresh", "--seed", "3", "--episodes-per-cell", "1"),
    "bankroll": ("bankroll", "--agent", SLOW, "--sessions", "4", "--periods", "12", "--memory-premium"),
    "year": ("year", "--agent", "rule-based", "--days", "25", "--worlds", "3"),
}


def tree(folder):
    """Return the bytes of every file of a run, by its place."""
    paths = [path for path in Path(folder).rglob("*") if path.is_file() and path.name != LOCK]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def workers_of(process):
    """Return the worker processes of a command."""
    found = []
    for child in children_of(process.pid):
        try:
            words = Path(f"/proc/{child}/cmdline").read_bytes()
        except OSError:
            continue
        if b"spawn_main" in words:
            found.append(child)
    return found


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("victim", ["parent", "worker"])
@pytest.mark.parametrize("name", COMMANDS)
def test_killed_at_twenty_moments(tmp_path, name, victim):
    command, rng = COMMANDS[name], np.random.default_rng([len(name), len(victim)])
    start = time.monotonic()
    code, _, err = run_cli(*command, "--workers", 2, "--out", tmp_path / "calm", pause=0.004)
    assert code == 0, err
    whole, expected, hits = time.monotonic() - start, tree(tmp_path / "calm"), 0
    for moment in range(MOMENTS):
        folder = tmp_path / str(moment)
        process = start_cli(*command, "--workers", 2, "--out", folder, pause=0.004)
        time.sleep(float(rng.uniform(0.3, 0.95)) * whole)
        workers = workers_of(process)
        if victim == "worker" and workers:
            os.kill(workers[moment % len(workers)], signal.SIGKILL)
        elif victim == "parent":
            process.send_signal((signal.SIGKILL, signal.SIGTERM, signal.SIGHUP)[moment % 3])
        _, err = process.communicate(timeout=60)
        wait_for(lambda pids=workers: not any(map(is_alive, pids)), seconds=10)
        hits += process.returncode != 0
        assert "Traceback" not in err
        if process.returncode and victim == "worker":
            assert (process.returncode, "a worker process died; run the same command again" in err) == (2, True), err
        code, _, err = run_cli(*command, "--workers", 2, "--out", folder)
        assert code == 0, err
        assert tree(folder) == expected
    assert hits >= MOMENTS // 3, "most must be hit while they work"
    for run in {path.parent for path in (tmp_path / "0").rglob("run.json")}:
        assert check_folder(run)[0] == []
