"""Options of the commands, each defined once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

MODELS = "Language models"
LARGEST_SEED = 2**63 - 1
"""A seed is part of names of folders, and a number of 64 bits wherever it is stored."""
MOST = 10_000
"""Upper limit of counts that nothing else bounds; a slip of the finger must not fill the memory."""
DEFAULT_EPISODES = 5
"""Episodes per cell of every command: 360 negotiations of a whole suite, 1,800 are 25."""

AgentOption = Annotated[
    str,
    typer.Option(
        help="NAME[:key=value], python:MODULE:NAME, openrouter:VENDOR/MODEL, openai:MODEL with --base-url, or local."
    ),
]
Suite = Annotated[str, typer.Option(help="published, fresh or catalog:PATH (CSV, JSON, or a folder of them).")]
CatalogColumns = Annotated[
    str | None,
    typer.Option(
        help="Columns of a catalogue with other names: name=Title,price=Amount,low_price=80%,high_price=120%."
    ),
]
Episodes = Annotated[
    int, typer.Option("--episodes-per-cell", min=1, max=MOST, help="Episodes per regime, family, role and opener.")
]
Seed = Annotated[int | None, typer.Option(min=0, max=LARGEST_SEED, help="Seed of what is played (default: 0).")]
Regimes = Annotated[list[str] | None, typer.Option("--regime", help="Only this regime; repeat for more.")]
Families = Annotated[list[str] | None, typer.Option("--family", help="Only this family; repeat for more.")]
Config = Annotated[
    Path | None, typer.Option("--config", help="JSON file with settings to change; an option must not disagree.")
]
Out = Annotated[Path | None, typer.Option("--out", help="Folder (default: one below runs/, named by its content).")]
Workers = Annotated[
    int | None,
    typer.Option(min=1, max=1_000, help="How much at once: processes here, or a model's requests in flight."),
]
Scheduler = Annotated[str | None, typer.Option(help="Play on the workers of this Dask scheduler.")]
BaseUrl = Annotated[str | None, typer.Option(help="Address of an OpenAI-compatible server.", rich_help_panel=MODELS)]
BudgetUsd = Annotated[
    str | None,
    typer.Option("--budget-usd", help="Stop before a call that could pass it, all together.", rich_help_panel=MODELS),
]
ModelKeys = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="KEY=VALUE",
        help="A setting, such as effort=high or temperature=0.7, or a JSON file of them; repeat for more. "
        "`terms agents` lists the keys.",
        rich_help_panel=MODELS,
    ),
]
ReferenceRun = Annotated[
    Path | None,
    typer.Option(help="Run folder of bayes or clairvoyant on the same suite; adds %Oracle, by SE+ and by CSE+."),
]
DifferenceToFind = Annotated[
    float | None,
    typer.Option(min=0.0, help="State the scenarios needed for this difference (default: the one found)."),
]
Margin = Annotated[
    float | None,
    typer.Option(min=0.0, help="Differences within this margin count as none: equivalence becomes a verdict."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
RunFolder = Annotated[Path, typer.Argument(help="Run folder, of any kind.")]
Runs = Annotated[list[Path], typer.Argument(help="Run folders.")]
