"""Commands that play episodes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import typer
from pydantic import BaseModel, ValidationError

from experiments.cli import options
from experiments.cli.ending import NOTHING_SCORED
from experiments.cli.fitting import prepare_player
from experiments.cli.money_tables import print_money
from experiments.cli.seating import (
    agent_apart,
    kept_if_played,
    named_folder,
    negotiator_options,
    seat_player,
    tell_plan,
)
from experiments.cli.show import describe_errors, metrics_tables, note, out, print_table, progress_bar
from experiments.engine.cluster import open_executor
from experiments.engine.folder import differing_leaves
from experiments.engine.run import load_run, run_task
from experiments.episodes.config import SUITE, SuiteSpec
from experiments.episodes.folder import Run, suite_summary
from experiments.episodes.suite_task import EPISODES
from experiments.players.player import Player, as_player
from oracle.player_registry import PLAYERS
from terms import GameConfig
from terms.cells import suite_cells
from terms.metrics import summarize
from terms.strict_json import strict_loads

Settings = TypeVar("Settings", bound=BaseModel)
REFERENCE_AGENTS = tuple(name for name, entry in PLAYERS.items() if entry.is_reference)


def diagnose(  # noqa: PLR0913 - one parameter an option
    agent: options.AgentOption,
    suite: options.Suite = "fresh",
    columns: options.CatalogColumns = None,
    episodes_per_cell: options.Episodes = options.DEFAULT_EPISODES,
    seed: options.Seed = None,
    repeats: Annotated[
        int, typer.Option(min=1, max=options.MOST, help="Plays of each episode; only the agent's draws differ.")
    ] = 1,
    regime: options.Regimes = None,
    family: options.Families = None,
    config: options.Config = None,
    money: Annotated[bool, typer.Option("--money", help="In dollars: profits, walk-aways, regret.")] = False,
    economics: Annotated[
        Literal["default", "published-2"], typer.Option(help="Constants of --money; `fit-economics` compares them.")
    ] = "default",
    perspective: Annotated[
        Literal["both", "merchant", "vendor"], typer.Option(help="Whose episodes: a merchant buys, a vendor sells.")
    ] = "both",
    scenarios: Annotated[
        int | None,
        typer.Option(min=1, max=10**6, help="This many, drawn from evenly filled cells (the paper: 192, merchant)."),
    ] = None,
    out_dir: options.Out = None,
    workers: options.Workers = None,
    scheduler: options.Scheduler = None,
    reference_run: options.ReferenceRun = None,
    as_json: options.AsJson = False,
    base_url: options.BaseUrl = None,
    budget_usd: options.BudgetUsd = None,
    model: options.ModelKeys = None,
) -> None:
    """Play a suite with an agent and print every metric with its interval. Run it again to go on after a stop."""
    if economics != "default" and not money:
        raise ValueError(f"economics={economics!r} without --money; constants of the money need it")
    if scenarios is not None:
        num_cells = len(suite_cells(regime, family)) // (1 if perspective == "both" else 2)
        episodes_per_cell = max(episodes_per_cell, -(-scenarios // num_cells))
    cells: dict[str, Any] = {"n_per_cell": episodes_per_cell, "regimes": regime, "families": family}
    spec = SuiteSpec.parse(
        suite,
        seed=seed,
        repeats=repeats,
        columns=columns,
        perspective=None if perspective == "both" else perspective,
        sample=scenarios,
        **cells,
        **(read_money(config, suite, economics) if money else read_game(config)),
    )
    asked = negotiator_options(model, base_url, budget_usd)
    seating = seat_player(agent, asked, spec.game, workers, scheduler)
    player = prepare_player(agent, seating.player, spec.build())
    reference = None if reference_run is None else load_reference(reference_run, spec)
    folder = run_folder(out_dir or default_folder(player, spec))
    tell_plan(player, spec.num_episodes)
    with (
        open_executor(scheduler=scheduler) as executor,
        progress_bar(spec.num_episodes, f"{player.name} on {spec.label}") as progress,
        kept_if_played(folder),
        agent_apart(),
    ):
        run = run_task(EPISODES, player, spec, folder, workers=seating.processes, executor=executor, progress=progress)
    if money and not as_json:
        print_money(run)
    show_run(run, as_json=as_json, reference=reference)


def read_game(config: Path | None) -> dict[str, Any]:
    """Return what a settings file changes in a game without money."""
    return {"game": read_settings(config, GameConfig())}


def read_money(config: Path | None, suite: str, economics: str = "default") -> dict[str, Any]:
    """Return game and economics of negotiations in dollars; the settings file changes the named ones."""
    from commerce.economics import ECONOMICS
    from experiments.episodes.config import CommerceSettings

    if suite == "published":
        raise ValueError("suite='published' has no money; --money takes fresh or catalog:PATH")
    settings = read_settings(config, CommerceSettings(economics=ECONOMICS[economics]))
    return {"game": settings.game, "economics": settings.economics}


def play(  # noqa: PLR0913 - one parameter an option
    suite: options.Suite = "fresh",
    columns: options.CatalogColumns = None,
    episodes: Annotated[int, typer.Option(min=1, max=options.MOST, help="How many negotiations to play.")] = 1,
    seed: options.Seed = None,
    regime: options.Regimes = None,
    family: options.Families = None,
    config: options.Config = None,
    out_dir: options.Out = None,
) -> None:
    """Negotiate yourself, on the same episodes as any agent; who you faced is revealed at the end."""
    from experiments.players.human import Human, reveal

    spec = SuiteSpec.parse(
        suite, seed=seed, regimes=regime, families=family, sample=episodes, columns=columns, **read_game(config)
    )
    player = as_player(Human())
    folder = run_folder(out_dir or default_folder(player, spec))
    run = run_task(EPISODES, player, spec, folder, progress=reveal)
    show_run(run, as_json=False)


def run_folder(folder: Path) -> Path:
    """Return ``folder`` if it can be played into.

    Raises
    ------
    ValueError
        If it is a file or below one.
    """
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise ValueError(f"--out={str(folder)!r}: {there} is a file, needed is a folder")
    return folder


def default_folder(player: Player, spec: SuiteSpec) -> Path:
    """Return ``runs/AGENT-SUITE-HASH``; the hash keeps runs of different settings apart."""
    plain = {"economics"} if spec.economics is None else None  # runs without money keep the folders they had
    return named_folder(player.name, spec.label, [player.settings, spec.model_dump(mode="json", exclude=plain)])


def read_settings(path: Path | None, defaults: Settings) -> Settings:
    """Read changed settings, laid over ``defaults`` at any depth; a wrong one raises and is named."""
    if path is None:
        return defaults
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"config={str(path)!r} cannot be read: {error}") from error
    try:
        changes = strict_loads(text)
        merged = _laid_over(defaults.model_dump(mode="json"), changes)
        config = type(defaults).model_validate(merged)
        coerced = differing_leaves(merged, config.model_dump(mode="json"))
        if coerced:  # a number given as text, for example: say so instead of guessing
            raise ValueError(f"a value has the wrong type: {'; '.join(coerced)}")
        return config
    except ValidationError as error:
        raise ValueError(f"config={str(path)!r}: {describe_errors(error)}") from error
    except ValueError as error:
        raise ValueError(f"config={str(path)!r}: {error}") from error


def _laid_over(base: Any, changes: Any) -> Any:
    if not isinstance(base, dict) or not isinstance(changes, dict):
        return changes
    return {**base, **{key: _laid_over(base.get(key), value) for key, value in changes.items()}}


def load_reference(folder: Path, spec: SuiteSpec) -> Run:
    """Load the run that %Oracle is measured against.

    Raises
    ------
    ValueError
        If it is no reference player's, on another suite, or not finished.
    """
    reference = load_run(EPISODES, folder)
    if reference.header.agent not in REFERENCE_AGENTS:
        allowed = ", ".join(REFERENCE_AGENTS)
        raise ValueError(f"reference_run={str(folder)!r} is of {reference.header.agent!r}, allowed are {allowed}")
    if (reference.header.digests[SUITE], reference.header.spec.game) != (spec.digest(), spec.game):
        raise ValueError(
            f"reference_run={str(folder)!r} is on {reference.header.spec.label}, not on the episodes of {spec.label}"
        )
    if not reference.is_complete:
        raise ValueError(f"reference_run={str(folder)!r} is not finished; run its command again")
    return reference


def show_run(run: Run, *, as_json: bool, reference: Run | None = None) -> None:
    """Print the metrics of a finished run; exit with 3 when there was nothing to score."""
    summary = suite_summary(run.header, run.records)
    metrics = summary.pop("metrics")
    if reference is not None:  # beside the summary, never in it: the run folder must not depend on another one
        metrics = summarize(run.records, reference.records).to_json_object()
        note(f"note: %Oracle is SE+ over that of {reference.header.agent} in {reference.folder}")
    if summary["invalidity"]:
        note(f"INVALID: {summary['invalidity']}; do not read the scores")
    for notice in summary["notices"]:
        note(f"note: {notice}")
    if run.torn:
        note(f"note: cut off {run.torn} bytes of an unfinished line; its episode was played again")
    if run.resumed:
        note(f"note: {run.resumed} of {run.header.spec.num_episodes} episodes were already in {run.folder}")
    if metrics["num_excluded"]:
        lost, played = metrics["num_excluded"], metrics["num_episodes"]
        note(f"note: {lost} of {played} trials were lost to the provider and excluded")
    if as_json:
        out(json.dumps({**metrics, **summary}, allow_nan=False))
    else:
        print_table(*metrics_tables(f"{run.header.agent} on {run.header.spec.label}", metrics))
        out(f"run folder: {run.folder}\nreport:     terms report {run.folder}")
    if metrics["num_excluded"] == metrics["num_episodes"]:
        raise typer.Exit(NOTHING_SCORED)
