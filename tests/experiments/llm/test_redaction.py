"""The key appears in no file, no message, no log and no traceback."""

from __future__ import annotations

import contextlib
import logging
import traceback

import pytest

from experiments.fault_server import FaultServer
from experiments.llm.cache import ReplyCache
from experiments.llm.calls import CallLog
from experiments.llm.client import ChatClient
from experiments.llm.errors import AuthenticationFailed, ModelCallError
from experiments.llm.meter import Meter
from experiments.llm.pacing import Timing
from experiments.llm.settings import ModelSettings
from experiments.llm.texts import MASK, Redactor, whole_characters
from experiments.llm.transport import Transport

KEY = "sk-or-v1-0123456789abcdef+/="


@pytest.fixture
def guarded(monkeypatch):
    """Return a server that lets in another key only, and repeats in its message the one it was given."""
    monkeypatch.setenv("OPENROUTER_API_KEY", KEY)
    with FaultServer(key="another") as running:
        yield running


def client_of(server, folder, model="bot"):
    settings = ModelSettings(model=model, base_url=server.url, api_key_env="OPENROUTER_API_KEY", max_retries=0)
    return ChatClient(settings, meter=Meter(), log=CallLog(folder / "calls.jsonl"), cache=ReplyCache(folder))


def test_an_error_that_repeats_the_key_is_cleaned_everywhere(guarded, ask, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    client = client_of(guarded, tmp_path)
    with pytest.raises(AuthenticationFailed) as caught:
        ask(client)
    assert MASK in str(caught.value)
    error = caught.value
    shown = [str(error), repr(error), repr(error.args), "".join(traceback.format_exception(error)), repr(client)]
    shown += [
        repr(vars(error)),
        caplog.text,
        repr(client.settings),
        repr(vars(client)),
        client.settings.model_dump_json(),
    ]
    assert error.__cause__ is None
    assert error.__context__ is None
    assert not [text for text in shown if KEY in text]
    client.close()


def test_no_file_holds_the_key(ask, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENROUTER_API_KEY", KEY)
    with FaultServer(key=KEY, slow_s=0.1) as server:
        for fault in (
            "",
            "/fault:html",
            "/fault:reject_all",
            "/fault:bad_key",
            "/fault:drop_halfway",
            "/fault:refusal",
        ):
            client = client_of(server, tmp_path, "bot" + fault)
            with contextlib.suppress(ModelCallError):
                ask(client, schema={"type": "object"}, call_id=fault or "plain")
            client.close()
        assert KEY not in repr(server.requests)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"calls.jsonl", "replies.sqlite"} <= {path.name for path in files}
    assert not [path for path in files if KEY.encode() in path.read_bytes()]


def test_an_answer_that_repeats_the_key_is_cleaned():
    body = {"model": KEY, "messages": [{"role": "user", "content": "x"}], "max_tokens": 5}
    with FaultServer(key=KEY) as server:
        transport = Transport(ModelSettings(model="m", base_url=server.url), KEY, Timing())
        text = transport.send(body, "a#0", 0)  # the server repeats the model's name
        transport.close()
    assert f'"model": "{MASK}"' in text
    assert KEY not in text


def test_the_quoted_form_goes_too_and_placeholders_stay():
    redact = Redactor(KEY)
    assert redact(f"a {KEY} b sk-or-v1-0123456789abcdef%2B%2F%3D c") == f"a {MASK} b {MASK} c"
    assert repr(redact) == "Redactor()"
    assert Redactor("none")("none of this") == "none of this"
    assert Redactor(None)("x") == "x"


def test_whole_characters():
    assert whole_characters("a\ud83d\ude00b\ud83dc\udc00") == "a\U0001f600b\ufffdc\ufffd"
    assert whole_characters("\ufeffa") == "\ufeffa"
