"""The command that writes reports."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from experiments.cli import options
from experiments.cli.compare import load_all_sessions, note_gaps
from experiments.cli.show import count_bar, note, out
from experiments.comparing.years import UNFINISHED, find_years, why_excluded
from experiments.engine.run import load_run
from experiments.episodes.config import SUITE
from experiments.episodes.folder import Run
from experiments.episodes.suite_task import EPISODES
from experiments.matches.match_task import MATCHES
from experiments.matches.tournament import find_matches, is_tournament
from experiments.sessions.folder import is_sessions
from experiments.storage.files import check_out_file
from experiments.storage.journal import HEADER

if TYPE_CHECKING:
    from oracle.belief_errors import Trace


def report(
    runs: options.Runs,
    out_file: Annotated[Path, typer.Option("--out", help="HTML file to write.")] = Path("report.html"),
    decomposition: Annotated[
        list[Path] | None, typer.Option(help="File of `decompose --out`; repeat for more.")
    ] = None,
    explain: Annotated[
        int, typer.Option(min=0, max=10**6, help="Let the oracle review the worst episodes of each run.")
    ] = 0,
    beliefs: Annotated[bool, typer.Option("--beliefs", help="Compare beliefs with the exact posterior.")] = False,
) -> None:
    """Write one self-contained HTML report about the given runs, matches, sessions or store years."""
    from experiments.report.reporting import report_on

    check_out_file(out_file, ".html")
    runs = _leave_out_what_is_no_run(runs)
    if years := find_years(runs):
        if decomposition or explain or beliefs:
            raise ValueError("a report on years takes folders of years alone; --out is its option")
        _report_years(years, out_file, "How these merchants trade")
        return
    if any(map(is_sessions, runs)):
        if not all(map(is_sessions, runs)) or decomposition or explain or beliefs:
            raise ValueError("a report on sessions takes folders of sessions alone; --out is its option")
        _report_sessions(runs, out_file, "How these agents keep their money")
        return
    if matches := find_matches(runs):
        if not all(find_matches([folder]) for folder in runs) or decomposition or explain or beliefs:
            raise ValueError("a report on matches takes folders of matches and tournaments alone; --out is its option")
        from experiments.report.matches_page import report_matches

        tables = [load_run(MATCHES, folder) for folder in matches]
        out(f"report: {report_matches(tables, out_file, title='How these agents deal with each other').resolve()}")
        return
    loaded = [load_run(EPISODES, folder) for folder in runs]
    note_gaps(loaded)
    reviews = _reviews(loaded, explain) if explain else None
    traces = _traces(loaded) if beliefs else None
    files = decomposition or ()
    path = report_on(
        loaded, out_file, title="How these agents bargain", decompositions=files, reviews=reviews, traces=traces
    )
    out(f"report: {path.resolve()}")


def _leave_out_what_is_no_run(paths: Sequence[Path]) -> list[Path]:
    """Return the runs among ``paths``, as of ``runs/*``, and say what is none; if none is, the first is to be named."""
    found = [
        path
        for path in paths
        if (path / HEADER).exists() or (path.is_dir() and (find_years([path]) or is_tournament(path)))
    ]
    for path in paths if found else ():
        if path not in found:
            note(f"note: {path} is left out, it is no run")
    return found or list(paths)


def _report_years(folders: Sequence[Path], out_file: Path, title: str) -> None:
    from experiments.report.years import report_years

    unfinished = [folder for folder in folders if why_excluded(folder) == UNFINISHED]
    for folder in unfinished:
        note(f"EXCLUDED: {folder} is in no number ({UNFINISHED}); run the same command again")
    folders = [folder for folder in folders if folder not in unfinished]
    if not folders:
        raise ValueError("runs has no year that has ended")
    out(f"report: {report_years(folders, out_file, title=title).resolve()}")


def _report_sessions(folders: Sequence[Path], out_file: Path, title: str) -> None:
    from experiments.report.sessions_page import report_sessions

    out(f"report: {report_sessions(load_all_sessions(folders), out_file, title=title).resolve()}")


def _reviews(runs: Sequence[Run], num: int) -> dict[Path, dict[str, list[dict[str, Any]]]]:
    from experiments.cli.seating import prepared_bayes_optimal
    from experiments.report.explaining import review_run, worst_episodes

    worst = {run.folder: worst_episodes(run, num) for run in runs}
    wanted = {record.scenario_id for records in worst.values() for record in records}
    suites = {run.header.digests[SUITE]: run.header.spec.build() for run in runs}
    best = prepared_bayes_optimal([each for suite in suites.values() for each in suite if each.scenario_id in wanted])
    total, done = sum(map(len, worst.values())), itertools.count(1)
    with count_bar(total, "reviewing") as progress:
        return {
            run.folder: review_run(run, worst[run.folder], best, lambda: progress(next(done), total)) for run in runs
        }


def _traces(runs: Sequence[Run]) -> dict[Path, Trace]:
    from experiments.report.explaining import follow_run

    scored = {run.folder: sum(not each.is_excluded for each in run.records) for run in runs}
    total, done = sum(scored.values()), itertools.count(1)
    with count_bar(total, "following the posterior") as progress:
        return {run.folder: follow_run(run, lambda: progress(next(done), total)) for run in runs if scored[run.folder]}
