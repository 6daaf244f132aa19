"""The command that writes what the reference would do, as data to learn from."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import typer

from experiments.cli import options
from experiments.cli.seating import agent_apart, named_folder, prepare_player, prepared_bayes_optimal, run_folder
from experiments.cli.show import count_bar, out

RIVAL = "patient"


def export(  # noqa: PLR0913 - one parameter an option
    kind: Annotated[
        Literal["sft", "dpo", "trajectories"],
        typer.Argument(help="Talks of bayes as chats, pairs of its move and the agent's own, or its steps as vectors."),
    ],
    episodes_per_cell: options.Episodes = options.DEFAULT_EPISODES,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=options.LARGEST_SEED, help="Seed of the suite (default: the first of the split)."),
    ] = None,
    split: Annotated[
        Literal["train", "validation", "test"],
        typer.Option(help="What the episodes are for; the seed must belong to it."),
    ] = "train",
    cells: options.Cells = None,
    agent: Annotated[
        str | None, typer.Option(help=f"dpo: whose moves are set beside those of bayes (default: {RIVAL}).")
    ] = None,
    out_dir: options.Out = None,
    as_json: options.AsJson = False,
) -> None:
    """Write the moves of bayes as expert data: JSON lines, the same rows as Parquet, and a manifest."""
    from experiments.engine.header import code_versions
    from experiments.storage.files import write_atomically
    from experiments.training.expert_data import LEAST_COST, ROWS, jsonl_bytes, rows_parquet
    from oracle.interventions import BayesOptimalAgent
    from terms.episode import play

    is_pairs = kind == "dpo"
    if agent is not None and not is_pairs:
        raise ValueError(f"agent={agent!r} has no effect on {kind}, which holds the moves of bayes alone")
    spec = options.suite_of("fresh", episodes_per_cell, _seed_in(split, seed), cells, None, None)
    name = (agent or RIVAL) if is_pairs else "bayes"
    player = _player(name) if is_pairs else None
    facts = [kind, spec.model_dump(mode="json")]
    folder = run_folder(out_dir or named_folder(name, spec.label, facts, prefix=f"export-{kind}-"))
    if (folder / "run.json").exists():
        raise ValueError(f"--out={str(folder)!r} is a run folder; choose another")
    scenarios = spec.build()
    bayes_optimal = prepared_bayes_optimal(scenarios)
    if player is not None:
        player = prepare_player(name, player, scenarios)
    rows: list[dict[str, Any]] = []
    with agent_apart(), count_bar(len(scenarios), "exporting") as progress:
        for place, scenario in enumerate(scenarios, 1):
            record = play(scenario, BayesOptimalAgent(bayes_optimal, scenario) if player is None else player)
            rows += ROWS[kind](scenario, record, bayes_optimal)
            progress(place, len(scenarios))
    manifest = {
        "kind": kind,
        "split": split,
        "seed": spec.seed,
        "suite": spec.label,
        "suite_digest": spec.digest(),
        "agent": name,
        "reference": "bayes",
        **({"least_cost": LEAST_COST} if is_pairs else {}),
        "episodes": len(scenarios),
        "rows": len(rows),
        "versions": code_versions(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / f"{kind}.jsonl", jsonl_bytes(rows))
    write_atomically(folder / f"{kind}.parquet", rows_parquet(kind, rows))
    write_atomically(folder / "manifest.json", (json.dumps(manifest, indent=1) + "\n").encode())
    if as_json:
        out(json.dumps({**manifest, "folder": str(folder)}))
    else:
        out(f"{len(rows):,} rows of {len(scenarios):,} episodes, split {split}, seed {spec.seed}\nfolder: {folder}")


def _seed_in(split: str, seed: int | None) -> int:
    """Return the seed, by default the first of the split.

    Raises
    ------
    ValueError
        If it belongs to another split.
    """
    from terms.splits import SPLIT_SEEDS, Split, split_of

    seeds = SPLIT_SEEDS[Split(split)]
    if seed is None:
        return seeds.start
    found = split_of(f"fresh-{seed}/")
    if found != split:
        raise ValueError(
            f"seed={seed} belongs to the {found} split; with --split {split}, allowed are "
            f"{seeds.start} to {seeds.stop - 1}"
        )
    return seed


def _player(name: str) -> Any:
    from experiments.players.registry import Need, build_agent, needs_of

    if Need.MODEL in needs_of(name):
        raise ValueError(f"agent={name!r} is a language model; allowed are built-in agents and python:MODULE:NAME")
    return build_agent(name)
