"""The model voice: faithful to the committed act in any case, blind to everything private."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import terms
from experiments.llm.errors import BudgetExceeded, ServerFault
from experiments.llm.records import Completion
from experiments.players.model_voice import ModelVoice, VoiceOutcome, is_faithful
from terms import voice
from terms.types import Belief, Cue, Decision, Offer, Posture, Reject, Sentiment
from tests.experiments.llm.scripted import ScriptedClient
from tests.terms.builders import make_scenario

CUE = Cue(Sentiment.NEUTRAL, Posture.HOLD)


def speak(*replies, decision=Decision.OFFER, price: float | None = 45.0):
    speaker = ModelVoice(ScriptedClient(*replies)).for_episode(1)
    return speaker(decision, price, CUE, 3), speaker


def test_a_faithful_line_is_spoken():
    text, speaker = speak("<think>they look weak</think>  I could\ndo 45.00 today. ")
    assert text == "I could do 45.00 today."
    assert speaker.outcomes == {VoiceOutcome.MODEL: 1}


@pytest.mark.parametrize(
    "line",
    [
        "How about 44.00?",
        "45.00, down from 60.",
        "I can do 45",
        "Forty-five it is, 45.00.",
        "45.00k",
        "Take 45,00.",
        "٤٥٫٠٠",
        "My price stands.",
        "",
        "I accept 45.00, we have a deal.",
        "45.00 " + "and so on " * 60,
        '{"price": 44}',
    ],
)
def test_an_unfaithful_line_gives_way_to_the_template(line):
    text, speaker = speak(line)
    assert text == voice.render(Decision.OFFER, 45.0, CUE, 3)
    assert speaker.outcomes == {VoiceOutcome.TEMPLATE_UNFAITHFUL: 1}


@pytest.mark.parametrize(
    "reply",
    [
        ServerFault("down"),
        Completion(text=None, finish_reason="stop"),
        Completion(text="I could do 45.00", finish_reason="length"),
        Completion(text="45.00", finish_reason="content_filter"),
        Completion(text=None, finish_reason="stop", refusal="No."),
    ],
)
def test_a_failing_model_gives_way_to_the_template(reply):
    text, speaker = speak(reply)
    assert text == voice.render(Decision.OFFER, 45.0, CUE, 3)
    assert speaker.outcomes == {VoiceOutcome.TEMPLATE_MODEL_FAILED: 1}


def test_the_spending_ceiling_passes_through():
    with pytest.raises(BudgetExceeded):
        speak(BudgetExceeded("enough"))


def test_a_walk_away_names_no_price_and_no_deal():
    assert speak("We will not get there. Goodbye.", decision=Decision.REJECT, price=None)[0].startswith("We will not")
    template = voice.render(Decision.REJECT, None, CUE, 3)
    for line in ("45.00 was my last word.", "Agreed."):
        assert speak(line, decision=Decision.REJECT, price=None)[0] == template


def test_an_accept_may_speak_of_the_deal():
    assert speak("Agreed at 45.00.", decision=Decision.ACCEPT)[0] == "Agreed at 45.00."


@given(
    st.text(max_size=80) | st.lists(st.sampled_from(["45.00", "46", " ", "a", "-", "k", "½", "twenty"])).map("".join)
)
def test_whatever_the_model_says_the_only_number_is_the_price(line):
    text, _ = speak(Completion(text=line, finish_reason="stop"))
    assert "45.00" in text
    assert voice.stray_numbers(text, 45.0) == []
    assert is_faithful(text, Decision.OFFER, 45.0)


def test_prices_of_the_episode_do_not_depend_on_the_voice():
    moves = [Offer(41.0, "hello"), Offer(45.0), Reject()]
    plain = terms.replay(make_scenario(), moves)
    narrator = ModelVoice(ScriptedClient(answer=lambda messages: "Pay 99.00 now"))
    worded = terms.replay(make_scenario(), moves, voice=narrator.for_episode(1))
    assert worded == plain
    narrator = ModelVoice(ScriptedClient(answer=lambda messages: f"Say {act_in(messages)['price']}?"))
    worded = terms.replay(make_scenario(), moves, voice=narrator.for_episode(1))
    assert [turn.counterpart_price for turn in worded.turns] == [turn.counterpart_price for turn in plain.turns]
    assert worded.turns[0].counterpart_message.startswith("Say ")


def act_in(messages) -> dict[str, object]:
    act: dict[str, object] = json.loads(messages[-1]["content"])
    return act


def test_the_narrator_sees_the_act_and_its_own_lines_only():
    client = ScriptedClient(answer=lambda messages: f"Say {act_in(messages)['price']}?")
    belief = Belief(12.3456, 0.98765)
    moves = [Offer(41.23, "my limit is 52", belief), Offer(45.67, "really 52"), Reject("bye 52")]
    scenario = make_scenario(own=80.125, other=40.0625, urgencies=(0.3125, 0.6875))
    terms.replay(scenario, moves, voice=ModelVoice(client).for_episode(1))
    assert set(act_in(client.requests[-1]["messages"])) == {"decision", "price", "sentiment", "posture", "said_before"}
    for private in (
        "80.12",
        "40.06",
        "0.3125",
        "0.6875",
        "12.3456",
        "0.98765",
        "41.23",
        "45.67",
        "52",
        "neutral_stance",
    ):
        assert private not in client.sent


def test_every_call_of_an_episode_has_its_own_name():
    client = ScriptedClient(answer=lambda messages: "x")
    terms.replay(make_scenario(), [Offer(41.0), Offer(42.0), Reject()], voice=ModelVoice(client).for_episode(1))
    names = [request["call_id"] for request in client.requests]
    assert len(set(names)) == len(names) == 3
