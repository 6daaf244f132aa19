"""The talks of a year from the command line: the costliest listed, one told move by move."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from experiments.cli import app


def ask(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("years") / "year"
    done = ask("year", "--agent", "rule-based", "--rules", "fair", "--days", "30", "--out", where)
    assert done.exit_code == 0, done.output
    return where


def test_the_costliest_talks_are_listed_and_one_is_told(folder):
    listed = json.loads(ask("explain", folder, "--json").stdout)
    first = listed["talks"][0]
    assert listed["num_purchases"] <= listed["num_talks"]
    assert first["gap_fen"] == (
        first["inference_fen"] + first["uncertainty_fen"] + first["control_fen"] - first["luck_fen"]
    )
    told = json.loads(ask("explain", folder, first["number"], "--json").stdout)
    assert (told["sku"], told["units"], told["price_fen"]) == (first["sku"], first["units"], first["price_fen"])
    assert abs(first["units"] * sum(move["cost_fen"] for move in told["moves"]) - first["cost_fen"]) <= 1
    assert "Loss came from" in ask("explain", folder).stdout
    assert "ended: bought at" in ask("explain", folder, first["number"]).stdout


@pytest.mark.parametrize(("talk", "words"), [("0", "talks 1 to"), ("9999", "talks 1 to"), ("x", "have numbers")])
def test_a_talk_that_is_not_there_is_said(folder, talk, words):
    result = ask("explain", folder, talk)
    assert result.exit_code != 0
    assert words in " ".join(str(result.exception or result.output).split())
