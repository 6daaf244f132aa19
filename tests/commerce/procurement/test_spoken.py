"""A voice for suppliers: words that say the same are said, all others give way, and nothing but the words changes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commerce.config import FAIR
from commerce.merchants import build_merchant, play_year
from commerce.procurement import SupplierDesk
from commerce.procurement.spoken import SaidAct, put_into_words, says_the_same
from commerce.year import Year
from tests.commerce.builders import default_world

OFFER = SaidAct("SUP-0001", 3, 510, "Offer", (12.5,), "We can offer 12.50 yuan a unit.")
FEE = "We can offer 12.50 yuan a unit. We have a members' programme: pay 1000.00 yuan once."


@pytest.mark.parametrize(
    "words",
    ["For you, dear friends, 12.50 yuan.", "12.50 yuan a piece, and the sooner you decide, the better for all of us."],
)
def test_faithful_words(words):
    assert says_the_same(words, OFFER)


@pytest.mark.parametrize(
    "words",
    [
        "", "Let us talk.", "12.50 yuan, down from 13.00.", "12.5 yuan.", "12.50 yuan for 10 units.", "Make it 12,50.",
        "12.50 yuan, half of what others ask.", "12.50 yuan, agreed.", "12.50 yuan\nand a gift", "12.50 " + "so " * 300,
        "-12.50 yuan", "12.50k yuan", "We have a deal at 12.50 yuan.",
    ],
)  # fmt: skip
def test_unfaithful_words(words):
    assert not says_the_same(words, OFFER)
    assert put_into_words(lambda act: words, OFFER[:3], [{"decision": "Offer"}], OFFER.said) == OFFER.said


def test_every_amount_must_be_named():
    asked = []

    def voice(act):
        asked.append(act)
        return "Members get 12.50 yuan a unit, and joining is 1000.00 yuan."

    assert put_into_words(voice, OFFER[:3], [{"decision": "Offer"}], FEE).startswith("Members get")
    assert asked[0].amounts == (12.5, 1000.0)
    assert not says_the_same("12.50 yuan a unit for members.", asked[0])
    assert says_the_same("Agreed at 12.50 yuan.", OFFER._replace(decision="Accept"))


@pytest.mark.parametrize(
    "outcomes", [[{"decision": "Error"}], [{"decision": "Offer"}, {"decision": "Offer"}], [{"decision": "Error"}] * 2]
)
def test_what_the_store_says_is_not_worded(outcomes):
    def voice(act):
        raise AssertionError(act)

    assert put_into_words(voice, OFFER[:3], outcomes, "We cannot do that.") == "We cannot do that."


@settings(deadline=None, max_examples=12)
@given(st.lists(st.text(max_size=60) | st.none(), min_size=1, max_size=5), st.integers(0, 3))
def test_no_voice_changes_a_year(lines, merchant_seed):
    """Whatever a voice says, faithful or not, every posting and every outcome of the year is the same."""
    rules = FAIR.model_copy(update={"num_days": 14})
    said = []

    def voice(act):
        said.append(act)
        line = lines[len(said) % len(lines)]
        return act.said.replace("We", "All of us") if line == "" else line

    silent, spoken = (
        play_year(
            Year(default_world(), rules, procurement=SupplierDesk(one)),
            build_merchant("random-legal", default_world(), rules, merchant_seed),
        )
        for one in (None, voice)
    )
    assert spoken.state.ledger.digest == silent.state.ledger.digest
    assert spoken.state.book == silent.state.book


def test_the_words_reach_the_buyer():
    rules = FAIR.model_copy(update={"num_days": 14})
    year = Year(default_world(), rules, procurement=SupplierDesk(lambda act: "Dear friends: " + act.said))
    data = year.call("chatbox", {"uids": [default_world().suppliers[0].email], "content": "Hello"}).data
    assert data["replies"][0]["message"].startswith("Dear friends: ")
