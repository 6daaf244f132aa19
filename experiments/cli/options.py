"""Options that several commands share, each defined once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

Agent = Annotated[str, typer.Option(help="Built-in agent, NAME:key=value, or python:MODULE:NAME.")]
Suite = Annotated[str, typer.Option(help="published, fresh or catalog:PATH.")]
Episodes = Annotated[int, typer.Option("--n-per-cell", min=1, help="Episodes per regime, family, role and opener.")]
Seed = Annotated[Optional[int], typer.Option(min=0, help="Seed of a fresh or catalogue suite [default: 0].")]  # noqa: UP045
Regimes = Annotated[Optional[list[str]], typer.Option("--regime", help="Only this regime; repeat for more.")]  # noqa: UP045
Families = Annotated[Optional[list[str]], typer.Option("--family", help="Only this family; repeat for more.")]  # noqa: UP045
Config = Annotated[Optional[Path], typer.Option(help="JSON file with settings of the game to change.")]  # noqa: UP045
Out = Annotated[Optional[Path], typer.Option(help="Run folder [default: runs/AGENT-SUITE-HASH].")]  # noqa: UP045
Workers = Annotated[int, typer.Option(min=1, help="Worker processes.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Runs = Annotated[list[Path], typer.Argument(help="Run folders.")]
