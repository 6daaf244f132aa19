"""Every setting reaches the request or the way it is sent: each is changed, and what arrives is looked at."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from pydantic import ValidationError

from experiments.fault_server import FaultServer
from experiments.llm.client import ChatClient
from experiments.llm.errors import RateLimited, TimedOut
from experiments.llm.pacing import Timing
from experiments.llm.settings import OPENROUTER_URL, ModelSettings, Prices, ProviderRouting, read_key
from experiments.llm.spending import Meter

SCHEMA = {"type": "object"}


def arrived(server, ask, client):
    ask(client, schema=SCHEMA)
    return server.requests[-1]


IN_BODY = {
    "model": ({"model": "other"}, "model", "other"),
    "temperature": ({"temperature": 0.7}, "temperature", 0.7),
    "effort": ({"effort": "low"}, "reasoning_effort", "low"),
    "max_output_tokens": ({"max_output_tokens": 77}, "max_tokens", 77),
    "seed": ({"seed": 5}, "seed", 5),
    "reasoning_tokens": (
        {"dialect": "openrouter", "reasoning_tokens": 900},
        "reasoning",
        {"max_tokens": 900},
    ),
    "prompt_cache": (
        {"prompt_cache": True},
        "messages",
        [{"role": "user", "content": [{"type": "text", "text": "hello", "cache_control": {"type": "ephemeral"}}]}],
    ),
    "stream": ({"stream": True}, "stream", True),
    "extra_body": ({"extra_body": {"thinking_budget": 5}}, "thinking_budget", 5),
    "structured_output": ({"structured_output": False}, "response_format", None),
    "dialect": ({"dialect": "openrouter"}, "plugins", [{"id": "context-compression", "enabled": False}]),
    "provider": ({"dialect": "openrouter", "provider": {"only": ["p"]}}, "provider", {"only": ["p"]}),
}
IN_SENDING = {
    "base_url", "api_key_env", "timeout_s", "concurrency", "requests_per_minute", "max_retries", "max_wait_s", "prices",
}  # fmt: skip


def test_every_setting_has_a_test():
    assert set(IN_BODY) | IN_SENDING == set(ModelSettings.model_fields)
    assert not set(IN_BODY) & IN_SENDING


@pytest.mark.parametrize("name", IN_BODY)
def test_setting_reaches_the_body(name, server, connect, ask):
    change, field, value = IN_BODY[name]
    before = arrived(server, ask, connect())["body"]
    after = arrived(server, ask, connect(**change))["body"]
    assert before.get(field) != value
    assert after.get(field) == value


ROUTING = {
    "order": ["a"], "only": ["a"], "ignore": ["a"], "allow_fallbacks": False, "require_parameters": True,
    "data_collection": "deny", "zdr": True, "quantizations": ["fp8"], "sort": "price",
}  # fmt: skip


@pytest.mark.parametrize("name", ProviderRouting.model_fields)
def test_every_routing_wish_reaches_the_body(name, server, connect, ask):
    client = connect(dialect="openrouter", provider={name: ROUTING[name]})
    assert arrived(server, ask, client)["body"]["provider"] == {name: ROUTING[name]}


def test_openrouter_effort_and_title(server, connect, ask):
    request = arrived(server, ask, connect(dialect="openrouter", effort="high"))
    assert request["body"]["reasoning"] == {"effort": "high"}
    assert "reasoning_effort" not in request["body"]
    assert request["headers"]["x-openrouter-title"] == "terms-commerce"


def test_unset_settings_are_not_sent(server, connect, ask):
    body = arrived(server, ask, connect(temperature=None, structured_output=False))["body"]
    assert set(body) == {"model", "messages", "max_tokens"}


def test_base_url(connect, ask):
    with FaultServer() as other:
        ask(connect(base_url=other.url))
        assert other.stats["requests"] == 1


def test_api_key_env(connect, ask, monkeypatch, server):
    monkeypatch.setenv("SOME_KEY", "sk-of-this-test")
    with FaultServer(key="sk-of-this-test") as guarded:
        assert ask(connect(base_url=guarded.url, api_key_env="SOME_KEY")).text == "pong"


def test_timeout(connect, ask):
    client = connect("bot/fault:slow", timeout_s=0.2, max_retries=0)
    with pytest.raises(TimedOut):
        ask(client)


def test_a_server_that_sends_blanks_does_not_escape_the_timeout(connect, ask):
    start = time.monotonic()
    with pytest.raises(TimedOut, match=r"no whole answer within 0\.5 s"):
        ask(connect("bot/fault:slow_with_blanks", timeout_s=0.5, max_retries=0))
    assert time.monotonic() - start < 2.5  # the whole answer takes 3 s, with a blank every 50 ms


@pytest.mark.parametrize("limit", [1, 3])
def test_concurrency(limit):
    with FaultServer(latency_s=0.15) as server:
        client = ChatClient(ModelSettings(model="bot", base_url=server.url, concurrency=limit), meter=Meter())
        start = threading.Barrier(8)

        def call(number):
            start.wait()
            client.complete([{"role": "user", "content": "x"}], call_id=str(number))

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(call, range(8)))
        client.close()
        assert server.stats["most_in_flight"] == limit


def test_requests_per_minute(connect, ask, fake_time):
    client = connect(requests_per_minute=30)
    for _ in range(4):
        ask(client)
    assert fake_time.now == pytest.approx(6.0)  # the first at once, then one each 2 s


@pytest.mark.parametrize("retries", [0, 2])
def test_max_retries(retries, server, connect, ask):
    with pytest.raises(RateLimited) as caught:
        ask(connect("bot/fault:rate_limit_bare", max_retries=retries))
    assert caught.value.attempts == server.stats["requests"] == retries + 1


@pytest.mark.parametrize(("longest", "requests"), [(1.5, 1), (60, 3)])
def test_max_wait(longest, requests, server, connect, ask, fake_time):
    with pytest.raises(RateLimited):
        ask(connect("bot/fault:rate_limit_seconds", max_retries=2, max_wait_s=longest))
    assert server.stats["requests"] == requests
    assert all(wait <= longest for wait in fake_time.slept)


def test_prices(connect, ask):
    meter = Meter()
    ask(connect("bot/fault:no_cost", prices={"prompt": 1_000_000, "completion": 2_000_000}, meter=meter))
    spent = meter.spending
    assert spent.settled_microusd == spent.prompt_tokens + 2 * spent.completion_tokens > 0


def test_two_clients_in_one_process_keep_their_own_effort(server, connect, ask):
    low, high = connect(effort="low"), connect(effort="high")
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda client: [ask(client, client.settings.effort) for _ in range(5)], (low, high)))
    seen = {
        (request["body"]["messages"][0]["content"], request["body"]["reasoning_effort"]) for request in server.requests
    }
    assert seen == {("low", "low"), ("high", "high")}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"modell": "x"}, "modell"), ({"temperature": float("nan")}, "temperature"),
        ({"temperature": 3}, "temperature"),
        ({"effort": "huge"}, "effort"), ({"max_output_tokens": 0}, "max_output_tokens"), ({"model": ""}, "model"),
        ({"base_url": "localhost:80"}, "base_url='localhost:80' is not an address"),
        ({"base_url": "http://h/v1", "provider": {"only": ["p"]}}, "provider routing is set but base_url='http://h/v1'"),
        ({"provider": {"olny": ["p"]}}, "olny"), ({"prices": {"prompt": -1, "completion": 0}}, "prompt"),
        ({"extra_body": "[1]"}, "extra_body"), ({"effort": "low", "reasoning_tokens": 5}, "one of them"),
        ({"base_url": "http://h/v1", "reasoning_tokens": 5}, "not OpenRouter"),
        ({"concurrency": 0}, "concurrency"), ({"requests_per_minute": 0}, "requests_per_minute"),
    ],
)  # fmt: skip
def test_bad_settings_name_the_field(change, message):
    with pytest.raises(ValidationError, match=message):
        ModelSettings(**{"model": "m", **change})


def test_a_secret_in_the_address_is_refused_without_repeating_it():
    addresses = ("https://user:hunter22@host/v1", "https://host/v1?key=hunter22", "https://host/#hunter22",
                 "ftp://user:hunter22@host", "user:hunter22@host", "ftp://h/?hunter22")  # fmt: skip
    changes = [{"base_url": address} for address in addresses]
    for change in [*changes, {"api_key_env": "sk-or-hunter22"}]:
        with pytest.raises(ValidationError) as caught:
            ModelSettings(model="m", **change)
        assert "hunter22" not in str(caught.value)


def test_the_default_is_openrouter_and_its_key_goes_nowhere_else():
    environ = {"OPENROUTER_API_KEY": "sk-router", "OTHER": " sk-other\n"}
    settings = ModelSettings(model="m")
    assert (settings.url, settings.wire_dialect) == (OPENROUTER_URL, "openrouter")
    assert read_key(settings, environ) == "sk-router"
    elsewhere = ModelSettings(model="m", base_url="https://example.com/v1")
    assert elsewhere.wire_dialect == "openai"
    assert read_key(elsewhere, environ) is None
    assert read_key(elsewhere.model_copy(update={"api_key_env": "OTHER"}), environ) == "sk-other"


def test_a_missing_key_names_the_variable():
    with pytest.raises(ValueError, match="set the environment variable OPENROUTER_API_KEY"):
        read_key(ModelSettings(model="m"), {"OPENROUTER_API_KEY": "  "})


@pytest.mark.parametrize(
    "key", ["sk-a\nb-123", "sk-a\r\nX: y", 'sk-"quoted"', "sk-'q'", "sk-ключ", "sk a b", "sk-\\n1", "sk-\x00"]
)
def test_a_key_that_no_header_can_hold_is_refused_without_repeating_it(key):
    with pytest.raises(ValueError, match="copy it again") as caught:
        read_key(ModelSettings(model="m"), {"OPENROUTER_API_KEY": key})
    assert key not in str(caught.value)
    assert "OPENROUTER_API_KEY" in str(caught.value)


def test_a_proxy_that_cannot_be_used_is_named(monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1")
    with pytest.raises(ValueError, match=r"the proxy in ALL_PROXY cannot be used: .*; unset it"):
        ChatClient(ModelSettings(model="m", base_url="https://example.com/v1"), meter=Meter())


def test_nothing_of_the_environment_but_the_key_is_sent(server, connect, ask, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-x")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-x")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-this-server")
    headers = arrived(server, ask, connect())["headers"]
    assert not [name for name in headers if name.startswith("openai-")]


def test_settings_are_frozen_and_hashable():
    settings = ModelSettings(model="m", provider=ProviderRouting(only=("a",)), prices=Prices(prompt=1, completion=1))
    assert hash(settings) == hash(ModelSettings.model_validate_json(settings.model_dump_json()))
    with pytest.raises(ValidationError):
        settings.model = "n"
    assert Timing().rng is not Timing().rng
