"""Not one byte that leaves the server tells a hidden fact: every answer of a busy year is searched, by both doors."""

from __future__ import annotations

import json
from typing import Any

from commerce.types import Fraud, Personality
from experiments.serving.client import read_result
from experiments.serving.settings import ServeSettings
from experiments.years.limits import Limits
from tests.commerce.test_hidden import HIDDEN_FIELDS, HIDDEN_WORDS, parts
from tests.experiments.serving.hosting import hosted, send_raw, turn
from tests.experiments.serving.outside import merchant

SEED = 918_273_645


def leaves(text: bytes) -> tuple[set[str], set[str]]:
    """Return the keys and the texts of an answer, also of the JSON that is packed inside its texts."""
    keys, words, waiting = set(), set(), [json.loads(text)]
    while waiting:
        for kind, value in parts(waiting.pop()):
            if kind == "key":
                keys.add(value)
            elif isinstance(value, str):
                words.add(value)
                if value.startswith("{"):
                    waiting.append(json.loads(value))
    return keys, words


class Tap:
    """Plays a year and keeps every byte that came back."""

    def __init__(self, address: str) -> None:
        self._address, self._turn = address, 0
        self.texts: list[bytes] = []
        self.info = self.get("POST", "/v1/session", {"agent": "spy"})

    def get(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        _, given, text = send_raw(self._address, method, path, body, **headers)
        self.texts += [text, "\n".join(f"{name}: {value}" for name, value in given.items()).encode()]
        return json.loads(text)

    def call(self, tool, arguments):
        body = turn("spy:0", self._turn, {"name": tool, "arguments": dict(arguments)})
        answer = self.get("POST", "/v1/actions", body, Idempotency_Key=f"{self._turn}")
        self._turn += 1
        return read_result(answer["tool_responses"][0]["content"])


def test_no_answer_of_a_year_holds_a_hidden_fact(tmp_path):
    settings = ServeSettings(out=tmp_path, world_seed=SEED, num_days=45, limits=Limits(max_turns=100_000))
    world = settings.spec("spy", 0).build_world()
    with hosted(settings) as address:
        tap = Tap(address)
        merchant(45)(tap.call)
        result = tap.get("GET", "/v1/result?session=spy:0")
        tap.get("POST", "/v1/finish", {"session": "spy:0"})
        tap.get("GET", "/v1/session?session=spy:0")
        tap.get("GET", "/health")
        tap.get("POST", "/v1/session", {"agent": "../spy"})
        tap.get("POST", "/v1/actions", {"session": "spy:0"}, Idempotency_Key="0")
        tap.get("GET", "/v1/nothing")
    bodies = [text for text in tap.texts if text.startswith(b"{")]
    keys = set().union(*(leaves(text)[0] for text in bodies))
    words = set().union(*(leaves(text)[1] for text in bodies))
    assert len(keys) > 100
    assert {"chatbox", "publish_to_store"} <= set(result["calls"])
    assert not keys & HIDDEN_FIELDS
    assert not words & HIDDEN_WORDS
    everything = b"\n".join(tap.texts)
    for secret in (str(SEED), world.digest, world.digest[:16], str(tmp_path), "reservation", "Traceback"):
        assert secret.encode() not in everything, secret


def test_the_search_would_find_what_is_planted():
    planted = json.dumps({"tool_responses": [{"content": json.dumps({"data": {"floor_fen": 3, "x": Fraud.QTY_BAIT}})}]})
    keys, words = leaves(planted.encode())
    assert keys & HIDDEN_FIELDS == {"floor_fen"}
    assert words & HIDDEN_WORDS == {Fraud.QTY_BAIT}
    assert set(Personality) <= HIDDEN_WORDS


def test_the_briefing_states_no_seed_and_no_hidden_word(address, agent):
    info = json.loads(send_raw(address, "POST", "/v1/session", {"agent": agent})[2])
    text = json.dumps(info["messages"])
    assert "77001" not in text
    assert not any(f'"{word}"' in text for word in HIDDEN_FIELDS)
