"""The counterpart's words carry one number, the committed price; the checker finds any other."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import terms
from terms.agents import build_scripted
from terms.types import Cue, Decision, Posture, Sentiment
from terms.voice import format_price, render, stray_numbers
from tests.contracts.agent_contract import SUITE

CUES = [Cue(*pair) for pair in product(Sentiment, Posture)]


@given(st.sampled_from(CUES), st.floats(-1e6, 1e6), st.integers(0, 12), st.sampled_from(Decision))
@settings(deadline=None, max_examples=200)
def test_no_number_but_the_committed_price(cue, price, round_number, decision):
    text = render(decision, price, cue, round_number)
    digits = re.findall(r"-?\d+(?:\.\d+)?", text)
    expected = [] if decision is Decision.REJECT else [format_price(price)]
    assert digits == expected
    assert stray_numbers(text, price) == []


def test_prices_have_two_decimals_and_no_negative_zero():
    written = [format_price(price) for price in (60, 59.995001, -0.0, -0.001, -5.5)]
    assert written == ["60.00", "60.00", "0.00", "0.00", "-5.50"]


def test_every_template_is_used_and_differs_by_act_and_cue():
    texts = {(cue, k % 2): render(Decision.OFFER, 60.0, cue, k) for cue in CUES for k in (2, 3)}
    assert len(set(texts.values())) == len(CUES) * 2
    assert render(Decision.ACCEPT, 60.0, CUES[0], 2) == "60.00 works for me. We have a deal."
    assert render(Decision.REJECT, None, CUES[0], 2) == "We are too far apart. I am stopping here."


def test_every_message_of_played_episodes_is_faithful():
    for scenario in SUITE[::7]:
        record = terms.play(scenario, build_scripted("linear"))
        for turn in record.turns:
            if turn.counterpart_price is not None:
                assert format_price(turn.counterpart_price) in turn.counterpart_message
                assert stray_numbers(turn.counterpart_message, turn.counterpart_price) == []
        assert stray_numbers(record.closing_message, record.price) == []


@pytest.mark.parametrize(
    ("text", "price", "stray"),
    [
        ("My price is 60.00.", 60.0, []),
        ("My price is 60.00, was 70.00.", 60.0, ["70.00"]),
        ("My price is 60.", 60.0, ["60"]),
        ("Not 600.00 but 60.00", 60.0, ["600.00"]),
        ("60.00 in 3 days", 60.0, ["3"]),
        ("1,060.00", 60.0, ["1,060.00"]),
        ("160.00", 60.0, ["160.00"]),
        ("We stop here.", None, []),
        ("We stop at 5.", None, ["5"]),
        ("60.001", 60.0, ["60.001"]),
        ("٦٠", 60.0, ["٦٠"]),
        ("-60.00", 60.0, ["-60.00"]),
        ("60.00 60.00", 60.0, ["60.00 60.00"]),  # may be one number with spaces: refused
        ("I can move to -60.00.", -60.0, []),
        ("I can move to 60.00.", -60.0, ["60.00"]),
        ("I can move to \u221260.00.", 60.0, ["\u221260.00"]),
        ("50-60.00", 60.0, ["50", "-60.00"]),
    ],
)
def test_stray_numbers_finds_what_is_not_the_price(text, price, stray):
    assert stray_numbers(text, price) == stray
