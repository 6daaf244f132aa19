"""The counterpart's words: the check every voice must pass, and the hook that lets another voice speak."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import terms
from terms import Accept, Offer, Reject, voice
from terms.episode import recorded_moves
from terms.types import Cue, Decision, Opener, Posture, Sentiment
from tests.terms.builders import ALWAYS, make_scenario, scripted_noise

MOVES = [Offer(41.0), Offer(45.0), Reject()]


@given(
    st.sampled_from(Decision),
    st.floats(-1e6, 1e6),
    st.sampled_from(Sentiment),
    st.sampled_from(Posture),
    st.integers(1, 20),
)
def test_every_template_names_the_price_and_no_other_number(decision, price, sentiment, posture, round_number):
    committed = None if decision is Decision.REJECT else price
    text = voice.render(decision, committed, Cue(sentiment, posture), round_number)
    assert voice.stray_numbers(text, committed) == []
    assert committed is None or voice.format_price(committed) in text


@pytest.mark.parametrize(
    ("text", "stray"),
    [
        ("My price is 45.00.", []),
        ("45.00! One more thing: think it over.", []),
        ("($45.00)", []),
        ("no number", []),
        ("45", ["45"]),
        ("45.0", ["45.0"]),
        ("45,00", ["45,00"]),
        ("145.00", ["145.00"]),
        ("45.00 in 3 days", ["3"]),
        ("45.00, 60.00", ["45.00, 60.00"]),
        ("45.00k", ["45.00"]),
        ("A45.00", ["45.00"]),
        ("45.00 %", ["45.00"]),
        ("-45.00", ["-45.00"]),
        ("45.00-50.00", ["45.00", "-50.00"]),
        ("٤٥٫٠٠", ["٤٥", "٠٠"]),
        ("４５.００", ["４５.００"]),
        ("half of 45.00", ["half"]),
        ("½ of 45.00", ["½"]),
        ("四十 or 45.00", ["四", "十"]),
        ("forty-five", ["forty", "five"]),
        ("Sixty", ["Sixty"]),
        ("a dozen, hundreds, thousand", ["dozen", "hundreds", "thousand"]),
    ],
)
def test_stray_numbers(text, stray):
    assert voice.stray_numbers(text, 45.0) == stray


def test_without_a_price_every_number_is_stray():
    assert voice.stray_numbers("45.00 was my last word", None) == ["45.00"]


def test_another_voice_words_every_act_and_decides_none():
    acts = []

    def speak(decision, price, cue, round_number):
        acts.append((decision, price, round_number))
        return f"line {len(acts)}"

    scenario = make_scenario()
    plain, worded = terms.replay(scenario, MOVES), terms.replay(scenario, MOVES, voice=speak)
    assert [turn.counterpart_message for turn in worded.turns] == ["line 1", "line 2", "line 3"]
    assert acts == [(Decision.OFFER, turn.counterpart_price, turn.round) for turn in plain.turns]
    assert [turn.counterpart_price for turn in worded.turns] == [turn.counterpart_price for turn in plain.turns]


def test_a_closing_act_is_worded_too():
    scenario = make_scenario(noise=scripted_noise(accept=ALWAYS), opener=Opener.AGENT)
    record = terms.play(
        scenario, lambda observation: Offer(60.0), voice=lambda decision, price, *_: f"{decision} {price}"
    )
    assert record.closing_message == "Accept 60.0"


@pytest.mark.parametrize("moves", [MOVES, [Offer(41.0), Accept()], [Offer(79.0)]])
@pytest.mark.parametrize("accept", [0.999999, 0.0])
def test_a_recorded_voice_reads_as_the_original_did(moves, accept):
    scenario = make_scenario(noise=scripted_noise(accept=accept))
    player = iter([*moves, *[Reject()] * 3])
    original = terms.play(scenario, lambda observation: next(player), voice=lambda *act: f"said {act}")
    repeat = voice.recorded(original.turns, original.closing_message)
    again = terms.replay(scenario, recorded_moves(original), agent=original.agent, voice=repeat)
    assert again == original
    assert original.turns[0].counterpart_message.startswith("said")
