"""``terms serve``: what it asks for, what it says, how it ends."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import subprocess
import sys

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from commerce.world import DEFAULT_SEED
from experiments.modes import check_folder
from experiments.serving.settings import TOKEN_FILE, TOKEN_VARIABLE, ServeSettings
from experiments.serving.worlds import SEED_FILE
from experiments.years.transcript import read_outcome, read_transcript
from tests.experiments.serving.hosting import ENVIRONMENT, SECRET, WAIT, open_session, send, server_process, turn


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "choose one of --http and --mcp"),
        (("--http", "--mcp"), "--http and --mcp are one choice"),
        (("--http", "--host", "0.0.0.0"), "--expose"),
        (("--http", "--host", "192.0.2.1"), "in the clear unless a proxy with TLS"),
        (("--http", "--token-file", "none"), "none"),
        (("--http", "--host", "127.0.0.1:70000"), "--host"),
        (("--http", "--days", "0"), "--days"),
        (("--http", "--config", "ending=soon"), "ending"),
        (("--mcp", "--agent", "../x"), "agents.0"),
        (("--http", "--agent", "x", "--agent", "../x"), "agents.1"),
        (("--mcp", "--agent", "x", "--agent", "y"), "one agent plays one year"),
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
    code, _, told = terms("serve", "--http", "--host", "127.0.0.1:0")
    assert code == 2
    assert "tooshort" not in told


def test_an_absent_extra_is_named(terms, monkeypatch):
    monkeypatch.setattr("experiments.extras.find_spec", lambda name: None if name == "mcp" else True)
    code, _, told = terms("serve", "--http")
    assert code == 2
    assert 'pip install "terms-commerce[serve]"' in told


@pytest.mark.parametrize("module", ["server", "openapi"])
def test_an_absent_extra_is_named_where_a_program_imports_the_server(module):
    hide = "import sys; sys.modules.update(dict.fromkeys(('fastapi', 'uvicorn', 'mcp'))); "
    command = [sys.executable, "-c", f"{hide}import experiments.serving.{module}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "MissingExtraError: fastapi" in done.stderr
    assert 'pip install "terms-commerce[serve]"' in done.stderr


def test_a_server_says_where_it_is_and_never_its_token(tmp_path):
    environment = {name: value for name, value in ENVIRONMENT.items() if name != TOKEN_VARIABLE}
    command = [
        sys.executable,
        "-c",
        "from experiments.cli import main; main()",
        "serve",
        "--http",
        "--host",
        "127.0.0.1:0",
    ]
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
    assert f"the seed of the first world is in {tmp_path / SEED_FILE}" in told
    drawn = int((tmp_path / SEED_FILE).read_text())
    assert (tmp_path / "year-a-paper" / f"world-{drawn}-days-3").is_dir()
    assert stat.S_IMODE((tmp_path / SEED_FILE).stat().st_mode) == 0o600
    assert str(drawn) not in told + out
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


@pytest.mark.parametrize("options", [(), ("--finish",)])
def test_an_agent_that_hangs_up_leaves_a_year_to_go_on_with_or_ends_it(tmp_path, options):
    async def one_call():
        start = "from experiments.cli import main; main()"
        arguments = ["-c", start, "serve", "--mcp", "--out", str(tmp_path), "--days", "5", "--agent", "x", *options]
        arguments += ["--seed", str(DEFAULT_SEED)]
        parameters = StdioServerParameters(command=sys.executable, args=arguments, env=dict(ENVIRONMENT))
        with open(os.devnull, "w") as nowhere:
            async with Client(stdio_client(parameters, errlog=nowhere)) as client:
                await client.call_tool("wait_for_next_day", {})

    asyncio.run(one_call())
    folder = ServeSettings(out=tmp_path, num_days=5).folder("x", 0)
    outcome = read_outcome(folder)
    if not options:
        assert outcome is None
        asyncio.run(one_call())
        assert len(read_transcript(folder).turns) == 2
        return
    assert outcome is not None
    assert (outcome.outcome, outcome.turns) == ("agent_stopped", 1)
    assert check_folder(folder) == ([], [])


def test_requests_are_logged_without_the_token(tmp_path):
    arguments = ["serve", "--http", "--host", "127.0.0.1:0", "--out", str(tmp_path), "--days", "3"]
    command = [sys.executable, "-c", "from experiments.cli import main; main()", *arguments]
    process = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    send(address, "GET", "/v1/session?session=nobody:0")
    process.send_signal(signal.SIGTERM)
    _, told = process.communicate(timeout=30)
    assert "GET /v1/session 404" in told
    assert SECRET not in told
