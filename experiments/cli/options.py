"""Options of the commands, each defined once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

MODELS, ABLATIONS = "Language models", "What a language model is shown and asked"

Agent = Annotated[
    str,
    typer.Option(
        help="NAME[:key=value], python:MODULE:NAME, openrouter:VENDOR/MODEL, openai:MODEL with --base-url, or local."
    ),
]
Suite = Annotated[str, typer.Option(help="published, fresh or catalog:PATH.")]
CatalogColumns = Annotated[
    str | None,
    typer.Option(
        help="Columns of a catalogue with other names: name=Title,price=Amount,low_price=80%,high_price=120%."
    ),
]
Episodes = Annotated[int, typer.Option("--n-per-cell", min=1, help="Episodes per regime, family, role and opener.")]
Seed = Annotated[int | None, typer.Option(min=0, help="Seed of a fresh or catalogue suite (default: 0).")]
Regimes = Annotated[list[str] | None, typer.Option("--regime", help="Only this regime; repeat for more.")]
Families = Annotated[list[str] | None, typer.Option("--family", help="Only this family; repeat for more.")]
Config = Annotated[Path | None, typer.Option(help="JSON file with settings of the game to change.")]
Out = Annotated[Path | None, typer.Option("--out", help="Run folder (default: runs/AGENT-SUITE-HASH).")]
Resume = Annotated[bool, typer.Option(help="Go on with what the run folder holds.")]
Workers = Annotated[int, typer.Option(min=1, help="Worker processes.")]
Scheduler = Annotated[str | None, typer.Option(help="Play on the workers of this Dask scheduler.")]
BaseUrl = Annotated[str | None, typer.Option(help="Address of an OpenAI-compatible server.", rich_help_panel=MODELS)]
KeyEnv = Annotated[
    str | None,
    typer.Option("--api-key-env", help="Environment variable that holds the key.", rich_help_panel=MODELS),
]
Effort = Annotated[str | None, typer.Option(help="Reasoning effort: none to max.", rich_help_panel=MODELS)]
MaxTokens = Annotated[
    int | None,
    typer.Option("--max-output-tokens", min=1, help="Output limit of a reply.", rich_help_panel=MODELS),
]
Concurrency = Annotated[
    int | None,
    typer.Option(min=1, help="Episodes in flight at once.", rich_help_panel=MODELS),
]
Budget = Annotated[
    str | None,
    typer.Option("--budget-usd", help="Stop before a call that could pass it.", rich_help_panel=MODELS),
]
Cache = Annotated[
    Path | None,
    typer.Option(help="Folder of replies to reuse.", rich_help_panel=MODELS),
]
Voice = Annotated[
    str | None,
    typer.Option(help="Model that words the counterpart's acts, checked.", rich_help_panel=MODELS),
]
HideCues = Annotated[bool, typer.Option("--hide-cues", help="Do not show the cues.", rich_help_panel=ABLATIONS)]
HideWords = Annotated[bool, typer.Option("--hide-words", help="Do not show its words.", rich_help_panel=ABLATIONS)]
NoBelief = Annotated[bool, typer.Option("--no-belief", help="Do not ask for a belief.", rich_help_panel=ABLATIONS)]
NoGuidance = Annotated[bool, typer.Option("--no-guidance", help="Give no advice.", rich_help_panel=ABLATIONS)]
History = Annotated[
    int | None,
    typer.Option(min=0, help="Past rounds kept (default: all).", rich_help_panel=ABLATIONS),
]
RevealLevel = Annotated[
    str | None,
    typer.Option("--reveal", help="Tell it: nothing, family, kernel or type.", rich_help_panel=ABLATIONS),
]
ReferenceRun = Annotated[
    Path | None,
    typer.Option(help="Run folder of bayes or clairvoyant on the same suite; adds %Oracle, SE+ over its SE+."),
]
Difference = Annotated[
    float | None,
    typer.Option(min=0.0, help="State the scenarios needed for this difference (default: the one found)."),
]
Margin = Annotated[
    float | None,
    typer.Option(min=0.0, help="Differences within this margin count as none: equivalence becomes a verdict."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Runs = Annotated[list[Path], typer.Argument(help="Run folders.")]
