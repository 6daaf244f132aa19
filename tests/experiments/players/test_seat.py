"""A model's place in a run: its name, what pins it, what may change on resume, and sitting down."""

from __future__ import annotations

import pytest

from experiments.llm.calls import MODEL_CALLS
from experiments.llm.settings import ModelSettings
from experiments.players import seat
from experiments.players.model_options import ModelOptions, NegotiatorSettings, Reveal, microusd
from experiments.players.registry import build_agent
from experiments.players.seat import ModelSeat, model_settings
from terms import Game
from tests.terms.builders import make_scenario


def seat_of(spec="openai:bot", **options):
    return build_agent(spec, ModelOptions.of(**{"base_url": "http://127.0.0.1:1/v1", **options}))


class TestName:
    @pytest.mark.parametrize(
        ("options", "name"),
        [
            ({}, "openai:bot"),
            ({"effort": "low"}, "openai:bot@low"),
            ({"voice": "openai:teller"}, "openai:bot+voice-teller"),
            ({"reveal": Reveal.TYPE}, "openai:bot+reveal-type"),
            (
                {"effort": "high", "voice": "openai:teller", "show_cues": False, "history": 0},
                "openai:bot@high+voice-teller+no-cues+history-0",
            ),
        ],
    )
    def test_every_setting_that_changes_the_game_is_in_it(self, options, name):
        assert seat_of(**options).name == name

    def test_the_seated_agent_has_the_name_of_the_seat(self, tmp_path):
        place = seat_of(effort="low", voice="openai:teller", **{"ask_belief": False})
        with place.sit(tmp_path) as agent:
            assert agent.name == place.name

    def test_the_local_models_own_settings_are_its_plain_name(self):
        assert build_agent("local").name == "local"
        assert build_agent("local", ModelOptions.of(**{"show_cues": False})).name == "local+no-cues"


class TestPin:
    def test_money_and_pace_may_change_on_resume(self, tmp_path):
        changed = seat_of(budget_usd="3", concurrency=2, cache=tmp_path)
        assert changed.settings == seat_of().settings

    @pytest.mark.parametrize(
        "options",
        [
            {"effort": "low"},
            {"max_output_tokens": 100},
            {"api_key_env": "OTHER"},
            {"base_url": "http://127.0.0.1:2/v1"},
            {"voice": "openai:teller"},
            {"guidance": False},
        ],
    )
    def test_what_changes_an_answer_may_not(self, options):
        assert seat_of(**options).settings != seat_of().settings


class TestKeys:
    def test_the_voice_shares_the_agents_own_server_key_and_all(self):
        voice = seat_of(voice="openai:teller", api_key_env="MY_KEY").voice
        assert (voice.url, voice.key_env) == ("http://127.0.0.1:1/v1", "MY_KEY")

    @pytest.mark.parametrize(
        ("spec", "voice", "agent_key", "voice_key"),
        [
            ("openrouter:a/b", "openai:teller", "ROUTER", None),
            ("openai:bot", "openrouter:a/b", "ROUTER", "OPENROUTER_API_KEY"),
            ("openrouter:a/b", "openrouter:c/d", "ROUTER", "ROUTER"),
        ],
    )
    def test_a_key_never_goes_to_the_other_server(self, spec, voice, agent_key, voice_key):
        url = "http://127.0.0.1:1/v1" if "openai:" in spec + voice else None
        place = seat_of(spec, voice=voice, api_key_env="ROUTER", base_url=url)
        assert (place.model.key_env, place.voice.key_env) == (agent_key, voice_key)

    def test_a_missing_key_is_said_before_anything_is_asked(self, tmp_path, monkeypatch):
        monkeypatch.delenv("MY_KEY", raising=False)
        with pytest.raises(ValueError, match="MY_KEY"), seat_of(api_key_env="MY_KEY").sit(tmp_path):
            raise AssertionError("nobody may sit down")


def test_a_seat_does_not_play_before_it_sits_down():
    with pytest.raises(TypeError, match="must sit down"):
        seat_of().start(make_scenario())


def test_what_was_spent_before_counts_towards_the_ceiling(tmp_path, server):
    first = seat_of(base_url=server.url, budget_usd="1")
    with first.sit(tmp_path) as agent:
        agent.for_episode(1).act(Game(make_scenario()).observe())
    with first.sit(tmp_path) as agent:
        spent = agent.client._meter.spending.settled_microusd
    assert spent == server.stats["microusd"] > 0
    assert (tmp_path / MODEL_CALLS).is_file()


def test_concurrency_is_the_models_and_one_for_the_local():
    assert seat_of(concurrency=3).concurrency == 3
    assert ModelSeat("local", None, NegotiatorSettings()).concurrency == 1


@pytest.mark.parametrize("spec", ["local", "openrouter:a/b", "openai:m"])
def test_models_are_known_by_their_spec(spec):
    assert seat.is_model(spec)


@pytest.mark.parametrize("spec", ["patient", "python:m:f", "locals", "OpenAI:m", "openai"])
def test_others_are_not(spec):
    assert not seat.is_model(spec)


def test_settings_that_are_not_given_are_the_defaults():
    assert model_settings("openrouter:a/b", effort=None) == ModelSettings(model="a/b")
    assert model_settings("local") is None
    assert model_settings("openrouter:a/b:free").model == "a/b:free"


@pytest.mark.parametrize(
    ("text", "amount"), [("0", 0), ("1.50", 1_500_000), ("0.000001", 1), ("1e-6", 1), ("12", 12_000_000)]
)
def test_dollars_are_read_exactly(text, amount):
    assert microusd(text) == amount


@pytest.mark.parametrize("text", ["", "$1", "1,50", "nan", "inf", "-1", "0.0000001", "1_0x"])
def test_what_is_no_amount_is_named(text):
    with pytest.raises(ValueError, match="budget_usd"):
        microusd(text)


@pytest.mark.parametrize(
    ("effort", "tokens", "seconds"),
    [(None, 2048, 120), ("minimal", 2048, 120), ("low", 4096, 120), ("medium", 8192, 240), ("high", 16_384, 480),
     ("xhigh", 32_768, 960), ("max", 65_536, 1800)],
)  # fmt: skip
def test_limits_grow_with_the_effort(effort, tokens, seconds):
    made = seat_of(effort=effort).model
    assert (made.max_output_tokens, made.timeout_s) == (tokens, seconds)
    assert seat_of(effort=effort, max_output_tokens=9).model.max_output_tokens == 9


@pytest.mark.parametrize("address", ["http://user:hunter22@h/v1", "ftp://user:hunter22@h", "http://h/v1?key=hunter22"])
@pytest.mark.parametrize("spec", ["openrouter:v/m", "openai:m"])
def test_no_error_repeats_what_an_address_holds_beside_it(spec, address):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - what it does not say is what counts
        model_settings(spec, base_url=address)
    assert "hunter22" not in str(caught.value)
