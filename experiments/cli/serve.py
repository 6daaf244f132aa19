"""The commands that serve: years to agents outside, and the small local model."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from experiments.cli import options
from experiments.cli.show import note, out
from experiments.extras import need
from experiments.years.limits import Limits

if TYPE_CHECKING:
    from experiments.serving.served_years import ServedYears

_MOST_BUILDERS = 4
"""Processes that build worlds."""
PORT, MOST_PORT, MOST_RUNS = 8765, 65_535, 9_999
HTTP, MCP = "Over HTTP", "Over MCP on standard input and output"


def serve(  # noqa: PLR0913 - one parameter an option
    is_http: Annotated[
        bool | None,
        typer.Option(
            "--http/--mcp",
            help="Serve HTTP, and MCP at /mcp; or one year by MCP on standard input and output.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, max=options.LARGEST_SEED, help="Seed of the first world (default: drawn, and kept in --out)."
        ),
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, max=10_000, help="Runs of an agent in each world.")] = 1,
    rules: options.RuleSet = "paper",
    days: Annotated[int, typer.Option(min=1, max=options.MOST, help="Length of a year.")] = 365,
    config: options.Config = None,
    world_dir: options.WorldDir = None,
    origin: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="YEAR@DAY",
            help="Let every agent take over the year in a folder on the morning of a day; its world and rules hold.",
        ),
    ] = None,
    max_turns: Annotated[int, typer.Option(min=1, max=10**6, help="Turns after which a year ends.")] = 4000,
    out_dir: Annotated[Path, typer.Option("--out", help="Folder for the years.")] = Path("runs"),
    agents: Annotated[
        list[str] | None,
        typer.Option(
            "--agent",
            help="An agent that may play, repeatable (default: over HTTP any name, by MCP 'mcp'); by MCP NAME/RUN is "
            "which of its years, 0 unless told.",
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS:PORT", help="Where to listen; port 0 is a free one.", rich_help_panel=HTTP)
    ] = "127.0.0.1:8765",
    expose: Annotated[
        bool, typer.Option("--expose", help="Let other machines in, unencrypted.", rich_help_panel=HTTP)
    ] = False,
    token_file: Annotated[
        Path | None,
        typer.Option(help="File with the token (default: TERMS_SERVE_TOKEN, or made in --out).", rich_help_panel=HTTP),
    ] = None,
    finish: Annotated[
        bool, typer.Option("--finish", help="End the year when the agent hangs up.", rich_help_panel=MCP)
    ] = False,
) -> None:
    """Let an agent of any kind run years: over HTTP, or by the Model Context Protocol. Resumes what --out holds."""
    if is_http is None:
        raise ValueError("choose one of --http and --mcp")
    if not is_http and len(agents or ()) > 1:
        raise ValueError(f"agent={', '.join(agents or ())}: by --mcp one agent plays one year")
    names, run = (tuple(agents or ()), 0) if is_http else _mcp_agent(agents)
    need("serve", "fastapi", "uvicorn", "mcp")
    from experiments.serving.served_years import ServedYears
    from experiments.serving.settings import ServeSettings

    settings = ServeSettings(
        out=out_dir, rules=rules, world_seed=seed or 0, world_dir=world_dir, num_days=days,
        limits=Limits(max_turns=max_turns), agents=names, repeats=repeats, changes=options.rule_changes(rules, config),
    )  # fmt: skip
    if origin is not None:
        if (seed, repeats, rules, days, world_dir, config) != (None, 1, "paper", 365, None, None):
            raise ValueError("--from brings its world, rules and days along; leave out --seed, --repeats, --rules, "
                             "--config, --days and --world-dir")  # fmt: skip
        settings = settings.model_copy(update={"origin": _origin(origin)})
        try:
            seed = settings.spec("any", 0).world_seed
        except ValueError as error:
            raise ValueError(f"--from={origin!r}: {error}") from error
    settings = settings.model_copy(update={"world_seed": _seed(seed, out_dir)})
    # The MCP library talks to the root logger; an operator wants its warnings and what this project says.
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    logging.getLogger("terms.serve").setLevel(logging.INFO)
    with ServedYears(settings, workers=min(_MOST_BUILDERS, os.cpu_count() or 1) if is_http else 0) as sessions:
        if is_http:
            _serve_http(sessions, *_address(host), token_file, is_exposed=expose)
        else:
            _serve_mcp(sessions, names[0], run, is_finished=finish)


def _origin(text: str) -> tuple[Path, int]:
    """Return folder and day of ``YEAR@DAY``."""
    folder, _, day = text.rpartition("@")
    if not folder or not (day.isascii() and day.isdecimal()) or len(day) > len(str(options.MOST)):
        raise ValueError(f"--from={text!r}; needed is the folder of a year and a day, YEAR@DAY")
    return Path(folder), int(day)


def _mcp_agent(agents: list[str] | None) -> tuple[tuple[str], int]:
    """Return who plays by MCP, and which of its years: ``NAME`` or ``NAME/RUN``."""
    name, is_run, run = (agents or ["mcp"])[0].rpartition("/")
    if not (is_run and run.isdecimal()):
        return ((agents or ["mcp"])[0],), 0
    if int(run) > MOST_RUNS:
        raise ValueError(f"agent={agents!r}; the run must be at most {MOST_RUNS}")
    return (name,), int(run)


def _address(text: str) -> tuple[str, int]:
    """Return address and port of ``ADDRESS[:PORT]``; an address of IPv6 stands in brackets before a port."""
    host, is_port, port = text.rpartition(":")
    if not is_port or (":" in host.strip("[]") and not host.startswith("[")):
        return text, PORT
    if not port.isdecimal() or int(port) > MOST_PORT:
        raise ValueError(f"--host={text!r}; the port must be a number from 0 to {MOST_PORT}")
    return host.strip("[]") or "127.0.0.1", int(port)


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


def local_model() -> None:
    """Serve the small local model until interrupted; any OpenAI-compatible client can use the address it prints."""
    from experiments.players.local import serve_forever

    note("serving SmolLM2-135M-Instruct; it bargains badly. Ctrl-C stops it.")
    serve_forever(out, port=0)
