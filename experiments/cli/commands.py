"""The commands by group: where each lives, what it was called before, and how it is loaded when it is asked for."""

from __future__ import annotations

import ast
import errno
import importlib
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException
from typer.main import get_command

HELP_NAMES: dict[str, Any] = {"context_settings": {"help_option_names": ["-h", "--help"]}}


class Home(NamedTuple):
    """Where a command lives: its module here, and its function."""

    module: str
    function: str


CHAPTERS: Mapping[str, Mapping[str, Home]] = {
    "Play": {
        "diagnose": Home("diagnose", "diagnose"),
        "play": Home("play", "play"),
        "bankroll": Home("bankroll", "bankroll"),
        "match": Home("matches", "match"),
        "tournament": Home("matches", "tournament"),
        "export": Home("export", "export"),
        "runs": Home("runs", "runs"),
        "view": Home("runs", "view"),
        "agents": Home("listing", "agents"),
        "suites": Home("listing", "suites"),
    },
    "Understand": {
        "explain": Home("explain", "explain"),
        "decompose": Home("decompose", "decompose"),
        "ledger": Home("ledger", "ledger"),
        "oracle": Home("oracle", "oracle"),
        "train-oracle": Home("train_oracle", "train_oracle"),
        "fit-economics": Home("fit_economics", "show_fit"),
    },
    "Compare": {
        "report": Home("report", "report"),
        "compare": Home("compare", "compare"),
        "order": Home("order", "order"),
        "findings": Home("findings", "findings"),
        "cost": Home("cost", "cost"),
    },
    "Store": {
        "year": Home("year", "year"),
        "branch": Home("branch", "branch"),
        "world": Home("world", "world"),
        "lint-economy": Home("world", "lint_economy"),
    },
    "Serve": {
        "serve": Home("serve", "serve"),
        "local-model": Home("serve", "local_model"),
    },
    "Check": {
        "check": Home("check", "check"),
        "verify": Home("check", "verify"),
    },
}
"""The commands as the help shows them."""
COMMANDS = {name: home for group in CHAPTERS.values() for name, home in group.items()}
OLD_COMMANDS = {"commerce": "diagnose --money"}
OLD_OPTIONS = {
    "--n-per-cell": "--episodes-per-cell N",
    "--world": "--seed N",
    "--runs": "--worlds N (and --repeats N in each)",
    "--merchant": "--agent NAME",
    "--source": "--suite fresh, or --suite catalog:PATH",
    "--no-resume": "another --out; a folder is always gone on with",
    "--pool-size": "--config bankroll.pool_size=N",
    "--perspective": "--config chain.perspective=vendor",
    "--concurrency": "--workers N",
    "--hide-cues": "--model show_cues=false",
    "--hide-words": "--model show_messages=false",
    "--no-belief": "--model ask_belief=false",
    "--no-guidance": "--model guidance=false",
    "--sweeps": "nothing: 300 sweeps are drawn",
    "--tick": "nothing: ticks of 4 % of R; `BracketSettings(tick=)` in Python",
    "--negotiations": "nothing: the forecast is for 1,800",
    "--verbose": "nothing: every request is logged",
    "--max-sessions": "nothing: 64 years at a time",
    "--run": "--agent NAME/RUN",
    "--port": "--host ADDRESS:PORT of serve; local-model takes a free port",
    "--title": "nothing: the heading says what the report is about",
}
"""Spellings of before, each with today's. An option that a command still has is not old there."""
WHAT_IS_DONE_ANYWAY = "--resume"
"""A folder that holds the same run is always gone on with; to say so is allowed."""
ALONE = {"--money": ("--economics", "default")}
"""Spellings that stand without a value, what they spell, and the value if that is not given too."""
ONE_CHOICE = (("--workers", "--scheduler"), ("--http", "--mcp"))
"""Spellings of one option of which only one can be meant."""


def _first_line(home: Home) -> str:
    """Return the first line of a command's docstring, read without importing the module."""
    tree = ast.parse((Path(__file__).parent / f"{home.module}.py").read_text(encoding="utf-8"))
    found = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == home.function)
    return (ast.get_docstring(next(found)) or "").partition("\n")[0]


class _Command(TyperCommand):
    """A command that knows what its options were called before, and every key of ``--model`` as an option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        known = {spelling for param in self.params for spelling in (*param.opts, *param.secondary_opts)}
        given = {arg.partition("=")[0] for arg in args}
        if (nul := next((arg for arg in args if "\0" in arg), None)) is not None:
            raise ValueError(f"{nul!r} holds a NUL, which no value may")
        for old in OLD_OPTIONS:
            if old in given and old not in known:
                raise ValueError(f"{old} is now {OLD_OPTIONS[old]}")
        for one, other in ONE_CHOICE:
            if {one, other} <= given & known:
                raise ValueError(f"{one} and {other} are one choice; give one of them")
        args = [word for arg in args if arg != WHAT_IS_DONE_ANYWAY for word in _with_value(arg, given & known)]
        args = with_model_keys(args, known) if "--model" in known else args
        with _said_in_one_line(args, f"`terms {self.name} -h` says more"):
            left = super().parse_args(ctx, args)
        for value in ctx.params.values():
            if isinstance(value, Path):
                _check_path(value)
        return left


def _with_value(arg: str, given: Set[str]) -> list[str]:
    """Return the words that ``arg`` stands for; ``given`` are the command's own options among the arguments."""
    if arg not in ALONE or arg not in given:
        return [arg]
    option, value = ALONE[arg]
    return [] if option in given else [option, value]


