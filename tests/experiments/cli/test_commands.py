"""The commands as a whole: their help, what they were called before, and what agents and names do to their output."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from typer import BadParameter

from experiments.cli.commands import CHAPTERS, COMMANDS, OLD_COMMANDS, OLD_OPTIONS, load_command, with_model_keys
from experiments.cli.ending import EXIT_CODES, INTERRUPTED
from tests.experiments.folders import REPOSITORY

TINY = ("--regime", "overlap", "--family", "candid", "--episodes-per-cell", 1)
AGENTS = """
import os, sys
from terms import Reject

class Loud:
    name = "openai:x[/y] [bold]z"
    def act(self, observation):
        print("noise")
        os.system("echo more noise")
        os.chdir("/")
        return Reject()

def quits(observation):
    sys.exit(0)

def ends(observation):
    raise EOFError

def typed(observation):
    import typer
    raise typer.Exit(0)
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "loud_agents", raising=False)
    (tmp_path / "loud_agents.py").write_text(AGENTS)
    yield "python:loud_agents:"
    sys.modules.pop("loud_agents", None)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_loads_and_says_what_it_does(name):
    command = load_command(name)
    assert command.name == name
    assert command.help


def test_the_help_is_by_chapters_and_short_options_work(terms):
    for flag in ("--help", "-h"):
        code, printed, _ = terms(flag)
        assert code == 0
        assert [printed.index(f"─ {chapter} ") for chapter in CHAPTERS] == sorted(
            printed.index(f"─ {chapter} ") for chapter in CHAPTERS
        )
    assert terms("diagnose", "-h")[0] == 0
    assert terms("--version")[1].startswith("terms-commerce 0.")


def test_to_resume_may_be_said(terms, tmp_path):
    plain, said = (terms("diagnose", "--agent", "patient", *TINY, "--out", tmp_path / "run", *more, "--json")
                   for more in ((), ("--resume",)))  # fmt: skip
    assert (plain[0], said[0]) == (0, 0)
    assert json.loads(plain[1]) == json.loads(said[1])


def known_options(name):
    return {spelling for param in load_command(name).params for spelling in (*param.opts, *param.secondary_opts)}


@pytest.mark.parametrize("old", OLD_OPTIONS)
def test_an_old_option_says_the_new_one(terms, old):
    command = next(name for name in ("diagnose", "year") if old not in known_options(name))
    for spelling in ([old, "3"], [f"{old}=3"]):
        code, printed, told = terms(command, "--agent", "patient", *spelling)
        assert (code, printed, told) == (2, "", f"error: {old} is now {OLD_OPTIONS[old]}\n")


@pytest.mark.parametrize("old", OLD_OPTIONS)
def test_what_is_said_in_its_place_exists(old):
    everywhere = {spelling for name in COMMANDS for spelling in known_options(name)}
    new = [word.strip(",(;") for word in OLD_OPTIONS[old].split() if word.startswith(("--", "(--"))]
    assert set(new) <= everywhere


@pytest.mark.parametrize("old", OLD_COMMANDS)
def test_an_old_command_says_the_new_one(terms, old):
    code, _, told = terms(old, "--agent", "patient")
    assert (code, told) == (2, f"error: `terms {old}` is now `terms {OLD_COMMANDS[old]}`\n")


def test_options_are_declared_once_and_few():
    # The eight of `export` are what says which data, of which episodes, beside whose moves; `--dry-run` is of the
    # seven commands that may ask a model; `runs` and `view` take folders, `findings` runs,
    # decompositions and a metric, `decompose` a run in place of an agent and a suite.
    assert sum(len(load_command(name).params) for name in COMMANDS) <= 175


