"""Commands about money: single negotiations with unit economics, sessions with cash and ruin, orders of agents."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from experiments.cli import options
from experiments.cli.ending import NOTHING_SCORED
from experiments.cli.fitting import prepare_player
from experiments.cli.playing import default_folder, read_settings, run_folder, show_run
from experiments.cli.reading import load_all_sessions, note_gaps
from experiments.cli.seating import build_player, named_folder, tell_plan
from experiments.cli.session_gap import print_gap, split_sessions
from experiments.cli.show import estimate, note, out, print_table, progress_bar, text_table
from experiments.engine.cluster import open_executor
from experiments.engine.run import load_run, run_task
from experiments.episodes.config import SuiteSpec
from experiments.episodes.folder import Run
from experiments.episodes.money_published import REGRET_RATES, TERMINAL_BALANCES
from experiments.episodes.suite_task import EPISODES
from experiments.players.registry import ModelOptions
from experiments.sessions.folder import is_sessions
from experiments.sessions.session_task import SESSIONS
from terms import Scenario
from terms.cells import DEFAULT_REGIMES
from terms.episode import AgentLike, agent_name

if TYPE_CHECKING:
    from experiments.comparing.orders import Cell
    from experiments.sessions.folder import SessionsRun
    from experiments.sessions.spec import SessionsSpec

Source = Annotated[str, typer.Option(help="synthetic, or a catalogue: CSV or JSON file, or a folder of them.")]
View = Annotated[Literal["merchant", "vendor"], typer.Option(help="merchant buys from suppliers, vendor sells.")]
MoneyConfig = Annotated[
    Path | None, typer.Option("--config", help="JSON file with settings to change; an option must not disagree.")
]
ChainSeed = Annotated[int | None, typer.Option("--seed", min=0, help="Seed of the chains of suppliers (default: 0).")]
SessionsOut = Annotated[
    Path | None, typer.Option("--out", help="Run folder (default: runs/bankroll-AGENT-LABEL-HASH).")
]
Mode = Annotated[
    Literal["iid", "pool", "persistent"],
    typer.Option("--supplier-mode", help="Somebody new each period, one of a pool, or always the same."),
]


def commerce(  # noqa: PLR0913 - one parameter an option
    agent: options.Agent,
    source: Source = "synthetic",
    columns: options.CatalogColumns = None,
    n_per_cell: options.Episodes = 2,
    seed: options.Seed = None,
    regime: options.Regimes = None,
    family: options.Families = None,
    config: MoneyConfig = None,
    out_dir: options.Out = None,
    workers: options.Workers = 1,
    resume: options.Resume = True,
    scheduler: options.Scheduler = None,
    as_json: options.AsJson = False,
    base_url: options.BaseUrl = None,
    api_key_env: options.KeyEnv = None,
    effort: options.Effort = None,
    max_output_tokens: options.MaxTokens = None,
    concurrency: options.Concurrency = None,
    budget_usd: options.Budget = None,
    cache: options.Cache = None,
) -> None:
    """Play negotiations in money and print profits, walk-aways, regret and what was left on the table."""
    from experiments.episodes.money_settings import CommerceSettings

    settings = read_settings(config, CommerceSettings())
    suite = "fresh" if source == "synthetic" else f"catalog:{source}"
    spec = SuiteSpec.parse(
        suite,
        n_per_cell=n_per_cell,
        seed=seed,
        regimes=regime,
        families=family,
        game=settings.game,
        economics=settings.economics,
        columns=columns,
    )
    player = build_player(
        agent,
        ModelOptions(base_url, api_key_env, effort, max_output_tokens, concurrency, budget_usd, cache),
        spec.game,
        elsewhere=workers > 1 or scheduler is not None,
    )
    about = {**player.settings, **prepare_player(agent, spec.build())}
    folder = run_folder(out_dir or default_folder(player, spec, about), resume=resume)
    tell_plan(player, spec.num_episodes)
    with (
        open_executor(scheduler=scheduler) as executor,
        progress_bar(len(spec.build()), f"{agent_name(player)} on {spec.label}") as progress,
    ):
        run = run_task(
            EPISODES, player, spec, folder, workers=workers, executor=executor, settings=about, progress=progress
        )
    if not as_json:
        _print_money(run)
    show_run(run, as_json=as_json)


def bankroll(  # noqa: PLR0913 - one parameter an option
    context: typer.Context,
    agent: options.Agent,
    supplier_mode: Mode = "pool",
    sessions: Annotated[
        int, typer.Option(min=1, max=100_000, help="Independent sessions, each with suppliers of its own.")
    ] = 4,
    periods: Annotated[int, typer.Option(min=1, max=10_000, help="Periods of a session.")] = 50,
    perspective: View = "merchant",
    pool_size: Annotated[int, typer.Option(min=1, max=10_000, help="Suppliers of a pool.")] = 5,
    initial_cash: Annotated[str, typer.Option(help="Dollars a session starts with.")] = "100",
    memory_premium: Annotated[
        bool, typer.Option("--memory-premium", help="Also replay every session without memory: what memory earns.")
    ] = False,
    gap: Annotated[
        bool, typer.Option("--gap", help="Also split the gap to the ruin-aware optimum; plays every session again.")
    ] = False,
    seed: ChainSeed = None,
    config: MoneyConfig = None,
    out_dir: SessionsOut = None,
    workers: options.Workers = 1,
    resume: options.Resume = True,
    scheduler: options.Scheduler = None,
    as_json: options.AsJson = False,
    base_url: options.BaseUrl = None,
    api_key_env: options.KeyEnv = None,
    effort: options.Effort = None,
    max_output_tokens: options.MaxTokens = None,
    concurrency: options.Concurrency = None,
    budget_usd: options.Budget = None,
    cache: options.Cache = None,
) -> None:
    """Run sessions of negotiations with cash and ruin, and print every metric; the same command resumes."""
    from commerce.bankroll import BankrollConfig, SupplierMode
    from commerce.economics import ChainConfig, Perspective
    from experiments.sessions.spec import SessionsSpec

    rules = BankrollConfig(
        num_sessions=sessions,
        horizon=periods,
        supplier_mode=SupplierMode(supplier_mode),
        pool_size=pool_size,
        initial_cents=_cents("initial_cash", initial_cash),
    )
    asked = SessionsSpec(
        chain=ChainConfig(seed=seed or 0, perspective=Perspective(perspective)),
        bankroll=rules,
        with_memoryless=memory_premium,
    )
    spec = read_settings(config, asked)
    _agree(context, asked, spec)
    player = build_player(
        agent,
        ModelOptions(base_url, api_key_env, effort, max_output_tokens, concurrency, budget_usd, cache),
        spec.chain.game,
        elsewhere=workers > 1 or scheduler is not None,
    )
    settings = {**player.settings, **prepare_player(agent, _every_kind(spec))}
    folder = run_folder(out_dir or sessions_folder(player, spec, settings), resume=resume)
    total = spec.bankroll.num_sessions * spec.bankroll.horizon * len(spec.arms)
    tell_plan(player, total, "periods")
    with (
        open_executor(scheduler=scheduler) as executor,
        progress_bar(total, f"{agent_name(player)}, {spec.label}") as progress,
    ):
        run = run_task(
            SESSIONS, player, spec, folder, workers=workers, executor=executor, settings=settings, progress=progress
        )
    show_sessions(run, as_json=as_json, gap=split_sessions(run, player) if gap else None)


_SETTING_OF = {
    "supplier_mode": "bankroll.supplier_mode",
    "sessions": "bankroll.num_sessions",
    "periods": "bankroll.horizon",
    "perspective": "chain.perspective",
    "pool_size": "bankroll.pool_size",
    "initial_cash": "bankroll.initial_cents",
    "memory_premium": "with_memoryless",
    "seed": "chain.seed",
}


def _agree(context: typer.Context, asked: SessionsSpec, spec: SessionsSpec) -> None:
    """Refuse an option that was given and that the settings file says otherwise."""
    for option, path in _SETTING_OF.items():
        source = context.get_parameter_source(option)
        given, there = (attrgetter(path)(each) for each in (asked, spec))
        if source is not None and source.name == "COMMANDLINE" and given != there:
            raise ValueError(
                f"--{option.replace('_', '-')} and --config disagree: {path} is {given} by the one and {there} "
                "by the other; give one of them"
            )


def order(runs: options.Runs, as_json: options.AsJson = False) -> None:
    """Order agents by SE+, by regret and by terminal balance, side by side: commerce and bankroll folders together."""
    from experiments.comparing.orders import order_agents

    talks = [load_run(EPISODES, folder) for folder in runs if not is_sessions(folder)]
    note_gaps(talks)
    table = order_agents(talks, load_all_sessions(list(filter(is_sessions, runs))))
    if as_json:
        out(json.dumps(table.to_json_object(), allow_nan=False))
        return
    rows = [(row.agent, *map(_ranked, row.cells)) for row in table.rows]
    print_table(text_table("orders of agents, 95 % intervals", ("agent", *table.columns), rows))
    for column, found in table.paired.items():
        shown = ", ".join(f"{name} ({found.letters[name]})" for name in found.ranking)
        out(f"{column}: {shown}; those that share a letter are not told apart")
    for line in table.differences:
        out(line)


def _ranked(cell: Cell) -> str:
    return "-" if cell.rank is None else f"{cell.rank}. {estimate(cell.value._asdict())}"


def show_sessions(run: SessionsRun, *, as_json: bool, gap: Mapping[str, Any] | None = None) -> None:
    """Print the metrics of finished sessions; exit with 3 when there was nothing to score."""
    from experiments.sessions.summary import summary_object

    summary = summary_object(run.header, run.sessions, run.memoryless)
    ends = summary["sessions"]
    if summary["invalidity"]:
        note(f"INVALID: {summary['invalidity']}; do not read the scores")
    if run.torn:
        note(f"note: cut off {run.torn} bytes of an unfinished line; its period was played again")
    if run.resumed:
        note(f"note: {run.resumed} periods were already in {run.folder}")
    if ends["lost"]:
        note(f"note: {ends['lost']} of {len(run.sessions)} sessions were lost to the provider and excluded")
    if as_json:
        out(json.dumps(summary if gap is None else {**summary, "gap": gap}, allow_nan=False))
    else:
        _print_sessions(run, summary)
        if gap is not None:
            print_gap(gap)
    if not ends["finished"] + ends["ruined"]:
        raise typer.Exit(NOTHING_SCORED)


def _print_sessions(run: SessionsRun, summary: Mapping[str, Any]) -> None:
    from experiments.sessions.summary import SESSION_METRICS

    ends, played = summary["sessions"], summary["periods"]
    found = summary["metrics"]
    rows = [
        (each.name.replace("_", " "), each.better, each.unit, estimate(found[each.name]),
         f"{found[each.name]['n']} {each.denominator}", str(found[each.name]["sessions"]))
        for each in SESSION_METRICS
    ]  # fmt: skip
    title = f"{run.header.agent}, {run.header.spec.label}; dollars, 95 % intervals over sessions, - is undefined"
    print_table(text_table(title, ("metric", "better", "unit", "estimate", "n", "sessions"), rows))
    out(f"sessions: {', '.join(f'{count} {end}' for end, count in ends.items() if count)}; {played['played']} periods")
    best, worst = max(TERMINAL_BALANCES.values()), min(TERMINAL_BALANCES.values())
    out(f"published terminal balances (pool, 4 sessions of 50): {worst:.2f} to {best:.2f}")
    out(f"run folder: {run.folder}")


def _print_money(run: Run) -> None:
    from experiments.episodes.folder import run_money
    from experiments.episodes.money_metrics import MONEY_METRICS, money_object

    found = money_object(run_money(run.header, run.records))
    parts = {"overall": found["overall"], **found["perspectives"]}
    rows = [
        (metric.name.replace("_", " "), metric.better, metric.unit,
         *(f"{estimate(part[metric.name])}  n={part[metric.name]['n']}" for part in parts.values()))
        for metric in MONEY_METRICS
    ]  # fmt: skip
    title = f"{run.header.agent} on {run.header.spec.label}, in money; 95 % intervals, - is undefined"
    print_table(text_table(title, ("metric", "better", "unit", *parts), rows))
    if run.header.agent in REGRET_RATES:
        out(f"published regret rate (144 episodes): {REGRET_RATES[run.header.agent]:.3f}")


def sessions_folder(agent: AgentLike, spec: SessionsSpec, settings: Mapping[str, Any]) -> Path:
    """Return ``runs/bankroll-AGENT-LABEL-HASH``; the hash keeps runs of different settings apart."""
    return named_folder(agent, spec.label, [dict(settings), spec.model_dump(mode="json")], prefix="bankroll-")


def _every_kind(spec: SessionsSpec) -> list[Scenario]:
    """Return a scenario of each regime and family that a chain may hold."""
    from commerce.economics import build_chain

    first = build_chain(0, spec.chain, spec.bankroll).scenarios[0]
    return [replace(first, regime=regime, family=each) for regime in DEFAULT_REGIMES for each in spec.chain.families]


def _cents(field: str, text: str) -> int:
    from experiments.players.registry import microusd

    amount = microusd(text, field)
    if amount % 10_000:
        raise ValueError(f"{field}={text!r}; whole cents are needed")
    return amount // 10_000
