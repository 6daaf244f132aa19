"""The command that says what a suite is worth."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
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
            help="Also proven bounds: dual paths a family and opener (40: two minutes a row).",
        ),
    ] = 0,
    where: options.Workers = options.HERE,
    as_json: options.AsJson = False,
) -> None:
    """Show what a suite is worth: clairvoyant, Bayes-optimal player, lower and upper bound of the Bayes optimum."""
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
            rows += certificates_on(
                executor, scenarios, num_dual=certify, objective=objective, settings=settings, progress=progress
            )
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
        out("proven bounds: not computed; use --certify N")


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
        out("proven bounds: none, as no deal can be made: the optimum is 0")
        return
    from oracle.bounds import joint_allowance

    found = {(row.label, row.quantity): row for row in rows}
    labels, quantities = (list(dict.fromkeys(names)) for names in zip(*found, strict=True))
    real = ("real_lower", "real_upper", "real_width", "bayes", "told")
    _print_rows(
        "proven for the game itself: offers at any price, in any order, as the objective counts",
        found, labels, real, ("optimum at least", "at most", "width", "bayes earns", "the type told, at most"),
        ("bayes", "told"),
    )  # fmt: skip
    on_ticks = [label for label in labels if (label, "lower") in found]
    if on_ticks:
        bounds, means = ("lower", "upper", "width"), ("policy", "first_value", "inner_maximum", "rounding")
        _print_rows(
            f"proven where offers lie on ticks of {tick:g} % of R and never fall, shares of the mean zopa",
            found, on_ticks, (*bounds, *means),
            (*bounds, "policy earns", "first value", "inner maximum", "half a tick"), ("policy", "inner_maximum"),
        )  # fmt: skip
        parts = [name for name in quantities if name not in (*bounds, *means, *real)]
        lines = [(label, *(number_text(found[label, name].estimate) for name in parts)) for label in on_ticks]
        print_table(text_table("the width on ticks is the sum of", ("what is known, family, opener", *parts), lines))
    num_bounds = 2 * len(labels) + 2 * len(on_ticks)
    out(f"all bounds have {joint_allowance(num_bounds):.2f} standard errors inside, with which they hold together in")
    out("95 % of samples; every row has its own draws. At most, in the game itself, tells the type: nearly all of that")
    out("width is the price of not knowing it. The bounds on ticks say nothing about offers between them or that fall;")
    out("bayes, which makes such offers, may lie above their upper one. Where no deal can be made, the optimum is 0.")


def _print_rows(
    title: str,
    found: Mapping[tuple[str, str], SuiteValue],
    labels: Sequence[str],
    quantities: Sequence[str],
    headings: Sequence[str],
    counted: Sequence[str],
) -> None:
    lines = [
        (label, *(estimate(found[label, name]._asdict()) for name in quantities),
         *(str(found[label, name].n) for name in counted))
        for label in labels
    ]  # fmt: skip
    print_table(
        text_table(title, ("what is known, family, opener", *headings, *(f"n {name}" for name in counted)), lines)
    )
