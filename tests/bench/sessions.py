"""Speed of bankroll sessions: ``python -m tests.bench.sessions``.

A thousand scripted sessions of 50 periods, written, read back and summarised with every metric, by two processes. On a
machine with other work the processor time says what two free cores would need: half of it, if evenly shared.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time

from commerce.bankroll import BankrollConfig
from experiments.engine.run import run_task
from experiments.sessions.session_task import SESSIONS
from experiments.sessions.spec import SessionsSpec
from terms.agents import build_scripted

NUM_SESSIONS, NUM_PERIODS, WORKERS = 1_000, 50, 2
TARGET_S = 30.0


def main() -> None:
    """Measure and print."""
    spec = SessionsSpec(bankroll=BankrollConfig(num_sessions=NUM_SESSIONS, horizon=NUM_PERIODS))
    for name in ("fixed-0.10", "patient", "recall"):
        with tempfile.TemporaryDirectory() as folder:
            start, before = time.perf_counter(), sum(os.times()[:4])
            run = run_task(SESSIONS, build_scripted(name), spec, folder, workers=WORKERS)
            seconds, processor = time.perf_counter() - start, sum(os.times()[:4]) - before
        periods = sum(len(session.periods) for session in run.sessions)
        sys.stdout.write(
            f"{name:12} {NUM_SESSIONS:,} sessions, {periods:,} periods, {WORKERS} processes: {seconds:6.1f} s "
            f"(bar {TARGET_S:.0f} s), {processor:.1f} s of processor time\n"
        )


if __name__ == "__main__":
    main()