def with_model_keys(args: Sequence[str], known: Set[str]) -> list[str]:
    """Return the arguments with ``--KEY VALUE`` of a setting of a model as ``--model KEY=VALUE``.

    ``known`` are the command's own options, which win.
    """
    found, rest = list[str](), iter(args)
    for arg in rest:
        name, is_pair, value = arg.partition("=")
        if not name.startswith("--") or name in known:
            found.append(arg)
            continue
        key = name[2:].replace("-", "_")
        if key.partition(".")[0] not in _model_keys():
            found.append(arg)
            continue
        value = value if is_pair else next(rest, "--")
        if not is_pair and value.startswith("--"):
            raise ValueError(f"{name} needs a value")
        found += ["--model", f"{key}={value}"]
    return found


def _model_keys() -> Set[str]:
    from experiments.llm.settings import ModelSettings
    from experiments.players.model_options import NEGOTIATOR_KEYS, OWN_KEYS
    from experiments.storekeeper.settings import StorekeeperSettings

    return {*ModelSettings.model_fields, *NEGOTIATOR_KEYS, *StorekeeperSettings.model_fields, *OWN_KEYS}


def _check_path(path: Path) -> None:
    """Refuse a path that the system could not follow, wherever it is used: links in a circle, or too long."""
    if len(path.parts) > _DEEPEST:
        raise ValueError(f"{str(path)!r} has {len(path.parts):,} folders, at most {_DEEPEST} are allowed")
    try:
        path.stat()
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENAMETOOLONG):
            raise


_DEEPEST = 200


@contextmanager
def _said_in_one_line(args: Sequence[str], more: str) -> Iterator[None]:
    """Turn what the parser refuses into a plain failure; it would draw a box that leaves out the value."""
    given = list(args)
    try:
        yield
    except TyperException as error:
        raise ValueError(_in_words(error, given, more)) from error


def _in_words(error: TyperException, args: Sequence[str], more: str) -> str:
    """Return a wrong use of the command line with the option, its value and what is allowed."""
    param = getattr(error, "param", None)
    if isinstance(error, typer.BadParameter) and param is not None and error.message:
        said = error.message.removeprefix("Value error, ").rstrip(".")
        return f"{max(param.opts, key=len)}={_given(args, param.opts)!r}: {said}; {more}"
    return f"{error.format_message().rstrip('.?')}; {more}"


def _given(args: Sequence[str], spellings: Sequence[str]) -> str:
    """Return the last value that ``args`` give to an option; the last word if it is an argument."""
    for place in reversed(range(len(args))):
        head, is_joined, value = args[place].partition("=")
        if head in spellings:
            return value if is_joined else " ".join(args[place + 1 : place + 2])
    return args[-1] if args else ""


class LazyGroup(TyperGroup):
    """Loads the command that runs, and for a list of commands none of them."""

    _is_listing = False

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in the order of the help."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command, or for a list its name and first line alone."""
        if cmd_name in OLD_COMMANDS:
            raise ValueError(f"`terms {cmd_name}` is now `terms {OLD_COMMANDS[cmd_name]}`")
        if cmd_name not in COMMANDS:
            return None
        if not self._is_listing:
            return load_command(cmd_name)
        group = next(title for title, names in CHAPTERS.items() if cmd_name in names)
        return TyperCommand(cmd_name, help=_first_line(COMMANDS[cmd_name]), rich_help_panel=group)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read what stands before the command; nothing at all shows the help."""
        if not args:
            return super().parse_args(ctx, args)
        with _said_in_one_line(args, "`terms -h` lists the commands"):
            return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the arguments name; a wrong name is told the nearest right one."""
        self.commands = dict.fromkeys(COMMANDS, TyperCommand(None))
        with _said_in_one_line(args, "`terms -h` lists the commands"):
            return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        self._is_listing = True
        super().format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Return the commands that begin like ``incomplete``."""
        self._is_listing = True
        found: Sequence[Any] = super().shell_complete(ctx, incomplete)
        self._is_listing = False
        return list(found)


def load_command(name: str) -> TyperCommand:
    """Import a command and return it."""
    home = COMMANDS[name]
    function = getattr(importlib.import_module(f"experiments.cli.{home.module}"), home.function)
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    alone.command(name, cls=_Command, **HELP_NAMES)(function)
    command = get_command(alone)
    assert isinstance(command, TyperCommand)
    return command
