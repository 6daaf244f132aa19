"""What is said before anything costs: the plan, what ends there, the model of a server that has one, and progress."""

from __future__ import annotations

import pytest

from experiments.cli.commands import COMMANDS, load_command
from experiments.cli.show import minutely
from experiments.fault_server import fault_http

TINY = ("--regime", "overlap", "--family", "candid", "--episodes-per-cell", 1)
SOLD = {"id": "bot", "object": "model", "pricing": {"prompt": "0.000001", "completion": "0.000002"}}


def test_every_command_that_may_ask_a_model_can_stop_before_it():
    asking = {name for name in COMMANDS if "model" in {param.name for param in load_command(name).params}}
    dry = {name for name in COMMANDS if "dry_run" in {param.name for param in load_command(name).params}}
    assert asking - dry == {"check"}  # it asks for cents, and has a ceiling
    assert dry <= asking


@pytest.mark.parametrize(
    ("words", "plan"),
    [
        (("diagnose", *TINY), "4 negotiations at most, about 24 calls"),
        (("decompose", *TINY), "4 negotiations at most, each 4 times, about 96 calls"),
        (("bankroll", "--sessions", 2, "--periods", 3), "6 periods at most, about 36 calls"),
        (("bankroll", "--sessions", 2, "--periods", 3, "--gap"), "24 periods at most, about 144 calls"),
        (("year", "--worlds", 2), "2 year(s), at most 8,000 calls"),
    ],
)
def test_a_dry_run_says_what_it_would_ask_and_leaves_nothing(terms, tmp_path, server, words, plan):
    code, printed, _ = terms(*words, "--agent", "openai:", "--base-url", server.url, "--dry-run")
    assert code == 0
    first, last = printed.splitlines()
    assert first.startswith(f"plan: {plan}")
    assert "price unknown" in first
    assert " min at 3 s an answer" in first
    assert last == "dry run: nothing was asked and nothing written"
    assert server.requests == []
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("words", [("diagnose", *TINY), ("match", "patient", *TINY), ("year",)])
def test_a_dry_run_without_a_model_is_free(terms, tmp_path, words):
    agent = ["bayes"] if words[0] == "match" else ["--agent", "rule-based" if words[0] == "year" else "bayes"]
    code, printed, _ = terms(*words, *agent, "--dry-run")
    assert (code, "free" in printed, list(tmp_path.iterdir())) == (0, True, [])


def test_prices_that_a_server_lists_are_known(terms, server, monkeypatch):
    monkeypatch.setattr(fault_http, "_BOT", SOLD)
    _, printed, _ = terms("diagnose", "--agent", "openai:bot", "--base-url", server.url, "--dry-run")
    assert "about $" in printed


def test_a_server_with_several_models_is_not_guessed_at(terms, server, monkeypatch):
    def page(self, path):
        return {"object": "list", "data": [{"id": "one"}, {"id": "two"}]} if path == "/v1/models" else None

    monkeypatch.setattr(fault_http.FaultServer, "page", page)
    code, _, told = terms("diagnose", "--agent", "openai:", "--base-url", server.url)
    assert code == 2
    assert f"agent='openai:' names no model; {server.url} has one, two: say openai:MODEL\n" in told


def test_the_next_step_decomposes_the_very_run(terms):
    _, printed, _ = terms("diagnose", "--agent", "patient", *TINY, "--out", "one run")
    assert printed.splitlines()[-1] == "where it is lost: terms decompose 'one run'"


def test_without_a_terminal_a_line_a_minute(capsys):
    seconds = iter([0.0, 10.0, 61.0, 90.0, 122.0])
    tell = minutely("playing", clock=lambda: next(seconds))
    for done in (5, 10, 15, 20):
        tell(done, 100)
    assert capsys.readouterr().err.splitlines() == [
        "playing: 10 of 100, about 9 min left",
        "playing: 20 of 100, about 8 min left",
    ]
