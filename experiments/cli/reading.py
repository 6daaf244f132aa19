"""Commands that read runs: compare, report, verify."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from experiments.cli import options
from experiments.cli.show import count_bar, difference_rows, note, out, print_table
from experiments.runs.folder import Run, load_run
from experiments.runs.verify import verify_run
from experiments.stats import PAIRED, Comparison, separation_table
from experiments.stats import compare as compare_runs
from experiments.validity import invalidity
from experiments.years.run import is_year
from experiments.years.verify import verify_year

if TYPE_CHECKING:
    from rich.table import Table

    from oracle.belief_errors import Trace

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
    title: Annotated[str | None, typer.Option(help="Heading of the report.")] = None,
    decomposition: Annotated[
        list[Path] | None, typer.Option(help="File of `decompose --out`; repeat for more.")
    ] = None,
    explain: Annotated[int, typer.Option(min=0, help="Let the oracle review the worst episodes of each run.")] = 0,
    beliefs: Annotated[bool, typer.Option("--beliefs", help="Compare beliefs with the exact posterior.")] = False,
) -> None:
    """Write one self-contained HTML report about the given runs, or about the given store years."""
    from experiments.reporting import report_on

    if any(map(is_year, runs)):
        if not all(map(is_year, runs)) or decomposition or explain or beliefs:
            raise ValueError("a report on years takes folders of years alone; --title and --out are its options")
        _report_years(runs, out_file, title or "How these merchants trade")
        return
    loaded = [load_run(folder) for folder in runs]
    _note_gaps(loaded)
    reviews = _reviews(loaded, explain) if explain else None
    heading = title or "How these agents bargain"
    traces = _traces(loaded) if beliefs else None
    files = decomposition or ()
    path = report_on(loaded, out_file, title=heading, decompositions=files, reviews=reviews, traces=traces)
    out(f"report: {path.resolve()}")


def _report_years(folders: Sequence[Path], out_file: Path, title: str) -> None:
    from experiments.report.years import report_years

    out(f"report: {report_years(folders, out_file, title=title).resolve()}")


def _reviews(runs: Sequence[Run], num: int) -> dict[Path, dict[str, list[dict[str, Any]]]]:
    from experiments.cli.fitting import prepared_reference
    from experiments.explaining import review_run, worst_episodes

    worst = {run.folder: worst_episodes(run, num) for run in runs}
    wanted = {record.scenario_id for records in worst.values() for record in records}
    suites = {run.header.suite_digest: run.header.suite.build() for run in runs}
    reference = prepared_reference([each for suite in suites.values() for each in suite if each.scenario_id in wanted])
    total, done = sum(map(len, worst.values())), itertools.count(1)
    with count_bar(total, "reviewing") as progress:
        return {
            run.folder: review_run(run, worst[run.folder], reference, lambda: progress(next(done), total))
            for run in runs
        }


def _traces(runs: Sequence[Run]) -> dict[Path, Trace]:
    from experiments.explaining import follow_run

    scored = {run.folder: sum(not each.is_excluded for each in run.records) for run in runs}
    total, done = sum(scored.values()), itertools.count(1)
    with count_bar(total, "following the posterior") as progress:
        return {run.folder: follow_run(run, lambda: progress(next(done), total)) for run in runs if scored[run.folder]}


def verify(run: Annotated[Path, typer.Argument(help="Run folder, or the folder of a year.")]) -> None:
    """Replay a run or a year without any model or merchant and derive every number again."""
    findings = verify_year(run) if is_year(run) else verify_run(run)
    for finding in findings:
        note(f"FAILED {finding}")
    if findings:
        raise typer.Exit(1)
    if is_year(run):
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
