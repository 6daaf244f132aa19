"""The ``terms`` command: a thin layer over the Python API.

Results go to standard output, progress and notices to standard error. Exit codes: 0 done, 1 the check failed, 2 bad
input, 3 nothing could be scored, 130 interrupted.
"""

from __future__ import annotations

import sys

import typer

from experiments.cli import listing, playing, reading
from experiments.runs.files import RunLockedError

__all__ = ["app", "main"]

app = typer.Typer(
    name="terms",
    help="Diagnose how agents bargain and what it costs them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(playing.diagnose)
app.command()(playing.play)
app.command()(reading.compare)
app.command()(reading.report)
app.command()(reading.verify)
app.command()(listing.agents)
app.command()(listing.suites)


def main() -> None:
    """Run the command line; expected failures become one clear line instead of a traceback."""
    try:
        app()
    except KeyboardInterrupt:
        _complain("interrupted; everything finished is kept, the same command goes on from there")
        sys.exit(130)
    except (ValueError, OSError, RunLockedError) as error:
        _complain("\n".join([f"error: {error}", *getattr(error, "__notes__", [])]))
        sys.exit(2)


def _complain(text: str) -> None:
    sys.stderr.write(text + "\n")
