"""A year read back: what it tells agrees with what was stored, and a year that cannot be read says why."""

from __future__ import annotations

import json
import shutil

import pytest

from experiments.engine.folder import RunError
from experiments.plots.years import SMOOTH_DAYS, _trailing_mean
from experiments.storage.journal import HEADER
from experiments.years.run import run_year
from experiments.years.spec import YearSpec
from experiments.years.story import FraudRow, read_story
from experiments.years.year_mode import RESULT, STORE_CALLS

SPEC = YearSpec(num_days=8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("year")
    run_year(folder, SPEC, "rule-based")
    return folder


def test_the_story_is_the_stored_year(folder):
    story = read_story(folder)
    assert json.loads((folder / RESULT).read_text()) == json.loads(json.dumps(story.result))
    assert len(story.calls) == sum(story.result["tools"]["calls"].values())
    days = [call.day for call in story.calls]
    assert days == sorted(days)
    assert story.calls[0].clock == "08:00"


def test_amounts_of_fraud_and_suppliers_add_up_to_the_metrics(stories):
    for story in stories:
        metrics = story.result["metrics"]
        spent = sum(card.spent for card in story.suppliers)
        bad = sum(row.paid for row in story.frauds)
        if spent:
            assert metrics["bad_spend_pct"]["value"] == pytest.approx(100 * bad / spent)
    assert sum(card.deals for card in stories[0].suppliers) > 0


def test_evidence_of_the_day_itself_is_not_yet_known():
    row = FraudRow(9, "x", "qty_bait", "y", 2, 1, 0, 1.0, evidence_day=9)
    assert not row.is_after_evidence
    assert row._replace(day=10).is_after_evidence
    assert not row._replace(day=10, evidence_day=None).is_after_evidence


def test_an_unfinished_year_says_so(folder, tmp_path):
    for name in (HEADER, STORE_CALLS):
        shutil.copy(folder / name, tmp_path / name)
    with pytest.raises(RunError, match="unfinished"):
        read_story(tmp_path)


def test_a_year_of_other_answers_names_the_call(folder, monkeypatch):
    monkeypatch.setattr("experiments.years.story.result_digest", lambda result: "0" * 16)
    with pytest.raises(RunError, match="call 0 is answered differently"):
        read_story(folder)


def test_trailing_mean():
    """By hand: the first days have fewer days behind them, the eighth no longer counts the first."""
    assert SMOOTH_DAYS == 7
    assert _trailing_mean([7.0, 0, 0, 0, 0, 0, 0, 7.0]).tolist() == pytest.approx(
        [7, 3.5, 7 / 3, 1.75, 1.4, 7 / 6, 1, 1]
    )
    assert _trailing_mean([]).tolist() == []
