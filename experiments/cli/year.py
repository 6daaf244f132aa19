"""The command that plays store years, and tells what became of them: those that count, and loudly the others."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

import typer

from commerce.aids import AIDS, check_aids
from commerce.world import DEFAULT_SEED
from experiments.cli import options
from experiments.cli.ending import NOTHING_SCORED
from experiments.cli.planning import DryRun, tell_free_plan, tell_years_plan
from experiments.cli.seating import kept_if_played
from experiments.cli.show import count_bar, estimate, note, out
from experiments.llm.errors import BudgetExceeded
from experiments.llm.spending import Spending
from experiments.players.model_options import ModelOptions
from experiments.players.seat import is_model
from experiments.storage.files import folder_name
from experiments.storekeeper.settings import StorekeeperSettings
from experiments.years.batch import YearPlace, run_agent_years, run_merchant_years
from experiments.years.run import YearRun
from experiments.years.seats import merchant_seat
from experiments.years.spec import YearSpec, with_aids, year_label
from experiments.years.summary import YEAR_METRICS, years_summary
from experiments.years.transcript import DayRecord, Outcome

AgentOfYear = Annotated[
    str,
    typer.Option(
        "--agent",
        help="A merchant, see `terms agents`; openrouter:VENDOR/MODEL, openai:MODEL, or local.",
    ),
]


def year(  # noqa: PLR0913 - one parameter an option
    agent: AgentOfYear,
    seed: options.WorldSeed = DEFAULT_SEED,
    rules: options.RuleSet = "paper",
    days: Annotated[int, typer.Option(min=1, max=options.MOST, help="Length of the year.")] = 365,
    worlds: Annotated[
        int, typer.Option(min=1, max=options.MOST, help="Worlds to play in: that of the seed and of those after it.")
    ] = 1,
    repeats: Annotated[
        int, typer.Option(min=1, max=options.MOST, help="Years in each world; the agent's own draws differ.")
    ] = 1,
    config: options.Config = None,
    where: options.Workers = options.HERE,
    aids: Annotated[
        list[str] | None,
        typer.Option(
            "--aid", metavar="NAME", help=f"What stands beside the agent, repeat for more: {', '.join(AIDS)}."
        ),
    ] = None,
    world_dir: options.WorldDir = None,
    out_dir: options.Out = None,
    dry_run: DryRun = False,
    as_json: options.AsJson = False,
    model: options.ModelKeys = None,
) -> None:
    """Run a store for a year and print every metric; the same command resumes after a stop."""
    folder = None if world_dir is None else str(world_dir.resolve())
    changes = options.rule_changes(rules, config)
    beside = check_aids(aids or ())
    plan = YearPlan(agent, rules, seed, days, worlds, repeats, folder, out_dir, changes, beside, dry_run)
    asked = ModelOptions.read(model or (), StorekeeperSettings.model_fields)
    show_years(plan, play_years(plan, asked, where), as_json=as_json)


class YearPlan(NamedTuple):
    """Which years are to be played, by whom, and where to."""

    agent: str
    rules: str
    first_world: int
    num_days: int
    num_worlds: int
    num_repeats: int
    world_dir: str | None
    out: Path | None
    changes: Mapping[str, Any] = MappingProxyType({})
    aids: tuple[str, ...] = ()
    is_dry: bool = False


def play_years(plan: YearPlan, asked: ModelOptions, where: options.Where) -> list[YearRun]:
    """Play the years of ``plan``, those of a merchant in processes or on a cluster and those of a model in threads."""
    if is_model(plan.agent):
        if where.scheduler is not None:
            raise ValueError("--scheduler is for merchants; the years of a model wait in threads, see --workers")
        played = _model_years(plan, asked, where.workers or 1)
    else:
        played = _merchant_years(plan, asked, where)
    found = []
    for one in played:
        found.append(one)
        detail = "" if one.outcome.is_scored else f" ({one.outcome.detail})"
        note(f"{year_label(one.header.agent, one.header.spec)}: {one.outcome.outcome}{detail}, {one.folder}")
    return sorted(found, key=lambda one: (one.header.spec.world_seed, one.header.spec.repeat))


def _merchant_years(plan: YearPlan, asked: ModelOptions, where: options.Where) -> Iterator[YearRun]:
    from experiments.engine.cluster import open_executor

    if asked != ModelOptions():
        raise ValueError(f"agent={plan.agent!r} is not a language model; model options have no effect on it")
    name = merchant_seat(plan.agent).name
    years = _places(plan, name)
    tell_free_plan(f"{len(years):,} year(s)", is_dry=plan.is_dry)
    with kept_if_played(years[0].folder.parent), open_executor(where.workers or 1, where.scheduler) as executor:
        yield from run_merchant_years(name, years, executor)


def _model_years(plan: YearPlan, asked: ModelOptions, workers: int) -> Iterator[YearRun]:
    from experiments.storekeeper.connect import connected, plan_seat

    planned = plan_seat(plan.agent, asked)
    years = _places(plan, planned.name)
    total = len(years) * plan.num_days
    tell_years_plan(planned, len(years), workers, is_dry=plan.is_dry)
    reached: dict[tuple[int, int], int] = {}
    with (
        kept_if_played(years[0].folder.parent),
        connected(planned, asked, [one.folder for one in years], workers) as seat,
        count_bar(total, f"{planned.name}, days") as progress,
    ):

        def on_day(spec: YearSpec, day: DayRecord) -> None:
            reached[spec.world_seed, spec.repeat] = day.day
            progress(sum(reached.values()), total)

        yield from run_agent_years(years, seat, workers, on_day)


def _places(plan: YearPlan, name: str) -> list[YearPlace]:
    base = plan.out or Path("runs") / f"year-{folder_name('+'.join([name, *plan.aids]))}-{plan.rules}"
    specs = [
        YearSpec(
            world_seed=plan.first_world + world,
            world_dir=plan.world_dir,
            rules=plan.rules,
            changes=dict(plan.changes),
            num_days=plan.num_days,
            merchant_seed=world,
            repeat=repeat,
            aids=plan.aids,
        )
        for world in range(plan.num_worlds)
        for repeat in range(plan.num_repeats)
    ]
    return [YearPlace((base / spec.folder_name).absolute(), spec) for spec in specs]


def show_years(plan: YearPlan, played: list[YearRun], *, as_json: bool) -> None:
    """Print the metrics over the scored years and what was excluded; raise or exit if there is nothing to score."""
    scored = [one.result for one in played if one.result is not None]
    lost = [one for one in played if one.result is None]
    summary = years_summary(scored)
    excluded = [
        {"folder": str(one.folder), "outcome": one.outcome.outcome, "detail": one.outcome.detail} for one in lost
    ]
    if as_json:
        out(json.dumps({**summary, "excluded": excluded}, allow_nan=False))
    else:
        name = with_aids(played[0].header.agent, played[0].header.spec)
        over = "worlds" if len({one["world_digest"] for one in scored}) > 1 else "runs in one world"
        out(f"{name}, {played[0].header.spec.rules_label} rules, {plan.num_days} days, {len(scored)} year(s); "
            f"95 % intervals over {over}, - is undefined")  # fmt: skip
        for metric in (name for name in YEAR_METRICS if name in summary):
            out(f"{metric:38}{estimate(summary[metric])}  n={summary[metric]['n']}")
        for part, entry in summary.get("variance", {}).get("final_assets", {}).items():
            if part in ("between", "within"):
                out(f"{'variance of final_assets ' + part:38}{estimate(entry)}  n={entry['n']}")
        if scored:
            first = next(one.folder for one in played if one.result is not None)
            out(f"report: {shlex.join(['terms', 'report', str(first.parent)])}")
            out(f"where the money went: {shlex.join(['terms', 'ledger', str(first)])}")
    if is_model(plan.agent):
        tell_cost([one.outcome.spending for one in played])
    if lost:
        tell_lost(lost, len(played))
    if not scored:
        raise typer.Exit(NOTHING_SCORED)


def tell_cost(spent: list[Spending]) -> None:
    """Say what the model calls of all sittings cost, and what is not in that sum."""
    dollars = sum(one.settled_microusd for one in spent) / 1e6
    answers = sum(one.num_settled for one in spent)
    if answers or not any(one.num_unknown for one in spent):
        note(f"cost: ${dollars:.6f} in {answers:,} answers")
    if unknown := sum(one.num_unknown for one in spent):
        note(f"WARNING: the cost of {unknown:,} attempts is unknown and in no sum; `terms cost FOLDER` says more")


def tell_lost(lost: list[YearRun], num: int) -> None:
    """Say how many of ``num`` years are in no number; those that a budget ended raise."""
    kinds = ", ".join(sorted({one.outcome.outcome.value for one in lost}))
    note(f"EXCLUDED: {len(lost)} of {num} years are in no number ({kinds}); the same command goes on with them")
    over = [one.outcome for one in lost if one.outcome.outcome is Outcome.BUDGET]
    if over:
        raise BudgetExceeded(over[0].detail)
