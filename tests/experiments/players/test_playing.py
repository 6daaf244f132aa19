"""One episode with receipts, reveal and voice, for models and for agents that are none."""

from __future__ import annotations

import json

import pytest

import terms
from experiments.players.model_voice import ModelVoice
from experiments.players.negotiator import ModelAgent
from experiments.players.negotiator_settings import NegotiatorSettings, Reveal
from experiments.players.playing import play_episode
from terms.agents import SCRIPTED, build_scripted
from tests.experiments.llm.scripted import ScriptedClient, move
from tests.terms.builders import make_scenario


@pytest.mark.parametrize("name", sorted(SCRIPTED))
def test_an_agent_that_is_no_model_plays_as_before(name):
    played = play_episode(make_scenario(), build_scripted(name))
    assert played.record == terms.play(make_scenario(), build_scripted(name))
    assert played.receipts == ()
    assert played.voice_outcomes == {}


def test_a_model_leaves_one_receipt_a_round_under_its_own_name():
    client = ScriptedClient(move(price=41), "what?", move("Reject"))
    played = play_episode(make_scenario(), ModelAgent(client, "stub", NegotiatorSettings(show_cues=False)))
    assert played.record.agent == "stub+no-cues"
    assert [len(receipt["attempts"]) for receipt in played.receipts] == [1, 2]
    assert [receipt["verdict"] for receipt in json.loads(json.dumps(played.receipts))] == ["ok", "ok"]


@pytest.mark.parametrize(("level", "is_told"), [(Reveal.NOTHING, False), (Reveal.KERNEL, False), (Reveal.TYPE, True)])
def test_the_reveal_level_reaches_the_model(level, is_told):
    client = ScriptedClient(move("Reject"))
    play_episode(make_scenario(other=40.0625), ModelAgent(client, "stub", NegotiatorSettings(reveal=level)))
    assert ("40.0625" in client.sent) is is_told
    assert ("counterpart_rules" in client.sent) is (level is not Reveal.NOTHING)


@pytest.mark.parametrize(
    ("line", "outcome"), [("I am at 65.50, friend.", "model"), ("Pay 99.00, friend.", "template_unfaithful")]
)
def test_a_narrator_words_and_is_counted(line, outcome):
    narrator = ModelVoice(ScriptedClient(line))
    played = play_episode(make_scenario(), ModelAgent(ScriptedClient(move("Reject")), "stub", narrator=narrator))
    assert played.voice_outcomes == {outcome: 1}
    assert ("friend" in played.record.turns[0].counterpart_message) is (outcome == "model")
