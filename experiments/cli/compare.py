"""The command that compares runs, and what every command says about runs that it reads."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

from experiments.cli import options
from experiments.cli.show import note, out, print_table, text_table
from experiments.comparing.aided import AidGain, aid_gains
from experiments.comparing.dimensions import (
    DIMENSION_HEADINGS,
    DimensionRow,
    dimension_rows,
    on_top_sentence,
    rank_dimensions,
)
from experiments.comparing.separation import Separation, compare_with_separation
from experiments.comparing.wording import LEGEND, PAIR_HEADINGS, family_sentence, matrix, pair_row, pairing_sentence
from experiments.comparing.years import compare_years, find_years, read_metrics, read_outcomes
from experiments.engine.run import load_run
from experiments.episodes.config import check_same_suite
from experiments.episodes.folder import Run, run_money
from experiments.episodes.records import invalidity
from experiments.episodes.suite_task import EPISODES
from experiments.sessions.folder import is_sessions
from experiments.sessions.session_task import SESSIONS
from experiments.sessions.summary import PAIRED_ON_SESSIONS
from experiments.stats.paired import PAIRED, Comparison, Outcomes, compare_outcomes, scenario_outcomes
from experiments.years.summary import BETTER
from terms.metric_table import METRIC_BY_NAME

if TYPE_CHECKING:
    from experiments.sessions.folder import SessionsRun

_METRIC_HELP = (
    f"Episodes: {', '.join(PAIRED)}; commerce runs also profit; sessions: {', '.join(PAIRED_ON_SESSIONS)}; "
    f"years: {', '.join(BETTER)}."
)


class _Asked(TypedDict):
    """What the user names in the unit of the metric."""

    delta: float | None
    margin: float | None


def compare(
    runs: options.Runs,
    metric: Annotated[str | None, typer.Option(help=_METRIC_HELP)] = None,
    is_matrix: Annotated[
        bool | None,
        typer.Option(
            "--matrix/--separation",
            help="Show all pairs as a matrix, with the n each needs; or also which metric tells them apart in which "
            "regime.",
            show_default=False,
        ),
    ] = None,
    difference: options.DifferenceToFind = None,
    margin: options.Margin = None,
    as_json: options.AsJson = False,
) -> None:
    """Compare agents on the scenarios, sessions or worlds all met: differences, verdicts, how many are needed."""
    ranked: list[DimensionRow] = []
    gains: list[AidGain] = []
    asked, separation = _Asked(delta=difference, margin=margin), is_matrix is False
    rows: list[Separation] = []
    if any(map(is_sessions, runs)) or (years := find_years(runs)):
        if separation:
            raise ValueError("--separation is about regimes of negotiations; leave it out for sessions and years")
        if any(map(is_sessions, runs)):
            comparison, label = _compare_sessions(runs, metric or "terminal_balance", asked)
        else:
            comparison, label = _compare_years(years, metric or "final_assets", asked), "store years"
            ranked, gains = rank_dimensions(read_metrics(years)), aid_gains(comparison)
    else:
        loaded = load_same_suite(runs)
        label = loaded[0].header.spec.label
        comparison, rows = _compare_talks(loaded, metric or "se_plus", asked, separation=separation)
    if as_json:
        found = {"suite": label, **comparison.to_json_object(), "separation": [row.to_json_object() for row in rows]}
        if ranked:
            found["dimensions"] = [row.to_json_object() for row in ranked]
            found["aids"] = [gain._asdict() for gain in gains]
        out(json.dumps(found, allow_nan=False))
        return
    _print_comparison(comparison, label, as_matrix=bool(is_matrix))
    for name, regime in dict.fromkeys((row.difference.metric, row.regime) for row in rows):
        part = [row.difference for row in rows if (row.difference.metric, row.regime) == (name, regime)]
        print_table(text_table(f"{name} in {regime}", PAIR_HEADINGS, list(map(pair_row, part))))
    for gain in gains:
        out(gain.in_words())
    if ranked:
        print_table(text_table("Seven dimensions, each with its rank", DIMENSION_HEADINGS, dimension_rows(ranked)))
        out(on_top_sentence(ranked))


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
