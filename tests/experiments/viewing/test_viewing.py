"""The list of runs and its page: what is played, how far it is, and reports that grow with it."""

from __future__ import annotations

import json
import shutil
import signal
from http.client import HTTPConnection
from urllib.parse import quote, urlsplit

import pytest

from experiments.comparing.years import UNFINISHED
from experiments.engine.run import LOGS
from experiments.viewing.live_page import shown_page
from experiments.viewing.shelf import FINISHED, UNREADABLE, list_runs, shelved_run

TINY = ("--regime", "overlap", "--family", "candid", "--episodes-per-cell", 1)


@pytest.fixture
def played(terms, tmp_path):
    """Return a folder with a run of each kind."""
    for words in (
        ("diagnose", "--agent", "patient", *TINY, "--out", "runs/talks"),
        ("bankroll", "--agent", "patient", "--sessions", 2, "--periods", 3, "--out", "runs/sessions"),
        ("match", "patient", "conceder", *TINY, "--out", "runs/match"),
        ("year", "--agent", "rule-based", "--days", 3, "--out", "runs/year"),
    ):
        assert terms(*words)[0] == 0
    return tmp_path / "runs"


def torn_off(folder, to, log, lines):
    """Copy a run as it was when its log had so many lines."""
    shutil.copytree(folder, to)
    for name in (LOGS, "outcome.json", "summary.json", "result.json"):
        (to / name).unlink(missing_ok=True)
    kept = (to / log).read_bytes().splitlines(keepends=True)[:lines]
    (to / log).write_bytes(b"".join(kept))


def ask(address, path, **headers):
    connection = HTTPConnection(urlsplit(address).netloc, timeout=60)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body.decode()


def test_every_kind_is_listed_with_its_progress_and_number(played, terms):
    code, printed, _ = terms("runs", played, "--json")
    found = {row["folder"].rpartition("runs/")[2]: row for row in json.loads(printed)}
    assert code == 0
    assert {name: (row["done"], row["total"], row["unit"], row["state"]) for name, row in found.items()} == {
        "talks": (4, 4, "negotiations", FINISHED),
        "sessions": (6, 6, "periods", FINISHED),
        "match": (4, 4, "negotiations", FINISHED),
        "year/world-20260122-days-3": (3, 3, "days", FINISHED),
    }
    assert [name for name, row in found.items() if row["agent"] == "patient"] == ["sessions", "talks"]
    told = [found[name]["answer"].split()[0] for name in ("talks", "sessions", "match")]
    assert told == ["SE+", "final", "efficiency"]
    assert "final assets" in found["year/world-20260122-days-3"]["answer"]


def test_what_is_being_played_says_how_far_it_is(played):
    torn_off(played / "talks", played / "half", "episodes.jsonl", 2)
    year = next(played.glob("year/*"))
    lines = (year / "transcript.jsonl").read_bytes().splitlines()
    second = next(at for at, line in enumerate(lines) if b'"event":"day"' in line and b'"day":2' in line)
    torn_off(year, played / "early", "transcript.jsonl", second + 1)
    half, early = shelved_run(played / "half"), shelved_run(played / "early")
    assert (half.done, half.total, half.state, half.answer) == (2, 4, UNFINISHED, "")
    assert (early.done, early.total, early.state, early.answer) == (2, 3, UNFINISHED, "")


def test_a_folder_that_cannot_be_read_says_why_and_stops_nothing(played):
    (played / "talks" / "run.json").write_text("{}\n")
    found = {run.folder.rpartition("/")[2]: run for run in list_runs([played])}
    assert found["talks"].state == UNREADABLE
    assert "run.json cannot be read" in found["talks"].what
    assert found["match"].state == FINISHED


def test_the_page_opens_reports_that_grow(played):
    torn_off(played / "talks", played / "half", "episodes.jsonl", 2)
    with shown_page([played], port=0) as address:
        assert "<h1>Runs</h1>" in ask(address, "/")[1]
        assert "<iframe" in ask(address, "/live?run=x")[1]
        name = quote(str(played / "half"), safe="")
        status, before = ask(address, f"/report?run={name}")
        assert (status, "2 of 4 episodes were played" in before) == (200, True)
        shutil.copy(played / "talks" / "episodes.jsonl", played / "half" / "episodes.jsonl")
        status, after = ask(address, f"/report?run={name}")
        assert (status, "episodes were played" in after) == (200, False)
        assert ask(address, f"/report?run={name}")[1] == after
        both = f"/report?run={name}&run={quote(str(played / 'sessions'), safe='')}"
        assert ask(address, both)[0] == 409


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/report?run=/etc", 409, "no such run: /etc"),
        ("/report", 409, "none is named"),
        ("/report?run=<script>", 409, "no such run: &lt;script&gt;"),
        ("/etc/passwd", 404, "no such page"),
        ("/../runs.json", 404, "no such page"),
    ],
)
def test_nothing_but_the_list_is_opened(tmp_path, path, status, said):
    with shown_page([tmp_path], port=0) as address:
        found, body = ask(address, path)
    assert (found, said in body) == (status, True)


def test_nobody_else_is_answered(tmp_path):
    with shown_page([tmp_path], port=0) as address:
        assert ask(address, "/runs.json", Host="evil.example:80")[0] == 403
        assert ask(address, "/runs.json")[0] == 200


def test_the_command_says_where_and_a_folder_must_be_there(terms, monkeypatch, tmp_path):
    monkeypatch.setattr(signal, "pause", lambda: None)
    (tmp_path / "here").mkdir()
    code, printed, told = terms("view", "here")
    assert (code, printed.startswith("runs: http://127.0.0.1:"), told) == (0, True, "Ctrl-C ends it\n")
    assert terms("view", "nowhere")[0] == 2
    assert terms("runs")[1].startswith("no runs")
