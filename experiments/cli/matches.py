"""The commands that let agents play each other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from experiments.cli import options
from experiments.cli.ending import NOTHING_SCORED
from experiments.cli.planning import DryRun, tell_plan
from experiments.cli.seating import (
    agent_apart,
    kept_if_played,
    named_folder,
    negotiator_options,
    prepare_player,
    run_folder,
    seat_player,
)
from experiments.cli.show import estimate, note, out, print_table, progress_bar, text_table
from experiments.engine.cluster import open_executor
from experiments.engine.run import run_task
from experiments.matches.match_task import MATCHES, match_summary
from experiments.matches.rivals import Rivals
from experiments.matches.tournament import run_tournament
from experiments.players.player import as_player
from terms.agents.kernel_agent import KernelAgent
from terms.two_seats import mirrored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.cli.options import Where
    from experiments.engine.pool import RowsDone
    from experiments.episodes.config import SuiteSpec
    from experiments.players.player import Player

KERNEL = "kernel"
_DEFAULT_CELLS = ("overlap", "candid")
"""Families differ in the kernel alone, which does not play here; where no deal is possible nothing is divided."""


def match(  # noqa: PLR0913 - one parameter an option
    first: Annotated[str, typer.Argument(help="In the agent's seat; names as of --agent elsewhere, or kernel.")],
    second: Annotated[str, typer.Argument(help="In the counterpart's seat.")],
    suite: options.Suite = "fresh",
    episodes_per_cell: options.Episodes = options.DEFAULT_EPISODES,
    seed: options.Seed = None,
    cells: options.Cells = None,
    config: options.Config = None,
    out_dir: options.Out = None,
    where: options.Workers = options.HERE,
    dry_run: DryRun = False,
    as_json: options.AsJson = False,
    model: options.ModelKeys = None,
) -> None:
    """Let two agents negotiate and print what they make of the surplus. Run it again to go on after a stop."""
    spec = options.suite_of(suite, episodes_per_cell, seed, cells or _DEFAULT_CELLS, config, None)
    (one, other), processes = _seat_all((first, second), model, spec, where)
    tell_plan([one, other], spec.num_episodes, is_dry=dry_run)
    rivals = Rivals(*_prepare_all((first, second), (one, other), spec))
    folder = run_folder(
        out_dir or named_folder(rivals.name, spec.label, [rivals.settings, spec.model_dump(mode="json")])
    )
    with (
        open_executor(scheduler=where.scheduler) as executor,
        progress_bar(spec.num_episodes, rivals.name) as progress,
        kept_if_played(folder),
        agent_apart(),
    ):
        run = run_task(MATCHES, rivals, spec, folder, workers=processes, executor=executor, progress=progress)
    summary = match_summary(run)
    if summary["invalidity"]:
        note(f"INVALID: {summary['invalidity']}; do not read the scores")
    if as_json:
        out(json.dumps({**summary, "folder": str(folder)}, allow_nan=False))
    else:
        rows = [
            (name.replace("_", " "), estimate(value), str(value["n"])) for name, value in summary["metrics"].items()
        ]
        print_table(text_table(f"{rivals.name} on {spec.label}, 95 % intervals", ("", "value", "n"), rows))
        out(f"run folder: {folder}")
    if summary["metrics"]["rounds"]["n"] == 0:
        raise typer.Exit(NOTHING_SCORED)


def tournament(  # noqa: PLR0913 - one parameter an option
    agents: Annotated[list[str], typer.Argument(help="At least two; names as of --agent elsewhere, or kernel.")],
    suite: options.Suite = "fresh",
    episodes_per_cell: options.Episodes = options.DEFAULT_EPISODES,
    seed: options.Seed = None,
    cells: options.Cells = None,
    config: options.Config = None,
    out_dir: options.Out = None,
    where: options.Workers = options.HERE,
    dry_run: DryRun = False,
    as_json: options.AsJson = False,
    model: options.ModelKeys = None,
) -> None:
    """Let every agent meet every other in both seats on the same draws, and rate them. Run it again to go on."""
    spec = options.suite_of(suite, episodes_per_cell, seed, cells or _DEFAULT_CELLS, config, None)
    players, processes = _seat_all(agents, model, spec, where)
    tell_plan(players, 2 * (len(players) - 1) * spec.num_episodes, is_dry=dry_run)
    players = _prepare_all(agents, players, spec)
    facts = [[player.settings for player in players], spec.model_dump(mode="json")]
    name = f"{len(players)} agents"
    folder = run_folder(out_dir or named_folder(name, spec.label, facts, prefix="tournament-"))
    num_tables = len(players) * (len(players) - 1)
    with (
        open_executor(scheduler=where.scheduler) as executor,
        progress_bar(spec.num_episodes * num_tables, f"{num_tables} tables") as progress,
        kept_if_played(folder),
        agent_apart(),
    ):
        left = spec.num_episodes * num_tables

        def of_table(table: str) -> RowsDone:
            del table
            nonlocal left
            left -= spec.num_episodes
            rest = left
            return lambda rows, here: progress(rows, rest + here)

        found = run_tournament(players, spec, folder, workers=processes, executor=executor, progress=of_table)
    if as_json:
        out(json.dumps({**found.to_json_object(), "folder": str(folder)}, allow_nan=False))
        return
    letters = found.ratings.paired.letters
    rows = [
        (
            row.agent,
            letters[row.agent],
            estimate(row.rating._asdict()),
            estimate(row.efficiency._asdict()),
            str(row.rating.n),
        )
        for row in found.ratings.agents
    ]
    title = f"ratings on {spec.label}: mean share of the surplus against all others, 95 % intervals"
    print_table(text_table(title, ("agent", "", "rating", "deals made of possible ones", "n"), rows))
    out(f"those that share a letter are not told apart\ntables: {folder}")


def _seat_all(
    names: Sequence[str], model: Sequence[str] | None, spec: SuiteSpec, where: Where
) -> tuple[list[Player], int]:
    """Return who plays, and in how many processes; options of models go to those that are."""
    from experiments.players.registry import Need, needs_of

    asked, plain = negotiator_options(model), negotiator_options(None)
    players: list[Player] = []
    processes: set[int] = set()
    for name in names:
        if name == KERNEL:
            players.append(as_player(KernelAgent()))
            continue
        seating = seat_player(name, asked if Need.MODEL in needs_of(name) else plain, spec.game, where)
        players.append(seating.player)
        processes.add(seating.processes)
    if model and not any(Need.MODEL in needs_of(name) for name in names):
        raise ValueError(f"agents={', '.join(names)} are no language models; --model has no effect on them")
    return players, min(processes, default=where.workers or 1)


def _prepare_all(names: Sequence[str], players: Sequence[Player], spec: SuiteSpec) -> list[Player]:
    """Return the players with the values they need at hand, in both seats."""
    scenarios = [*spec.build(), *map(mirrored, spec.build())]
    return [
        player if name == KERNEL else prepare_player(name, player, scenarios)
        for name, player in zip(names, players, strict=True)
    ]
