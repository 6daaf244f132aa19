"""Values that people and machines give to options, at their worst: one list over every option of every command.

A case is a command line that is right but for one value. It is refused in one line, or it would start its work; it
never ends in a traceback and never tells a secret.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from experiments.cli.commands import COMMANDS, load_command
from experiments.llm.settings import ModelSettings
from experiments.players.model_options import NegotiatorSettings
from experiments.storekeeper.settings import StorekeeperSettings

SECRET = "PaSsWoRd-4711"
ODD_TEXTS = (
    "", " ", "\n", "\t\r\n", "\0", "a\0b", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x08\x08", "\x9b31m",
    "\u202eevil", "\u200b", "\u2028", "\ufeff", "\ud800", "\udcff", "日本語", "Ünïcödé", "a\u0301", "🙂" * 50, "[/y]",
    "[bold]x", "[link=http://h]x[/link]", "{}", "{0.__class__}", "%s%n", "$(id)", "`id`", "; rm -rf /", "'", '"',
    "\\", "--help", "-1", "--", "-h", "=", "==x", "{\"a\": 1}", "[1, 2]", "null", "None", "true", "../../etc/passwd",
    "x" * 300, "x" * 100_000, "a,b,,c", "a=b=c", "<script>x</script>", "CON", "C:\\x",
    f"http://user:{SECRET}@host/v1", f"ftp://user:{SECRET}@host",
)  # fmt: skip
ODD_NUMBERS = (
    "-1", "0", "-0", "+1", " 1 ", "1.5", "1e3", "1e400", "-1e400", "1e-400", "nan", "-nan", "inf", "-inf", "Infinity",
    "9" * 20, "9" * 400, "-" + "9" * 400, "9" * 5000, str(2**31), str(2**63), str(2**64), str(10**18), "0x10", "0b1",
    "1_000", "1,000", "1.000,00", "٣٤", "１２", "½", "²", "Ⅷ", "one", "1 2", "1;2", "true", "1e", ".", "-", "1/2",
    "1\0", "\u22121",
)  # fmt: skip
ODD_PATHS = (
    "nowhere", "nowhere/below", "/", ".", "..", "~", "/dev/null", "/dev/zero", "/dev/full", "/proc/self/mem",
    "/proc/self/environ", "/dev/stdin", "/sys/kernel", "file.txt", "file.txt/below", "empty", "loop", "dangling",
    "binary", "folder", "x/" * 2000, "x" * 255, "x" * 256, "a\nb", "é", "\udcff", "a b", "*", "-", "socket", "run",
    "run/run.json", "run/episodes.jsonl", f"http://user:{SECRET}@host/x", "file:///etc/passwd", "deep.json",
    "huge.json", "twice.json", "nan.json", "list.json",
)  # fmt: skip
ODD_AGENTS = (
    "no-such", "patientt", "patient:", "patient:x=1", "patient:gap", "patient:gap=", "patient:gap=nan",
    "patient:gap=1e400", "patient:gap=-5", "patient:gap=0.1,gap=0.2", "patient:gap=0.1,", "patient:name=x",
    "bayes:x=1", "fixed-nan", "fixed-0.02", "Patient", "patient ", "python:", "python::", "python:x",
    "python:nowhere:X", "python:broken:X", "python:raising:X", "python:agents:Missing", "python:agents:number",
    "python:agents:Needs", "python:agents:Fails", "python:..:X", "python:.x:X", "python:a b:X", "python:os:system:x",
    "python:\0:X", "python:terms:Starter", "python:agents:" + "x" * 5000, "openrouter:", "openrouter:a/b",
    "openrouter:\n", "openai:", "openai:x", "openai", "local:", "local:x", "human", "idle:1", "rule-based:x=1",
    "rule-based:", "anthropic:x", ":", "::", ",", "a:b:c:d",
)  # fmt: skip
ODD_SUITES = (
    "fresh:1", "Fresh", "published:", "catalog", "catalog:", "catalog: ", "catalog:nowhere", "catalog:/dev/zero",
    "catalog:folder", "catalog:empty", "catalog:binary", "catalog:\0", "catalog:loop", "catalog:run",
    "catalog:" + "x" * 5000, "catalog:huge.json", "other:x",
)  # fmt: skip
ODD_COLUMNS = (
    "name", "name=", "=Title", "name=Title", "nome=Title", "name=a,name=b", "name=Title,price=-5%", "low_price=abc%",
    "low_price=1e400%",
)  # fmt: skip
ODD_ADDRESSES = (
    "http://", "http:// ", "https://", "host:80", "ftp://h", "http://[::1", "http://h:99999/v1", "http://h:-1",
    "http://h:x/v1", "file:///x", f"http://user:{SECRET}@h:x/v1", f"http://:{SECRET}@", f"https://user:{SECRET}@[::1",
    f"//user:{SECRET}@h", f"user:{SECRET}@h", f"http://h/v1?key={SECRET}", f"http://h/v1#{SECRET}", "http://h\n/v1",
    "http://h/\0", "http://h/ü", "http://xn--a", "HTTP://H", "javascript:x", "http://" + "h" * 5000,
    "http://h/" + "x" * 100, f"http://u:{SECRET}\n@h", f"socks5://u:{SECRET}@h",
)  # fmt: skip
ODD_SETTINGS = (
    "a." * 5000 + "=1", "extra_body=" + "[" * 100_000,
    "", "=", "=1", "x=1", "effort", "effort=", "effort=very", "effort=[]", "temperature=nan", "temperature=1e400",
    "temperature=-1", "temperature=true", "temperature=", "max_output_tokens=0", "max_output_tokens=1.5",
    "max_output_tokens=" + "9" * 400, "max_output_tokens=" + "9" * 5000, "seed=x", "timeout_s=0", "timeout_s=inf",
    "timeout_s=-1", "concurrency=0", "concurrency=1e9", "prices.prompt=nan", "prices.prompt=-1", "prices=1",
    "prices.x=1", "provider=1", "provider.x=1", "provider.only=", "provider.only=1", "provider.a.b.c=1",
    "extra_body=1", "extra_body={", 'extra_body={"a":NaN}', 'extra_body={"model":"x"}', 'extra_body={"messages":[]}',
    "api_key_env=", f"api_key_env={SECRET}", f"api_key_env=sk-{SECRET}", "api_key_env=A B", "api_key_env=\0",
    "api_key_env=BAD_KEY", "cache=", "cache=/dev/null", "cache=file.txt", "cache=1", "cache=[1]", "cache=\0",
    "voice=", "voice=x", "voice=1", "voice=openai:", "voice=local", "voice=patient", "reveal=all", "history=-1",
    "history=x", "show_cues=perhaps", "show_cues=2", "memory=all", "tool_mode=x", "context_tokens=1",
    "context_tokens=-1", "tokenizer=x", "model=x", "base_url=http://h", f"base_url=http://u:{SECRET}@h",
    "budget_usd=x", "budget_usd=1", "a.=1", ".a=1", "..=1", "effort.x=1", "requests_per_minute=0",
    f"extra_body=[\"{SECRET}\"]", f"extra_headers={SECRET}",
)  # fmt: skip


class HostileValue(NamedTuple):
    """A command line, and which of its options has the odd value."""

    command: str
    option: str
    value: str
    args: tuple[str, ...]


def hostile_values() -> list[HostileValue]:
    """Return every case, the same every time: several thousand."""
    return [
        case
        for command in COMMANDS
        for param in load_command(command).params
        if param.name != "help" and param.type_descriptor.annotation is not bool
        for value in dict.fromkeys(_values_for(command, param))
        if (case := _case(command, param, value)) is not None
    ]


def _values_for(command: str, param: Any) -> Iterator[str]:
    kind = param.type_descriptor.annotation
    yield from ODD_TEXTS
    if kind in (int, float):
        yield from ODD_NUMBERS
    elif "Path" in str(kind):
        yield from ODD_PATHS
    else:
        yield from {
            "agent": ODD_AGENTS,
            "agents": ODD_AGENTS,
            "suite": ODD_SUITES,
            "origin": (*ODD_PATHS, *(f"{path}@1" for path in ODD_PATHS), *(f"run@{day}" for day in ODD_NUMBERS)),
            "columns": ODD_COLUMNS,
            "where": (*ODD_NUMBERS, *ODD_ADDRESSES),
            "host": ODD_ADDRESSES,
            "initial_cash": ODD_NUMBERS,
            "episode": ODD_NUMBERS,
            "model": (*ODD_SETTINGS, *_every_setting(command)),
            "config": (*ODD_PATHS, "x=1", "=1", "a.=1", "game.x=1", "horizon=x", "horizon=" + "9" * 5000),
        }.get(param.name, ())


def _every_setting(command: str) -> Iterator[str]:
    """Return a wrong value for each setting that ``--model`` reaches."""
    place = {"year": StorekeeperSettings, "branch": StorekeeperSettings, "check": None}.get(command, NegotiatorSettings)
    fields = [*ModelSettings.model_fields, *(place.model_fields if place else ())]
    yield from (f"base_url={value}" for value in ODD_ADDRESSES)
    yield from (f"budget_usd={value}" for value in ODD_NUMBERS)
    for name in fields:
        for value in ("", "[[]]", '{"x": 1}', "\x1b[31m", "9" * 400):
            yield f"{name}={value}"


RIGHT = {
    "diagnose": {"--agent": "patient"},
    "bankroll": {"--agent": "patient"},
    "decompose": {"--agent": "patient"},
    "year": {"--agent": "idle", "--days": "2"},
    "branch": {"--agent": "idle", "--day": "2"},
    "check": {"--agent": "openai:m", "--base-url": "http://127.0.0.1:9/v1"},
    "serve": {"--http": None, "--host": "127.0.0.1:0"},
}
"""What each command needs beside the odd value."""
ARGUMENTS = {
    "explain": ("run", "1"),
    "export": ("dpo",),
    "ledger": ("run",),
    "match": ("patient", "conceder"),
    "tournament": ("patient", "conceder"),
    "report": ("run",),
    "runs": ("run",),
    "view": ("run",),
    "findings": ("run", "other"),
    "branch": ("run",),
    "compare": ("run", "other"),
    "order": ("run",),
    "cost": ("run",),
    "verify": ("run",),
}
ABOUT_MODELS = {"model": "openai:m"}


def _case(command: str, param: Any, value: str) -> HostileValue | None:
    """Return the command line with the odd value in its place."""
    given = dict(RIGHT.get(command, {}))
    places = list(ARGUMENTS.get(command, ()))
    if param.name in ABOUT_MODELS and "--agent" in given:
        given["--agent"] = "openai:m"
        given.setdefault("--base-url", "http://127.0.0.1:9/v1")
    if param.name in ABOUT_MODELS and command in ("match", "tournament"):
        places[0] = "openai:m"
        given.setdefault("--base-url", "http://127.0.0.1:9/v1")
    if param.param_type_name == "argument":
        place = 1 if param.name in ("episode", "second") else 0
        places[place : place + 1] = [value]
        if command == "decompose":
            given.clear()  # its agent is that of the run
        if value.startswith("-"):
            return None  # an option, and not this argument
    else:
        given[max(param.opts, key=len)] = value
    joined = [name if text is None else f"{name}={text}" for name, text in given.items()]
    return HostileValue(command, max(param.opts, key=len), value, (command, *places, *joined))


def lay_out(folder: Path) -> None:
    """Lay the files that the values name into ``folder``, beside the runs ``run`` and ``other``."""
    files = {
        "file.txt": "text\n", "empty": "", "deep.json": "[" * 100_000, "huge.json": '{"a": ' + "9" * 5000 + "}",
        "twice.json": '{"game": {}, "game": {}}', "nan.json": '{"game": NaN}', "list.json": "[1, 2]",
        "broken.py": "def (:\n", "raising.py": "raise RuntimeError('at import')\n",
        "agents.py": "number = 3\nclass Needs:\n    def __init__(self, x): pass\n"
        "class Fails:\n    def __init__(self): raise RuntimeError('when made')\n",
    }  # fmt: skip
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "binary").write_bytes(bytes(range(256)))
    (folder / "folder").mkdir()
    (folder / "loop").symlink_to("loop")
    (folder / "dangling").symlink_to("nowhere")
