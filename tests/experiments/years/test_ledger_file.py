"""A stored ledger: read back as it was, refused when altered or of another year, said by verify, told by the report."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from experiments.modes import check_folder
from experiments.report.years import build_year_report
from experiments.years.ledger_file import YEAR_LEDGER, ledger_findings, read_ledger, write_ledger
from experiments.years.regrets import ledger_of
from experiments.years.run import run_year
from experiments.years.spec import YearSpec
from experiments.years.story import read_story, replay_year
from experiments.years.year_mode import read_year_result
from oracle.store.regret_streams import Stream
from tests.experiments.report.pages import Page, faults_of

SPEC = YearSpec(world_seed=3, rules="fair", num_days=40)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    base = tmp_path_factory.mktemp("ledger")
    for name in ("first-quote", "rule-based"):
        run_year(base / name, SPEC, name)
    found = ledger_of(replay_year(base / "first-quote").year, "first-quote", str(base / "rule-based"))
    result = read_year_result(base / "first-quote")
    write_ledger(base / "first-quote", found.to_json_object(), found.regret.reference_path_fen, 10**9, result)
    return base / "first-quote"


def test_what_was_stored_is_read_back_and_adds_up(folder):
    result = read_year_result(folder)
    found = read_ledger(folder, result)
    final = round(100 * result["metrics"]["final_assets"]["value"])
    assert set(found.parts) == set(Stream)
    assert sum(found.parts.values()) == found.gap_fen == found.reference_fen - final
    assert sum(found.statement.values()) == final - 10_000_000
    assert len(found.path_fen) == SPEC.num_days
    assert found.bound_fen == 10**9
    other = read_year_result(folder.parent / "rule-based")
    days = [row["bank_fen"] + row["wallet_fen"] + row["escrow_fen"] for row in other["days"]]
    assert list(found.path_fen) == days
    assert check_folder(folder) == ([], ["ledger.json: whether it is there at all"])


@pytest.mark.parametrize(
    ("place", "value", "says"),
    [
        (("regret", "gap_fen"), 1, "checksum"), (("state_digest",), "0", "checksum"), (("regret",), None, "not what"),
    ],
)  # fmt: skip
def test_an_altered_ledger_is_refused(folder, tmp_path, place, value, says):
    data = json.loads((folder / YEAR_LEDGER).read_text())
    inner = data
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    (tmp_path / YEAR_LEDGER).write_text(json.dumps(data))
    with pytest.raises(ValueError, match=rf"{says}.*run terms ledger again"):
        read_ledger(tmp_path, read_year_result(folder))


def test_a_ledger_of_another_year_is_named(folder, tmp_path):
    (tmp_path / YEAR_LEDGER).write_bytes((folder / YEAR_LEDGER).read_bytes())
    (finding,) = ledger_findings(tmp_path, read_year_result(folder.parent / "rule-based"))
    assert "it is of another year; the assets are not those of the year" in finding
    assert ledger_findings(folder.parent, {}) == []


def test_the_report_tells_the_ledger_first(folder):
    stories = [read_story(folder), read_story(folder.parent / "rule-based")]
    html = build_year_report(stories, title="x")
    page = Page(html)
    assert faults_of(page) == []
    assert {"answer", "ledger", "talks"} <= {section["id"] for section in page.of("section")}
    assert [section["id"] for section in page.of("section")][:2] == ["answer", "ledger"]
    assert 'aria-label="Each kind of decision by itself"' in html
    talks = stories[0].ledger.talk_costs
    told = [talk for talk in stories[0].talks if talk.is_priced]
    assert [round(100 * talk.lost) for talk in told] == sorted(talks.values(), reverse=True)
    assert stories[0].talks[: len(told)] == told
    gap = stories[0].ledger.gap_fen / 100
    assert f"{abs(gap):,.0f}".split(",")[0] in page.words
    assert "prices paid" in page.words
    assert "No ledger yet of rule-based" in page.words
    assert not re.search(r"\b(nan|NaN|inf|Infinity|None)\b", page.words)
    alone = Page(build_year_report([replace(stories[0], ledger=None)], title="x")).words
    assert "above the least its honest suppliers would take" in alone
    assert "terms ledger FOLDER" in alone