def test_every_command_has_a_file_or_shares_that_of_its_chapter():
    files = {path.stem for path in (REPOSITORY / "experiments" / "cli").glob("*.py")}
    homes = {home.module for home in COMMANDS.values()}
    assert files - homes == {"__init__", "commands", "ending", "explain_talk", "options", "planning", "show", "seating"}
    for name, home in COMMANDS.items():
        shared = [other for other, there in COMMANDS.items() if there.module == home.module]
        assert name.replace("-", "_") == home.module or len(shared) == 2


@pytest.mark.parametrize("command", ["diagnose", "bankroll", "decompose", "oracle", "train-oracle", "year"])
def test_every_long_command_says_where_it_works(command):
    assert {"--workers", "--scheduler"} <= known_options(command)
    for asked in (["--workers", "two"], ["--workers", "0"], ["--workers", "2", "--scheduler", "tcp://h:1"]):
        agent = ["--agent", "patient"] if "--agent" in known_options(command) else []
        with pytest.raises((BadParameter, ValueError), match=r"a number of workers|one choice"):
            load_command(command).make_context(command, [*agent, *asked])


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (["--effort", "high"], ["--model", "effort=high"]),
        (["--budget-usd=2", "--json"], ["--model", "budget_usd=2", "--json"]),
        (["--provider.only", "a"], ["--model", "provider.only=a"]),
        (["--memory", "ledger", "--tool-mode", "json"], ["--model", "memory=ledger", "--model", "tool_mode=json"]),
        (["--seed", "3", "--colour", "red"], ["--seed", "3", "--colour", "red"]),
    ],
)
def test_every_setting_of_a_model_is_an_option(given, read):
    assert with_model_keys(given, {"--seed", "--json", "--model"}) == read


@pytest.mark.parametrize("words", [["--money"], ["--money", "--economics", "published-2"]])
def test_money_alone_takes_the_constants_that_are_not_named(words):
    for given in (words, words[1:] + words[:1]):
        asked = load_command("diagnose").make_context("diagnose", ["--agent", "patient", *given]).params
        assert asked["economics"] == (words[2] if len(words) > 1 else "default")


def test_a_setting_is_a_pair_or_a_file(terms, tmp_path):
    (tmp_path / "game.json").write_text('{"horizon": 4}')
    for number, config in enumerate(("horizon=4", "game.json")):
        assert terms("diagnose", "--agent", "patient", *TINY, "--config", config, "--out", number)[0] == 0
    assert {(tmp_path / name / "summary.json").read_bytes() for name in "01"} == {
        (tmp_path / "0" / "summary.json").read_bytes()
    }
    assert '"horizon":4' in (tmp_path / "0" / "run.json").read_text().replace(" ", "")


def test_every_exit_code_is_documented(terms, server, tmp_path):
    """130 is shown by the interruption tests."""
    here = ("--agent", "openai:bot", "--base-url", server.url, *TINY)
    (tmp_path / "damaged").mkdir()
    shown = {
        terms("agents")[0]: "done",
        terms("lint-economy", "--rules", "paper")[0]: "what was checked failed",
        terms("diagnose", "--agent", "nobody")[0]: "bad input",
        terms("diagnose", *here[:1], "openai:bot/fault:server_error_503", *here[2:], "--max-retries", 0)[0]: "nothing",
        terms("diagnose", *here, "--budget-usd", "0.000001")[0]: "spending ceiling",
    }
    assert set(shown) == set(EXIT_CODES) - {INTERRUPTED}
    assert all(EXIT_CODES[code].startswith(words) for code, words in shown.items())
    assert all(f"{code} " in terms("--help")[1] for code in EXIT_CODES)


def test_what_an_agent_prints_or_where_it_goes_is_not_in_the_result(terms, own, tmp_path):
    code, printed, told = terms("diagnose", "--agent", own + "Loud", *TINY, "--out", "run", "--json")
    assert code == 0
    assert json.loads(printed)["agent"] == "openai:x[/y] [bold]z"
    assert told.count("noise") >= 4
    assert (tmp_path / "run" / "summary.json").is_file()


