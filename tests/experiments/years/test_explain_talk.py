"""The talks of a year from the command line: the costliest listed, one told move by move."""

from __future__ import annotations

import json

import pytest

from experiments.years.run import run_year
from experiments.years.seats import MerchantSeat
from experiments.years.spec import YearSpec


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("years") / "year"
    run_year(where, YearSpec(world_seed=1, rules="fair", num_days=40), MerchantSeat("rule-based"))
    return where


def test_the_costliest_talks_are_listed_and_one_is_told(terms, folder):
    listed = json.loads(terms("explain", folder, "--json")[1])
    first = listed["talks"][0]
    assert listed["num_purchases"] <= listed["num_talks"]
    parts = first["inference_fen"] + first["uncertainty_fen"] + first["control_fen"]
    assert first["gap_fen"] == parts - first["noise_fen"]
    told = json.loads(terms("explain", folder, first["number"], "--json")[1])
    assert (told["sku"], told["units"], told["price_fen"]) == (first["sku"], first["units"], first["price_fen"])
    assert abs(first["units"] * sum(move["cost_fen"] for move in told["moves"]) - first["cost_fen"]) <= 1
    assert "Loss came from" in terms("explain", folder)[1]
    assert "ended: bought at" in terms("explain", folder, first["number"])[1]


@pytest.mark.parametrize(("talk", "words"), [("0", "talks 1 to"), ("9999", "talks 1 to"), ("x", "have numbers")])
def test_a_talk_that_is_not_there_is_said(terms, folder, talk, words):
    code, _, told = terms("explain", folder, talk)
    assert code != 0
    assert words in " ".join(told.split())
