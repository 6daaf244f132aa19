"""The command that plays a suite."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from experiments.cli import options
from experiments.cli.ending import NOTHING_SCORED
from experiments.cli.planning import DryRun, tell_plan
from experiments.cli.seating import (
    agent_apart,
    default_folder,
    kept_if_played,
    negotiator_options,
    prepare_player,
    run_folder,
    seat_player,
)
from experiments.cli.show import estimate, metrics_tables, note, out, print_table, progress_bar, text_table
from experiments.engine.cluster import open_executor
from experiments.engine.run import load_run, run_task
from experiments.episodes.config import SUITE, SuiteSpec
from experiments.episodes.folder import Run, suite_summary
from experiments.episodes.money_fit import REGRET_RATES
from experiments.episodes.suite_task import EPISODES
from oracle.player_registry import PLAYERS
from terms.cells import suite_cells
from terms.metrics import summarize

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
    cells: options.Cells = None,
    config: options.Config = None,
    economics: Annotated[
        Literal["default", "published-2"] | None,
        typer.Option(
            "--economics",
            "--money",
            help="In dollars: profits, walk-aways, regret. --money alone takes the default constants; "
            "`fit-economics` compares them.",
        ),
    ] = None,
    perspective: Annotated[
        Literal["both", "merchant", "vendor"], typer.Option(help="Whose episodes: a merchant buys, a vendor sells.")
    ] = "both",
    scenarios: Annotated[
        int | None,
        typer.Option(min=1, max=10**6, help="This many, drawn from evenly filled cells (the paper: 192, merchant)."),
    ] = None,
    out_dir: options.Out = None,
    where: options.Workers = options.HERE,
    reference_run: options.ReferenceRun = None,
    dry_run: DryRun = False,
    as_json: options.AsJson = False,
    model: options.ModelKeys = None,
) -> None:
    """Play a suite with an agent and print every metric with its interval. Run it again to go on after a stop."""
    chosen = options.split_cells(cells)
    if scenarios is not None:
        num_cells = len(suite_cells(chosen["regimes"], chosen["families"])) // (1 if perspective == "both" else 2)
        episodes_per_cell = max(episodes_per_cell, -(-scenarios // num_cells))
    rules: dict[str, Any] = {
        "n_per_cell": episodes_per_cell,
        **chosen,
        **(options.read_game(config) if economics is None else read_money(config, suite, economics)),
    }
    spec = SuiteSpec.parse(
        suite,
        seed=seed,
        repeats=repeats,
        columns=columns,
        perspective=None if perspective == "both" else perspective,
        sample=scenarios,
        **rules,
    )
    seating = seat_player(agent, negotiator_options(model), spec.game, where)
    tell_plan([seating.player], spec.num_episodes, is_dry=dry_run)
    player = prepare_player(agent, seating.player, spec.build())
    reference = None if reference_run is None else load_reference(reference_run, spec)
    folder = run_folder(out_dir or default_folder(player, spec))
    with (
        open_executor(scheduler=where.scheduler) as executor,
        progress_bar(spec.num_episodes, f"{player.name} on {spec.label}") as progress,
        kept_if_played(folder),
        agent_apart(),
    ):
        run = run_task(EPISODES, player, spec, folder, workers=seating.processes, executor=executor, progress=progress)
    if economics is not None and not as_json:
        print_money(run)
    show_run(run, as_json=as_json, reference=reference, next_step=shlex.join(["terms", "decompose", str(run.folder)]))


def read_money(config: Sequence[str] | None, suite: str, economics: str = "default") -> dict[str, Any]:
    """Return game and economics of negotiations in dollars; the settings file changes the named ones."""
    from commerce.economics import ECONOMICS
    from experiments.episodes.config import CommerceSettings

    if suite == "published":
        raise ValueError("suite='published' has no money; --money takes fresh or catalog:PATH")
    settings = options.read_settings(config, CommerceSettings(economics=ECONOMICS[economics]))
    return {"game": settings.game, "economics": settings.economics}


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


def show_run(run: Run, *, as_json: bool, reference: Run | None = None, next_step: str | None = None) -> None:
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
        where = "" if next_step is None else f"\nwhere it is lost: {next_step}"
        out(f"run folder: {run.folder}\nreport: terms report {shlex.quote(str(run.folder))}{where}")
    if metrics["num_excluded"] == metrics["num_episodes"]:
        raise typer.Exit(NOTHING_SCORED)


def print_money(run: Run) -> None:
    """Print every metric in money, overall and by side."""
    from experiments.episodes.folder import run_money
    from experiments.episodes.money_metrics import MONEY_METRICS, money_object

    found = money_object(run_money(run.header, run.records))
    parts = {"overall": found["overall"], **found["perspectives"]}
    rows = [
        (metric.name.replace("_", " "), metric.better, metric.unit,
         *(f"{estimate(part[metric.name])}  n={part[metric.name]['n']}" for part in parts.values()))
        for metric in MONEY_METRICS
    ]  # fmt: skip
    title = f"{run.header.agent} on {run.header.spec.label}, in money; 95 % intervals, - is undefined"
    print_table(text_table(title, ("metric", "better", "unit", *parts), rows))
    if run.header.agent in REGRET_RATES:
        out(f"published regret rate (144 episodes): {REGRET_RATES[run.header.agent]:.3f}")
