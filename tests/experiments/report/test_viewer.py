"""What the viewer is given: which episodes, in what order, and that every text and number comes back as it was."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import terms
from experiments.report.viewer import (
    EPISODE_NUMBERS,
    EPISODE_TEXTS,
    PRICE_MARK,
    TURN_NUMBERS,
    TURN_TEXTS,
    Encoder,
    _template,
    _van_der_corput,
    select_episodes,
    surplus_lost,
    to_script_json,
)
from terms.voice import format_price
from tests.experiments.report.cases import FRESH, HOSTILE, lost, played, talker

PATIENT = terms.agents.build_scripted("patient")
EPISODES = [terms.play(scenario, PATIENT) for scenario in terms.fresh_suite(seed=5, n_per_cell=3)]


def payload_of(run, limit=1000):
    text = to_script_json(Encoder().payload([run], limit))
    return json.loads(text, parse_constant=lambda constant: pytest.fail(f"{constant} is not JSON"))


def decoded(payload, row):
    names = [*payload["episode_texts"], *payload["episode_numbers"], "turns", "violations", "receipts", "reviews"]
    texts = len(payload["episode_texts"])
    return {
        name: payload["strings"][value] if index < texts else value
        for index, (name, value) in enumerate(zip(names, row, strict=True))
    }


def test_surplus_lost_by_hand():
    deal = next(episode for episode in EPISODES if episode.is_feasible and episode.is_agreement)
    assert surplus_lost(replace(deal, zopa=30.0, utility=12.5)) == 17.5
    assert surplus_lost(replace(deal, zopa=30.0, utility=0.0, price=None)) == 30.0
    assert surplus_lost(replace(deal, zopa=-5.0, utility=-8.0)) == 8.0  # a loss where no deal should be
    assert surplus_lost(replace(deal, zopa=-5.0, utility=3.0)) == 0.0  # the counterpart lost, the agent did not
    assert surplus_lost(terms.play(FRESH[0], lost)) is None


def test_everything_is_kept_when_it_fits_worst_first():
    kept = select_episodes(EPISODES, len(EPISODES))
    assert Counter(e.scenario_id for e in kept) == Counter(e.scenario_id for e in EPISODES)
    shares = [surplus_lost(episode) / 100 for episode in kept]
    assert shares == sorted(shares, reverse=True)


@given(limit=st.integers(min_value=1, max_value=len(EPISODES)))
def test_selection_keeps_to_the_limit_shares_it_evenly_and_holds_the_worst_of_each_cell(limit):
    kept = select_episodes(EPISODES, limit)
    assert len(kept) == limit
    assert len({episode.scenario_id for episode in kept}) == limit
    cells = Counter((episode.regime, episode.family) for episode in kept)
    assert max(cells.values()) - min(cells[cell] for cell in {(e.regime, e.family) for e in EPISODES}) <= 1
    for cell in cells:
        worst = max(surplus_lost(e) for e in EPISODES if (e.regime, e.family) == cell)
        assert max(surplus_lost(e) for e in kept if (e.regime, e.family) == cell) == worst


def test_excluded_trials_come_last():
    mixed = [terms.play(FRESH[0], lost), *EPISODES[:5]]
    assert [episode.is_excluded for episode in select_episodes(mixed, 10)] == [False] * 5 + [True]


def test_radical_inverse_in_base_two():
    # van der Corput (1935): 0, 1/2, 1/4, 3/4, 1/8, 5/8, 3/8, 7/8
    assert [_van_der_corput(index) for index in range(8)] == [0, 0.5, 0.25, 0.75, 0.125, 0.625, 0.375, 0.875]


def test_rows_hold_every_quantity_of_the_episode():
    run = played(talker, FRESH, name="talker", label="fresh")
    payload = payload_of(run)
    by_id = {episode.scenario_id: episode for episode in run.episodes}
    assert payload["episode_texts"] == list(EPISODE_TEXTS)
    assert payload["turn_texts"] + payload["turn_numbers"] == [*TURN_TEXTS, *TURN_NUMBERS]
    for row in payload["runs"][0]["episodes"]:
        got = decoded(payload, row)
        episode = by_id[got["id"]]
        assert got["termination"] == episode.termination
        assert got["counterpart_stance"] == episode.counterpart_type.stance
        for name, read in EPISODE_NUMBERS.items():
            expected = read(episode)
            assert got[name] == (None if expected is None else pytest.approx(expected, abs=5e-5)), name
        assert len(got["turns"]) == episode.rounds_played
        assert [breach[1] for breach in got["violations"]] == [breach.round for breach in episode.violations]


def test_beliefs_and_messages_survive():
    payload = payload_of(played(talker, FRESH[:1], name="talker", label="fresh"))
    turn = decoded(payload, payload["runs"][0]["episodes"][0])["turns"][0]
    fields = dict(zip([*payload["turn_texts"], *payload["turn_numbers"], "belief"], turn, strict=True))
    assert payload["strings"][fields["message"]] == HOSTILE
    assert fields["belief"] == [51.0, 0.5, 0.3, 0.4, 0.3]


@given(text=st.text(), price=st.one_of(st.none(), st.floats(min_value=0, max_value=1e6)))
def test_a_counterpart_sentence_comes_back_as_it_was(text, price):
    sentence = text if price is None else f"{text} {format_price(price)} {text}"
    shown = "" if price is None else format_price(price)
    assert _template(sentence, price).replace(PRICE_MARK, shown) == sentence.replace(PRICE_MARK, "\ufffd")


def test_one_sentence_at_many_prices_is_stored_once():
    assert _template("I am at 40.00.", 40.0) == _template("I am at 55.50.", 55.5)


@given(st.text())
def test_script_json_cannot_close_its_element_and_reads_back(text):
    encoded = to_script_json({"text": text, HOSTILE: [1, None]})
    assert not set("<>&\u2028\u2029") & set(encoded)
    assert encoded.isascii()
    assert json.loads(encoded) == {"text": text, HOSTILE: [1, None]}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_never_reaches_the_page(value):
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_script_json({"value": value})
    odd = replace(EPISODES[0], utility=value, price=value)
    assert payload_of(replace(played(PATIENT, FRESH[:1], name="p", label="f"), episodes=(odd,)))["runs"]
