"""What the harness costs beside the model: ``python -m tests.bench.storekeeper``.

A scripted model runs a year over HTTP from a process of its own. Shown are the processor time of the harness for each
model call, store and journals included, its peak memory, and how long the finished year takes to be taken up again. The
context is the published one of 128,000 tokens; processor time, so that a busy machine does not matter.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from experiments.engine.run import load_run
from experiments.fault_server import FaultServer
from experiments.llm.client import ChatClient
from experiments.llm.settings import ModelSettings
from experiments.llm.spending import Meter
from experiments.storekeeper.seat import StorekeeperSeat
from experiments.storekeeper.settings import StorekeeperSettings
from experiments.years.run import run_year
from experiments.years.spec import YearSpec
from experiments.years.year_mode import YearMode

DAYS = 365


def play(url: str, num_turns: int) -> str:
    """Play ``num_turns`` turns of a year against the server at ``url`` and tell what they took."""
    model = ModelSettings(model=f"shop/rule-based/{DAYS}", base_url=url, max_output_tokens=8_000)
    client = ChatClient(model, meter=Meter())
    seat = StorekeeperSeat("shop", model, StorekeeperSettings(max_turns=num_turns), client)
    spec = YearSpec(num_days=DAYS)
    with tempfile.TemporaryDirectory() as folder:
        start, wall = time.process_time(), time.perf_counter()
        turns = run_year(folder, spec, seat).outcome.turns
        used, waited = time.process_time() - start, time.perf_counter() - wall
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        size = sum(path.stat().st_size for path in Path(folder).iterdir()) / 1e6
        start = time.process_time()
        log = load_run(YearMode(lambda header: seat), folder)
        seat.check(log.session, log.header)
        again = time.process_time() - start
    client.close()
    return (
        f"{turns:5d} turns  {1e3 * used / turns:6.1f} ms of processor a model call  {waited:6.1f} s in all  "
        f"peak {peak:5.0f} MB  {size:5.1f} MB on disk  taken up again in {again:5.1f} s\n"
    )


def main() -> None:
    """Measure 400 and 4,000 turns, each in a fresh process."""
    if len(sys.argv) == 3:
        sys.stdout.write(play(sys.argv[1], int(sys.argv[2])))
        return
    for num_turns in (400, 4_000):
        with FaultServer() as server:
            command = [sys.executable, "-m", "tests.bench.storekeeper", server.url, str(num_turns)]
            sys.stdout.write(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
