"""The ``terms`` command: a thin layer over the Python API.

Results go to standard output, progress and notices to standard error; :data:`experiments.cli.ending.EXIT_CODES` says
how a command can end. What a command needs is imported when it runs, so that help comes at once.
"""

from __future__ import annotations

import io
import os
import sys

# Before numpy loads: its threads spin on matrices as small as ours, which on a busy machine makes a fit take minutes.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from typing import Annotated

import typer

from experiments.cli.commands import HELP_NAMES, LazyGroup
from experiments.cli.ending import EXIT_CODES, INTERRUPTED, exit_code
from experiments.cli.show import out

__all__ = ["app", "main"]

app = typer.Typer(
    name="terms",
    cls=LazyGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    epilog="Exit codes: " + "; ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items()) + ".",
    **HELP_NAMES,
)


def _say_version(is_asked: bool) -> None:
    if is_asked:
        from terms import __version__

        out(f"terms-commerce {__version__}")
        raise typer.Exit


@app.callback()
def _terms(
    version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Diagnose how agents bargain and what it costs them."""
    del version


def main() -> None:
    """Run the command line; expected failures become one clear line instead of a traceback."""
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a letter that a terminal lacks must not end a run
    try:
        app()
    except BaseException as error:
        if isinstance(error, SystemExit) and error.code != INTERRUPTED:
            raise  # as every command ends
        code = exit_code(error)
        if code is None:
            raise
        sys.exit(code)


def _open_closed_streams() -> None:
    """Put an empty stream where one was closed; else the next file opened would take its number and its output."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - open until the end
