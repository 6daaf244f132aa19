"""The command that says where an agent loses."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from experiments.cli import options
from experiments.cli.planning import DryRun, tell_plan
from experiments.cli.seating import (
    default_folder,
    negotiator_options,
    prepared_bayes_optimal,
    seat_again,
    seat_player,
    seated_apart,
)
from experiments.cli.show import count_bar, estimate, note, out, print_table, text_table
from experiments.engine.cluster import open_executor
from experiments.engine.folder import read_header
from experiments.episodes.config import SUITE, SuiteSpec
from experiments.episodes.suite_task import EPISODES
from experiments.stats.numerals import needed_text, number_text
from experiments.storage.files import check_out_file, write_atomically
from terms.episode import UNSALTED, Seeds
from terms.estimates import Estimate, Ratio, estimate_ratios

if TYPE_CHECKING:
    from rich.table import Table

    from oracle.arms import Arms
    from oracle.gaps import Decomposition


def decompose(  # noqa: PLR0913 - one parameter an option
    run: Annotated[
        Path | None, typer.Argument(help="Run folder of `diagnose`: its agent as it played there, on its episodes.")
    ] = None,
    agent: Annotated[str | None, options.WHO] = None,
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
    dry_run: DryRun = False,
    as_json: options.AsJson = False,
    model: options.ModelKeys = None,
) -> None:
    """Split what an agent leaves on the table into inference, uncertainty, control and execution, with intervals."""
    from experiments.engine.oracle_work import run_arms_on
    from oracle.arms import PLAYS_OF_AN_AGENT
    from oracle.decomposition import decompose_arms

    if (run is None) == (agent is None):
        raise ValueError("needed is the folder of a run, or --agent with a suite; not both")
    asked, seeds = negotiator_options(model), UNSALTED
    if run is not None:
        told = (suite, columns, episodes_per_cell, seed, cells, config)
        if told != ("fresh", None, options.DEFAULT_EPISODES, None, None, None):
            raise ValueError(f"run={str(run)!r} says which episodes are played; leave out what names a suite")
        header = read_header(run, EPISODES.mode, SuiteSpec)
        spec, seeds = header.spec, Seeds(header.salt)
        if header.digests[SUITE] != spec.digest():
            raise ValueError(f"run={str(run)!r} played other episodes than its suite has now; diagnose again")
        player, processes = seat_again(header, asked, where)
    else:
        spec = options.suite_of(suite, episodes_per_cell, seed, cells, config, columns)
        player, processes = seat_player(agent or "", asked, spec.game, where)
    scenarios = spec.build()
    if out_file is not None:
        check_out_file(out_file, "")  # before the work: it may take minutes
    tell_plan([player], len(scenarios), plays=PLAYS_OF_AN_AGENT, is_dry=dry_run)
    prepared_bayes_optimal(scenarios)
    played = default_folder(player, spec)
    apart = played.with_name(f"decompose-{played.name}")
    with (
        seated_apart(player, apart, "decomposition") as seated,
        open_executor(processes, where.scheduler, threads=player.concurrency) as executor,
        count_bar(len(scenarios), player.name) as progress,
    ):
        seeded = seated.seeded(seeds) if seeds.salt else seated
        arms = run_arms_on(executor, seeded, scenarios, is_fitted=True, progress=progress)
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

    verdict = diagnose(report)
    return {
        **report.to_json_object(),
        "suite": spec.label,
        "suite_digest": spec.digest(),
        "half_width": half_width,
        "required_episodes": {name: n._asdict() for name, n in report.required(half_width).items()},
        "diagnosis": {**verdict._asdict(), "words": verdict.in_words()},
        "closed_by_posterior": closed_by_posterior(report)._asdict(),
    }


def closed_by_posterior(report: Decomposition[Arms]) -> Estimate:
    """Return the share of the gap that closes when the agent is shown the exact posterior."""
    parts = report.arms.parts(report.reference)
    return estimate_ratios([Ratio(parts["inference"], parts["gap"])], report.arms.clusters)


def _print_decomposition(report: Decomposition[Arms], found: dict[str, Any]) -> None:
    from oracle.parts import advice, in_words, left_to_right

    played, target = report.row("played"), report.row("reference")
    verdict = found["diagnosis"]
    out(
        f"{report.agent} earns {number_text(played.estimate)} an episode where the {report.reference} earns "
        f"{number_text(target.estimate)} (price units, n = {played.n}); {advice(verdict['fault'])}"
    )
    out(verdict["words"])
    slices = list(dict.fromkeys((row.slice, row.label) for row in report.rows))
    parts = list(dict.fromkeys(row.part for row in report.rows))
    main = [*left_to_right(parts), "gap"]
    words = in_words([*parts], f"the {report.reference}")
    print_table(
        _parts_table(f"{report.agent} on {found['suite']}", report, main, words, slices, found),
        _families_table(report, main, words, slices),
        _parts_table("the same gap cut finer", report, [part for part in parts if part not in main], words, [], found),
    )
    out(f"shown the exact posterior it closes {estimate(found['closed_by_posterior'])} of the gap, as a share")
    if verdict["fault"] != "none":
        shares = ", ".join(_share_text(part, verdict) for part in verdict["shares"])
        out(f"the advice rests on, of what the clairvoyant earns: {shares}")
    if report.arms.excluded:
        note(f"note: {len(report.arms.excluded)} scenarios were lost to the provider and excluded from every arm")


def _share_text(part: str, verdict: Mapping[str, Any]) -> str:
    share, (low, high) = verdict["shares"][part], verdict["bounds"][part]
    return f"{part} {share:.1%}" + ("" if low is None else f" [{low:.1%}, {high:.1%}]")


def _parts_table(
    title: str,
    report: Decomposition[Arms],
    parts: Sequence[str],
    words: Mapping[str, str],
    slices: Sequence[tuple[str, str]],
    found: dict[str, Any],
) -> Table:
    from oracle.parts import SENTENCES

    shown = [each for each in slices if each[0] != "family"] or [("overall", "all")]
    lines = [
        (
            words[part],
            *(estimate(report.row(part, *each)._asdict()) for each in shown),
            needed_text(found["required_episodes"][part]),
            *([SENTENCES.get(part, "")] if slices else []),
        )
        for part in parts
    ]
    if slices:
        lines.append(("n", *(str(report.row("played", *each).n) for each in shown), "", ""))
    needed = f"episodes for +-{found['half_width']:g}"
    return text_table(title, ("part", *(label for _, label in shown), needed, *(["lost by"] if slices else [])), lines)


def _families_table(
    report: Decomposition[Arms], parts: Sequence[str], words: Mapping[str, str], slices: Sequence[tuple[str, str]]
) -> Table:
    families = [each for each in slices if each[0] == "family"]
    lines = [
        (
            each[1],
            *(number_text(report.row(part, *each).estimate) for part in parts),
            str(report.row("played", *each).n),
        )
        for each in families
    ]
    return text_table("by family; intervals with --json", ("family", *(words[part] for part in parts), "n"), lines)
