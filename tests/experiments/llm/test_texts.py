"""The key appears in no file, no message, no log and no traceback."""

from __future__ import annotations

import base64
import contextlib
import html
import json
import logging
import traceback
from urllib.parse import quote

import pytest

from experiments.fault_server import FaultServer
from experiments.llm.calls import CallLog, ReplyCache
from experiments.llm.client import ChatClient
from experiments.llm.errors import AuthenticationFailed, ModelCallError
from experiments.llm.pacing import Timing
from experiments.llm.settings import ModelSettings
from experiments.llm.spending import Meter
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


@pytest.mark.parametrize("key", [KEY, "sk/a+b=c&d<e>f-0123", "plain0123456789"])
def test_no_spelling_of_the_key_is_left(key):
    spellings = [
        key, quote(key, safe=""), quote(key, safe="").lower(), json.dumps(key)[1:-1], key.replace("/", "\\/"),
        html.escape(key), repr(key), "".join(f"\\u{ord(char):04x}" for char in key),
        "".join(f"\\u{ord(char):04X}" for char in key), "".join(f"%{ord(char):02X}" for char in key),
        "".join(f"&#{ord(char)};" for char in key), "".join(f"&#x{ord(char):x};" for char in key),
        "".join(f"\\x{ord(char):02x}" for char in key), key.replace("&", "\\u0026").replace("<", "\\u003c"),
        "".join(f"\\\\u{ord(char):04x}" for char in key), quote(quote(key, safe=""), safe=""), key.encode().hex(),
        html.escape(html.escape(key)), json.dumps(json.dumps(key.replace("/", "\\/")))[3:-3], quote(quote(key)),
    ]  # fmt: skip
    for text in spellings:
        assert Redactor(key)(f"before {text} after").replace("'", "") == f"before {MASK} after", text


@pytest.mark.parametrize("before", ["", "u:", "user:", "Bearer ", "x" * 7])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_no_base64_text_holds_the_key(before, encode):
    """What is left are the characters of the words around it, and those that mix a byte of it with theirs."""
    text = Redactor(KEY)(encode(f"{before}{KEY}{before}".encode()).decode())
    assert MASK in text
    assert len(text.replace(MASK, "").rstrip("=")) <= 2 * (len(before) * 4 // 3 + 1) + 2


def test_a_key_cut_in_the_middle_by_the_length_of_a_message_is_gone_too(ask, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENROUTER_API_KEY", KEY)
    with FaultServer(key="another") as server:
        client = client_of(server, tmp_path, "bot")
        monkeypatch.setattr("experiments.llm.errors._LONGEST_DETAIL", 70)
        with pytest.raises(AuthenticationFailed) as caught:
            ask(client)
        client.close()
    assert not any(KEY[at : at + 8] in str(caught.value) for at in range(len(KEY) - 7))


def test_a_server_that_repeats_the_key_in_every_spelling_leaves_it_in_no_file_and_no_message(
    ask, tmp_path, monkeypatch, caplog
):
    monkeypatch.setenv("OPENROUTER_API_KEY", KEY)
    with FaultServer() as server:
        client = client_of(server, tmp_path, "bot/fault:key_repeated")
        with pytest.raises(AuthenticationFailed) as caught:
            ask(client)
        client.close()
    shown = [str(caught.value), caplog.text, *(path.read_text(errors="replace") for path in tmp_path.glob("*.jsonl"))]
    for text in shown:
        assert MASK in text
        assert not any(KEY[at : at + 8] in text for at in range(len(KEY) - 7))
        assert "0123456789abcdef" not in text


def test_whole_characters():
    assert whole_characters("a\ud83d\ude00b\ud83dc\udc00") == "a\U0001f600b\ufffdc\ufffd"
    assert whole_characters("\ufeffa") == "\ufeffa"
