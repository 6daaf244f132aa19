"""The ``terms`` command: a thin layer over the Python API.

Results go to standard output, progress and notices to standard error. Exit codes: 0 done, 1 the check failed, 2 bad
input, 3 nothing could be scored, 4 spending ceiling reached, 130 interrupted.
"""

from __future__ import annotations

import os
import signal
import sys

# Before numpy loads: its threads spin on matrices as small as ours, which on a busy machine makes a fit take minutes.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import typer

from experiments.cli import answers, listing, models, money, playing, reading, serving, telling, years
from experiments.cli.show import note
from experiments.llm.cache import DamagedCacheError, UnusableCacheError
from experiments.llm.errors import BudgetExceeded, ServerUnusable, SettingRefused
from experiments.players.local import LocalModelError
from experiments.storage.files import RunLockedError

__all__ = ["INTERRUPTED", "OVER_BUDGET", "app", "main"]

INTERRUPTED = 130
OVER_BUDGET = 4

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
app.command()(answers.oracle)
app.command()(answers.decompose)
app.command()(telling.explain)
app.command("train-oracle")(telling.train_oracle)
app.command()(models.cost)
app.command()(models.local_model)
app.command()(money.commerce)
app.command()(money.bankroll)
app.command()(money.order)
app.command()(years.year)
app.command()(serving.serve)
app.command()(years.world)
app.command("lint-economy")(years.lint_economy)
app.command()(listing.agents)
app.command()(listing.suites)


def main() -> None:
    """Run the command line; expected failures become one clear line instead of a traceback."""
    _open_closed_streams()
    try:
        app()
    except (KeyboardInterrupt, SystemExit) as stop:
        if isinstance(stop, SystemExit) and stop.code != INTERRUPTED:  # typer exits with it after Ctrl-C
            raise
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # all is on the disk: once more ends it without a traceback
        note("interrupted; everything finished is kept, the same command goes on from there")
        sys.exit(INTERRUPTED)
    except BudgetExceeded as error:
        note(f"{error}\neverything finished is kept; the same command with a higher --budget-usd goes on from there")
        sys.exit(OVER_BUDGET)
    except ServerUnusable as error:
        note(f"error: {error}\neverything finished is kept; once the server can be used, the same command goes on")
        sys.exit(playing.NOTHING_SCORED)
    except (LocalModelError, SettingRefused, DamagedCacheError, UnusableCacheError) as error:
        note(f"error: {error}")
        sys.exit(2)
    except (ValueError, OSError, RunLockedError) as error:
        if getattr(error, "__notes__", None):
            raise  # it came out of an agent: its author needs the traceback
        note(f"error: {error}")
        sys.exit(2)


def _open_closed_streams() -> None:
    """Put an empty stream where one was closed; else the next file opened would take its number and its output."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - open until the end
