"""The commands about the world of a store year: describe it, lint its economy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from commerce.world import DEFAULT_SEED
from experiments.cli import options
from experiments.cli.ending import FAILED
from experiments.cli.show import out


def world(
    seed: options.WorldSeed = DEFAULT_SEED,
    rules: options.RuleSet = "paper",
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
    seed: options.WorldSeed = DEFAULT_SEED,
    rules: options.RuleSet = "fair",
    as_json: options.AsJson = False,
) -> None:
    """Sweep prices on every SKU and full store; list what the rules allow and had better not, exit 1 if anything."""
    from commerce.config import rules_named
    from commerce.lint import lint_economy as lint
    from commerce.world import generate_world
    from oracle.store.store_lint import lint_stores

    rule_set = rules_named(rules)
    made = generate_world(seed, rule_set)
    report = lint(made, rule_set)
    report = report._replace(findings=report.findings + lint_stores(made, rule_set))
    if as_json:
        findings = [finding._asdict() for finding in report.findings]
        out(json.dumps({**report._asdict(), "findings": findings}, allow_nan=False))
    else:
        out(f"{report.num_skus} SKUs under the {report.rules} rules, world {report.world[:16]}")
        for finding in report.findings:
            count = f"{finding.num} of {finding.total} {finding.what}"
            out(f"{finding.kind:56}{count:>20}, for example {finding.example}")
        if report.is_clean:
            out("nothing found")
    if not report.is_clean:
        raise typer.Exit(FAILED)
