"""Commands that read runs: compare, report, verify."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from experiments.cli import options
from experiments.cli.show import difference_rows, note, out, print_table
from experiments.runs.folder import Run, load_run
from experiments.runs.verify import verify_run
from experiments.stats import PAIRED, Comparison, separation_table
from experiments.stats import compare as compare_runs
from experiments.validity import invalidity
from experiments.years.run import HEADER as YEAR_HEADER
from experiments.years.verify import verify_year

if TYPE_CHECKING:
    from rich.table import Table

BOOTSTRAP_SEED = 0
_COLUMNS = ("pair", "difference [95 %]", "p (Holm)", "verdict", "n", "n needed")


def compare(
    runs: options.Runs,
    metric: Annotated[str, typer.Option(help=f"One of {', '.join(PAIRED)}.")] = "se_plus",
    separation: Annotated[bool, typer.Option(help="Also show which metric tells them apart in which regime.")] = False,
    difference: options.Difference = None,
    as_json: options.AsJson = False,
) -> None:
    """Compare agents on the scenarios they share: paired differences, ties, and how many would tell them apart."""
    loaded = load_same_suite(runs)
    records = {run.header.agent: run.records for run in loaded}
    comparison = compare_runs(records, metric, rng=np.random.default_rng(BOOTSTRAP_SEED), delta=difference)
    rows = separation_table(records, rng=np.random.default_rng(BOOTSTRAP_SEED)) if separation else []
    if as_json:
        out(
            json.dumps(
                {
                    "metric": metric,
                    "suite": loaded[0].header.suite.label,
                    "groups": comparison.groups,
                    "differences": [d._asdict() for d in comparison.differences],
                    "separation": [{**row._asdict(), "difference": row.difference._asdict()} for row in rows],
                },
                allow_nan=False,
            )
        )
        return
    _print_comparison(comparison, loaded[0].header.suite.label)
    for regime in sorted({row.regime for row in rows}):
        for name in PAIRED:
            part = [row.difference for row in rows if (row.metric, row.regime) == (name, regime)]
            if part:
                print_table(_table(f"{name} in {regime}", difference_rows(part)))


def report(
    runs: options.Runs,
    out_file: Annotated[Path, typer.Option("--out", help="HTML file to write.")] = Path("report.html"),
    title: Annotated[str, typer.Option(help="Heading of the report.")] = "How these agents bargain",
) -> None:
    """Write one self-contained HTML report about the given runs."""
    from experiments.reporting import report_on

    loaded = [load_run(folder) for folder in runs]
    _note_gaps(loaded)
    path = report_on(loaded, out_file, title=title)
    out(f"report: {path.resolve()}")


def verify(run: Annotated[Path, typer.Argument(help="Run folder, or the folder of a year.")]) -> None:
    """Replay a run or a year without any model or merchant and derive every number again."""
    is_year = (run / YEAR_HEADER).exists()
    findings = verify_year(run) if is_year else verify_run(run)
    for finding in findings:
        note(f"FAILED {finding}")
    if findings:
        raise typer.Exit(1)
    if is_year:
        out("verified: every call of the year replayed, every number derived again")
        return
    loaded = load_run(run)
    out(f"verified: {len(loaded.records)} episodes of {loaded.header.agent} replayed, every number derived again")


def load_same_suite(folders: Sequence[Path]) -> list[Run]:
    """Load runs that were played on one suite; agents must differ, and so must nothing else."""
    loaded = [load_run(folder) for folder in folders]
    suites = {run.header.suite_digest for run in loaded}
    if len(suites) > 1:
        labels = ", ".join(sorted({run.header.suite.label for run in loaded}))
        raise ValueError(f"runs are on different suites ({labels}); agents can only be compared on the same episodes")
    agents = [run.header.agent for run in loaded]
    for name in agents:
        if agents.count(name) > 1:
            raise ValueError(f"runs has agent={name!r} twice; name each agent once")
    _note_gaps(loaded)
    return loaded


def _note_gaps(runs: Sequence[Run]) -> None:
    for run in runs:
        if run.torn:
            note(f"note: {run.folder} ends in {run.torn} bytes of an unfinished line, which are left out")
        problem = invalidity(run.records)
        if problem:
            note(f"INVALID: {run.folder}: {problem}; do not read its scores")
        if not run.is_complete:
            note(f"note: {run.folder} holds {len(run.records)} of {run.header.num_episodes} episodes")


def _print_comparison(comparison: Comparison, label: str) -> None:
    print_table(
        _table(f"{comparison.metric} on {label}, paired on the same luck", difference_rows(comparison.differences))
    )
    for rank, group in enumerate(comparison.groups, 1):
        tie = "  (cannot be told apart)" if len(group) > 1 else ""
        out(f"{rank}. {' = '.join(group)}{tie}")


def _table(title: str, rows: Sequence[tuple[str, ...]]) -> Table:
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for heading in _COLUMNS:
        table.add_column(heading, justify="left" if heading in ("pair", "verdict") else "right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table
