"""The commands by group: where each lives, what it was called before, and how it is loaded when it is asked for."""

from __future__ import annotations

import ast
import errno
import importlib
from collections.abc import Iterator, Mapping, Sequence
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
        "diagnose": Home("playing", "diagnose"),
        "play": Home("playing", "play"),
        "bankroll": Home("money", "bankroll"),
        "agents": Home("listing", "agents"),
        "suites": Home("listing", "suites"),
    },
    "Understand": {
        "explain": Home("telling", "explain"),
        "decompose": Home("answers", "decompose"),
        "oracle": Home("answers", "oracle"),
        "train-oracle": Home("telling", "train_oracle"),
        "fit-economics": Home("economics", "show_fit"),
    },
    "Compare": {
        "report": Home("reading", "report"),
        "compare": Home("reading", "compare"),
        "order": Home("money", "order"),
        "cost": Home("models", "cost"),
    },
    "Store": {
        "year": Home("years", "year"),
        "world": Home("years", "world"),
        "lint-economy": Home("years", "lint_economy"),
    },
    "Serve": {
        "serve": Home("serving", "serve"),
        "local-model": Home("models", "local_model"),
    },
    "Check": {
        "check": Home("checking", "check"),
        "verify": Home("reading", "verify"),
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
    "--resume": "nothing: a folder is always gone on with",
    "--pool-size": '--config FILE with {"bankroll": {"pool_size": N}}',
    "--concurrency": "--workers N",
    "--api-key-env": "--model api_key_env=NAME",
    "--effort": "--model effort=LEVEL",
    "--max-output-tokens": "--model max_output_tokens=N",
    "--cache": "--model cache=FOLDER",
    "--voice": "--model voice=openai:MODEL",
    "--hide-cues": "--model show_cues=false",
    "--hide-words": "--model show_messages=false",
    "--no-belief": "--model ask_belief=false",
    "--no-guidance": "--model guidance=false",
    "--history": "--model history=N",
    "--reveal": "--model reveal=LEVEL",
    "--memory": "--model memory=KIND",
    "--tool-mode": "--model tool_mode=json",
    "--context-tokens": "--model context_tokens=N",
    "--tokenizer": "--model tokenizer=o200k",
    "--max-turns": "--model max_turns=N",
}
"""Spellings of before, each with today's. An option that a command still has is not old there."""


def _first_line(home: Home) -> str:
    """Return the first line of a command's docstring, read without importing the module."""
    tree = ast.parse((Path(__file__).parent / f"{home.module}.py").read_text(encoding="utf-8"))
    found = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == home.function)
    return (ast.get_docstring(next(found)) or "").partition("\n")[0]


class _Command(TyperCommand):
    """A command that knows what its options were called before, and says in one line what is wrong with one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        known = {spelling for param in self.params for spelling in (*param.opts, *param.secondary_opts)}
        for arg in args:
            if "\0" in arg:
                raise ValueError(f"{arg!r} holds a NUL, which no value may")
            old = arg.partition("=")[0]
            if old in OLD_OPTIONS and old not in known:
                raise ValueError(f"{old} is now {OLD_OPTIONS[old]}")
        with _said_in_one_line(args, f"`terms {self.name} -h` says more"):
            left = super().parse_args(ctx, args)
        for value in ctx.params.values():
            if isinstance(value, Path):
                _check_path(value)
        return left


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
