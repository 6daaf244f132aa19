"""Small runs, the bytes of their results, and the command line in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from experiments.episodes.config import SuiteSpec
from experiments.episodes.folder import LOG, PARQUET, SUMMARY
from experiments.modes import check_folder
from experiments.players.player import as_player
from experiments.storage.journal import HEADER, chain_start, encode_lines

REPOSITORY = Path(__file__).resolve().parents[2]
SMALL = SuiteSpec.parse("fresh", seed=3, n_per_cell=1)
SMALL_ARGS = ("--suite", "fresh", "--seed", "3", "--episodes-per-cell", "1")
TINY = SuiteSpec.parse("fresh", seed=3, n_per_cell=1, sample=12)
RESULTS = (HEADER, PARQUET, SUMMARY)
CONSOLE_SCRIPT = Path(sys.executable).with_name("terms")


def result_bytes(folder, names=RESULTS):
    """Return the content of the result files by name."""
    return {name: (Path(folder) / name).read_bytes() for name in names}


def logged_ids(folder):
    """Return the scenario ids in the log, in the order they were written; a torn last line does not count."""
    path = Path(folder) / LOG
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return [json.loads(line)["data"]["record"]["scenario_id"] for line in lines]


def rewrite_log(path, change):
    """Change the rows of a log as a forger would who knows how its lines are chained."""
    rows = [json.loads(line)["data"] for line in path.read_bytes().splitlines()]
    path.write_bytes(encode_lines(change(rows), chain_start(path)))


def findings_in(folder):
    """Return what is wrong with the run in a folder, whatever its mode."""
    return check_folder(Path(folder))[0]


def rows_of(job, agent):
    """Return the rows of a job of the engine."""
    rows = []
    job.do(as_player(agent), rows.append)
    return rows


def start_cli(*args, pause=0.0, cwd=REPOSITORY, environment=None, **options):
    """Start ``terms`` in a process group of its own; agents of the tests can be imported there."""
    command = [sys.executable, "-c", "from experiments.cli import main; main()", *map(str, args)]
    extra = {"TEST_PAUSE": str(pause), "PYTHONPATH": str(REPOSITORY), **(environment or {})}
    return subprocess.Popen(
        command,
        cwd=cwd,
        env={**os.environ, **extra},
        stdin=options.pop("stdin", subprocess.DEVNULL),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **options,
    )


def run_cli(*args, **options):
    """Run ``terms`` to its end; return the exit code, standard output and standard error."""
    process = start_cli(*args, **options)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def wait_for(condition, seconds=30.0):
    """Wait until ``condition()`` holds and return what it returned."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.005)
    raise AssertionError(f"{condition} did not hold within {seconds} s")


def children_of(pid):
    """Return the ids of the living processes whose parent is ``pid``."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().rpartition(")")
        except OSError:
            continue  # it ended while we looked
        state, parent = rest.split()[:2]
        if int(parent) == pid and state != "Z":
            found.append(int(name.split()[0]))
    return found


def is_alive(pid):
    """Whether the process runs; one that has ended and only waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
