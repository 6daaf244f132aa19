"""The command that lets an agent outside run a year."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from experiments.cli import options
from experiments.cli.show import note, out
from experiments.cli.years import RuleSet, WorldDir
from experiments.extras import need

if TYPE_CHECKING:
    from experiments.serving.served_years import ServedYears

_MOST_BUILDERS = 4
"""Processes that build worlds."""
HTTP, MCP = "Over HTTP", "Over MCP on standard input and output"


def serve(  # noqa: PLR0913 - one parameter an option
    http: Annotated[bool, typer.Option("--http", help="Serve HTTP, and MCP at /mcp.")] = False,
    mcp: Annotated[bool, typer.Option("--mcp", help="Serve one year by MCP on standard input and output.")] = False,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, max=options.LARGEST_SEED, help="Seed of the first world (default: drawn, and kept in --out)."
        ),
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, max=10_000, help="Runs of an agent in each world.")] = 1,
    rules: RuleSet = "paper",
    days: Annotated[int, typer.Option(min=1, max=options.MOST, help="Length of a year.")] = 365,
    world_dir: WorldDir = None,
    max_turns: Annotated[int, typer.Option(min=1, max=10**6, help="Turns after which a year ends.")] = 4000,
    out_dir: Annotated[Path, typer.Option("--out", help="Folder for the years.")] = Path("runs"),
    host: Annotated[str, typer.Option(help="Address to listen at.", rich_help_panel=HTTP)] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.", rich_help_panel=HTTP)] = 8765,
    expose: Annotated[
        bool, typer.Option("--expose", help="Let other machines in, unencrypted.", rich_help_panel=HTTP)
    ] = False,
    token_file: Annotated[
        Path | None,
        typer.Option(help="File with the token (default: TERMS_SERVE_TOKEN, or made in --out).", rich_help_panel=HTTP),
    ] = None,
    max_sessions: Annotated[int, typer.Option(min=1, max=10_000, help="Years at a time.", rich_help_panel=HTTP)] = 64,
    verbose: Annotated[bool, typer.Option("--verbose", help="Log every request.", rich_help_panel=HTTP)] = False,
    agents: Annotated[
        list[str] | None,
        typer.Option("--agent", help="An agent that may play, repeatable (default: over HTTP any name, by MCP 'mcp')."),
    ] = None,
    run: Annotated[int, typer.Option(min=0, max=9999, help="Which of its years.", rich_help_panel=MCP)] = 0,
    finish: Annotated[
        bool, typer.Option("--finish", help="End the year when the agent hangs up.", rich_help_panel=MCP)
    ] = False,
) -> None:
    """Let an agent of any kind run years: over HTTP, or by the Model Context Protocol. Resumes what --out holds."""
    if http == mcp:
        raise ValueError("choose one of --http and --mcp")
    if mcp and len(agents or ()) > 1:
        raise ValueError(f"agent={', '.join(agents or ())}: by --mcp one agent plays one year")
    need("serve", "fastapi", "uvicorn", "mcp")
    from experiments.serving.served_years import ServedYears
    from experiments.serving.settings import ServeSettings

    settings = ServeSettings(
        out=out_dir, rules=rules, world_seed=seed or 0, world_dir=world_dir, num_days=days,
        max_turns=max_turns, max_sessions=max_sessions, agents=tuple(agents or (["mcp"] if mcp else [])),
        repeats=repeats,
    )  # fmt: skip
    settings = settings.model_copy(update={"world_seed": _seed(seed, out_dir)})
    # The MCP library talks to the root logger; an operator wants its warnings and what this project says.
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    logging.getLogger("terms.serve").setLevel(logging.INFO if verbose else logging.WARNING)
    with ServedYears(settings, workers=min(_MOST_BUILDERS, os.cpu_count() or 1) if http else 0) as sessions:
        if http:
            _serve_http(sessions, host, port, token_file, is_exposed=expose)
        else:
            _serve_mcp(sessions, settings.agents[0], run, is_finished=finish)


def _seed(given: int | None, out_dir: Path) -> int:
    """Return the seed of the first world, and say what is to be known of it."""
    from experiments.serving.worlds import find_or_draw_seed, is_small

    if given is None:
        seed, path = find_or_draw_seed(out_dir)
        note(f"the seed of the first world is in {path}; keep it from the agents, which could build their world of it")
        return seed
    if is_small(given):
        note(
            f"WARNING: seed={given} can be found by trying seeds until a world answers alike; "
            "leave --seed out, or name one above 2^40"
        )
    return given


def _serve_http(sessions: ServedYears, host: str, port: int, token_file: Path | None, *, is_exposed: bool) -> None:
    from experiments.serving.server import check_host, serve_http
    from experiments.serving.settings import find_or_make_token

    check_host(host, is_exposed=is_exposed)
    if not sessions.settings.agents:
        note("note: any name may play, also one that only tries a world out; --agent NAME says who may")
    token, source = find_or_make_token(token_file, sessions.settings.out)
    note(f"the token is in {source}; Ctrl-C stops the server, the same command goes on")
    serve_http(sessions, token, host=host, port=port, announce=out)


def _serve_mcp(sessions: ServedYears, agent: str, run: int, *, is_finished: bool) -> None:
    import anyio

    from experiments.serving.mcp_server import serve_stdio

    anyio.run(serve_stdio, sessions, agent, run)
    year = sessions.open(agent, run)
    if is_finished:
        year.finish()
    note(f"{agent}, run {run}: " + ("the year is over" if year.is_over else f"{year.next_turn} turns so far"))
