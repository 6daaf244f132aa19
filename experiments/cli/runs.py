"""The commands that show which runs there are, finished or still being played."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Annotated

import typer

from experiments.cli import options
from experiments.cli.show import note, out, print_table, text_table

Roots = Annotated[list[Path] | None, typer.Argument(help="Folders to look in (default: runs).", show_default=False)]
_HOME = Path("runs")


def runs(folders: Roots = None, as_json: options.AsJson = False) -> None:
    """List runs and years with how far each is and its main number; the last written first."""
    from experiments.viewing.shelf import list_runs

    found = list_runs(_existing(folders))
    if as_json:
        out(json.dumps([run._asdict() for run in found], allow_nan=False))
        return
    if not found:
        out("no runs; `terms diagnose --agent patient` plays the first")
        return
    headings = ("agent", "what", "progress", "state", "answer", "folder")
    lines = [(run.agent, run.what, run.progress, run.state, run.answer, run.folder) for run in found]
    print_table(text_table("runs, the last written first", headings, lines))


def view(folders: Roots = None) -> None:
    """Show runs and years on a page of this machine while they are played, each as its report. Ctrl-C ends it."""
    from experiments.viewing.live_page import shown_page

    with shown_page(_existing(folders)) as address:
        out(f"runs: {address}")
        note("Ctrl-C ends it")
        signal.pause()


def _existing(folders: list[Path] | None) -> list[Path]:
    """Return the folders, by default the one where commands put runs, which need not be there yet."""
    for folder in folders or ():
        if not folder.is_dir():
            raise ValueError(f"{str(folder)!r} is no folder")
    return folders or [_HOME]
