"""Every fault of the server, from the wire to the report: verdict on the reply, trial, money, words.

``python -m tests.experiments.llm.test_every_fault`` prints the table that ``tests/goldens/faults.txt`` holds.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from functools import partial
from pathlib import Path
from unittest import mock

import pytest

from experiments.engine.run import run_task
from experiments.episodes.config import SuiteSpec
from experiments.episodes.suite_task import EPISODES
from experiments.fault_server import FaultServer
from experiments.fault_server.fault_list import FAULTS
from experiments.llm.client import ChatClient
from experiments.llm.pacing import Timing
from experiments.players import seat
from experiments.players.model_options import ModelOptions
from experiments.players.registry import build_agent
from experiments.report.reporting import report_run
from experiments.report.sections import REPLY_FAULTS, RunView
from terms import EpisodeRecord
from terms.types import Termination

TABLE = Path(__file__).parents[2] / "goldens" / "faults.txt"
ONE = SuiteSpec.parse("fresh", seed=3, regimes=["overlap"], families=["candid"], n_per_cell=1, sample=1)


@dataclass(frozen=True)
class Outcome:
    """What became of an episode in which every reply has one fault."""

    first: str
    repairs: str
    trial: str
    money: str
    says: str


def outcome_of(server: FaultServer, name: str, folder: Path) -> Outcome:
    """Play one episode in which every request meets the fault ``name``."""
    spec = f"openai:bot/fault:{name}"
    agent = build_agent(spec, ModelOptions.of(base_url=server.url, concurrency=1))
    run = run_task(EPISODES, agent, ONE, folder, settings=agent.settings)
    (record,) = run.records
    told = report_run(run, "one")
    view = RunView(told, "run-0", 0.05)
    attempts = [attempt for turn in next(iter(run.receipts.values())) for attempt in turn["attempts"]]
    shares = [(REPLY_FAULTS[key], rate.estimate) for key, rate in told.model.replies.items() if key in REPLY_FAULTS]
    words = [f"{label} {100 * share:.0f} %" for label, share in shares if share and label != "As asked"]
    words += [notice.replace(f" of {told.agent}", "") for notice in told.notices]
    return Outcome(
        first=attempts[0]["verdict"],
        repairs=", ".join(sorted({repair for attempt in attempts for repair in attempt["repairs"]})) or "-",
        trial=_trial(record),
        money="unknown" if told.model.num_unknown else "settled" if told.model.num_settled else "not billed",
        says="; ".join([*(["invalid"] if not view.gate.is_valid else []), *words]) or "nothing to say",
    )


def _trial(record: EpisodeRecord) -> str:
    """Return what the trial counts as; how a talk ends that was played is the game's affair."""
    if record.fault is not None:
        return "excluded" if record.is_excluded else record.fault.value
    return record.termination.value if record.termination is Termination.INVALID_ACTION else "played"


def at_once(*arguments: object, **options: object) -> ChatClient:
    """Return a client that waits for nothing."""
    clock = iter(range(0, 10**9, 10**5))
    return ChatClient(*arguments, **options, timing=Timing(sleep=lambda _: None, clock=partial(next, clock)))  # type: ignore[arg-type]


@contextmanager
def failing_server() -> Iterator[FaultServer]:
    with FaultServer(slow_s=0.02) as server, mock.patch.object(seat, "ChatClient", at_once):
        yield server


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    with failing_server() as running:
        yield running


def expected() -> dict[str, list[str]]:
    rows = [[cell.strip() for cell in line.split("|")] for line in TABLE.read_text(encoding="utf-8").splitlines()]
    return {row[0]: row[1:] for row in rows[1:]}


def test_the_table_holds_every_fault():
    assert list(expected()) == list(FAULTS)


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_from_the_wire_to_the_report(server, tmp_path, name):
    assert list(astuple(outcome_of(server, name, tmp_path))) == expected()[name]


if __name__ == "__main__":
    sys.stdout.write("fault | first verdict | repairs | trial | money | the report\n")
    with tempfile.TemporaryDirectory() as folder, failing_server() as running:
        for fault in FAULTS:
            row = astuple(outcome_of(running, fault, Path(folder) / fault))
            sys.stdout.write(" | ".join((fault, *row)) + "\n")
