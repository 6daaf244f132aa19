"""Options of the commands, each defined once, and what is read from them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeVar

import typer

if TYPE_CHECKING:
    from pydantic import BaseModel

    from experiments.episodes.config import SuiteSpec

    Settings = TypeVar("Settings", bound=BaseModel)

DEFAULT_EPISODES = 5
"""Episodes per cell of every command: 360 negotiations of a whole suite, 1,800 are 25."""


LARGEST_SEED = 2**63 - 1
"""A seed is part of names of folders, and a number of 64 bits wherever it is stored."""
MOST = 10_000
"""Upper limit of counts that nothing else bounds; a slip of the finger must not fill the memory."""
MOST_WORKERS = 1_000


class Where(NamedTuple):
    """Where is played: in so many processes here (or with so many requests in flight), or on a Dask scheduler."""

    workers: int | None = None
    scheduler: str | None = None


def read_where(text: str | Where) -> Where:
    """Return what ``--workers N`` or ``--scheduler ADDRESS`` says, two spellings of one choice; a default as it is."""
    if isinstance(text, Where):
        return text
    if ":" in text:
        return Where(scheduler=text)
    if not text.isdecimal() or not 1 <= int(text) <= MOST_WORKERS:
        raise typer.BadParameter(f"{text!r} is neither a number of workers, 1 to {MOST_WORKERS}, nor a Dask address")
    return Where(workers=int(text))


HERE = Where()

WHO = typer.Option(
    help="NAME[:key=value], python:MODULE:NAME, openrouter:VENDOR/MODEL, openai:MODEL with --base-url, or local."
)
AgentOption = Annotated[str, WHO]
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
Cells = Annotated[
    list[str] | None,
    typer.Option("--regime", "--family", metavar="NAME", help="Only this regime or family; repeat for more."),
]
Config = Annotated[
    list[str] | None,
    typer.Option(
        "--config",
        metavar="KEY=VALUE|FILE",
        help="A setting of the game, its money or the rules of a year, or a JSON file; an option must not disagree.",
    ),
]
Out = Annotated[Path | None, typer.Option("--out", help="Folder (default: one below runs/, named by its content).")]
Workers = Annotated[
    Where,
    typer.Option(
        "--workers",
        "--scheduler",
        parser=read_where,
        metavar="N|ADDRESS",
        show_default=False,
        help="How much at once: processes here, or a model's requests in flight; or the address of a Dask scheduler.",
    ),
]
ModelKeys = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="KEY=VALUE|FILE",
        help="A setting of a language model, or a JSON file of them; `terms agents` lists the keys. Each is an option "
        "of its own as well: --base-url ADDRESS of an OpenAI-compatible server, --budget-usd N stops before a call "
        "that could pass it, --effort high, --temperature 0.7, --cache FOLDER of replies.",
        rich_help_panel="Language models",
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
RuleSet = Annotated[
    Literal["paper", "fair", "fair-1"],
    typer.Option(help="paper: the published rules; fair: the repaired ones; fair-1: their first version."),
]
WorldSeed = Annotated[
    int, typer.Option("--seed", min=0, max=LARGEST_SEED, help="Seed of the world; any other is a held-out one.")
]
WorldDir = Annotated[Path | None, typer.Option("--world-dir", help="Folder with data of the public schema.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
RunFolder = Annotated[Path, typer.Argument(help="Run folder, of any kind.")]
Runs = Annotated[list[Path], typer.Argument(help="Run folders.")]


def suite_of(
    suite: str,
    episodes_per_cell: int,
    seed: int | None,
    cells: Sequence[str] | None,
    config: Sequence[str] | None,
    columns: str | None,
) -> SuiteSpec:
    """Return the suite that the options name, without money."""
    from experiments.episodes.config import SuiteSpec

    asked: dict[str, Any] = {"n_per_cell": episodes_per_cell, **split_cells(cells), **read_game(config)}
    return SuiteSpec.parse(suite, seed=seed, columns=columns, **asked)


def split_cells(names: Sequence[str] | None) -> dict[str, Any]:
    """Return the regimes and the families among ``names``.

    Raises
    ------
    ValueError
        If one is neither.
    """
    from terms.hints import did_you_mean
    from terms.types import Family, Regime

    regimes, families = [str(each) for each in Regime], [str(each) for each in Family]
    for name in names or ():
        if name not in (*regimes, *families):
            hint = did_you_mean(name, [*regimes, *families])
            raise ValueError(
                f"regime or family={name!r}, allowed are {', '.join(regimes)}; {', '.join(families)}{hint}"
            )
    found = {
        key: [name for name in names or () if name in kind]
        for key, kind in (("regimes", regimes), ("families", families))
    }
    return {key: chosen or None for key, chosen in found.items()}


def read_game(config: Sequence[str] | None) -> dict[str, Any]:
    """Return what a settings file changes in a game without money."""
    from terms import GameConfig

    return {"game": read_settings(config, GameConfig())}


def read_settings(words: Sequence[str] | None, defaults: Settings) -> Settings:
    """Read changed settings, laid over ``defaults`` at any depth; a wrong one raises and is named."""
    for word in words or ():
        defaults = _changed(word, defaults)
    return defaults


def rule_changes(name: str, config: Sequence[str] | None) -> dict[str, Any]:
    """Return the fields in which settings differ from the rule set, as plain data."""
    from commerce.config import rules_named

    rules = rules_named(name)
    usual = rules.model_dump(mode="json")
    wanted = read_settings(config, rules).model_dump(mode="json")
    return {field: value for field, value in wanted.items() if value != usual[field]}


def _changed(word: str, defaults: Settings) -> Settings:
    from pydantic import ValidationError

    from experiments.cli.show import describe_errors
    from experiments.engine.folder import differing_leaves
    from experiments.players.model_options import read_word

    changes = read_word(word, "config")
    try:
        merged = _laid_over(defaults.model_dump(mode="json"), changes)
        config = type(defaults).model_validate(merged)
        coerced = differing_leaves(merged, config.model_dump(mode="json"))
        if coerced:  # a number given as text, for example: say so instead of guessing
            raise ValueError(f"a value has the wrong type: {'; '.join(coerced)}")
        return config
    except ValidationError as error:
        raise ValueError(f"config={word!r}: {describe_errors(error)}") from error
    except ValueError as error:
        raise ValueError(f"config={word!r}: {error}") from error


def _laid_over(base: Any, changes: Any) -> Any:
    if not isinstance(base, dict) or not isinstance(changes, dict):
        return changes
    return {**base, **{key: _laid_over(base.get(key), value) for key, value in changes.items()}}
