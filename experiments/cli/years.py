"""Commands about the store year: play it, describe its world, lint its economy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from commerce.world import DEFAULT_SEED
from experiments.cli import options
from experiments.cli.show import out

RuleSet = Annotated[Literal["paper", "fair"], typer.Option(help="paper: the published rules; fair: the repaired ones.")]
WorldSeed = Annotated[
    int, typer.Option("--seed", min=0, max=options.LARGEST_SEED, help="Seed of the world; any other is a held-out one.")
]
WorldDir = Annotated[Path | None, typer.Option("--world-dir", help="Folder with data of the public schema.")]


AgentOfYear = Annotated[
    str,
    typer.Option(
        "--agent",
        help="idle, random-legal, rule-based, privileged; openrouter:VENDOR/MODEL, openai:MODEL, or local.",
    ),
]


def year(  # noqa: PLR0913 - one parameter an option
    agent: AgentOfYear,
    seed: WorldSeed = DEFAULT_SEED,
    rules: RuleSet = "paper",
    days: Annotated[int, typer.Option(min=1, max=options.MOST, help="Length of the year.")] = 365,
    worlds: Annotated[
        int, typer.Option(min=1, max=options.MOST, help="Worlds to play in: that of the seed and of those after it.")
    ] = 1,
    repeats: Annotated[
        int, typer.Option(min=1, max=options.MOST, help="Years in each world; the agent's own draws differ.")
    ] = 1,
    workers: options.Workers = None,
    scheduler: options.Scheduler = None,
    world_dir: WorldDir = None,
    out_dir: options.Out = None,
    as_json: options.AsJson = False,
    base_url: options.BaseUrl = None,
    budget_usd: options.BudgetUsd = None,
    model: options.ModelKeys = None,
) -> None:
    """Run a store for a year and print every metric; the same command resumes after a stop."""
    from experiments.cli.year_runs import YearPlan, play_years, show_years
    from experiments.players.model_options import ModelOptions
    from experiments.storekeeper.settings import StorekeeperSettings

    folder = None if world_dir is None else str(world_dir.resolve())
    plan = YearPlan(agent, rules, seed, days, worlds, repeats, folder, out_dir)
    asked = ModelOptions.read(model or (), StorekeeperSettings.model_fields, base_url=base_url, budget_usd=budget_usd)
    show_years(plan, play_years(plan, asked, workers or 1, scheduler), as_json=as_json)


def world(
    seed: WorldSeed = DEFAULT_SEED,
    rules: RuleSet = "paper",
    export: Annotated[
        Path | None, typer.Option(help="Write its data files, hidden facts included, to this folder.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Describe the world of a seed and print its content hash; with --export also write it out."""
    from commerce.config import rules_named
    from commerce.world import generate_world
    from commerce.world.export import world_files

    made = generate_world(seed, rules_named(rules))
    if export is not None:
        export.mkdir(parents=True, exist_ok=True)
        for name, text in world_files(made).items():
            (export / name).write_text(text, encoding="utf-8")
    facts = describe_world(made)
    if as_json:
        out(json.dumps({"seed": seed, "rules": rules, **facts}, allow_nan=False))
        return
    for name, value in {"seed": seed, "rules": rules, **facts}.items():
        out(f"{name:22}{value}")


def describe_world(made: Any) -> dict[str, Any]:
    """Return counts of a world and its content hash."""
    frauds = [supplier.fraud.value for supplier in made.suppliers if supplier.fraud is not None]
    return {
        "digest": made.digest,
        "store_types": len(made.store_types),
        "categories": len(made.categories),
        "skus": len(made.skus.sku_id),
        "suppliers": len(made.suppliers),
        "honest_suppliers": len(made.suppliers) - len(frauds),
        "frauds": {kind: frauds.count(kind) for kind in sorted(set(frauds))},
        "events": len(made.events),
        "promotions": len(made.promotions),
    }


def lint_economy(
    seed: WorldSeed = DEFAULT_SEED,
    rules: RuleSet = "fair",
    as_json: options.AsJson = False,
) -> None:
    """Sweep prices on every SKU and list what the rules allow that they had better not; exit 1 if anything."""
    from commerce.config import rules_named
    from commerce.lint import lint_economy as lint
    from commerce.world import generate_world

    rule_set = rules_named(rules)
    report = lint(generate_world(seed, rule_set), rule_set)
    if as_json:
        findings = [finding._asdict() for finding in report.findings]
        out(json.dumps({**report._asdict(), "findings": findings}, allow_nan=False))
    else:
        out(f"{report.num_skus} SKUs under the {report.rules} rules, world {report.world[:16]}")
        for finding in report.findings:
            out(f"{finding.kind:28}{finding.num_skus:6} SKUs, for example {finding.example}")
        if report.is_clean:
            out("nothing found")
    if not report.is_clean:
        raise typer.Exit(1)
