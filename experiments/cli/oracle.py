"""The command that says what a suite is worth."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from experiments.cli import options
from experiments.cli.seating import prepared_bayes_optimal
from experiments.cli.show import count_bar, estimate, note, out, print_table, text_table
from experiments.engine.cluster import open_executor
from experiments.stats.numerals import number_text

if TYPE_CHECKING:
    from oracle.tables import SuiteValue

_SHARE_HEADINGS = ("clairvoyant_share", "oracle_share", "oracle_se_plus", "lower", "upper", "width")
_SE_HEADINGS = ("oracle_se_plus", "se_lower", "se_upper")


def oracle(  # noqa: PLR0913 - one parameter an option
    suite: options.Suite = "fresh",
    columns: options.CatalogColumns = None,
    episodes_per_cell: options.Episodes = options.DEFAULT_EPISODES,
    seed: options.Seed = None,
    cells: options.Cells = None,
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
    where: options.Workers = options.HERE,
    as_json: options.AsJson = False,
) -> None:
    """Show what a suite is worth: clairvoyant, Bayes-optimal player, lower and upper bound of the Bayes optimum."""
    if certify and objective != "utility":
        raise ValueError(f"objective={objective!r} with certify={certify}; nearer bounds exist for utility only")
    from oracle.relaxation import BracketSettings
    from oracle.tables import suite_values

    settings = BracketSettings()
    spec = options.suite_of(suite, episodes_per_cell, seed, cells, config, columns)
    scenarios = spec.build()
    best = prepared_bayes_optimal(scenarios, objective)
    with count_bar(2 * len(scenarios), f"oracle on {spec.label}") as progress:
        rows = suite_values(scenarios, bayes_optimal=best, progress=progress)
    if certify:
        from experiments.engine.oracle_work import certificates_on

        with open_executor(where.workers or 1, where.scheduler) as executor, count_bar(1, "certificate") as progress:
            rows += certificates_on(executor, scenarios, num_dual=certify, settings=settings, progress=progress)
    for notice in spec.notices:
        note(f"note: {notice}")
    if as_json:
        rows_json = [row._asdict() for row in rows]
        found = {
            "suite": spec.label,
            "objective": objective,
            "rows": rows_json,
            "tick": settings.tick if certify else None,
        }
        out(json.dumps(found, allow_nan=False))
        return
    _print_values(spec.label, [row for row in rows if row.slice != "certificate"])
    if certify:
        _print_certificates([row for row in rows if row.slice == "certificate"], settings.tick)
    else:
        out("nearer bounds: not computed; use --certify N")


def _print_values(label: str, rows: Sequence[SuiteValue]) -> None:
    found = {(row.slice, row.label, row.quantity): row for row in rows}
    slices = list(dict.fromkeys((row.slice, row.label) for row in rows))
    for title, headings, counted in (
        (f"shares of the mean zopa on {label}", _SHARE_HEADINGS, "oracle_utility"),
        ("surplus efficiency, feasible episodes", _SE_HEADINGS, "se_lower"),
    ):
        lines = [
            (f"{kind} {name}", *(estimate(found[kind, name, quantity]._asdict()) for quantity in headings),
             str(found[kind, name, counted].n))
            for kind, name in slices
        ]  # fmt: skip
        print_table(text_table(title, ("slice", *headings, "n"), lines))
    out("lower: earned by the reference minus two standard errors; upper: the clairvoyant plus two. Both hold up to")
    out("sampling and the grids of the clairvoyant; the optimum of a player who is not told the type lies between")
    out("them, nearer to lower.")


def _print_certificates(rows: Sequence[SuiteValue], tick: float) -> None:
    if not rows:
        out("nearer bounds: none, as no deal can be made")
        return
    from oracle.bounds import joint_allowance
    from oracle.tables import NUM_BOUNDS

    found = {(row.label, row.quantity): row for row in rows}
    labels, quantities = (list(dict.fromkeys(names)) for names in zip(*found, strict=True))
    bounds, means = ("lower", "upper", "width"), ("policy", "first_value", "inner_maximum", "rounding")
    real = ("real_lower", "bayes")
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
    parts = [name for name in quantities if name not in (*bounds, *means, *real)]
    lines = [(label, *(number_text(found[label, name].estimate) for name in parts)) for label in labels]
    print_table(text_table("the width is the sum of", ("regime, family, opener", *parts), lines))
    lines = [
        (label, *(estimate(found[label, name]._asdict()) for name in real), str(found[label, "bayes"].n))
        for label in labels
    ]
    columns = ("regime, family, opener", "optimum at least", "bayes earns", "n")
    print_table(text_table("in the game itself, offers at any price", columns, lines))
    errors = joint_allowance(NUM_BOUNDS * len(labels))
    out(f"all bounds have {errors:.2f} standard errors inside, with which they hold together in 95 % of samples;")
    out("every row has its own draws. Not in lower and upper: what offers between ticks, or offers that fall, could")
    out("add; half a tick is an estimate of the larger part of the first. bayes plays the game itself: it may lie")
    out("above upper.")
