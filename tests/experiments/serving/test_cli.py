"""``terms serve``: what it asks for, what it says, how it ends."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from experiments.serving.tokens import TOKEN_FILE, TOKEN_VARIABLE
from tests.experiments.serving.hosting import ENVIRONMENT, SECRET, WAIT, open_session, send, server_process, turn


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "choose one of --http and --mcp"),
        (("--http", "--mcp"), "choose one of --http and --mcp"),
        (("--http", "--host", "0.0.0.0"), "--expose"),
        (("--http", "--host", "192.0.2.1"), "in the clear unless a proxy with TLS"),
        (("--http", "--token-file", "none"), "none"),
        (("--http", "--port", "70000"), "--port"),
        (("--http", "--days", "0"), "--days"),
        (("--mcp", "--agent", "../x"), "a name needs"),
    ],
)
def test_bad_input_is_named(terms, monkeypatch, arguments, says):
    monkeypatch.setenv(TOKEN_VARIABLE, SECRET)
    code, printed, told = terms("serve", *arguments)
    assert code == 2
    assert says in told.replace("\n", " ")
    assert printed == ""


def test_a_token_that_is_too_short_is_not_shown(terms, monkeypatch):
    monkeypatch.setenv(TOKEN_VARIABLE, "tooshort")
    code, _, told = terms("serve", "--http", "--port", 0)
    assert code == 2
    assert "tooshort" not in told


def test_an_absent_extra_is_named(terms, monkeypatch):
    monkeypatch.setattr("experiments.extras.find_spec", lambda name: None if name == "mcp" else True)
    code, _, told = terms("serve", "--http")
    assert code == 2
    assert 'pip install "terms-commerce[serve]"' in told


def test_a_server_says_where_it_is_and_never_its_token(tmp_path):
    environment = {name: value for name, value in ENVIRONMENT.items() if name != TOKEN_VARIABLE}
    command = [sys.executable, "-c", "from experiments.cli import main; main()", "serve", "--http", "--port", "0"]
    process = subprocess.Popen(
        [*command, "--out", str(tmp_path), "--days", "3"],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    secret = (tmp_path / TOKEN_FILE).read_text().strip()
    assert send(address, "POST", "/v1/session", {"agent": "a"}, secret=secret)[0] == 200
    assert send(address, "GET", "/v1/session?session=a:0", secret="x" * 20)[0] == 401
    process.send_signal(signal.SIGINT)
    out, told = process.communicate(timeout=30)
    assert process.returncode in (0, 130)
    assert f"the token is in {tmp_path / TOKEN_FILE}" in told
    assert "the world of the default seed is public" in told
    assert secret not in told + out + address
    assert "Traceback" not in told


def test_terminated_in_the_middle_nothing_is_lost(tmp_path):
    with server_process(tmp_path, "--days", 3) as (process, address):
        session = open_session(address)
        before = send(address, "POST", "/v1/actions", turn(session, 0, WAIT), Idempotency_Key="0")
        process.terminate()
        process.wait(timeout=30)
    with server_process(tmp_path, "--days", 3) as (_, address):
        assert send(address, "POST", "/v1/actions", turn(session, 0, WAIT), Idempotency_Key="0") == before


def test_other_years_in_the_same_folder_are_not_mixed(tmp_path):
    with server_process(tmp_path, "--days", 3) as (_, address):
        open_session(address)
    with server_process(tmp_path, "--days", 3, "--max-turns", 7) as (_, address):
        status, fault = send(address, "POST", "/v1/session", {"agent": "a"})
        assert (status, fault["error"]["code"]) == (409, "other_year")
