"""What a command is told about its model: every field reachable, and the wrong ones named."""

from __future__ import annotations

import json

import pytest

from experiments.llm.settings import ModelSettings
from experiments.players.model_options import NEGOTIATOR_KEYS, ModelOptions
from experiments.players.registry import build_agent
from experiments.storekeeper.connect import plan_seat
from experiments.storekeeper.settings import StorekeeperSettings

VALUES = {
    "base_url": "http://127.0.0.1:1/v1", "dialect": "openrouter", "api_key_env": "KEY", "temperature": "0.7",
    "effort": "high", "max_output_tokens": "99", "reasoning_tokens": "50", "seed": "3", "provider.only": "a,b",
    "structured_output": "false", "prompt_cache": "true", "stream": "true", "extra_body": '{"top_k": 3}',
    "timeout_s": "7.5", "concurrency": "2", "requests_per_minute": "30.5", "max_retries": "1", "max_wait_s": "9.5",
    "prices.prompt": "2500000",
}  # fmt: skip
"""A changed value of every field of the model settings, as on the command line."""


def read(*words):
    return ModelOptions.read(words, NEGOTIATOR_KEYS)


def test_every_field_of_the_model_settings_has_a_key_here():
    assert {key.partition(".")[0] for key in VALUES} == set(ModelSettings.model_fields) - {"model"}


@pytest.mark.parametrize("key", VALUES)
def test_every_field_can_be_reached_from_the_command_line(key, monkeypatch):
    monkeypatch.setenv("KEY", "secret")
    needed = {"reasoning_tokens": ["dialect=openrouter"], "provider.only": ["dialect=openrouter"]}.get(key, [])
    more = [] if key == "base_url" else [f"base_url={VALUES['base_url']}"]
    prices = ["prices.completion=1"] if key == "prices.prompt" else []
    for settings in (
        build_agent("openai:m", read(*needed, *more, *prices, f"{key}={VALUES[key]}")).model,
        plan_seat("openai:m", read(*needed, *more, *prices, f"{key}={VALUES[key]}")).model,
    ):
        found = settings.model_dump(mode="json")
        head, _, rest = key.partition(".")
        value = found[head][rest] if rest else found[head]
        expected = {"provider.only": ["a", "b"]}.get(key, VALUES[key])
        assert value == expected or json.dumps(value) == expected


def test_settings_of_the_place_reach_the_negotiator_and_the_storekeeper():
    seat = build_agent("openai:m", read("base_url=http://h/v1", "show_cues=false", "history=2", "reveal=type"))
    assert (seat.name, seat.negotiator.history) == ("openai:m+no-cues+history-2+reveal-type", 2)
    options = ModelOptions.read(
        ["base_url=http://h/v1", "memory=ledger", "max_turns=9"], StorekeeperSettings.model_fields
    )
    assert plan_seat("openai:m", options).name == "openai:m+ledger+max-turns-9"


def test_a_file_is_read_and_later_words_win(tmp_path):
    path = tmp_path / "model.json"
    path.write_text('{"temperature": 0.2, "provider": {"only": ["x"]}, "cache": "kept"}')
    options = read(str(path), "temperature=0.9", "provider.sort=price")
    assert options.model == {"temperature": 0.9, "provider": {"only": ["x"], "sort": "price"}}
    assert str(options.cache) == "kept"


def test_none_leaves_it_to_the_server():
    seat = build_agent("openai:m", read("base_url=http://h/v1", "temperature=none"))
    assert seat.model.temperature is None
    assert read("effort=none").model == {"effort": "none"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["efort=low"], "model='efort', allowed are .*did you mean 'effort'"),
        (["model=x"], "model='model', allowed are"),
        (["memory=ledger"], "model='memory', allowed are"),
        (["nowhere.json"], "neither KEY=VALUE nor a file"),
    ],
)
def test_what_cannot_be_meant_is_named(words, says):
    with pytest.raises(ValueError, match=says):
        read("base_url=http://h/v1", *words)


@pytest.mark.parametrize("text", ["[1]", "{", '{"a": NaN}'])
def test_a_file_that_holds_no_settings_is_named(tmp_path, text):
    path = tmp_path / "model.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="model="):
        read(str(path))
