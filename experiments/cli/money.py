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
from experiments.cli.playing import read_settings, run_folder
from experiments.cli.reading import load_all_sessions, note_gaps
from experiments.cli.seating import (
    agent_apart,
    kept_if_played,
    named_folder,
    negotiator_options,
    seat_player,
    tell_plan,
)
from experiments.cli.session_gap import print_gap, split_sessions
from experiments.cli.show import estimate, note, out, print_table, progress_bar, text_table
from experiments.engine.cluster import open_executor
from experiments.engine.run import load_run, run_task
from experiments.episodes.money_fit import TERMINAL_BALANCES
from experiments.episodes.suite_task import EPISODES
from experiments.players.player import Player
from experiments.sessions.folder import is_sessions
from experiments.sessions.session_task import SESSIONS
from terms import Scenario
from terms.cells import DEFAULT_REGIMES

if TYPE_CHECKING:
    from experiments.comparing.rankings import RankCell
    from experiments.sessions.folder import SessionsRun
    from experiments.sessions.spec import SessionsSpec

TextView = Annotated[Literal["merchant", "vendor"], typer.Option(help="merchant buys from suppliers, vendor sells.")]
Mode = Annotated[
    Literal["iid", "pool", "persistent"],
    typer.Option("--supplier-mode", help="Somebody new each period, one of a pool, or always the same."),
]


def bankroll(  # noqa: PLR0913 - one parameter an option
    context: typer.Context,
    agent: options.AgentOption,
    supplier_mode: Mode = "pool",
    sessions: Annotated[
        int, typer.Option(min=1, max=100_000, help="Independent sessions, each with suppliers of its own.")
    ] = 4,
    periods: Annotated[int, typer.Option(min=1, max=10_000, help="Periods of a session.")] = 50,
    perspective: TextView = "merchant",
    initial_cash: Annotated[str, typer.Option(help="Dollars a session starts with.")] = "100",
    seed: options.Seed = None,
    config: options.Config = None,
    memory_premium: Annotated[
        bool, typer.Option("--memory-premium", help="Also replay every session without memory: what memory earns.")
    ] = False,
    gap: Annotated[
        bool, typer.Option("--gap", help="Also split the gap to the ruin-aware optimum; plays every session again.")
    ] = False,
    out_dir: options.Out = None,
    workers: options.Workers = None,
    scheduler: options.Scheduler = None,
    as_json: options.AsJson = False,
    base_url: options.BaseUrl = None,
    budget_usd: options.BudgetUsd = None,
    model: options.ModelKeys = None,
) -> None:
    """Run sessions of negotiations with cash and ruin, and print every metric; the same command resumes."""
    from commerce.bankroll import BankrollConfig, SupplierMode
    from commerce.economics import ChainConfig, Perspective
    from experiments.sessions.spec import SessionsSpec

    rules = BankrollConfig(
        num_sessions=sessions,
        horizon=periods,
        supplier_mode=SupplierMode(supplier_mode),
        initial_cents=_cents("initial_cash", initial_cash),
    )
    chain = ChainConfig(seed=seed or 0, perspective=Perspective(perspective))
    asked = SessionsSpec(chain=chain, bankroll=rules, with_memoryless=memory_premium)
    spec = read_settings(config, asked)
    _agree(context, asked, spec)
    told = negotiator_options(model, base_url, budget_usd)
    seating = seat_player(agent, told, spec.chain.game, workers, scheduler)
    player = prepare_player(agent, seating.player, _every_kind(spec))
    folder = run_folder(out_dir or sessions_folder(player, spec))
    total = spec.bankroll.num_sessions * spec.bankroll.horizon * len(spec.arms)
    tell_plan(player, total, "periods")
    with (
        open_executor(scheduler=scheduler) as executor,
        progress_bar(total, f"{player.name}, {spec.label}") as progress,
        kept_if_played(folder),
        agent_apart(),
    ):
        run = run_task(SESSIONS, player, spec, folder, workers=seating.processes, executor=executor, progress=progress)
    show_sessions(run, as_json=as_json, gap=split_sessions(run, player) if gap else None)


_SETTING_OF = {
    "supplier_mode": "bankroll.supplier_mode",
    "sessions": "bankroll.num_sessions",
    "periods": "bankroll.horizon",
    "perspective": "chain.perspective",
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
    from experiments.comparing.rankings import order_agents

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


def _ranked(cell: RankCell) -> str:
    return "-" if cell.rank is None else f"{cell.rank}. {estimate(cell.value._asdict())}"


def show_sessions(run: SessionsRun, *, as_json: bool, gap: Mapping[str, Any] | None = None) -> None:
    """Print the metrics of finished sessions; exit with 3 when there was nothing to score."""
    from experiments.sessions.summary import sessions_summary

    summary = sessions_summary(run.header, run.sessions, run.memoryless)
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


def sessions_folder(player: Player, spec: SessionsSpec) -> Path:
    """Return ``runs/bankroll-AGENT-LABEL-HASH``; the hash keeps runs of different settings apart."""
    facts = [player.settings, spec.model_dump(mode="json")]
    return named_folder(player.name, spec.label, facts, prefix="bankroll-")


def _every_kind(spec: SessionsSpec) -> list[Scenario]:
    """Return a scenario of each regime and family that a chain may hold."""
    from commerce.economics import build_chain

    first = build_chain(0, spec.chain, spec.bankroll).scenarios[0]
    return [replace(first, regime=regime, family=each) for regime in DEFAULT_REGIMES for each in spec.chain.families]


def _cents(field: str, text: str) -> int:
    from experiments.players.model_options import microusd

    amount = microusd(text, field)
    if amount % 10_000:
        raise ValueError(f"{field}={text!r}; whole cents are needed")
    return amount // 10_000
