"""Commands that read runs: compare, report, verify."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import typer

from experiments.cli import options
from experiments.cli.show import count_bar, note, out, print_table, text_table
from experiments.comparing.separation import Separation, compare_with_separation
from experiments.comparing.wording import LEGEND, PAIR_HEADINGS, family_sentence, matrix, pair_row, pairing_sentence
from experiments.comparing.years import UNFINISHED, compare_years, find_years, read_outcomes, why_excluded
from experiments.engine.run import load_run
from experiments.episodes.config import SUITE, check_same_suite
from experiments.episodes.folder import Run, run_money
from experiments.episodes.records import invalidity
from experiments.episodes.suite_task import EPISODES
from experiments.sessions.folder import GAP, is_sessions
from experiments.sessions.gap_file import NOT_CHECKED
from experiments.sessions.session_task import SESSIONS
from experiments.sessions.summary import PAIRED_ON_SESSIONS
from experiments.stats.paired import PAIRED, Comparison, Outcomes, compare_outcomes, scenario_outcomes
from experiments.storage.journal import HEADER
from experiments.years.summary import BETTER
from terms.metric_table import METRIC_BY_NAME

if TYPE_CHECKING:
    from experiments.sessions.folder import SessionsRun
    from oracle.belief_errors import Trace

_METRIC_HELP = (
    f"Episodes: {', '.join(PAIRED)}; commerce runs also profit; sessions: {', '.join(PAIRED_ON_SESSIONS)}; "
    f"years: {', '.join(BETTER)}."
)


class _Asked(TypedDict):
    """What the user names in the unit of the metric."""

    delta: float | None
    margin: float | None


def compare(  # noqa: PLR0913 - one parameter an option
    runs: options.Runs,
    metric: Annotated[str | None, typer.Option(help=_METRIC_HELP)] = None,
    separation: Annotated[bool, typer.Option(help="Also show which metric tells them apart in which regime.")] = False,
    matrix: Annotated[
        bool, typer.Option("--matrix", help="Show all pairs as a matrix, with the n each needs.")
    ] = False,
    difference: options.DifferenceToFind = None,
    margin: options.Margin = None,
    as_json: options.AsJson = False,
) -> None:
    """Compare agents on the scenarios, sessions or worlds all met: differences, verdicts, how many are needed."""
    asked = _Asked(delta=difference, margin=margin)
    rows: list[Separation] = []
    if any(map(is_sessions, runs)) or (years := find_years(runs)):
        if separation:
            raise ValueError("--separation is about regimes of negotiations; leave it out for sessions and years")
        if any(map(is_sessions, runs)):
            comparison, label = _compare_sessions(runs, metric or "terminal_balance", asked)
        else:
            comparison, label = _compare_years(years, metric or "final_assets", asked), "store years"
    else:
        loaded = load_same_suite(runs)
        label = loaded[0].header.spec.label
        comparison, rows = _compare_talks(loaded, metric or "se_plus", asked, separation=separation)
    if as_json:
        found = {"suite": label, **comparison.to_json_object(), "separation": [row.to_json_object() for row in rows]}
        out(json.dumps(found, allow_nan=False))
        return
    _print_comparison(comparison, label, as_matrix=matrix)
    for name, regime in dict.fromkeys((row.difference.metric, row.regime) for row in rows):
        part = [row.difference for row in rows if (row.difference.metric, row.regime) == (name, regime)]
        print_table(text_table(f"{name} in {regime}", PAIR_HEADINGS, list(map(pair_row, part))))


def _compare_talks(
    runs: Sequence[Run], metric: str, asked: _Asked, *, separation: bool
) -> tuple[Comparison, list[Separation]]:
    """Compare runs of episodes; ``profit`` is that of single negotiations, in dollars, of commerce runs."""
    if metric != "profit" and metric not in PAIRED:
        raise ValueError(f"metric={metric!r}, allowed are {', '.join(PAIRED)}; commerce runs also profit")
    outcomes = {
        run.header.agent: _profits(run) if metric == "profit" else scenario_outcomes(run.records, metric)
        for run in runs
    }
    better = "higher" if metric == "profit" else METRIC_BY_NAME[metric].better
    if separation:
        records = {run.header.agent: run.records for run in runs}
        return compare_with_separation(outcomes, records, metric, better, **asked)
    return compare_outcomes(outcomes, metric, better, **asked), []


def _profits(run: Run) -> Outcomes:
    found: dict[str, list[float]] = {}
    for row in run_money(run.header, run.records):
        found.setdefault(row.scenario_id, []).append(row.profit_cents / 100)
    return found


def _compare_sessions(folders: Sequence[Path], metric: str, asked: _Asked) -> tuple[Comparison, str]:
    """Compare agents by whole sessions on the same chains."""
    from experiments.comparing.sessions import compare_sessions

    runs = load_all_sessions(folders)
    return compare_sessions(runs, metric, **asked), runs[0].header.spec.label


def _compare_years(years: Sequence[Path], metric: str, asked: _Asked) -> Comparison:
    outcomes = read_outcomes(years, metric)
    for folder, why in outcomes.excluded.items():
        note(f"EXCLUDED: {folder} is in no number ({why})")
    return compare_years(outcomes, metric, **asked)


def report(
    runs: options.Runs,
    out_file: Annotated[Path, typer.Option("--out", help="HTML file to write.")] = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="Heading of the report.")] = None,
    decomposition: Annotated[
        list[Path] | None, typer.Option(help="File of `decompose --out`; repeat for more.")
    ] = None,
    explain: Annotated[
        int, typer.Option(min=0, max=10**6, help="Let the oracle review the worst episodes of each run.")
    ] = 0,
    beliefs: Annotated[bool, typer.Option("--beliefs", help="Compare beliefs with the exact posterior.")] = False,
) -> None:
    """Write one self-contained HTML report about the given runs, or about the given store years."""
    from experiments.report.reporting import report_on

    runs = _leave_out_what_is_no_run(runs)
    if years := find_years(runs):
        if decomposition or explain or beliefs:
            raise ValueError("a report on years takes folders of years alone; --title and --out are its options")
        _report_years(years, out_file, title or "How these merchants trade")
        return
    if any(map(is_sessions, runs)):
        if not all(map(is_sessions, runs)) or decomposition or explain or beliefs:
            raise ValueError("a report on sessions takes folders of sessions alone; --title and --out are its options")
        _report_sessions(runs, out_file, title or "How these agents keep their money")
        return
    loaded = [load_run(EPISODES, folder) for folder in runs]
    note_gaps(loaded)
    reviews = _reviews(loaded, explain) if explain else None
    heading = title or "How these agents bargain"
    traces = _traces(loaded) if beliefs else None
    files = decomposition or ()
    path = report_on(loaded, out_file, title=heading, decompositions=files, reviews=reviews, traces=traces)
    out(f"report: {path.resolve()}")


def _leave_out_what_is_no_run(paths: Sequence[Path]) -> list[Path]:
    """Return the runs among ``paths``, as of ``runs/*``, and say what is none; if none is, the first is to be named."""
    found = [path for path in paths if (path / HEADER).exists() or (path.is_dir() and find_years([path]))]
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
    from experiments.cli.fitting import prepared_bayes_optimal
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


def verify(run: options.RunFolder) -> None:
    """Replay a run or a year without any model or merchant and derive every number again."""
    from experiments.modes import check_folder

    findings, left_out = check_folder(run)
    for finding in findings:
        note(f"FAILED {finding}")
    if findings:
        raise typer.Exit(1)
    out("verified: every line of the log played again, every number and every file derived again")
    if (run / GAP).is_file():
        out(f"{GAP}: its parts agree with its balances and the log; {NOT_CHECKED}")
    for line in left_out:
        out(f"not covered: {line}")


def load_same_suite(folders: Sequence[Path]) -> list[Run]:
    """Load runs that were played on one suite; agents must differ, and so must nothing else."""
    loaded = [load_run(EPISODES, folder) for folder in folders]
    check_same_suite([run.header for run in loaded])
    note_gaps(loaded)
    return loaded


def load_all_sessions(folders: Sequence[Path]) -> list[SessionsRun]:
    """Load folders of sessions and say what is torn, unfinished, lost or not to be read in them."""
    from experiments.comparing.sessions import session_gaps

    loaded = [load_run(SESSIONS, folder) for folder in folders]
    for gap in itertools.chain.from_iterable(map(session_gaps, loaded)):
        note(gap)
    return loaded


def note_gaps(runs: Sequence[Run]) -> None:
    """Say what is torn, missing or not to be read in runs of episodes."""
    for run in runs:
        if run.torn:
            note(f"note: {run.folder} ends in {run.torn} bytes of an unfinished line, which are left out")
        problem = invalidity(run.records)
        if problem:
            note(f"INVALID: {run.folder}: {problem}; do not read its scores")
        if not run.is_complete:
            note(f"note: {run.folder} holds {len(run.records)} of {run.header.spec.num_episodes} episodes")


def _print_comparison(comparison: Comparison, label: str, *, as_matrix: bool) -> None:
    title = f"{comparison.metric} on {label}"
    if as_matrix:
        print_table(text_table(f"{title}: verdict above the diagonal, n needed below", *matrix(comparison)))
        out(LEGEND)
    else:
        print_table(text_table(title, PAIR_HEADINGS, list(map(pair_row, comparison.differences))))
    for rank, name in enumerate(comparison.ranking, 1):
        out(f"{rank}. {name}  {comparison.letters[name]}")
    out(family_sentence(comparison))
    out(pairing_sentence(comparison.differences))
