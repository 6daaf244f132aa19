"""The command that says where an agent loses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from experiments.cli import options
from experiments.cli.seating import (
    default_folder,
    negotiator_options,
    prepared_bayes_optimal,
    seat_player,
    seated_apart,
)
from experiments.cli.show import count_bar, estimate, note, out, print_table, text_table
from experiments.engine.cluster import open_executor
from experiments.episodes.config import SuiteSpec
from experiments.stats.numerals import needed_text, number_text
from experiments.storage.files import check_out_file, write_atomically

if TYPE_CHECKING:
    from rich.table import Table

    from oracle.arms import Arms
    from oracle.gaps import Decomposition


def decompose(  # noqa: PLR0913 - one parameter an option
    agent: options.AgentOption,
    suite: options.Suite = "fresh",
    columns: options.CatalogColumns = None,
    episodes_per_cell: options.Episodes = options.DEFAULT_EPISODES,
    seed: options.Seed = None,
    cells: options.Cells = None,
    config: options.Config = None,
    reference: Annotated[Literal["oracle", "clairvoyant"], typer.Option(help="Whom to measure against.")] = "oracle",
    half_width: Annotated[
        float, typer.Option(min=1e-3, max=1e6, help="Say how many episodes 95 % intervals of +- this would need.")
    ] = 1.0,
    out_file: Annotated[Path | None, typer.Option("--out", help="Also write the JSON there, for `report`.")] = None,
    where: options.Workers = options.HERE,
    as_json: options.AsJson = False,
    model: options.ModelKeys = None,
) -> None:
    """Split what an agent leaves on the table into inference, uncertainty, control and execution, with intervals."""
    from experiments.engine.oracle_work import run_arms_on
    from oracle.decomposition import decompose_arms

    spec = options.suite_of(suite, episodes_per_cell, seed, cells, config, columns)
    scenarios = spec.build()
    if out_file is not None:
        check_out_file(out_file, "")  # before the work: it may take minutes
    player, processes = seat_player(agent, negotiator_options(model), spec.game, where)
    prepared_bayes_optimal(scenarios)
    has_values = not any(scenario.product for scenario in scenarios)
    run = default_folder(player, spec)
    apart = run.with_name(f"decompose-{run.name}")
    with (
        seated_apart(player, apart, "decomposition") as seated,
        open_executor(processes, where.scheduler, threads=player.concurrency) as executor,
        count_bar(len(scenarios), player.name) as progress,
    ):
        arms = run_arms_on(executor, seated, scenarios, is_fitted=has_values, progress=progress)
    report = decompose_arms(player.name, arms, reference)
    found = decomposition_object(report, spec, half_width)
    for notice in spec.notices:
        note(f"note: {notice}")
    if out_file is not None:
        write_atomically(out_file, (json.dumps(found, allow_nan=False, indent=1) + "\n").encode())
    if as_json:
        out(json.dumps(found, allow_nan=False))
        return
    _print_decomposition(report, found)


def decomposition_object(report: Decomposition[Arms], spec: SuiteSpec, half_width: float) -> dict[str, Any]:
    """Return what ``--json`` prints and ``terms report --decomposition`` reads."""
    from oracle.diagnosis import diagnose

    return {
        **report.to_json_object(),
        "suite": spec.label,
        "suite_digest": spec.digest(),
        "half_width": half_width,
        "required_episodes": {name: n._asdict() for name, n in report.required(half_width).items()},
        "diagnosis": diagnose(report)._asdict(),
    }


def _print_decomposition(report: Decomposition[Arms], found: dict[str, Any]) -> None:
    slices = list(dict.fromkeys((row.slice, row.label) for row in report.rows))
    title = f"{report.agent} against the {report.reference} on {found['suite']}, mean utility in price units"
    print_table(
        _parts_table(title, report, [each for each in slices if each[0] != "family"], found),
        _parts_table("by family", report, [each for each in slices if each[0] == "family"], found),
    )
    verdict = found["diagnosis"]
    shares = ", ".join(f"{name} {number_text(share)}" for name, share in verdict["shares"].items())
    out(f"mend first: {verdict['fault']} (shares of the clairvoyant's utility: {shares})")
    if report.arms.excluded:
        note(f"note: {len(report.arms.excluded)} scenarios were lost to the provider and excluded from every arm")


def _parts_table(
    title: str, report: Decomposition[Arms], slices: Sequence[tuple[str, str]], found: dict[str, Any]
) -> Table:
    from oracle.parts import left_to_right

    parts = list(dict.fromkeys(row.part for row in report.rows))
    lines = []
    for part in dict.fromkeys([*left_to_right(parts), *parts]):
        needed = found["required_episodes"][part]
        cells = [estimate(report.row(part, *each)._asdict()) for each in slices]
        lines.append((part.replace("_", " "), *cells, needed_text(needed)))
    lines.append(("n", *(str(report.row("played", *each).n) for each in slices), ""))
    headings = ("part", *(label for _, label in slices), f"n for +-{found['half_width']:g} overall")
    return text_table(title, headings, lines)
