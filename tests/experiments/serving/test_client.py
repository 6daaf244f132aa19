"""The client repeats a turn with its key through every fault of the line, and gives up where a repeat is vain."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from commerce.config import rules_named
from commerce.world import generate_world
from commerce.year import Year
from experiments.serving.client import NoAnswerError, ServiceError, YearClient, read_result, turn_key
from experiments.serving.settings import Token
from tests.experiments.serving.hosting import SECRET, TOKEN, send

OPENED = {"session": "a:0", "turn": 0}
ANSWERED = {"turn": 1, "tool_responses": [], "done": False}


class Line:
    """A server that misbehaves as scripted: statuses, ``cut`` (closes at once), ``half`` (half an answer), ``html``."""

    def __init__(self, script):
        self.script, self.keys = list(script), []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                if self.path == "/v1/session":
                    owner.answer(self, 200, OPENED)
                    return
                owner.keys.append(self.headers["Idempotency-Key"])
                what = owner.script.pop(0) if owner.script else 200
                if what == "cut":
                    self.close_connection = True
                elif what == "half":
                    self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
                    self.close_connection = True
                elif what == "html":
                    owner.answer(self, 502, None)
                else:
                    owner.answer(self, what, ANSWERED if what == 200 else {"error": {"code": "x", "message": "no"}})

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})

    @staticmethod
    def answer(handler, status, body):
        data = b"<html>" if body is None else json.dumps(body).encode()
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def client(self, **options):
        return YearClient(f"http://127.0.0.1:{self.server.server_port}", TOKEN, agent="a", **options)


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch):
    monkeypatch.setattr("experiments.serving.client._FIRST_PAUSE_S", 0.001)


@pytest.mark.parametrize(
    "script", [["cut"], ["half"], ["html"], [408], [429], [500], [503, "cut", 502, "half", 504]], ids=str
)
def test_a_turn_is_sent_again_with_its_key_until_it_is_answered(script):
    with Line(script) as line, line.client() as client:
        assert client.act([{"name": "withdraw"}]) == ANSWERED
        assert client.turn == 1
        assert len(line.keys) == len(script) + 1
        assert len(set(line.keys)) == 1
        client.act([{"name": "withdraw"}])
        assert line.keys[-1] != line.keys[0]


@pytest.mark.parametrize("status", [400, 401, 404, 409, 413, 422])
def test_what_no_repeat_will_change_is_raised_at_once(status):
    with Line([status]) as line, line.client() as client:
        with pytest.raises(ServiceError, match=f"{status} x: no") as caught:
            client.act([{"name": "withdraw"}])
        assert (caught.value.status, caught.value.code, len(line.keys), client.turn) == (status, "x", 1, 0)


def test_patience_ends():
    said = r"no answer within 0.05 s; the last attempt"
    with Line(["cut"] * 1000) as line, line.client(patience_s=0.05) as client, pytest.raises(NoAnswerError, match=said):
        client.act([])


def test_a_turn_that_is_too_large_is_not_sent():
    with Line([]) as line, line.client() as client, pytest.raises(ValueError, match="too large; at most 1,048,576"):
        client.act([{"name": "w", "arguments": {"x": "y" * 1_048_576}}])
    assert line.keys == []


def test_nobody_there_ends_as_well():
    client = YearClient("http://127.0.0.1:9", TOKEN, agent="a", patience_s=0.01)
    with pytest.raises(NoAnswerError):
        client.open()


@pytest.mark.parametrize("address", ["127.0.0.1:8765", "ftp://x", "http://"])
def test_an_address_is_an_address(address):
    with pytest.raises(ValueError, match="address="):
        YearClient(address, TOKEN, agent="a")


def test_https_is_spoken_where_the_address_says_so():
    assert "HTTPS" in type(YearClient("https://shop.example", TOKEN, agent="a")._connection).__name__


def test_keys_tell_turns_apart():
    assert turn_key(1, b"x") == turn_key(1, b"x")
    assert len({turn_key(1, b"x"), turn_key(2, b"x"), turn_key(1, b"y")}) == 3


def test_an_agent_that_plays_again_goes_on_where_it_was(address, agent):
    def play(num):
        with YearClient(address, TOKEN, agent=agent) as client:
            return [client.call("wait_for_next_day") for _ in range(num)], client.turn

    first, _ = play(3)
    second, turn = play(5)
    assert second[:3] == first
    assert turn == 5
    with YearClient(address, TOKEN, agent=agent) as client:
        client.turn = client.info["turn"]
        assert client.call("check_balance", {}).time["day"] == 5
        client.turn = 1
        with pytest.raises(ServiceError, match="409 wrong_turn") as caught:
            client.call("check_balance", {})
        assert caught.value.facts["expected_turn"] == 6
        assert client.finish() == client.result()


def test_results_read_back_are_those_of_the_year(address, agent, settings):
    rules = rules_named("paper").model_copy(update={"num_days": 10})
    year = Year(generate_world(settings.world_seed, rules), rules)
    with YearClient(address, TOKEN, agent=agent) as client:
        for call in (("check_balance", {}), ("withdraw", {"amount": -1}), ("fly", {}), ("wait_for_next_day", None)):
            there, here = client.call(*call), year.call(*call)
            assert json.dumps(there.to_json_object()) == json.dumps(here.to_json_object())
            assert read_result(json.dumps(here.to_json_object())).error == here.error


def test_the_wrong_token_is_said_to_be_wrong(address):
    with pytest.raises(ServiceError, match="401 unauthorized") as caught:
        YearClient(address, Token("x" * 20), agent="a").open()
    assert SECRET not in str(caught.value)
    assert send(address, "GET", "/health")[0] == 200
