"""The command that runs sessions with cash and ruin."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from experiments.cli import options
from experiments.cli.ending import NOTHING_SCORED
from experiments.cli.planning import DryRun, tell_plan
from experiments.cli.seating import (
    agent_apart,
    kept_if_played,
    named_folder,
    negotiator_options,
    prepare_player,
    run_folder,
    seat_player,
    seated_apart,
)
from experiments.cli.show import count_bar, estimate, note, out, print_table, progress_bar, text_table
from experiments.engine.cluster import open_executor
from experiments.engine.run import run_task
from experiments.episodes.money_fit import TERMINAL_BALANCES
from experiments.players.player import Player
from experiments.sessions.session_task import SESSIONS
from experiments.stats.numerals import needed_text
from oracle.interventions import Condition
from terms import Scenario
from terms.cells import DEFAULT_REGIMES
from terms.episode import agent_name

if TYPE_CHECKING:
    from experiments.sessions.folder import SessionsRun
    from experiments.sessions.spec import SessionsSpec

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
    where: options.Workers = options.HERE,
    dry_run: DryRun = False,
    as_json: options.AsJson = False,
    model: options.ModelKeys = None,
) -> None:
    """Run sessions of negotiations with cash and ruin, and print every metric; the same command resumes."""
    from commerce.bankroll import BankrollConfig, SupplierMode
    from commerce.economics import ChainConfig
    from experiments.sessions.spec import SessionsSpec

    rules = BankrollConfig(
        num_sessions=sessions,
        horizon=periods,
        supplier_mode=SupplierMode(supplier_mode),
        initial_cents=_cents("initial_cash", initial_cash),
    )
    chain = ChainConfig(seed=seed or 0)
    asked = SessionsSpec(chain=chain, bankroll=rules, with_memoryless=memory_premium)
    spec = options.read_settings(config, asked)
    _agree(context, asked, spec)
    seating = seat_player(agent, negotiator_options(model), spec.chain.game, where)
    total = spec.bankroll.num_sessions * spec.bankroll.horizon * len(spec.arms)
    again = len(Condition) * spec.bankroll.num_sessions * spec.bankroll.horizon if gap else 0
    tell_plan([seating.player], total + again, "periods", is_dry=dry_run)
    player = prepare_player(agent, seating.player, _every_kind(spec))
    folder = run_folder(out_dir or sessions_folder(player, spec))
    with (
        open_executor(scheduler=where.scheduler) as executor,
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
    out(f"run folder: {run.folder}\nreport: {shlex.join(['terms', 'report', str(run.folder)])}")
    out("where it is lost: the same command with --gap")


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


def split_sessions(run: SessionsRun, player: Player) -> dict[str, Any] | None:
    """Play every arm, write ``gap.json`` into the run folder and return what it holds; ``None`` without a result."""
    scored = sum(session.is_scored for session in run.sessions)
    if not scored:
        note("note: no session has a result, so there is no gap to split")
        return None
    from experiments.sessions.gap import sessions_gap
    from experiments.sessions.gap_file import write_gap
    from oracle.bankroll.worth import load_outcomes, session_worth

    spec = run.header.spec
    with count_bar(1, "meeting suppliers") as progress:
        outcomes = load_outcomes(spec.chain, spec.economics, spec.bankroll, progress=progress)
    worth = session_worth(outcomes, spec.bankroll)
    with (
        seated_apart(player, run.folder / "gap", "split") as seated,
        count_bar(scored, f"gap of {agent_name(player)}") as progress,
    ):
        gap = sessions_gap(run, seated, worth, progress=progress)
    return write_gap(run, gap, worth)


def print_gap(found: Mapping[str, Any]) -> None:
    """Print the parts of the gap and what the session is worth."""
    from experiments.sessions.gap_file import WORTH

    needed, width = found["required_sessions"], found["half_width"]
    rows = [
        (row["part"].replace("_", " "), estimate(row), str(row["n"]), needed_text(needed[row["part"]]))
        for row in found["rows"]
    ]
    title = f"gap of {found['agent']} to the ruin-aware reference, dollars of final balance, 95 % intervals"
    print_table(text_table(title, ("part", "estimate", "n", f"n for +-{width:g}"), rows))
    worth = [(label, estimate(found["worth"][name])) for name, label in WORTH.items()]
    suppliers = found["worth"]["value"]["n"]
    print_table(text_table("what a session is worth, dollars and probabilities", ("quantity", "estimate"), worth))
    out(f"worth: dynamic program on laws sampled from {suppliers} suppliers; a menu of plans: values are lower bounds")
    out("price of caution and value of memory are differences and no bounds; intervals cover sampling alone")
    if found["excluded"]:
        note(f"note: {len(found['excluded'])} sessions were lost to the provider and excluded from every arm")
