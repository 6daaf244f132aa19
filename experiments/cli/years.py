"""Commands about the store year: play it, describe its world, lint its economy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from commerce.world import DEFAULT_SEED
from experiments.cli import options
from experiments.cli.show import estimate, note, out

RuleSet = Annotated[Literal["paper", "fair"], typer.Option(help="paper: the published rules; fair: the repaired ones.")]
WorldSeed = Annotated[int, typer.Option("--world", min=0, help="Seed of the world; any other is a held-out one.")]
WorldDir = Annotated[Path | None, typer.Option("--world-dir", help="Folder with data of the public schema.")]


def year(  # noqa: PLR0913 - one parameter an option
    merchant: Annotated[str, typer.Option(help="idle, random-legal, rule-based or privileged.")],
    world: WorldSeed = DEFAULT_SEED,
    rules: RuleSet = "paper",
    days: Annotated[int, typer.Option(min=1, help="Length of the year.")] = 365,
    runs: Annotated[int, typer.Option(min=1, help="Years to play, each in the world of the next seed.")] = 1,
    world_dir: WorldDir = None,
    out_dir: Annotated[Path | None, typer.Option("--out", help="Folder (default: runs/year-MERCHANT-RULES).")] = None,
    as_json: options.AsJson = False,
) -> None:
    """Run a store for a year and print every metric; the same command resumes after a stop."""
    from experiments.years.run import run_year
    from experiments.years.spec import YearSpec
    from experiments.years.summary import summary_object

    base = out_dir or Path("runs") / f"year-{merchant}-{rules}"
    results = []
    for run in range(runs):
        spec = YearSpec(
            merchant=merchant,
            world_seed=world + run,
            world_dir=None if world_dir is None else str(world_dir.resolve()),
            rules=rules,
            num_days=days,
            merchant_seed=run,
        )
        folder = base / f"world-{spec.world_seed}-days-{days}"
        results.append(run_year(folder, spec))
        note(f"{merchant} in world {spec.world_seed}: {results[-1]['end']}, {folder}")
    summary = summary_object(results)
    if as_json:
        out(json.dumps(summary, allow_nan=False))
        return
    out(f"{merchant}, {rules} rules, {days} days, {runs} year(s); 95 % intervals over worlds, - is undefined")
    for name, entry in summary.items():
        if name != "years":
            out(f"{name:38}{estimate(entry)}  n={entry['n']}")


def world(
    seed: Annotated[int, typer.Option(min=0, help="Seed of the world.")] = DEFAULT_SEED,
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
    world: WorldSeed = DEFAULT_SEED,
    rules: RuleSet = "fair",
    as_json: options.AsJson = False,
) -> None:
    """Sweep prices on every SKU and list what the rules allow that they had better not; exit 1 if anything."""
    from commerce.config import rules_named
    from commerce.lint import lint_economy as lint
    from commerce.world import generate_world

    rule_set = rules_named(rules)
    report = lint(generate_world(world, rule_set), rule_set)
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
