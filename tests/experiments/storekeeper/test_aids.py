"""A model with aids beside it: it hears them, its year is verified, and a killed one goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.fault_server import FaultServer
from experiments.modes import check_folder
from experiments.years.transcript import TRANSCRIPT, read_transcript
from experiments.years.year_mode import RESULT

DAYS, HORIZON = 8, 100
AIDS = ("--aid", "remind", "--aid", "scratch-file", "--aid", "cash-forecast")


@pytest.fixture(scope="module")
def url():
    with FaultServer() as server:
        yield server.url


def test_a_model_hears_its_aids_and_its_year_verifies(terms, url, tmp_path):
    command = ("year", "--agent", f"openai:shop/rule-based/{HORIZON}", "--base-url", url, "--days", DAYS)
    assert terms(*command, *AIDS)[0] == 0
    (folder,) = (tmp_path / "runs").glob("*+remind+scratch-file+cash-forecast-paper/*")
    turns = read_transcript(folder).turns
    told = [one for turn in turns for one in turn.told]
    assert any("your_best_earlier_quote" in one.content for one in told if one.name == "chatbox")
    mornings = [notice for one in told for notice in one.envelope["notices"] if notice["kind"] == "aid"]
    assert {notice["text"][:15] for notice in mornings} == {"If nothing is b"}
    assert check_folder(folder) == ([], [])
    before = contents(folder)
    lines = (folder / TRANSCRIPT).read_bytes()
    (folder / TRANSCRIPT).write_bytes(lines[: len(lines) // 2])
    (folder / RESULT).unlink()
    (folder / "outcome.json").unlink()
    assert terms(*command, *AIDS)[0] == 0
    assert contents(folder) == before


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in (TRANSCRIPT, "store_calls.jsonl", RESULT)}
