"""Years whose suppliers speak through a model: the same year, kept words, no model needed to read it again."""

from __future__ import annotations

import json

import pytest

from experiments.fault_server import FaultServer, fault_http
from experiments.years.run import read_played
from experiments.years.supplier_words import SUPPLIER_WORDS
from experiments.years.transcript import TRANSCRIPT

AGENT = "openai:shop/rule-based/60"


@pytest.fixture
def url(monkeypatch):
    plain = fault_http.bot_reply

    def reply(messages):
        try:
            act = json.loads(messages[-1]["content"])
        except (ValueError, TypeError):
            return plain(messages)
        return "Dear friends. " + act["text"] if set(act) == {"decision", "text"} else plain(messages)

    monkeypatch.setattr("experiments.fault_server.fault_http.bot_reply", reply)
    with FaultServer() as server:
        yield server.url


def played(terms, url, folder, *more):
    command = ("year", "--agent", AGENT, "--base-url", url, "--days", 7, "--rules", "fair", "--out", folder)
    assert terms(*command, *more)[0] == 0
    return command


def test_a_voice_words_the_answers_and_changes_nothing_else(terms, url, tmp_path):
    command = played(terms, url, "spoken", "--model", "voice=openai:storyteller")
    played(terms, url, "plain")
    (spoken,), (plain,) = (list((tmp_path / name).iterdir()) for name in ("spoken", "plain"))
    one, other = read_played(spoken), read_played(plain)
    assert one.header.agent == f"{AGENT}+voice-storyteller"
    assert one.result["days"] == other.result["days"]
    assert one.result["metrics"]["final_assets"] == other.result["metrics"]["final_assets"]
    assert "Dear friends. " in (spoken / TRANSCRIPT).read_text()
    num = len((spoken / SUPPLIER_WORDS).read_bytes().splitlines())
    assert num > 5
    code, _, told = terms("verify", spoken)
    assert code == 0, told
    # The same command goes on with what is there, and asks nobody again.
    lines = (spoken / TRANSCRIPT).read_bytes().splitlines(keepends=True)
    (spoken / TRANSCRIPT).write_bytes(b"".join(lines[: len(lines) // 2]))
    for name in ("outcome.json", "result.json", "store_calls.jsonl", "logs.json"):
        (spoken / name).unlink()
    assert terms(*command, "--model", "voice=openai:storyteller")[0] == 0
    assert read_played(spoken).result == one.result
    assert len((spoken / SUPPLIER_WORDS).read_bytes().splitlines()) == num
    assert terms("verify", spoken)[0] == 0
    assert terms("report", spoken, "--out", "page.html")[0] == 0
    code, printed, _ = terms("cost", spoken)
    assert code == 0
    assert "of these voice" in printed
    words, whole = spoken / SUPPLIER_WORDS, (spoken / SUPPLIER_WORDS).read_bytes()
    for altered in (whole.replace(b"Dear friends", b"Dear fiends!", 1), whole[: whole.rindex(b"\n", 0, -1) + 1]):
        words.write_bytes(altered)
        assert terms("verify", spoken)[0] == 1
