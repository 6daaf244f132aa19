"""Commands that ask the oracle about suites and agents: what a suite is worth, and where an agent loses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from experiments.cli import options
from experiments.cli.fitting import prepared_bayes_optimal
from experiments.cli.playing import default_folder, read_game
from experiments.cli.seating import negotiator_options, seat_player, seated_apart
from experiments.cli.show import count_bar, estimate, note, out, print_table, text_table
from experiments.engine.cluster import open_executor
from experiments.episodes.config import SuiteSpec
from experiments.stats.numerals import needed_text, number_text
from experiments.storage.files import write_atomically
from terms import Scenario

if TYPE_CHECKING:
    from rich.table import Table

    from oracle.arms import Arms
    from oracle.gaps import Decomposition
    from oracle.tables import SuiteValue

_SE_HEADINGS = ("oracle_se_plus", "se_lower", "se_upper")
HalfWidth = Annotated[float, typer.Option(min=0.01, help="State the episodes needed for 95 % intervals of +- this.")]


def oracle(  # noqa: PLR0913 - one parameter an option
    suite: options.Suite = "fresh",
    columns: options.CatalogColumns = None,
    episodes_per_cell: options.Episodes = options.DEFAULT_EPISODES,
    seed: options.Seed = None,
    regime: options.Regimes = None,
    family: options.Families = None,
    config: options.Config = None,
    objective: Annotated[
        Literal["utility", "se"], typer.Option(help="What the reference maximises; se is fitted when first asked for.")
    ] = "utility",
    certify: Annotated[
        int,
        typer.Option(
            min=0,
            max=options.MOST,
            help="Also certify nearer bounds: dual paths a family and opener (40: eight minutes).",
        ),
    ] = 0,
    tick: Annotated[float, typer.Option(min=1, max=10, help="Offer tick of the certified game, percent of R.")] = 4.0,
    workers: options.Workers = None,
    scheduler: options.Scheduler = None,
    as_json: options.AsJson = False,
) -> None:
    """Show what a suite is worth: clairvoyant, Bayes-optimal player, lower and upper bound of the Bayes optimum."""
    if certify and objective != "utility":
        raise ValueError(f"objective={objective!r} with certify={certify}; nearer bounds exist for utility only")
    from oracle.relaxation import BracketSettings
    from oracle.tables import suite_values

    spec, scenarios = _suite(suite, episodes_per_cell, seed, regime, family, config, columns)
    best = prepared_bayes_optimal(scenarios, objective)
    with count_bar(2 * len(scenarios), f"oracle on {spec.label}") as progress:
        rows = suite_values(scenarios, bayes_optimal=best, progress=progress)
    if certify:
        from experiments.engine.oracle_work import certificates_on

        settings = BracketSettings(tick=tick)
        with open_executor(workers or 1, scheduler) as executor, count_bar(1, "certificate") as progress:
            rows += certificates_on(executor, scenarios, num_dual=certify, settings=settings, progress=progress)
    for notice in spec.notices:
        note(f"note: {notice}")
    if as_json:
        rows_json = [row._asdict() for row in rows]
        found = {"suite": spec.label, "objective": objective, "rows": rows_json, "tick": tick if certify else None}
        out(json.dumps(found, allow_nan=False))
        return
    _print_values(spec.label, [row for row in rows if row.slice != "certificate"])
    if certify:
        _print_certificates([row for row in rows if row.slice == "certificate"], tick)
    else:
        out("nearer bounds: not computed; use --certify N")


def _print_values(label: str, rows: Sequence[SuiteValue]) -> None:
    headings = ("clairvoyant_share", "oracle_share", "oracle_se_plus", "lower", "upper", "width")
    found = {(row.slice, row.label, row.quantity): row for row in rows}
    slices = list(dict.fromkeys((row.slice, row.label) for row in rows))
    table = [
        (f"{kind} {name}", *(estimate(found[kind, name, quantity]._asdict()) for quantity in headings),
         str(found[kind, name, "oracle_utility"].n))
        for kind, name in slices
    ]  # fmt: skip
    print_table(text_table(f"shares of the mean zopa on {label}", ("slice", *headings, "n"), table))
    lines = [
        (f"{kind} {name}", *(estimate(found[kind, name, quantity]._asdict()) for quantity in _SE_HEADINGS),
         str(found[kind, name, "se_lower"].n))
        for kind, name in slices
    ]  # fmt: skip
    print_table(text_table("surplus efficiency, feasible episodes", ("slice", *_SE_HEADINGS, "n"), lines))
    out("lower: earned by the reference minus two standard errors; upper: the clairvoyant plus two. Both hold up to")
    out("sampling; the optimum of a player who is not told the type lies between them, nearer to lower.")


def _print_certificates(rows: Sequence[SuiteValue], tick: float) -> None:
    if not rows:
        out("nearer bounds: none, as no deal can be made")
        return
    found = {(row.label, row.quantity): row for row in rows}
    labels, quantities = (list(dict.fromkeys(names)) for names in zip(*found, strict=True))
    bounds, means = ("lower", "upper", "width"), ("policy", "first_value", "inner_maximum", "rounding")
    lines = [
        (label, *(estimate(found[label, name]._asdict()) for name in (*bounds, *means)),
         str(found[label, "policy"].n), str(found[label, "inner_maximum"].n))
        for label in labels
    ]  # fmt: skip
    title = f"certified: offers on ticks of {tick:g} % of R, shares of the mean zopa"
    headings = (
        "regime, family, opener",
        *bounds,
        "policy earns",
        "first value",
        "inner maximum",
        "half a tick",
        "n",
        "paths",
    )
    print_table(text_table(title, headings, lines))
    parts = [name for name in quantities if name not in (*bounds, *means)]
    lines = [(label, *(number_text(found[label, name].estimate) for name in parts)) for label in labels]
    print_table(text_table("the width is the sum of", ("regime, family, opener", *parts), lines))
    out("both bounds have two standard errors inside. Not in them: what offers between ticks could add; half a tick is")
    out("an estimate of the larger part of that, what the planner gains when the tick is halved.")


def decompose(  # noqa: PLR0913 - one parameter an option
    agent: options.AgentOption,
    reference: Annotated[Literal["oracle", "clairvoyant"], typer.Option(help="Whom to measure against.")] = "oracle",
    suite: options.Suite = "fresh",
    columns: options.CatalogColumns = None,
    episodes_per_cell: options.Episodes = options.DEFAULT_EPISODES,
    seed: options.Seed = None,
    regime: options.Regimes = None,
    family: options.Families = None,
    config: options.Config = None,
    half_width: HalfWidth = 1.0,
    out_file: Annotated[Path | None, typer.Option("--out", help="Also write the JSON there, for `report`.")] = None,
    workers: options.Workers = None,
    scheduler: options.Scheduler = None,
    as_json: options.AsJson = False,
    base_url: options.BaseUrl = None,
    budget_usd: options.BudgetUsd = None,
    model: options.ModelKeys = None,
) -> None:
    """Split what an agent leaves on the table into inference, uncertainty, control and execution, with intervals."""
    from experiments.engine.oracle_work import run_arms_on
    from oracle.decomposition import decompose_arms

    spec, scenarios = _suite(suite, episodes_per_cell, seed, regime, family, config, columns)
    asked = negotiator_options(model, base_url, budget_usd)
    player, processes = seat_player(agent, asked, spec.game, workers, scheduler)
    prepared_bayes_optimal(scenarios)
    has_values = not any(scenario.product for scenario in scenarios)
    run = default_folder(player, spec)
    apart = run.with_name(f"decompose-{run.name}")
    with (
        seated_apart(player, apart, "decomposition") as seated,
        open_executor(processes, scheduler, threads=player.concurrency) as executor,
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


def _suite(  # noqa: PLR0913 - the options of a suite
    suite: str,
    n_per_cell: int,
    seed: int | None,
    regime: list[str] | None,
    family: list[str] | None,
    config: Path | None,
    columns: str | None,
) -> tuple[SuiteSpec, tuple[Scenario, ...]]:
    cells: dict[str, Any] = {"n_per_cell": n_per_cell, "regimes": regime, "families": family}
    spec = SuiteSpec.parse(suite, seed=seed, columns=columns, **cells, **read_game(config))
    return spec, spec.build()