def test_a_name_is_never_markup(terms, own):
    for command in (("diagnose",), ("diagnose", "--money")):
        _, printed, _ = terms(*command, "--agent", own + "Loud", *TINY, "--out", "-".join(command))
        assert "openai:x[/y] [bold]z on fresh-0-n1" in printed
    terms("diagnose", "--agent", "patient", *TINY, "--out", "other")
    code, printed, _ = terms("compare", "diagnose", "other", "--metric", "mean_utility")
    assert (code, "[bold]z" in printed) == (0, True)


@pytest.mark.parametrize(("agent", "says"), [("quits", "sys.exit"), ("ends", "EOFError"), ("typed", "Exit")])
def test_an_agent_that_ends_the_program_is_named_and_leaves_nothing(own, tmp_path, agent, says):
    command = [
        sys.executable,
        "-c",
        "from experiments.cli import main; main()",
        "diagnose",
        "--agent",
        own + agent,
        *map(str, TINY),
    ]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={"PYTHONPATH": f"{REPOSITORY}:{tmp_path}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert says in done.stderr.splitlines()[-1] + done.stderr.splitlines()[-2]
    assert [path.name for path in tmp_path.iterdir() if path.name == "runs"] == []


def test_a_command_that_fails_leaves_no_folder(terms, tmp_path, monkeypatch):
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)
    for command in ("diagnose", "bankroll", "decompose"):
        code, _, told = terms(command, "--agent", "openrouter:a/b")
        assert (code, "OPENROUTER_API_KEY" in told) == (2, True)
    for bad in (("--agent", "openrouter:a/b"), ("--agent", "nobody"), ("--agent", "idle", "--world-dir", "nowhere")):
        assert terms("year", *bad)[0] == 2
        assert list(tmp_path.iterdir()) == []
    assert list(tmp_path.iterdir()) == []


def test_what_a_command_writes_replaces_no_file_of_a_run(terms, tmp_path):
    terms("diagnose", "--agent", "patient", *TINY, "--out", "one")
    before = {path: path.read_bytes() for path in tmp_path.joinpath("one").iterdir()}
    for name in ("run.json", "episodes.jsonl", "summary.json"):
        for command in (("report", "one"), ("decompose", "--agent", "patient", *TINY)):
            code, _, told = terms(*command, "--out", f"one/{name}")
            assert (code, f"one/{name}' is a file of the run" in told) == (2, True)
    assert {path: path.read_bytes() for path in tmp_path.joinpath("one").iterdir()} == before
    assert terms("report", "one", "--out", "one/report.html")[0] == 0
    assert terms("report", "one", "--out", "one/report.html")[0] == 0, "a report may be written again"


def test_a_report_leaves_out_what_is_no_run(terms, tmp_path):
    terms("diagnose", "--agent", "patient", *TINY, "--out", "runs/one")
    (tmp_path / "runs" / "notes").mkdir()
    (tmp_path / "runs" / "old.html").write_text("")
    code, _, told = terms("report", "runs/notes", "runs/old.html", "runs/one", "--out", "page.html")
    assert code == 0, told
    assert told.count("is left out, it is no run") == 2
    assert terms("report", "runs/notes")[0] == 2


@pytest.mark.parametrize(
    ("options", "says", "hides"),
    [
        (("--base-url", "ftp://user:PASS@h"), "must start with http", "PASS"),
        (("--base-url", "http://h/v1", "--model", "api_key_env=sk-secret"), "api_key_env", "sk-secret"),
        (
            ("--base-url", "http://h/v1", "--model", "reveal=everything"),
            "'nothing', 'family', 'kernel' or 'type'",
            "url",
        ),
    ],
)
def test_a_wrong_setting_is_one_line_and_tells_no_secret(terms, options, says, hides):
    code, printed, told = terms("diagnose", "--agent", "openai:m", *options)
    assert (code, printed, told.count("\n")) == (2, "", 1)
    assert says in told
    assert hides not in told
