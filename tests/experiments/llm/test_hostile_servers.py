"""Answers no decent server gives: each ends as a typed failure or a judged reply, in bounded time and memory."""

from __future__ import annotations

import gzip
import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from experiments.llm import transport
from experiments.llm.client import ChatClient
from experiments.llm.errors import BadRequest, ConnectionLost, MalformedReply, Stopped, TimedOut
from experiments.llm.replies import LONGEST_TEXT
from experiments.llm.settings import ModelSettings
from experiments.llm.spending import Meter
from experiments.players.reading import LONGEST_MESSAGE, read_completion
from experiments.players.receipts import Repair, Verdict
from terms import Game, Offer
from tests.terms.builders import make_scenario

OBSERVATION = Game(make_scenario()).observe()
MOVE = '{"decision": "Offer", "price": 45, "message": "hi"}'


def body(text: str) -> bytes:
    message = {"role": "assistant", "content": text}
    return json.dumps({"model": "m", "choices": [{"finish_reason": "stop", "message": message}]}).encode()


class Quiet(BaseHTTPRequestHandler):
    def log_message(self, format, *args):
        pass


@contextmanager
def answering(handler):
    """Serve in a thread; yields the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def serving(data: bytes, status: int = 200, **headers: str):
    """Answer every request with these bytes; yields the address and the list of requests."""
    requests: list[str] = []

    class Handler(Quiet):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            requests.append(self.path)
            self.send_response(status)
            for name, value in {"Content-Length": str(len(data)), **headers}.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(data)

    with answering(Handler) as url:
        yield url, requests


@contextmanager
def client_of(url: str, **settings):
    client = ChatClient(ModelSettings(model="m", base_url=url, max_retries=0, **settings), meter=Meter())
    try:
        yield client
    finally:
        client.close()


def asked(data: bytes, **how):
    with serving(data, **how) as (url, _), client_of(url) as client:
        return client.complete([{"role": "user", "content": "hello"}], call_id="c")


def test_a_redirect_does_not_carry_the_prompt_to_another_server(monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-secret")
    with (
        serving(body(MOVE)) as (elsewhere, arrived),
        serving(b"", 307, Location=f"{elsewhere}/chat/completions") as (url, _),
        client_of(url, api_key_env="MY_KEY") as client,
        pytest.raises(BadRequest, match="moved to"),
    ):
        client.complete([{"role": "user", "content": "hello"}], call_id="c")
    assert arrived == []


def test_an_answer_without_an_end_does_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(transport, "_LARGEST_ANSWER", 100_000)
    assert asked(body(MOVE + " " * 90_000)).text
    with pytest.raises(MalformedReply, match="more than 100000 bytes"):
        asked(body(MOVE + " " * 100_000))
    with pytest.raises(MalformedReply, match="more than 100000 bytes"):
        asked(gzip.compress(b" " * 10_000_000), Content_Encoding="gzip")


@pytest.mark.parametrize("data", [b"\xef\xbb\xbf" + body(MOVE), body(MOVE).replace(b"hi", b"\xff\xfe")])
def test_marks_and_bytes_that_are_no_text_do_not_hide_the_move(data):
    reading = read_completion(asked(data), OBSERVATION)
    assert isinstance(reading.action, Offer)
    assert reading.action.price == 45


@pytest.mark.parametrize(
    "data",
    [b"", b"null", b"[]", b"1e999", b'{"choices":' + b"[" * 100_000, b'{"choices": {"0": 1}}', b'{"choices": [null]}'],
)
def test_what_is_no_completion_is_malformed(data):
    with pytest.raises(MalformedReply):
        asked(data)


def test_a_body_that_does_not_unpack_is_a_lost_connection():
    with pytest.raises(ConnectionLost):
        asked(b"not packed", Content_Encoding="gzip")


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000 + "]" * 100_000,
        '{"a":' * 100_000 + "1" + "}" * 100_000,
        '{"decision": "Offer", "price": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"decision": "Offer", "price": ' + "9" * 100_000 + "}",
        "{" * 1_000_000,
    ],
)
def test_deep_and_long_replies_are_judged_unreadable(text):
    is_cut = len(text) > LONGEST_TEXT
    verdict = read_completion(asked(body(text)), OBSERVATION).verdict
    assert verdict is (Verdict.TRUNCATED if is_cut else Verdict.UNREADABLE)


def test_a_reply_of_megabytes_is_cut_with_a_notice_and_counts_as_truncated():
    reply = asked(body(f'{{"decision": "Accept", "message": "{"x" * 10_000_000}"}}'))
    assert len(reply.text) == LONGEST_TEXT
    assert reply.finish_reason == "length"
    assert "a text of 10000037 characters" in reply.notices[0]


def test_a_long_message_reaches_the_record_cut_and_with_a_receipt():
    reading = read_completion(asked(body(json.dumps(json.loads(MOVE) | {"message": "y" * 100_000}))), OBSERVATION)
    assert reading.action.message == "y" * LONGEST_MESSAGE
    assert Repair.MESSAGE_CUT in reading.repairs


class TestStop:
    def test_nothing_is_sent_after_it(self, server):
        with client_of(server.url) as client:
            client.stop()
            with pytest.raises(Stopped):
                client.complete([{"role": "user", "content": "hello"}], call_id="c")
        assert server.requests == []

    def test_a_wait_between_tries_ends_at_once(self, server):
        url = server.url
        settings = ModelSettings(model="bot/fault:rate_limit_seconds", base_url=url, max_retries=50, max_wait_s=100)
        client, outcome = ChatClient(settings, meter=Meter()), []

        def call():
            try:
                client.complete([{"role": "user", "content": "hello"}], call_id="c")
            except Stopped as error:
                outcome.append(error)

        thread = threading.Thread(target=call)
        thread.start()
        while not server.requests:
            thread.join(0.01)
        client.stop()
        thread.join(1.5)  # less than the two seconds that the server asks to wait
        assert outcome
        client.close()


@contextmanager
def dripping(pause_s: float):
    """Answer with a head that arrives byte by byte; yields the address."""

    class Handler(Quiet):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            try:
                for byte in b"HTTP/1.1 200 OK\r\nX-Padding: " + b"x" * 200 + b"\r\nContent-Length: 0\r\n\r\n":
                    self.wfile.write(bytes([byte]))
                    time.sleep(pause_s)
            except ConnectionError:
                pass

    with answering(Handler) as url:
        yield url


def test_headers_that_drip_do_not_stretch_a_call_past_its_time():
    """240 bytes at 50 ms each would take 12 s; the call has 0.4."""
    with dripping(0.05) as url, client_of(url, timeout_s=0.4) as client:
        start = time.monotonic()
        with pytest.raises(TimedOut, match=r"no whole answer within 0\.4 s"):
            client.complete([{"role": "user", "content": "hello"}], call_id="c")
        assert time.monotonic() - start < 6
