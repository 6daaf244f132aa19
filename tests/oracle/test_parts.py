"""The words of a gap: steps that add up, nothing shown twice, one sentence a part."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from oracle.hover import HOVER, estimate_words, signed_text
from oracle.parts import SENTENCES, SUMMANDS, Part, advice, in_words, left_to_right, steps_between
from oracle.plotting import plot_waterfall
from terms.estimates import UNDEFINED, Estimate

NUMBERS = st.floats(-10, 10).map(lambda value: round(value, 6))


def rows_of(execution, inference, uncertainty, control, played=3.0):
    steps = dict(zip(SUMMANDS, (execution, inference, uncertainty, control), strict=False))
    values = {Part.PLAYED: played, **steps, Part.REFERENCE: played + sum(steps.values())}
    return {part.value: Estimate(value, value - 1, value + 1, 9) for part, value in values.items()}


@given(st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS))
def test_steps_add_up_and_uncertainty_never_cancels_control(values):
    steps = steps_between(rows_of(*values))
    assert sum(step.estimate for step in steps.values()) == pytest.approx(sum(values), abs=1e-9)
    cancels = values[2] * values[3] < 0
    assert list(steps) == ["execution", "inference", *(["with_belief"] if cancels else ["uncertainty", "control"])]


def test_the_merged_step_takes_its_interval_where_one_was_measured():
    rows = rows_of(0, 0, 1.73, -1.73)
    assert steps_between(rows)["with_belief"] == (0.0, None, None, 9)
    both = Estimate(0.0, -0.2, 0.2, 9)
    assert steps_between({**rows, Part.WITH_BELIEF: both})["with_belief"] == both


def test_every_summand_has_a_sentence_and_the_advice_says_it():
    assert set(SENTENCES) == set(SUMMANDS)
    for part, sentence in SENTENCES.items():
        assert advice(part) == f"mend {part} first: it loses most by {sentence}"
    assert advice("none") == "nothing stands out to be mended"
    assert advice("slips") == "mend slips first"  # a fault that is no summand


def test_order_and_labels():
    assert left_to_right(["control", "played", "reference", "uncertainty_own"]) == ["played", "control", "reference"]
    assert in_words(["played", "reference", "control"], "oracle") == {
        "played": "as played",
        "reference": "oracle",
        "control": "control",
    }


def test_the_picture_begins_near_what_was_played_and_says_its_numbers():
    ax = plot_waterfall(rows_of(0, 3, 1, 2, played=100.0), Figure().add_subplot(), target="the oracle", title="")
    low, high = ax.get_xlim()
    assert 95 < low < 100 < 106 < high < 112
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == ["as played", "execution", "inference", "uncertainty", "control", "the oracle"]
    said = [patch.get_gid() for patch in ax.patches]
    assert said[1] == f"{HOVER}|inference: 3.00 [2.00, 4.00], n = 9"


def test_words_of_a_number():
    assert estimate_words("x", Estimate(0.5, None, None, 1000)) == "x: 0.500, n = 1,000"
    assert estimate_words("x", UNDEFINED) == "x: undefined, n = 0"
    assert (signed_text(-1.5), signed_text(1.5)) == ("\N{MINUS SIGN}1.50", "+1.50")
