"""The command that says where a year's money went."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from commerce.money import to_yuan
from experiments.cli import options
from experiments.cli.show import out, print_table, text_table
from experiments.engine.cluster import open_executor
from experiments.years.regrets import REFERENCES, check_reference, ledger_of
from experiments.years.story import replay_year

_WORKERS = 2


def ledger(
    run: options.RunFolder,
    reference: Annotated[
        str, typer.Option(help=f"Whose year it is measured against: {', '.join(REFERENCES)}.")
    ] = REFERENCES[0],
    where: options.Workers = options.HERE,
    as_json: options.AsJson = False,
) -> None:
    """Say where a year's money went: what it came to, and which decisions left it behind a reference."""
    check_reference(reference)
    with open_executor(where.workers or _WORKERS, where.scheduler) as executor:
        header, year, _ = replay_year(run)
        found = ledger_of(year, header.agent, reference, executor=executor)
    if as_json:
        out(json.dumps(found.to_json_object(), allow_nan=False))
        return
    rows = [
        (
            row.stream.replace("_", " "),
            *(f"{to_yuan(fen):,.2f}" for fen in (row.part_fen, row.alone_fen, row.all_but_fen)),
        )
        for row in found.rows
    ]
    headings = ("what the reference did better", "part", "alone", "as the last")
    print_table(text_table(f"{found.agent} against {found.reference}, yuan", headings, rows))
    out(found.sentence)
