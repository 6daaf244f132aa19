"""The command that says where a year's money went."""

from __future__ import annotations

import json
import math
from typing import Annotated

import typer

from commerce.metrics import STATEMENT, year_metrics
from commerce.money import to_yuan
from experiments.cli import options
from experiments.cli.show import out, print_table, text_table
from experiments.engine.cluster import open_executor
from experiments.years.ledger_file import write_ledger
from experiments.years.regrets import YearLedger, check_reference, ledger_of
from experiments.years.story import replay_year
from experiments.years.year_mode import read_year_result
from oracle.store.bound import year_bound
from oracle.store.year_players import FULL_KNOWLEDGE_PLANNER

_WORKERS = 2


def ledger(
    run: options.RunFolder,
    reference: Annotated[
        str,
        typer.Option(help="Whose year it is measured against: a merchant, or the folder of a year in the same world."),
    ] = FULL_KNOWLEDGE_PLANNER,
    where: options.Workers = options.HERE,
    as_json: options.AsJson = False,
) -> None:
    """Say where a year's money went and store it for the report: what it came to, which decisions left it behind."""
    check_reference(reference)
    with open_executor(where.workers or _WORKERS, where.scheduler) as executor:
        header, year, _ = replay_year(run)
        found = ledger_of(year, header.agent, reference, executor=executor)
    bound_fen = math.ceil(100 * year_bound(year.setting.world, year.setting.rules).upper)
    write_ledger(run, found.to_json_object(), found.regret.reference_path_fen, bound_fen, read_year_result(run))
    if as_json:
        out(json.dumps(found.to_json_object(), allow_nan=False))
        return
    _print_ledger(found)
    adjusted = year_metrics(year)["luck_adjusted_assets"].value
    without = "" if adjusted is None else f", {adjusted:,.2f} less what its draws brought by chance"
    out(
        f"It ended with {to_yuan(year.final_fen):,.2f} yuan{without}; "
        f"nobody can expect more than {math.ceil(bound_fen / 100):,} in its world."
    )


def _print_ledger(found: YearLedger) -> None:
    earned, regret, price_paid, _ = found
    total = ("change of assets", "", f"{to_yuan(earned.change_fen):,.2f}")
    items = [(STATEMENT[row.name].label, row.kind, f"{to_yuan(row.fen):,.2f}") for row in earned.rows if row.fen]
    rows = [
        (
            row.stream.replace("_", " "),
            *(f"{to_yuan(fen):,.2f}" for fen in (row.part_fen, row.alone_fen, row.all_but_fen)),
        )
        for row in regret.rows
    ]
    headings = ("what the reference did better", "part", "alone", "as the last")
    print_table(
        text_table(f"{regret.agent}, yuan", ("row", "kind", "yuan"), [*items, total]),
        text_table(f"{regret.agent} against {regret.reference}, yuan", headings, rows),
    )
    out(regret.sentence)
    if price_paid is not None:
        shown = ", ".join(f"{name} {to_yuan(fen):,.2f}" for name, fen in price_paid.items())
        out(f"The price paid, by what the oracle says of each talk: {shown}.")
    out(
        f"Of the spending of the {len(regret.mixtures)} mixed years at most {regret.worst_cut:.1%} could not be paid, "
        f"and at most {regret.worst_scaled:.1%} was not bought because there was less money at hand."
    )
