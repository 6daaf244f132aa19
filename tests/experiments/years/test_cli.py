"""The commands of the store year: what they print, what they leave on disk, how they end."""

from __future__ import annotations

import json

import pytest

from commerce.metrics import year_metrics
from commerce.year import Year
from experiments.storage.journal import HEADER
from experiments.years.spec import YearSpec
from experiments.years.transcript import OUTCOME
from experiments.years.year_mode import RESULT, STORE_CALLS, read_store_calls

FILES = (HEADER, STORE_CALLS, RESULT)
YEAR = ("year", "--agent", "rule-based", "--days", 45, "--rules", "fair")


def test_json_holds_every_metric_and_final_assets_in_yuan(terms, tmp_path):
    code, printed, told = terms(*YEAR, "--worlds", 2, "--seed", 4, "--json")
    assert code == 0
    summary = json.loads(printed)
    years = summary.pop("years")
    assert summary.pop("excluded") == []
    spec = YearSpec(num_days=1)
    assert set(summary) == set(year_metrics(Year(spec.build_world(), spec.build_rules())))
    assert all(set(entry) == {"estimate", "low", "high", "n"} for entry in summary.values())
    assert [year["spec"]["world_seed"] for year in years] == [4, 5]
    assets = summary["final_assets"]
    assert assets["estimate"] == pytest.approx(sum(year["final_assets"] for year in years) / 2)
    assert assets["low"] is None or assets["low"] < assets["estimate"] < assets["high"]  # two may be too few to say
    assert assets["n"] == 2
    result = json.loads((tmp_path / "runs/year-rule-based-fair/world-4-days-45" / RESULT).read_text())
    assert years[0]["final_assets"] == result["metrics"]["final_assets"]["value"]
    last = sum(result["days"][-1][name] for name in ("bank_fen", "wallet_fen", "escrow_fen")) / 100
    assert 0.98 * last < years[0]["final_assets"] <= last  # returns still to come are refunded when a year ends
    assert told.count("finished") == 2


def test_idle_keeps_its_money_until_the_penalty(terms):
    """Within the days of grace nothing is charged: 100,000 yuan stay, and what needs a purchase is undefined."""
    code, printed, _ = terms("year", "--agent", "idle", "--days", 3, "--json")
    summary = json.loads(printed)
    assert (code, summary["final_assets"]["estimate"], summary["multiplier"]["estimate"]) == (0, 100_000, 1)
    assert summary["final_assets"]["low"] is None
    assert summary["se_plus"] == {"estimate": None, "low": None, "high": None, "n": 0}


def test_the_table_names_every_metric(terms):
    code, printed, _ = terms("year", "--agent", "idle", "--days", 2)
    assert code == 0
    assert "final_assets" in printed
    assert "n=1" in printed


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--agent", "nobody"), "agent='nobody', allowed are idle, random-legal"),
        (("--agent", "idle", "--days", 0), "--days"),
        (("--agent", "idle", "--rules", "mild"), "--rules"),
        (("--agent", "idle", "--seed", -1), "--seed"),
    ],
)
def test_bad_input_is_named(terms, tmp_path, arguments, says):
    code, printed, told = terms("year", *arguments)
    assert code == 2
    assert says in told.replace("\n", " ")
    assert printed == ""
    assert not list(tmp_path.rglob(RESULT))


def test_the_same_command_resumes_to_the_same_bytes(terms, tmp_path):
    terms(*YEAR, "--out", "year")
    (folder,) = (tmp_path / "year").iterdir()
    whole = {name: (folder / name).read_bytes() for name in FILES}
    (folder / RESULT).unlink()
    (folder / STORE_CALLS).write_bytes(whole[STORE_CALLS][: len(whole[STORE_CALLS]) // 2])
    assert terms(*YEAR, "--out", "year")[0] == 0
    assert {name: (folder / name).read_bytes() for name in FILES} == whole


def test_another_year_in_the_same_folder_is_refused(terms, tmp_path):
    terms("year", "--agent", "idle", "--days", 2, "--out", "year")
    code, _, told = terms("year", "--agent", "rule-based", "--days", 2, "--out", "year")
    assert code != 0
    assert "agent: 'idle' there, 'rule-based' now" in told


def test_verify_and_report_take_the_folder_of_a_year(terms, tmp_path):
    terms("year", "--agent", "idle", "--days", 2, "--out", "year")
    (folder,) = (tmp_path / "year").iterdir()
    assert terms("verify", folder)[:2] == (
        0,
        "verified: every line of the log played again, every number and every file derived again\n",
    )
    assert terms("report", folder, "--out", "page.html")[0] == 0
    assert "<h1>How these merchants trade</h1>" in (tmp_path / "page.html").read_text()
    (tmp_path / "other").mkdir()
    code, _, told = terms("report", folder, tmp_path / "other", "--out", "other.html")
    assert (code, "other is left out, it is no run" in told) == (0, True)
    (folder / RESULT).write_bytes(b"{}\n")
    assert terms("verify", folder)[0] == 1


def test_the_folder_that_a_command_wrote_can_be_reported_and_an_unfinished_year_is_left_out(terms, tmp_path):
    terms("year", "--agent", "random-legal", "--days", 2, "--worlds", 2, "--repeats", 2, "--seed", 4)
    whole = tmp_path / "runs/year-random-legal-paper"
    names = [folder.name for folder in sorted(whole.iterdir())]
    assert names == ["world-4-days-2", "world-4-days-2-repeat-1", "world-5-days-2", "world-5-days-2-repeat-1"]
    (whole / "world-5-days-2-repeat-1" / OUTCOME).unlink()
    code, _, told = terms("report", whole, "--out", "page.html")
    assert code == 0
    assert "world-5-days-2-repeat-1 is in no number (unfinished)" in told
    page = (tmp_path / "page.html").read_text()
    assert "random-legal, world 4, repeat 1, paper rules" in page
    assert "random-legal, world 5, repeat 1, paper rules" not in page


def test_repeats_meet_the_same_world_with_draws_of_their_own(terms, tmp_path):
    terms("year", "--agent", "random-legal", "--days", 3, "--repeats", 3)
    calls = [
        [(entry.tool, str(entry.arguments)) for entry in read_store_calls(folder)]
        for folder in sorted((tmp_path / "runs/year-random-legal-paper").iterdir())
    ]
    assert len({str(each) for each in calls}) == 3


def test_world_is_described_and_exported(terms, tmp_path):
    code, printed, _ = terms("world", "--seed", 3, "--export", "world", "--json")
    facts = json.loads(printed)
    assert code == 0
    assert (facts["skus"], facts["suppliers"], facts["honest_suppliers"]) == (6886, 576, 424)
    assert sum(facts["frauds"].values()) == 152
    assert len(facts["digest"]) == 64
    assert list((tmp_path / "world").iterdir())


def test_the_lint_ends_with_one_where_the_published_rules_allow_too_much(terms):
    assert terms("lint-economy", "--rules", "fair")[0] == 0
    code, printed, _ = terms("lint-economy", "--rules", "paper", "--json")
    assert code == 1
    assert json.loads(printed)["findings"]
