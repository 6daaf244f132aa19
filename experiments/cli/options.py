"""Options that several commands share, each defined once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

MODELS, ABLATIONS = "Language models", "What a language model is shown and asked"

Agent = Annotated[
    str,
    typer.Option(
        help="NAME[:key=value], python:MODULE:NAME, openrouter:VENDOR/MODEL, openai:MODEL with --base-url, or local."
    ),
]
Suite = Annotated[str, typer.Option(help="published, fresh or catalog:PATH.")]
Episodes = Annotated[int, typer.Option("--n-per-cell", min=1, help="Episodes per regime, family, role and opener.")]
Seed = Annotated[Optional[int], typer.Option(min=0, help="Seed of a fresh or catalogue suite (default: 0).")]  # noqa: UP045
Regimes = Annotated[Optional[list[str]], typer.Option("--regime", help="Only this regime; repeat for more.")]  # noqa: UP045
Families = Annotated[Optional[list[str]], typer.Option("--family", help="Only this family; repeat for more.")]  # noqa: UP045
Config = Annotated[Optional[Path], typer.Option(help="JSON file with settings of the game to change.")]  # noqa: UP045
Out = Annotated[Optional[Path], typer.Option(help="Run folder (default: runs/AGENT-SUITE-HASH).")]  # noqa: UP045
Resume = Annotated[bool, typer.Option(help="Go on with what the run folder holds.")]
Workers = Annotated[int, typer.Option(min=1, help="Worker processes.")]
Scheduler = Annotated[Optional[str], typer.Option(help="Play on the workers of this Dask scheduler.")]  # noqa: UP045
BaseUrl = Annotated[Optional[str], typer.Option(help="Address of an OpenAI-compatible server.", rich_help_panel=MODELS)]  # noqa: UP045
KeyEnv = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--api-key-env", help="Environment variable that holds the key.", rich_help_panel=MODELS),
]
Effort = Annotated[Optional[str], typer.Option(help="Reasoning effort: none to max.", rich_help_panel=MODELS)]  # noqa: UP045
MaxTokens = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option("--max-output-tokens", min=1, help="Output limit of a reply.", rich_help_panel=MODELS),
]
Concurrency = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(min=1, help="Episodes in flight at once.", rich_help_panel=MODELS),
]
Budget = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--budget-usd", help="Stop before a call that could pass it.", rich_help_panel=MODELS),
]
Cache = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option(help="Folder of replies to reuse.", rich_help_panel=MODELS),
]
Voice = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(help="Model that words the counterpart's acts, checked.", rich_help_panel=MODELS),
]
HideCues = Annotated[bool, typer.Option("--hide-cues", help="Do not show the cues.", rich_help_panel=ABLATIONS)]
HideWords = Annotated[bool, typer.Option("--hide-words", help="Do not show its words.", rich_help_panel=ABLATIONS)]
NoBelief = Annotated[bool, typer.Option("--no-belief", help="Do not ask for a belief.", rich_help_panel=ABLATIONS)]
NoGuidance = Annotated[bool, typer.Option("--no-guidance", help="Give no advice.", rich_help_panel=ABLATIONS)]
History = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(min=0, help="Past rounds kept (default: all).", rich_help_panel=ABLATIONS),
]
RevealLevel = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--reveal", help="Tell it: nothing, family, kernel or type.", rich_help_panel=ABLATIONS),
]
Difference = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(min=0.0, help="State the scenarios needed for this difference (default: the one found)."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Runs = Annotated[list[Path], typer.Argument(help="Run folders.")]
