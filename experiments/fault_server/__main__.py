"""Command line of the fault server; see the package."""

from __future__ import annotations

import argparse
import contextlib
import sys

from experiments.fault_server import FaultPlan, FaultServer


def main(arguments: list[str] | None = None) -> None:
    """Serve until interrupted; the first line printed is the base URL."""
    parser = argparse.ArgumentParser(prog="python -m experiments.fault_server", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 is any free port")
    parser.add_argument("--rate", action="append", default=[], metavar="NAME=P", help="probability of a fault or group")
    parser.add_argument("--seed", type=int, default=0, help="seed of the fault plan")
    parser.add_argument("--key", help="the only key to let in; without it any")
    parser.add_argument("--slow-seconds", type=float, default=1.0, help="how long slow answers take")
    parser.add_argument("--latency-seconds", type=float, default=0.0, help="how long every answer takes")
    chosen = parser.parse_args(arguments)
    try:
        plan = FaultPlan(dict(map(_read_rate, chosen.rate)), chosen.seed)
    except ValueError as error:
        parser.error(str(error))
    with (
        FaultServer(
            plan, key=chosen.key, slow_s=chosen.slow_seconds, latency_s=chosen.latency_seconds, port=chosen.port
        ) as server,
        contextlib.suppress(KeyboardInterrupt),
    ):
        sys.stdout.write(server.url + "\n")
        sys.stdout.flush()
        server.wait()


def _read_rate(text: str) -> tuple[str, float]:
    name, _, rate = text.partition("=")
    try:
        return name, float(rate)
    except ValueError:
        raise ValueError(f"--rate {text!r} must read NAME=PROBABILITY") from None


if __name__ == "__main__":
    main()
