"""An agent in another process plays the very year that it plays in this one, by every door and through kills."""

from __future__ import annotations

import dataclasses
import random
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from commerce.world import DEFAULT_SEED
from experiments.llm.records import ToolCall
from experiments.modes import check_folder
from experiments.serving.client import read_result
from experiments.serving.served_years import ServedYears
from experiments.serving.settings import ServeSettings
from experiments.serving.wire import CallRequest
from experiments.storage.journal import HEADER
from experiments.years.limits import Limits
from experiments.years.run import run_year
from experiments.years.sitting import YearSitting
from experiments.years.transcript import OUTCOME, TRANSCRIPT, Said, read_transcript
from experiments.years.year_mode import RESULT, STORE_CALLS
from terms.strict_json import strict_dumps
from tests.experiments.folders import REPOSITORY
from tests.experiments.serving.hosting import ENVIRONMENT, server_process
from tests.experiments.serving.outside import merchant

FILES = (HEADER, STORE_CALLS, RESULT, OUTCOME)
OPTIONS = ("--max-turns", 100_000)
DAYS = 45
AGENT = "outsider"


class InProcess:
    """The rule-based merchant as an agent of this process, one call a turn."""

    def __init__(self, num_days: int) -> None:
        self._num_days = num_days

    def play(self, session: YearSitting) -> None:
        def call(tool, arguments):
            asked = ToolCall(id="call_0", name=tool, arguments=strict_dumps(arguments))
            return read_result(session.act(Said(tool_calls=(asked,))).told[0].content)

        merchant(self._num_days)(call)


def play_in_process(folder: Path, num_days: int) -> Path:
    settings = ServeSettings(out=folder, num_days=num_days, limits=Limits(max_turns=100_000))
    found, seat = settings.folder(AGENT, 0), settings.seat(AGENT)
    run_year(found, settings.spec(AGENT, 0), dataclasses.replace(seat, agent=InProcess(num_days)))
    return found


@pytest.fixture(scope="module")
def reference(tmp_path_factory) -> Path:
    return play_in_process(tmp_path_factory.mktemp("here"), DAYS)


def start_agent(door: str, where: object, num_days: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.experiments.serving.outside", door, where, AGENT, num_days]
    return subprocess.Popen(list(map(str, command)), env=ENVIRONMENT, cwd=REPOSITORY)


def play_outside(door: str, folder: Path, num_days: int) -> None:
    """Play the year by one door, the agent in a process of its own, and the server as well."""
    if door == "stdio":
        assert start_agent(door, folder, num_days).wait() == 0
        return
    with server_process(folder, "--days", num_days, *OPTIONS) as (_, address):
        assert start_agent(door, address, num_days).wait() == 0


def assert_same(folder: Path, reference: Path) -> None:
    """Compare what was played, and every answer in the transcript; only the keys of the turns are the door's own."""
    for name in FILES:
        assert (folder / name).read_bytes() == (reference / name).read_bytes(), name
    ours, theirs = read_transcript(reference), read_transcript(folder)
    assert ours.opening == theirs.opening
    assert [turn.told for turn in ours.turns] == [turn.told for turn in theirs.turns]
    assert ours.days == theirs.days
    assert check_folder(folder) == ([], [])


@pytest.mark.parametrize("door", ["http", "mcp", "stdio"])
def test_a_short_year_is_the_same_by_every_door(door, reference, tmp_path):
    play_outside(door, tmp_path, DAYS)
    assert_same(tmp_path / reference.relative_to(reference.parents[1]), reference)


@pytest.mark.slow
@pytest.mark.parametrize("door", ["http", "mcp", "stdio"])
def test_a_whole_year_is_the_same_by_every_door(door, tmp_path):
    reference = play_in_process(tmp_path / "here", 365)
    play_outside(door, tmp_path / "there", 365)
    assert_same(tmp_path / "there" / reference.relative_to(tmp_path / "here"), reference)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def play_through_kills(folder: Path, reference: Path, num_days: int, kills: list[tuple[str, float]]) -> None:
    """Play a year; each kill hits the server or the agent when the transcript has reached a share of its length."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    whole = (reference / TRANSCRIPT).stat().st_size
    transcript = folder / reference.relative_to(reference.parents[1]) / TRANSCRIPT
    agent: subprocess.Popen[bytes] | None = None
    for who, share in [*sorted(kills, key=lambda kill: kill[1]), ("nobody", 1.0)]:
        with server_process(folder, "--days", num_days, *OPTIONS, port=port):
            agent = agent or start_agent("http", address, num_days)
            if who == "nobody":
                assert agent.wait() == 0
                return
            while not transcript.exists() or transcript.stat().st_size < share * whole:
                assert agent.poll() is None, "the agent left before it was killed"
                time.sleep(0.001)
            if who == "agent":
                agent.kill()
                agent.wait()
                agent = start_agent("http", address, num_days)
        # leaving the block kills the server, so the agent meets a closed door until the next one is up


def random_kills(rng: random.Random, number: int) -> list[tuple[str, float]]:
    return [(rng.choice(["server", "agent"]), rng.uniform(0.0, 0.95)) for _ in range(number)]


def test_kills_of_server_and_agent_change_nothing(reference, tmp_path):
    play_through_kills(tmp_path, reference, DAYS, [("server", 0.3), ("agent", 0.6)])
    assert_same(tmp_path / reference.relative_to(reference.parents[1]), reference)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_twenty_kills_of_a_whole_year_change_nothing(tmp_path):
    reference = play_in_process(tmp_path / "here", 365)
    play_through_kills(tmp_path / "there", reference, 365, random_kills(random.Random(1), 20))
    assert_same(tmp_path / "there" / reference.relative_to(tmp_path / "here"), reference)


def test_the_default_world_is_the_one_of_terms_year(tmp_path):
    assert ServeSettings(out=tmp_path).spec("a", 0).world_seed == DEFAULT_SEED


def test_a_year_begun_in_this_process_is_taken_up_by_the_server(tmp_path):
    """Its turns have no key: none of them can be sent again, and the next one is carried out."""

    class Left:
        def play(self, session: YearSitting) -> None:
            session.act(Said(tool_calls=(ToolCall(id="a", name="check_balance", arguments="{}"),)))
            raise KeyboardInterrupt

    settings = ServeSettings(out=tmp_path, num_days=3)
    found, seat = settings.folder(AGENT, 0), settings.seat(AGENT)
    with pytest.raises(KeyboardInterrupt):
        run_year(found, settings.spec(AGENT, 0), dataclasses.replace(seat, agent=Left()))
    with ServedYears(settings) as sessions:
        year = sessions.open(AGENT, 0)
        first = year.act([CallRequest(name="check_balance")], "k", turn=1)
        assert year.act([CallRequest(name="check_balance")], "k", turn=1) == first
        year.finish()
    assert [turn.key for turn in read_transcript(found).turns] == [None, "k"]
    assert check_folder(found) == ([], [])
