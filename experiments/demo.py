"""The demonstration: built-in agents on the published suite, a fresh one and a small catalogue, in one report."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path

from experiments.cli.show import out, progress_bar
from experiments.comparing.wording import PAIR_HEADINGS, pair_row
from experiments.engine.run import run_task
from experiments.episodes.config import SuiteSpec
from experiments.episodes.folder import Run
from experiments.episodes.suite_task import EPISODES
from experiments.players.registry import build_agent
from experiments.report.reporting import report_on
from experiments.stats.paired import compare

AGENTS = (
    "patient", "conceder", "exploit", "tit-for-tat", "split-the-difference", "boulware", "fixed-0.30", "fixed-0.10",
    "fixed-0.01", "random",
)  # fmt: skip
FRESH_AGENTS = ("patient", "exploit", "fixed-0.30")
CATALOG_AGENTS = ("patient", "conceder", "fixed-0.30")
SEED = 20_260_513
#: Invented items: name, category, reference, low and high price. The last three rows are broken on purpose.
ITEMS = (
    ("Espresso machine", "kitchen", "$1,299.00", "$899.00", "$1,499.00"),
    ("Hand grinder", "kitchen", "$89.00", "$59.00", "$119.00"),
    ("Kettle", "kitchen", "$45.00", "$29.90", "$64.00"),
    ("Chef's knife", "kitchen", "$74.50", "$48.00", "$99.00"),
    ("Road bike", "outdoor", "$980.00", "$760.00", "$1,190.00"),
    ("Two-person tent", "outdoor", "$219.00", "$149.00", "$289.00"),
    ("Sleeping bag", "outdoor", "$129.00", "$85.00", "$175.00"),
    ("Headlamp", "outdoor", "$39.00", "$24.00", "$55.00"),
    ("Kettle", "kitchen", "$45.00", "$29.90", "$64.00"),
    ("Camp stove", "outdoor", "", "$35.00", "$70.00"),
    ("Mystery box", "outdoor", "$1,2,3", "$10.00", "$20.00"),
)


def run_demo(folder: Path) -> Path:
    """Play, compare and report; return the path of the report."""
    catalog = write_catalog(folder / "catalog.csv")
    fresh, published = SuiteSpec.parse("fresh", seed=SEED), SuiteSpec.parse("published")
    items = SuiteSpec.parse(f"catalog:{catalog}", seed=SEED, n_per_cell=5)
    runs = [_play(name, published, folder) for name in AGENTS]
    _say_order(runs)
    runs += [_play(name, fresh, folder) for name in FRESH_AGENTS]
    runs += [_play(name, items, folder) for name in CATALOG_AGENTS]
    return report_on(runs, folder / "report.html", title="How the built-in agents bargain").resolve()


def write_catalog(path: Path) -> Path:
    """Write the small catalogue of invented items as CSV and say which rows are not usable."""
    from terms import load_catalog

    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("name", "category", "reference_price", "low_price", "high_price"))
        writer.writerows(ITEMS)
    catalog = load_catalog(path)
    out(f"catalogue: {catalog.num_read} rows read, {len(catalog.products)} used, dropped {catalog.dropped_by_reason}")
    return path


def _play(name: str, suite: SuiteSpec, folder: Path) -> Run:
    with progress_bar(len(suite.build()), f"{name} on {suite.label}") as progress:
        run = run_task(EPISODES, build_agent(name), suite, folder / f"{name}-{suite.label}", progress=progress)
    out(f"played {name:22} on {suite.label}: {len(run.records)} episodes")
    return run


def _say_order(runs: Sequence[Run]) -> None:
    comparison = compare({run.header.agent: run.records for run in runs})
    out("\nSE+ on the published suite, best first; agents that share a letter are not told apart:")
    for rank, name in enumerate(comparison.ranking, 1):
        out(f"  {rank}. {name}  {comparison.letters[name]}")
    closest = min(comparison.differences, key=lambda d: abs(d.estimate))
    shown = dict(zip(PAIR_HEADINGS, pair_row(closest), strict=True))
    out(
        f"closest pair: {shown['pair']} = {shown['difference [95 %]']}; "
        f"{shown['n needed [95 %]']} scenarios would show a difference of that size\n"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/demo"))
    out(f"report: {run_demo(parser.parse_args().out)}")
