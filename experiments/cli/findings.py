"""The command that repeats the findings of the first paper on runs of one's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from experiments.cli import options
from experiments.cli.compare import note_gaps
from experiments.cli.show import out, print_table, text_table


def findings(
    runs: options.Runs,
    decomposition: Annotated[
        list[Path] | None, typer.Option(help="File of `decompose --out`; repeat for more.")
    ] = None,
    metric: Annotated[str, typer.Option(help="What is shown by regime and family.")] = "se_plus",
    as_json: options.AsJson = False,
) -> None:
    """Cue and inference penalties, what the posterior closes, style, suites, ablations, voices, surplus a dollar."""
    from experiments.comparing.findings import find_all, read_closed_gap
    from experiments.engine.run import load_run
    from experiments.episodes.suite_task import EPISODES
    from terms.metric_table import METRIC_BY_NAME

    if metric not in METRIC_BY_NAME:
        raise ValueError(f"metric={metric!r}, allowed are {', '.join(METRIC_BY_NAME)}")
    loaded = [load_run(EPISODES, folder) for folder in runs]
    note_gaps(loaded)
    found = find_all(loaded, [read_closed_gap(path) for path in decomposition or ()], metric)
    if as_json:
        out(json.dumps([one.to_json_object() for one in found], allow_nan=False))
        return
    for one in found:
        if one.rows:
            print_table(text_table(f"{one.name}: {one.says}", *one.table()))
        else:
            out(f"{one.name}: nothing to say; needs {one.needs}")
